//! A plan of the library.

use crate::convert::status_name;
use crate::extent::Sides;
use crate::raw::{self, Description};
use crate::{Complex, Error, Real, Result, Spec, Transform, convert, library};
use hip_safe::{Device, DeviceBuffer, DeviceRepr, DeviceView, DeviceViewMut, LibraryHandle, Stream};
use hip_sys::RocfftTable;
use hip_sys::rocfft::rocfft_plan;
use parking_lot::Mutex;
use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::Arc;

/// A plan for a device, with numbers of one precision. It may be used from several threads and on several streams; its executions come one
/// after the other.
///
/// The last owner waits for the device when it is dropped. In a host function, and on a thread that captures, another thread does that. A graph that
/// captured executions keeps the plan.
pub struct Plan<T> {
    spec: Spec,
    sides: Sides,
    work_bytes: usize,
    shared: Arc<Shared>,
    precision: PhantomData<fn() -> T>,
}

/// C's plan.
struct Shared {
    handle: LibraryHandle<RawPlan>,
    /// Held during a call.
    lock: Mutex<()>,
    /// The library may keep memory with a plan that all its executions use: this orders them, on whichever stream.
    state: DeviceBuffer<u8>,
}

struct RawPlan(rocfft_plan);

// SAFETY: S8: it is an address; calls with it are made under a lock.
unsafe impl Send for RawPlan {}
// SAFETY: S8: as above.
unsafe impl Sync for RawPlan {}

/// The memory of an execution.
pub(crate) enum Memory<'a, I, O> {
    Apart(DeviceView<'a, I>, DeviceViewMut<'a, O>),
    /// The library may overwrite the input.
    ApartBoth(DeviceViewMut<'a, I>, DeviceViewMut<'a, O>),
    InPlace(DeviceViewMut<'a, O>),
}

