//! The C functions.

use crate::objects;
use crate::status::{DIMENSIONS, FAILURE, Status, VALUE, ensure, status};
use hip_sys::RocfftTable;
use hip_sys::rocfft::{
    rocfft_array_type, rocfft_execution_info, rocfft_plan, rocfft_plan_description, rocfft_precision,
    rocfft_result_placement, rocfft_transform_type,
};
use std::ffi::{CStr, c_char, c_void};

/// All functions.
pub(crate) fn functions() -> RocfftTable {
    RocfftTable {
        rocfft_setup,
        rocfft_cleanup,
        rocfft_get_version_string,
        rocfft_plan_create,
        rocfft_plan_destroy,
        rocfft_plan_get_work_buffer_size,
        rocfft_plan_get_print,
        rocfft_plan_description_create,
        rocfft_plan_description_destroy,
        rocfft_plan_description_set_data_layout,
        rocfft_plan_description_set_scale_factor,
        rocfft_execute,
        rocfft_execution_info_create,
        rocfft_execution_info_destroy,
        rocfft_execution_info_set_work_buffer,
        rocfft_execution_info_set_stream,
        rocfft_execution_info_set_load_callback: no_callback,
        rocfft_execution_info_set_store_callback: no_callback,
        rocfft_cache_serialize,
        rocfft_cache_deserialize,
        rocfft_cache_buffer_free,
    }
}

unsafe extern "C" fn rocfft_setup() -> Status {
    status(Ok(()))
}

/// Objects stay: a program may set the library up again.
unsafe extern "C" fn rocfft_cleanup() -> Status {
    status(Ok(()))
}

unsafe extern "C" fn rocfft_get_version_string(text: *mut c_char, length: usize) -> Status {
    const VERSION: &CStr = c"1.0.36.hip-host";
    let bytes = VERSION.to_bytes_with_nul();
    status(ensure(!text.is_null() && length >= bytes.len(), VALUE).map(|()| {
        // SAFETY: S11: the caller's buffer of so many bytes.
        unsafe { text.copy_from_nonoverlapping(bytes.as_ptr().cast(), bytes.len()) };
    }))
}

unsafe extern "C" fn rocfft_plan_create(
    plan: *mut rocfft_plan,
    placement: rocfft_result_placement,
    kind: rocfft_transform_type,
    precision: rocfft_precision,
    dimensions: usize,
    lengths: *const usize,
    batch: usize,
    description: rocfft_plan_description,
) -> Status {
    let create = || {
        ensure(!plan.is_null() && !lengths.is_null(), VALUE)?;
        ensure((1..=3).contains(&dimensions), DIMENSIONS)?;
        // SAFETY: S11, S12: the caller's lengths.
        let lengths = unsafe { std::slice::from_raw_parts(lengths, dimensions) };
        let made = objects::create_plan(placement, kind, precision, lengths, batch, description)?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { plan.write(made) };
        Ok(())
    };
    status(create())
}

unsafe extern "C" fn rocfft_plan_destroy(plan: rocfft_plan) -> Status {
    status(objects::destroy_plan(plan))
}

unsafe extern "C" fn rocfft_plan_get_work_buffer_size(plan: rocfft_plan, size: *mut usize) -> Status {
    status(ensure(!size.is_null(), VALUE).and_then(|()| objects::get_plan(plan)).map(|_| {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { size.write(0) };
    }))
}

/// rocFFT prints a description of the plan; this prints nothing.
unsafe extern "C" fn rocfft_plan_get_print(plan: rocfft_plan) -> Status {
    status(objects::get_plan(plan).map(drop))
}

unsafe extern "C" fn rocfft_plan_description_create(description: *mut rocfft_plan_description) -> Status {
    status(ensure(!description.is_null(), VALUE).map(|()| {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { description.write(objects::create_description()) };
    }))
}

unsafe extern "C" fn rocfft_plan_description_destroy(description: rocfft_plan_description) -> Status {
    status(objects::destroy_description(description))
}

unsafe extern "C" fn rocfft_plan_description_set_scale_factor(
    description: rocfft_plan_description,
    scale: f64,
) -> Status {
    status(ensure(scale.is_finite(), VALUE).and_then(|()| {
        objects::describe(description, |description| {
            description.scale = scale;
            Ok(())
        })
    }))
}

unsafe extern "C" fn rocfft_plan_description_set_data_layout(
    description: rocfft_plan_description,
    in_array: rocfft_array_type,
    out_array: rocfft_array_type,
    in_offsets: *const usize,
    out_offsets: *const usize,
    in_count: usize,
    in_strides: *const usize,
    in_distance: usize,
    out_count: usize,
    out_strides: *const usize,
    out_distance: usize,
) -> Status {
    status(objects::describe(description, |description| {
        // SAFETY: S11: the caller's offsets and strides.
        unsafe {
            description.input = objects::layout(in_array, in_offsets, in_count, in_strides, in_distance)?;
            description.output =
                objects::layout(out_array, out_offsets, out_count, out_strides, out_distance)?;
        }
        Ok(())
    }))
}

unsafe extern "C" fn rocfft_execution_info_create(info: *mut rocfft_execution_info) -> Status {
    status(ensure(!info.is_null(), VALUE).map(|()| {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { info.write(objects::create_info()) };
    }))
}

unsafe extern "C" fn rocfft_execution_info_destroy(info: rocfft_execution_info) -> Status {
    status(objects::destroy_info(info))
}

/// No plan needs one.
unsafe extern "C" fn rocfft_execution_info_set_work_buffer(
    info: rocfft_execution_info,
    _buffer: *mut c_void,
    _bytes: usize,
) -> Status {
    status(objects::is_info(info))
}

unsafe extern "C" fn rocfft_execution_info_set_stream(
    info: rocfft_execution_info,
    stream: *mut c_void,
) -> Status {
    status(objects::set_stream(info, stream as usize))
}

/// Callbacks are device functions, which the host cannot call.
unsafe extern "C" fn no_callback(
    _info: rocfft_execution_info,
    _functions: *mut *mut c_void,
    _data: *mut *mut c_void,
    _shared: usize,
) -> Status {
    FAILURE
}

unsafe extern "C" fn rocfft_execute(
    plan: rocfft_plan,
    input: *mut *mut c_void,
    output: *mut *mut c_void,
    info: rocfft_execution_info,
) -> Status {
    let execute = || {
        let plan = objects::get_plan(plan)?;
        let apart = !plan.is_in_place();
        ensure(!(input.is_null() || apart && output.is_null()), VALUE)?;
        // SAFETY: S11: the caller's lists of one buffer each.
        let (input, output) = unsafe { (input.read(), if apart { output.read() } else { input.read() }) };
        ensure(!input.is_null() && !output.is_null(), VALUE)?;
        // SAFETY: S11: the caller's memory.
        unsafe { plan.execute(input as usize, output as usize, info) }
    };
    status(execute())
}

/// Nothing is compiled here.
unsafe extern "C" fn rocfft_cache_serialize(_buffer: *mut *mut c_void, _bytes: *mut usize) -> Status {
    FAILURE
}

unsafe extern "C" fn rocfft_cache_deserialize(_buffer: *const c_void, _bytes: usize) -> Status {
    FAILURE
}

unsafe extern "C" fn rocfft_cache_buffer_free(_buffer: *mut c_void) -> Status {
    status(Ok(()))
}
