//! Plans of cuFFT behind handles of ours.

use crate::description::{Description, Side, arrays, number, type_of};
use crate::functions::Raw;
use crate::library::cufft;
use crate::status::{FAILURE, Outcome, VALUE, WORK, done, ensure};
use cudarc::cufft::sys::cufftType;
use hip_nvidia::library::{self, Device};
use hip_sys::hip::{hipError_t, hipStream_t};
use hip_sys::provider::Handles;
use hip_sys::rocfft::{
    rocfft_execution_info, rocfft_plan, rocfft_plan_description, rocfft_precision, rocfft_result_placement,
    rocfft_transform_type,
};
use parking_lot::Mutex;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, LazyLock};

/// A plan of cuFFT. It is destroyed after the last call that uses it.
pub(super) struct Plan {
    /// A plan is not for several threads at once.
    raw: Mutex<Raw>,
    device: &'static Device,
    kind: cufftType,
    inverse: bool,
    pub(super) in_place: bool,
    pub(super) work_bytes: usize,
}

/// The stream and the work buffer of an execution, by their addresses.
#[derive(Clone, Copy, Default)]
pub(super) struct Info {
    pub(super) stream: usize,
    pub(super) work: usize,
    pub(super) bytes: usize,
}

static PLANS: LazyLock<Handles<Plan>> = LazyLock::new(|| {
    library::on_reset(forget_device);
    Handles::new(0x33)
});
static DESCRIPTIONS: LazyLock<Handles<Mutex<Description>>> = LazyLock::new(|| Handles::new(0x34));
static INFOS: LazyLock<Handles<Mutex<Info>>> = LazyLock::new(|| Handles::new(0x35));

pub(super) fn create_description() -> rocfft_plan_description {
    DESCRIPTIONS.insert(Arc::default()) as rocfft_plan_description
}

pub(super) fn destroy_description(description: rocfft_plan_description) -> Outcome {
    DESCRIPTIONS.remove(description as usize).map(drop).map_err(|_| FAILURE)
}

/// Changes a description.
pub(super) fn describe(
    description: rocfft_plan_description,
    change: impl FnOnce(&mut Description) -> Outcome,
) -> Outcome {
    change(&mut DESCRIPTIONS.get(description as usize).map_err(|_| VALUE)?.lock())
}

pub(super) fn create_info() -> rocfft_execution_info {
    INFOS.insert(Arc::default()) as rocfft_execution_info
}

pub(super) fn destroy_info(info: rocfft_execution_info) -> Outcome {
    INFOS.remove(info as usize).map(drop).map_err(|_| FAILURE)
}

/// Changes what an execution is told.
pub(super) fn inform(info: rocfft_execution_info, change: impl FnOnce(&mut Info)) -> Outcome {
    change(&mut INFOS.get(info as usize).map_err(|_| VALUE)?.lock());
    Ok(())
}

pub(super) fn create_plan(
    placement: rocfft_result_placement,
    kind: rocfft_transform_type,
    precision: rocfft_precision,
    lengths: &[usize],
    batch: usize,
    description: rocfft_plan_description,
) -> Outcome<rocfft_plan> {
    let in_place = placement == rocfft_result_placement::rocfft_placement_inplace;
    let described = if description.is_null() {
        Description::default()
    } else {
        DESCRIPTIONS.get(description as usize).map_err(|_| VALUE)?.lock().clone()
    };
    // cuFFT has no factor.
    ensure(described.scale == 1.0 && batch > 0 && !lengths.contains(&0), VALUE)?;
    let theirs = type_of(kind, precision)?;
    let [in_array, out_array] = arrays(kind);
    let mut input = Side::of(&described.input, in_array, in_place, lengths)?;
    let mut output = Side::of(&described.output, out_array, in_place, lengths)?;
    let mut sizes = lengths.iter().rev().map(|&length| number(length)).collect::<Outcome<Vec<_>>>()?;
    let device = driven(library::enter())?;
    let mut raw = 0;
    // SAFETY: S1: a live variable; the device's context is current.
    done(unsafe { (cufft().cufftCreate)(&mut raw) })?;
    let mut plan = Plan {
        raw: Mutex::new(raw),
        device,
        kind: theirs,
        inverse: kind == rocfft_transform_type::rocfft_transform_type_complex_inverse,
        in_place,
        work_bytes: 0,
    };
    // SAFETY: S1, S11: the plan is new; the sizes are live, as many as there are directions.
    unsafe {
        done((cufft().cufftSetAutoAllocation)(raw, 0))?;
        done((cufft().cufftMakePlanMany64)(
            raw,
            sizes.len() as c_int,
            sizes.as_mut_ptr(),
            input.embed.as_mut_ptr(),
            input.stride,
            input.distance,
            output.embed.as_mut_ptr(),
            output.stride,
            output.distance,
            theirs as u32,
            number(batch)?,
            &mut plan.work_bytes,
        ))?;
    }
    Ok(PLANS.insert(Arc::new(plan)) as rocfft_plan)
}