impl<T: Real> Plan<T>
where
    Complex<T>: DeviceRepr,
{
    /// A plan. The library may compile kernels for it, which takes some time.
    ///
    /// # Errors
    /// [`Error::Spec`] for a description without a meaning; [`Error::NoLibrary`] if the platform has no rocFFT; [`Error::Status`] if that has no
    /// such transform.
    #[doc(alias = "rocfft_plan_create")]
    #[doc(alias = "rocfft_setup")]
    pub fn new(device: &Device, spec: &Spec) -> Result<Self> {
        let sides = Sides::of(spec)?;
        let table = table(device)?;
        let turned = |values: &[usize]| values.iter().rev().copied().collect::<Vec<_>>();
        let (lengths, [input, output]) =
            (turned(&spec.lengths), [&sides.input, &sides.output].map(|side| turned(&side.layout.strides)));
        let [in_array, out_array] = convert::arrays(spec.transform);
        let description = Description {
            in_place: spec.in_place,
            kind: convert::kind(spec.transform),
            precision: T::PRECISION,
            lengths: &lengths,
            batch: spec.batch,
            sides: [
                raw::Side { array: in_array, strides: &input, distance: sides.input.layout.distance },
                raw::Side { array: out_array, strides: &output, distance: sides.output.layout.distance },
            ],
            scale: spec.scale,
        };
        let stream = device.new_stream()?;
        let (state, plan, work_bytes) = device.call_alone(|| {
            let state = stream.alloc_zeros(1)?;
            set_up(table)?;
            // SAFETY: S1, S3: the device is current.
            let plan = unsafe { raw::plan_create(table, &description) }?;
            // SAFETY: S1: the plan was just made.
            let bytes = unsafe { raw::plan_get_work_buffer_size(table, plan) };
            Ok::<_, Error>((state, plan, bytes))
        })??;
        let handle = LibraryHandle::new(device, RawPlan(plan), destroy);
        let shared = Arc::new(Shared { handle, lock: Mutex::new(()), state });
        Ok(Self { spec: spec.clone(), sides, work_bytes: work_bytes?, shared, precision: PhantomData })
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        self.shared.handle.device()
    }

    /// What it was made of.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The elements from the first to the last one of the input and of the output, each in real or complex numbers as that side has them.
    pub fn reach(&self) -> [usize; 2] {
        [self.sides.input.reach, self.sides.output.reach]
    }

    /// The bytes of work memory that an execution takes from the pool.
    #[doc(alias = "rocfft_plan_get_work_buffer_size")]
    pub fn work_bytes(&self) -> usize {
        self.work_bytes
    }

    /// Destroys it, if no graph keeps it, and returns any error.
    ///
    /// # Errors
    /// [`Error::Hip`]: the library refuses, or the work cannot be waited for. In a host function and while this thread captures another thread
    /// destroys it.
    #[doc(alias = "rocfft_plan_destroy")]
    pub fn close(self) -> Result<()> {
        match Arc::into_inner(self.shared) {
            Some(Shared { handle, .. }) => Ok(handle.close()?),
            None => Ok(()),
        }
    }

    /// The complex numbers of both sides in place.
    pub(crate) fn reach_in_place(&self) -> usize {
        let Sides { input, output } = &self.sides;
        match self.spec.transform {
            Transform::Complex(_) => input.reach,
            // The real side has a row of two for each complex number.
            Transform::RealForward => output.reach.max(input.reach.div_ceil(2)),
            Transform::RealInverse => input.reach.max(output.reach.div_ceil(2)),
        }
    }

    /// Submits an execution.
    ///
    /// # Errors
    /// Those of memory that cannot be used; [`Error::Status`].
    ///
    /// # Safety
    /// The memory has the plan's elements, of its types, in place if the plan is.
    #[doc(alias = "rocfft_execute")]
    pub(crate) unsafe fn submit<I: DeviceRepr, O: DeviceRepr>(
        &self,
        stream: &Stream,
        mut memory: Memory<'_, I, O>,
    ) -> Result<()> {
        let table = table(self.device())?;
        let mut work = match self.work_bytes {
            0 => None,
            // SAFETY: S15: it is the library's alone, which reads what it has written there.
            bytes => Some(unsafe { stream.alloc_uninit::<u8>(bytes) }?.named("work memory of rocFFT")),
        };
        let mut submission = stream.submission();
        let (input, output): (*mut c_void, *mut c_void) = match &mut memory {
            Memory::Apart(input, output) => {
                let addresses = (input.device_ptr().cast_mut().cast(), output.device_ptr_mut().cast());
                submission.read(input).write(output);
                addresses
            }
            Memory::ApartBoth(input, output) => {
                let addresses = (input.device_ptr_mut().cast(), output.device_ptr_mut().cast());
                submission.write(input).write(output);
                addresses
            }
            Memory::InPlace(both) => {
                let address = both.device_ptr_mut().cast();
                submission.write(both);
                (address, null_mut())
            }
        };
        let mut space = (null_mut(), 0);
        if let Some(work) = &mut work {
            space = (work.device_ptr_mut().cast(), self.work_bytes);
            submission.write(work);
        }
        submission.order_by(&self.shared.state).keep(Arc::clone(&self.shared) as _);
        let call = |raw| {
            let _one = self.shared.lock.lock();
            let plan = self.shared.handle.get().0;
            // SAFETY: S1, S2, S3: plan and stream are live, the device is current, and the caller vouches for the memory.
            unsafe { raw::execute(table, plan, raw, input, output, space) }
        };
        // SAFETY: S5, S23: the library submits to this stream alone; its work uses the operands, the work memory, and what belongs to the plan,
        // which `state` orders.
        let answer = unsafe { submission.submit("a Fourier transform", call) }?;
        Ok(answer?)
    }
}

/// The library's functions.
fn table(device: &Device) -> Result<&RocfftTable> {
    match library(device.platform()) {
        Ok(library) => Ok(library.table()),
        Err(error) => Err(Error::NoLibrary(error.clone())),
    }
}

/// The library wants this before any plan, once. Nothing cleans it up: it serves until the process exits.
fn set_up(table: &RocfftTable) -> Result<(), raw::Failure> {
    static DONE: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let mut done = DONE.lock();
    let function = table.rocfft_setup as usize;
    if !done.contains(&function) {
        // SAFETY: S1: it takes nothing.
        unsafe { raw::setup(table) }?;
        done.push(function);
    }
    Ok(())
}

fn destroy(device: &Device, plan: &mut RawPlan) -> hip_safe::Result<()> {
    // The plan was made by it.
    let Ok(library) = library(device.platform()) else { return Ok(()) };
    // SAFETY: S1, S3, S4: this is the only reference, and all work is complete.
    unsafe { raw::plan_destroy(library.table(), plan.0) }.map_err(|failure| hip_safe::Error::Hip {
        call: failure.function,
        code: failure.status.0,
        name: status_name(failure.status).into(),
        doing: "destroying a plan".into(),
        cause: None,
    })
}

impl<T> fmt::Debug for Plan<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Spec { transform, lengths, batch, .. } = &self.spec;
        write!(f, "Plan {transform:?} {lengths:?} x {batch}")
    }
}
