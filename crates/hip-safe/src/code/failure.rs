//! What a kernel says before it stops itself: a module with the global [`GLOBAL`] gets a record in the host's memory.
//!
//! After a kernel has failed, a GPU answers nothing but errors, so that its own memory cannot be read any more. Memory of the host can.

use crate::Result;
use crate::device::{Device, Inner};
use crate::drop_errors::report_failure;
use crate::handle::Handle;
use crate::raw::{self, Failure};
use hip_sys::Platform;
use hip_sys::hip::{hipError_t, hipHostMallocMapped, hipHostMallocPortable, hipMemcpyKind, hipModule_t};
use parking_lot::Mutex;
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The global: the address of a [`Record`], of zeros at first. A thread that is to stop its kernel changes the state from 0 to 1, and whoever
/// did that fills in the rest, and then [`TOLD`]. hip-kernel does, in `failure.rs`.
const GLOBAL: &CStr = c"hip_kernel_failure";

#[repr(C)]
struct Record {
    state: AtomicU32,
    line: u32,
    column: u32,
    block: [u32; 3],
    thread: [u32; 3],
    file_len: u32,
    file: [u8; 472],
}

const TOLD: u32 = 2;

impl Record {
    /// The text of a complete record.
    fn text(&self) -> Box<str> {
        let file = &self.file[..self.file.len().min(self.file_len as usize)];
        let ([a, b, c], [x, y, z]) = (self.block, self.thread);
        let (file, line, column) = (String::from_utf8_lossy(file), self.line, self.column);
        format!("a kernel panicked at {file}:{line}:{column}, block ({a}, {b}, {c}), thread ({x}, {y}, {z})")
            .into()
    }
}

/// The memory of a module's record.
pub(crate) struct FailureRecord(Handle<c_void>);

/// The records of a device's modules. Locked for a moment: nothing is called meanwhile.
#[derive(Default)]
pub(crate) struct FailureRecords(Mutex<Vec<Arc<FailureRecord>>>);

impl FailureRecords {
    /// What one of the kernels has said.
    pub(crate) fn told(&self) -> Option<Box<str>> {
        self.0.lock().iter().find_map(|record| record.text())
    }
}

impl FailureRecord {
    /// The record of a module that was just loaded, if its code asks for one.
    pub(crate) fn of(device: &Device, module: hipModule_t) -> Result<Option<Arc<Self>>> {
        let doing = || {
            format!(
                "giving a module {} bytes of pinned memory for the text of a panic (code built with --panics trap needs none)",
                size_of::<Record>()
            )
        };
        // SAFETY: S1, S3: the module is live and its device current.
        let find = |p: &Platform| match unsafe { raw::module_get_global(p, module, GLOBAL) } {
            Ok((address, bytes)) => Ok((bytes == size_of::<*mut c_void>()).then_some(address)),
            Err(Failure { code: hipError_t::hipErrorNotFound, .. }) => Ok(None),
            Err(failure) => Err(failure),
        };
        let Some(global) = device.run(doing, find)? else { return Ok(None) };
        let bytes = size_of::<Record>();
        // Without `Mapped` AMD takes memory whose writes may be seen only after the kernel, and a kernel that failed never ends.
        let flags = hipHostMallocPortable | hipHostMallocMapped;
        // SAFETY: S1, S3: the device is current.
        let memory = device.run(doing, |p| unsafe { raw::host_malloc(p, bytes, flags) })?;
        // SAFETY: S2, S15: it was just allocated with that length, and there is no other reference.
        unsafe { memory.raw().cast::<u8>().write_bytes(0, bytes) };
        let record = Arc::new(Self(memory));
        let address = memory.raw();
        let (source, bytes) = ((&raw const address).cast(), size_of_val(&address));
        let kind = hipMemcpyKind::hipMemcpyHostToDevice;
        let tell = |p: &Platform| {
            // SAFETY: S1, S2: both have the size of an address, the source is a live local, and the call waits for the copy.
            unsafe { raw::memcpy_with_stream(p, global, source, bytes, kind, null_mut()) }
        };
        if let Err(error) = device.run(doing, tell) {
            report_failure(record.free(device.inner()));
            return Err(error);
        }
        device.inner().failure_records().0.lock().push(Arc::clone(&record));
        Ok(Some(record))
    }

    fn text(&self) -> Option<Box<str>> {
        let record = self.0.raw().cast::<Record>();
        // SAFETY: S15: the memory is live while it is listed, and kernels access its first word atomically.
        let state = unsafe { &(*record).state };
        // SAFETY: S15: nobody writes to a complete record.
        (state.load(Ordering::Acquire) == TOLD).then(|| unsafe { &*record }.text())
    }

    /// Frees the memory; no kernel of the module runs any more.
    pub(crate) fn release(self: Arc<Self>, device: &Inner) -> Result<()> {
        device.failure_records().0.lock().retain(|one| !Arc::ptr_eq(one, &self));
        self.free(device)
    }

    fn free(&self, device: &Inner) -> Result<()> {
        let doing = || "freeing the pinned memory for the text of a panic".to_owned();
        // SAFETY: S1, S4: it is in no list, so nobody reads it, and its module's kernels are complete or never ran.
        device.run(doing, |p| unsafe { raw::host_free(p, self.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_a_text() {
        let mut file = [0; 472];
        file[..8].copy_from_slice(b"src/k.rs");
        let (state, block, thread) = (AtomicU32::new(TOLD), [1, 0, 0], [5, 6, 0]);
        let record = Record { state, line: 7, column: 9, block, thread, file_len: 8, file };
        let text = "a kernel panicked at src/k.rs:7:9, block (1, 0, 0), thread (5, 6, 0)";
        assert_eq!(&*record.text(), text);
    }
}