pub(super) fn destroy_plan(plan: rocfft_plan) -> Outcome {
    PLANS.remove(plan as usize).map(drop).map_err(|_| FAILURE)
}

pub(super) fn get_plan(plan: rocfft_plan) -> Outcome<Arc<Plan>> {
    PLANS.get(plan as usize).map_err(|_| VALUE)
}

impl Plan {
    /// Executes it.
    ///
    /// # Safety
    /// The memory is the caller's, as the C function asks.
    pub(super) unsafe fn execute(
        &self,
        input: *mut c_void,
        output: *mut c_void,
        info: rocfft_execution_info,
    ) -> Outcome {
        let Info { stream, work, bytes } = if info.is_null() {
            Info::default()
        } else {
            *INFOS.get(info as usize).map_err(|_| VALUE)?.lock()
        };
        driven(self.device.enter())?;
        let stream = stream as hipStream_t;
        let raw_stream = if library::is_special(stream) {
            stream.cast()
        } else {
            let (raw, device) = driven(library::stream_of(stream))?;
            ensure(device.ordinal() == self.device.ordinal(), VALUE)?;
            raw
        };
        ensure(bytes >= self.work_bytes, WORK)?;
        // cuFFT reads and writes pairs of numbers, also of real data.
        let pair = match self.kind {
            cufftType::CUFFT_C2C | cufftType::CUFFT_R2C | cufftType::CUFFT_C2R => 8,
            cufftType::CUFFT_Z2Z | cufftType::CUFFT_D2Z | cufftType::CUFFT_Z2D => 16,
        };
        ensure(input.addr().is_multiple_of(pair) && output.addr().is_multiple_of(pair), VALUE)?;
        let plan = self.raw.lock();
        let direction = if self.inverse { 1 } else { -1 };
        let functions = cufft();
        // SAFETY: S2, S11: a live plan and stream, and the caller's memory.
        unsafe {
            done((functions.cufftSetStream)(*plan, raw_stream))?;
            if self.work_bytes > 0 {
                done((functions.cufftSetWorkArea)(*plan, work as *mut c_void))?;
            }
            done(match self.kind {
                cufftType::CUFFT_C2C => (functions.cufftExecC2C)(*plan, input, output, direction),
                cufftType::CUFFT_Z2Z => (functions.cufftExecZ2Z)(*plan, input, output, direction),
                cufftType::CUFFT_R2C => (functions.cufftExecR2C)(*plan, input, output),
                cufftType::CUFFT_C2R => (functions.cufftExecC2R)(*plan, input, output),
                cufftType::CUFFT_D2Z => (functions.cufftExecD2Z)(*plan, input, output),
                cufftType::CUFFT_Z2D => (functions.cufftExecZ2D)(*plan, input, output),
            })
        }
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        if self.device.enter().is_ok() {
            // SAFETY: S11: it was live, and nobody else has it any more. What it answers nobody waits for.
            unsafe { (cufft().cufftDestroy)(*self.raw.get_mut()) };
        }
    }
}

/// The driver's status as an outcome.
fn driven<T>(result: Result<T, hipError_t>) -> Outcome<T> {
    result.map_err(|_| FAILURE)
}

/// Destroys every plan on a device whose context is about to end.
fn forget_device(ordinal: usize) {
    PLANS.end_all(|plan| plan.device.ordinal() == ordinal);
}
