//! One unsafe function for each C function: statuses become results. Nothing else here touches the table.
//!
//! # Safety
//! Every function asks of its caller what the C functions ask: live objects that no other thread uses at the same time, memory of the plan's
//! device, and that device current (docs/SAFETY.md S1 to S3).

use hip_sys::RocfftTable;
use hip_sys::hip::hipStream_t;
use hip_sys::rocfft::{
    rocfft_array_type, rocfft_execution_info, rocfft_plan, rocfft_plan_description, rocfft_precision,
    rocfft_result_placement, rocfft_status, rocfft_transform_type,
};
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// A C call that did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    pub(crate) function: &'static str,
    pub(crate) status: rocfft_status,
}

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

macro_rules! call {
    ($table:ident, $function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: S1, S3: each use says why its arguments are what the C function asks for.
        match unsafe { ($table.$function)($($argument),*) } {
            rocfft_status::rocfft_status_success => Ok(()),
            status => Err(Failure { function: stringify!($function), status }),
        }
    };
}

pub(crate) unsafe fn setup(table: &RocfftTable) -> Result {
    // SAFETY: S1: it takes nothing.
    call!(table, rocfft_setup())
}

/// A side: its array type, its strides with the fastest first, and its distance.
pub(crate) struct Side<'a> {
    pub(crate) array: rocfft_array_type,
    pub(crate) strides: &'a [usize],
    pub(crate) distance: usize,
}

/// What a plan is made of.
pub(crate) struct Description<'a> {
    pub(crate) in_place: bool,
    pub(crate) kind: rocfft_transform_type,
    pub(crate) precision: rocfft_precision,
    /// The fastest first.
    pub(crate) lengths: &'a [usize],
    pub(crate) batch: usize,
    pub(crate) sides: [Side<'a>; 2],
    pub(crate) scale: f64,
}

pub(crate) unsafe fn plan_create(table: &RocfftTable, of: &Description<'_>) -> Result<rocfft_plan> {
    let mut description = null_mut();
    // SAFETY: S1: the out-pointer is live.
    call!(table, rocfft_plan_description_create(&mut description))?;
    // SAFETY: S1: the description is live, and destroyed below.
    let plan = unsafe { plan_of(table, of, description) };
    // SAFETY: S1, S4: nobody else has it; a plan keeps what it needs of it.
    let destroyed = call!(table, rocfft_plan_description_destroy(description));
    let plan = plan?;
    destroyed.map(|()| plan)
}

unsafe fn plan_of(
    table: &RocfftTable,
    of: &Description<'_>,
    description: rocfft_plan_description,
) -> Result<rocfft_plan> {
    let [input, output] = &of.sides;
    // SAFETY: S1: the strides are live, as many as their number says; there are no offsets.
    call!(
        table,
        rocfft_plan_description_set_data_layout(
            description,
            input.array,
            output.array,
            null(),
            null(),
            input.strides.len(),
            input.strides.as_ptr(),
            input.distance,
            output.strides.len(),
            output.strides.as_ptr(),
            output.distance,
        )
    )?;
    if of.scale != 1.0 {
        // SAFETY: S1: the description is live.
        call!(table, rocfft_plan_description_set_scale_factor(description, of.scale))?;
    }
    let placement = match of.in_place {
        true => rocfft_result_placement::rocfft_placement_inplace,
        false => rocfft_result_placement::rocfft_placement_notinplace,
    };
    let (dimensions, lengths) = (of.lengths.len(), of.lengths.as_ptr());
    let mut plan = null_mut();
    // SAFETY: S1, S3: the out-pointer and the lengths are live; the caller made the device current.
    call!(
        table,
        rocfft_plan_create(
            &mut plan,
            placement,
            of.kind,
            of.precision,
            dimensions,
            lengths,
            of.batch,
            description
        )
    )?;
    Ok(plan)
}

pub(crate) unsafe fn plan_destroy(table: &RocfftTable, plan: rocfft_plan) -> Result {
    // SAFETY: S1, S4: the caller owns the plan and nothing uses it any more.
    call!(table, rocfft_plan_destroy(plan))
}

pub(crate) unsafe fn plan_get_work_buffer_size(table: &RocfftTable, plan: rocfft_plan) -> Result<usize> {
    let mut bytes = 0;
    // SAFETY: S1: the plan and the out-pointer are live.
    call!(table, rocfft_plan_get_work_buffer_size(plan, &mut bytes))?;
    Ok(bytes)
}

/// Executes on a stream. In place the output is null.
pub(crate) unsafe fn execute(
    table: &RocfftTable,
    plan: rocfft_plan,
    stream: hipStream_t,
    mut input: *mut c_void,
    mut output: *mut c_void,
    (work, bytes): (*mut c_void, usize),
) -> Result {
    let mut info = null_mut();
    // SAFETY: S1: the out-pointer is live.
    call!(table, rocfft_execution_info_create(&mut info))?;
    let done = (|| {
        // SAFETY: S1: the info and the stream are live.
        call!(table, rocfft_execution_info_set_stream(info, stream.cast()))?;
        if bytes > 0 {
            // SAFETY: S1, S2: the caller vouches for the memory.
            call!(table, rocfft_execution_info_set_work_buffer(info, work, bytes))?;
        }
        let outputs: *mut *mut c_void = if output.is_null() { null_mut() } else { &mut output };
        // SAFETY: S1, S2, S3: lists of one buffer each; the caller vouches for the memory.
        call!(table, rocfft_execute(plan, &mut input, outputs, info))
    })();
    let _: rocfft_execution_info = info;
    // SAFETY: S1, S4: nobody else has it; submitted work does not need it.
    done.and(call!(table, rocfft_execution_info_destroy(info)))
}
