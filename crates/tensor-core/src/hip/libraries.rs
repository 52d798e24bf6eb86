//! The libraries of a device's platform beside HIP. They are opened when an operation first asks for them; where there are none, or a
//! library does not do it, the kernels of this workspace do.

use std::fmt;
use std::sync::OnceLock;

use hip_safe::Stream;
use rocblas_safe::Handle as Blas;

/// A device's handles of libraries.
pub(super) struct Libraries {
    wanted: bool,
    blas: OnceLock<Option<Blas>>,
}

impl Libraries {
    /// Those of the platform, unless they are not wanted, be it by `HIPSTACK_LIBRARIES=0`.
    pub(super) fn new(wanted: bool) -> Self {
        let wanted = wanted && std::env::var_os("HIPSTACK_LIBRARIES").is_none_or(|value| value != "0");
        Self { wanted, blas: OnceLock::new() }
    }

    /// rocBLAS, or what stands in its place. A handle is made once, and not while the stream captures.
    pub(super) fn blas(&self, stream: &Stream) -> Option<&Blas> {
        open(self.wanted, &self.blas, stream, || Blas::new(stream))
    }
}

/// What is in the cell; what `make` gives, if nothing has been tried yet. A library that cannot be opened is not asked for again.
fn open<'a, T, E: fmt::Display>(
    wanted: bool,
    cell: &'a OnceLock<Option<T>>,
    stream: &Stream,
    make: impl FnOnce() -> Result<T, E>,
) -> Option<&'a T> {
    if !wanted {
        return None;
    }
    if cell.get().is_none() && stream.is_capturing() {
        return None;
    }
    cell.get_or_init(|| make().ok()).as_ref()
}
