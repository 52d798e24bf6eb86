//! What the phases of an operation share: C's descriptors of its sparse matrices, with what the library found out about them, and work memory.

use crate::handle::{Handle, Shared, destroyed, table};
use crate::library;
use crate::matrix::Operand;
use crate::raw::{self, Api, Stage};
use crate::{Error, Result};
use hip_safe::{Device, DeviceBuffer, LibraryHandle, Stream, Submission};
use hip_sys::rocsparse::rocsparse_spmat_descr;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

/// An operation that asked for its size and looked at its matrices. Dropping it waits for the device: the library frees what it kept.
pub(crate) struct Prepared {
    matrices: LibraryHandle<Matrices>,
    work: DeviceBuffer<u8>,
    handle: Arc<Shared>,
}

/// C's descriptors.
struct Matrices(Vec<rocsparse_spmat_descr>);

// SAFETY: S8: they are addresses; calls with them are made under the lock of the handle.
unsafe impl Send for Matrices {}
// SAFETY: S8: as above.
unsafe impl Sync for Matrices {}

/// The address of dense operands that are not there yet. Only the phase that computes uses theirs.
pub(crate) fn nowhere() -> *mut c_void {
    NonNull::<u128>::dangling().as_ptr().cast()
}

impl Prepared {
    /// Runs the phases before the one that computes.
    ///
    /// # Safety
    /// The call is the library's for one operation in the stage given, with the descriptors of these operands in their order, and uses
    /// beside them only the work memory.
    pub(crate) unsafe fn new(
        handle: &Handle,
        doing: &'static str,
        operands: &[&dyn Operand],
        mut call: impl FnMut(Api<'_>, &[rocsparse_spmat_descr], Stage<'_>) -> raw::Result,
    ) -> Result<Self> {
        let (device, shared) = (handle.device(), handle.shared());
        let table = table(device)?;
        let mut matrices = LibraryHandle::new(device, Matrices(Vec::new()), destroy);
        for operand in operands {
            let of = operand.description();
            // SAFETY: S1, S3: the device is current, and the operand has the memory that its description names.
            let made = device.call_alone(|| unsafe { raw::create_spmat(table, &of) })??;
            matrices.get_mut().0.push(made);
        }
        let raw = &matrices.get().0;
        let submission = || {
            let mut submission = handle.stream().submission();
            operands.iter().for_each(|operand| operand.read(&mut submission));
            submission
        };
        let mut bytes = 0;
        // SAFETY: S2: as the caller vouches.
        unsafe { shared.submit(submission(), doing, |api| call(api, raw, Stage::Size(&mut bytes))) }?;
        // An address there has to be: without one C asks for the size again.
        // SAFETY: S15: it is the library's alone, which reads what it has written there.
        let work =
            unsafe { handle.stream().alloc_uninit::<u8>(bytes.max(1)) }?.named("work memory of rocSPARSE");
        let address: *mut c_void = work.device_ptr().cast_mut().cast();
        {
            let mut submission = submission();
            submission.order_by(&work);
            // SAFETY: S2: as the caller vouches; the work memory has the size that was asked for.
            unsafe { shared.submit(submission, doing, |api| call(api, raw, Stage::Preprocess(address))) }?;
        }
        Ok(Self { matrices, work, handle: Arc::clone(shared) })
    }

    pub(crate) fn stream(&self) -> &Stream {
        self.handle.stream()
    }

    /// Submits the phase that computes.
    ///
    /// # Safety
    /// The call is the library's for the same operation, with these descriptors, and uses beside the work memory only what the submission
    /// names, which includes the operands.
    pub(crate) unsafe fn compute<'a, R>(
        &'a self,
        mut submission: Submission<'a>,
        doing: &'static str,
        call: impl FnOnce(Api<'_>, &[rocsparse_spmat_descr], Stage<'_>) -> raw::Result<R>,
    ) -> Result<R> {
        submission.order_by(&self.work);
        let work = self.work.device_ptr().cast_mut().cast();
        let call = |api: Api<'_>| call(api, &self.matrices.get().0, Stage::Compute(work));
        // SAFETY: S2, S23: as the caller vouches; the work memory has the size that was asked for.
        unsafe { self.handle.submit(submission, doing, call) }
    }
}

fn destroy(device: &Device, matrices: &mut Matrices) -> hip_safe::Result<()> {
    // They were made by it.
    let Ok(library) = library(device.platform()) else { return Ok(()) };
    let mut outcome = Ok(());
    for raw in matrices.0.drain(..) {
        // SAFETY: S1, S3, S4: these are the only references, and all work is complete.
        let ended = unsafe { raw::destroy_spmat(library.table(), raw) };
        outcome =
            outcome.and(ended.map_err(|failure| destroyed(failure, "destroying a descriptor of rocSPARSE")));
    }
    outcome
}

/// Fails if a length is not the one that is needed.
pub(crate) fn check_length(what: &'static str, needed: usize, len: usize) -> Result<()> {
    if needed == len { Ok(()) } else { Err(Error::Length { what, needed, len }) }
}

/// Fails if a shape is not the one that is needed.
pub(crate) fn check_shape(what: &'static str, needed: [usize; 2], found: [usize; 2]) -> Result<()> {
    if needed == found { Ok(()) } else { Err(Error::Shape { what, found, needed }) }
}
