//! Plans, their descriptions, and the settings of an execution.

use crate::geometry::{Geometry, Kind, Layout};
use crate::status::{ARRAY, FAILURE, Outcome, VALUE, ensure};
use crate::transform::Transform;
use hip_host::library::{Device, Job, Uses};
use hip_sys::hip::hipStream_t;
use hip_sys::provider::Handles;
use hip_sys::rocfft::{
    rocfft_execution_info, rocfft_plan, rocfft_plan_description, rocfft_precision as precision,
    rocfft_result_placement as placement, rocfft_transform_type,
};
use parking_lot::Mutex;
use std::sync::{Arc, LazyLock};

/// The most elements of a side. No device of the host has memory for more.
const MOST_ELEMENTS: usize = 1 << 40;

/// What a plan is made of, beside its sizes.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    pub(crate) input: Layout,
    pub(crate) output: Layout,
    pub(crate) scale: f64,
}

/// A plan. Queued calls keep it.
pub(crate) struct Plan {
    /// The device that was current when it was made.
    device: Device,
    geometry: Geometry,
    transform: Arc<Precision>,
}

enum Precision {
    Single(Transform<f32>),
    Double(Transform<f64>),
}

/// The stream of an execution.
#[derive(Default)]
pub(crate) struct Info {
    stream: usize,
}

static DESCRIPTIONS: LazyLock<Handles<Mutex<Description>>> = LazyLock::new(|| Handles::new(0x64));
static PLANS: LazyLock<Handles<Plan>> = LazyLock::new(|| Handles::new(0x65));
static INFOS: LazyLock<Handles<Mutex<Info>>> = LazyLock::new(|| Handles::new(0x66));

pub(crate) fn create_description() -> rocfft_plan_description {
    let description = Description { input: Layout::default(), output: Layout::default(), scale: 1.0 };
    DESCRIPTIONS.insert(Arc::new(Mutex::new(description))) as rocfft_plan_description
}

pub(crate) fn destroy_description(description: rocfft_plan_description) -> Outcome {
    DESCRIPTIONS.remove(description as usize).map(drop).map_err(|_| FAILURE)
}

/// Changes a description.
pub(crate) fn describe(
    description: rocfft_plan_description,
    change: impl FnOnce(&mut Description) -> Outcome,
) -> Outcome {
    let description = DESCRIPTIONS.get(description as usize).map_err(|_| VALUE)?;
    change(&mut description.lock())
}

pub(crate) fn create_info() -> rocfft_execution_info {
    INFOS.insert(Arc::default()) as rocfft_execution_info
}

pub(crate) fn destroy_info(info: rocfft_execution_info) -> Outcome {
    INFOS.remove(info as usize).map(drop).map_err(|_| FAILURE)
}

pub(crate) fn set_stream(info: rocfft_execution_info, stream: usize) -> Outcome {
    INFOS.get(info as usize).map_err(|_| VALUE)?.lock().stream = stream;
    Ok(())
}

pub(crate) fn is_info(info: rocfft_execution_info) -> Outcome {
    INFOS.get(info as usize).map(drop).map_err(|_| VALUE)
}

