//! One unsafe function per C function: the arguments as they are, the status as a result. Only this module reads the table.

pub(crate) mod activation;
pub(crate) mod attention;
pub(crate) mod convolution;
pub(crate) mod ctc;
pub(crate) mod dropout;
pub(crate) mod find;
pub(crate) mod fusion;
pub(crate) mod handle;
pub(crate) mod norm;
pub(crate) mod pooling;
pub(crate) mod reduce;
pub(crate) mod rnn;
pub(crate) mod tensor;

use hip_sys::miopen::miopenStatus_t;
use hip_sys::{LoadError, Unsupported};

/// Why a C function did not do it.
#[derive(Debug, Clone)]
pub(crate) enum Failure {
    /// It answered a status.
    Status(&'static str, miopenStatus_t),
    /// The library does not have it.
    Absent(Unsupported),
    /// There is no library.
    NoLibrary(LoadError),
}

impl Failure {
    fn check(call: &'static str, status: miopenStatus_t) -> Result<(), Self> {
        if status == miopenStatus_t::miopenStatusSuccess { Ok(()) } else { Err(Self::Status(call, status)) }
    }
}

/// Functions that every version has. Each takes what the C function takes, and its caller vouches for the same.
macro_rules! calls {
    ($($name:ident = $symbol:ident($($argument:ident: $type:ty),* $(,)?);)*) => {$(
        #[allow(clippy::too_many_arguments)]
        pub(crate) unsafe fn $name(library: &Miopen, $($argument: $type),*) -> Result<(), Failure> {
            // SAFETY: S1: the caller gives what the C function takes.
            Failure::check(stringify!($symbol), unsafe { (library.table().$symbol)($($argument),*) })
        }
    )*};
}

/// As [`calls!`], for functions that later versions brought.
macro_rules! optional_calls {
    ($($name:ident = $symbol:ident($($argument:ident: $type:ty),* $(,)?);)*) => {$(
        #[allow(clippy::too_many_arguments)]
        pub(crate) unsafe fn $name(library: &Miopen, $($argument: $type),*) -> Result<(), Failure> {
            let function = library.table().$symbol.get().map_err(Failure::Absent)?;
            // SAFETY: S1: the caller gives what the C function takes.
            Failure::check(stringify!($symbol), unsafe { function($($argument),*) })
        }
    )*};
}

use {calls, optional_calls};
