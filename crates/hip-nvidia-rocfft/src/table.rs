//! The C functions.

use crate::description::Layout;
use crate::plan;
use crate::status::{DIMENSIONS, FAILURE, Outcome, Status, VALUE, ensure, status};
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
    const VERSION: &CStr = c"1.0.36.hip-nvidia";
    let bytes = VERSION.to_bytes_with_nul();
    status(ensure(!text.is_null() && length >= bytes.len(), VALUE).map(|()| {
        // SAFETY: S11: the caller's room of so many bytes.
        unsafe { text.copy_from_nonoverlapping(bytes.as_ptr().cast(), bytes.len()) };
    }))
}

unsafe extern "C" fn rocfft_plan_create(
    out: *mut rocfft_plan,
    placement: rocfft_result_placement,
    kind: rocfft_transform_type,
    precision: rocfft_precision,
    dimensions: usize,
    lengths: *const usize,
    batch: usize,
    description: rocfft_plan_description,
) -> Status {
    let create = || {
        ensure(!out.is_null() && !lengths.is_null(), VALUE)?;
        ensure((1..=3).contains(&dimensions), DIMENSIONS)?;
        // SAFETY: S11, S12: the caller's lengths.
        let lengths = unsafe { std::slice::from_raw_parts(lengths, dimensions) };
        let made = plan::create_plan(placement, kind, precision, lengths, batch, description)?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { out.write(made) };
        Ok(())
    };
    status(create())
}

unsafe extern "C" fn rocfft_plan_destroy(plan: rocfft_plan) -> Status {
    status(plan::destroy_plan(plan))
}

unsafe extern "C" fn rocfft_plan_get_work_buffer_size(plan: rocfft_plan, size: *mut usize) -> Status {
    status(ensure(!size.is_null(), VALUE).and_then(|()| plan::get_plan(plan)).map(|plan| {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { size.write(plan.work_bytes) };
    }))
}

/// There is nothing to say of a plan.
unsafe extern "C" fn rocfft_plan_get_print(plan: rocfft_plan) -> Status {
    status(plan::get_plan(plan).map(drop))
}

unsafe extern "C" fn rocfft_plan_description_create(description: *mut rocfft_plan_description) -> Status {
    status(ensure(!description.is_null(), VALUE).map(|()| {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { description.write(plan::create_description()) };
    }))
}

unsafe extern "C" fn rocfft_plan_description_destroy(description: rocfft_plan_description) -> Status {
    status(plan::destroy_description(description))
}

unsafe extern "C" fn rocfft_plan_description_set_scale_factor(
    description: rocfft_plan_description,
    scale: f64,
) -> Status {
    status(ensure(scale.is_finite(), VALUE).and_then(|()| {
        plan::describe(description, |description| {
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
    status(plan::describe(description, |description| {
        // SAFETY: S11: the caller's offsets and strides.
        unsafe {
            description.input = layout(in_array, in_offsets, in_count, in_strides, in_distance)?;
            description.output = layout(out_array, out_offsets, out_count, out_strides, out_distance)?;
        }
        Ok(())
    }))
}

unsafe extern "C" fn rocfft_execution_info_create(info: *mut rocfft_execution_info) -> Status {
    status(ensure(!info.is_null(), VALUE).map(|()| {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { info.write(plan::create_info()) };
    }))
}

unsafe extern "C" fn rocfft_execution_info_destroy(info: rocfft_execution_info) -> Status {
    status(plan::destroy_info(info))
}

unsafe extern "C" fn rocfft_execution_info_set_work_buffer(
    info: rocfft_execution_info,
    buffer: *mut c_void,
    bytes: usize,
) -> Status {
    status(plan::inform(info, |info| (info.work, info.bytes) = (buffer as usize, bytes)))
}

unsafe extern "C" fn rocfft_execution_info_set_stream(
    info: rocfft_execution_info,
    stream: *mut c_void,
) -> Status {
    status(plan::inform(info, |info| info.stream = stream as usize))
}

/// A callback is a function of a device.
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
        let plan = plan::get_plan(plan)?;
        let apart = !plan.in_place;
        ensure(!(input.is_null() || apart && output.is_null()), VALUE)?;
        // SAFETY: S11: the caller's lists of one buffer each.
        let (input, output) = unsafe { (input.read(), if apart { output.read() } else { input.read() }) };
        ensure(!input.is_null() && !output.is_null(), VALUE)?;
        // SAFETY: S11: the caller's memory.
        unsafe { plan.execute(input, output, info) }
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

/// The layout of one side, as C's arguments say it.
///
/// # Safety
/// The pointers are null or have as many values as the sizes say; an offset has at least one.
unsafe fn layout(
    array: rocfft_array_type,
    offsets: *const usize,
    count: usize,
    strides: *const usize,
    distance: usize,
) -> Outcome<Layout> {
    ensure(count <= 3, VALUE)?;
    // SAFETY: S11: as promised.
    let offset = if offsets.is_null() { 0 } else { unsafe { offsets.read() } };
    let strides = if strides.is_null() || count == 0 {
        Vec::new()
    } else {
        // SAFETY: S11, S12: as promised.
        unsafe { std::slice::from_raw_parts(strides, count) }.to_vec()
    };
    let array = (array != rocfft_array_type::rocfft_array_type_unset).then_some(array);
    Ok(Layout { array, offset, strides, distance })
}