pub(crate) fn create_plan(
    placed: placement,
    kind: rocfft_transform_type,
    numbers: precision,
    lengths: &[usize],
    batch: usize,
    description: rocfft_plan_description,
) -> Outcome<rocfft_plan> {
    let in_place = match placed {
        placement::rocfft_placement_inplace => true,
        placement::rocfft_placement_notinplace => false,
        _ => return Err(VALUE),
    };
    let description = if description.is_null() {
        Description { input: Layout::default(), output: Layout::default(), scale: 1.0 }
    } else {
        DESCRIPTIONS.get(description as usize).map_err(|_| VALUE)?.lock().clone()
    };
    let sides = [&description.input, &description.output];
    let geometry = Geometry::new(Kind::of(kind)?, in_place, lengths.to_vec(), batch, sides)?;
    // The transforms allocate tables as long as the data, and a failed allocation would end the process.
    for side in [&geometry.input, &geometry.output] {
        ensure(side.extent(batch).is_some_and(|elements| elements <= MOST_ELEMENTS), FAILURE)?;
    }
    let transform = match numbers {
        precision::rocfft_precision_single => {
            Precision::Single(Transform::new(&geometry, description.scale as f32))
        }
        precision::rocfft_precision_double => Precision::Double(Transform::new(&geometry, description.scale)),
        // rustfft has no f16.
        precision::rocfft_precision_half => return Err(ARRAY),
        _ => return Err(VALUE),
    };
    let plan = Plan { device: Device::current(), geometry, transform: Arc::new(transform) };
    Ok(PLANS.insert(Arc::new(plan)) as rocfft_plan)
}

/// Destroys a plan. Queued calls still run.
pub(crate) fn destroy_plan(plan: rocfft_plan) -> Outcome {
    PLANS.remove(plan as usize).map(drop).map_err(|_| FAILURE)
}

pub(crate) fn get_plan(plan: rocfft_plan) -> Outcome<Arc<Plan>> {
    PLANS.get(plan as usize).map_err(|_| VALUE)
}

impl Plan {
    pub(crate) fn is_in_place(&self) -> bool {
        self.geometry.in_place
    }

    /// Submits the transform. In place both addresses are the same.
    ///
    /// # Safety
    /// The memory is the caller's, as the C function asks.
    pub(crate) unsafe fn execute(&self, input: usize, output: usize, info: rocfft_execution_info) -> Outcome {
        let stream =
            if info.is_null() { 0 } else { INFOS.get(info as usize).map_err(|_| VALUE)?.lock().stream };
        let mut uses = Uses::default();
        let Geometry { input: from, output: to, batch, kind, in_place, .. } = &self.geometry;
        let parts = |real: bool| if real { 1 } else { 2 };
        let from = from.extent(*batch).and_then(|count| count.checked_mul(parts(*kind == Kind::RealForward)));
        let to = to.extent(*batch).and_then(|count| count.checked_mul(parts(*kind == Kind::RealInverse)));
        let (from, to) = (from.ok_or(VALUE)?, to.ok_or(VALUE)?);
        let named = match (&*self.transform, in_place) {
            (Precision::Single(_), true) => uses.write(output as *mut f32, from.max(to)),
            (Precision::Double(_), true) => uses.write(output as *mut f64, from.max(to)),
            (Precision::Single(_), false) => {
                uses.read(input as *const f32, from).and_then(|()| uses.write(output as *mut f32, to))
            }
            (Precision::Double(_), false) => {
                uses.read(input as *const f64, from).and_then(|()| uses.write(output as *mut f64, to))
            }
        };
        named.map_err(|_| VALUE)?;
        let transform = Arc::clone(&self.transform);
        let body = move || match &*transform {
            // SAFETY: S11, S12: the call named this memory, so nothing else uses it while this runs.
            Precision::Single(transform) => unsafe { transform.run(input, output) },
            // SAFETY: S11, S12: as above.
            Precision::Double(transform) => unsafe { transform.run(input, output) },
        };
        let job = Job { name: "rocfft_execute", spreads: false, fits: || true };
        let stream = stream as hipStream_t;
        // SAFETY: S11: the body uses what was named.
        self.device.while_current(|| unsafe { uses.submit(stream, job, body) }).map_err(|_| FAILURE)
    }
}

/// The layout of one side, as C's arguments say it.
///
/// # Safety
/// The pointers are null or have as many values as the sizes say; an offset has at least one.
pub(crate) unsafe fn layout(
    array: hip_sys::rocfft::rocfft_array_type,
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
    let array = (array != hip_sys::rocfft::rocfft_array_type::rocfft_array_type_unset).then_some(array);
    Ok(Layout { array, offset, strides, distance })
}
