//! The table's functions, with the same access to required functions and to those that only newer libraries
//! have.

use crate::case::Failure;
use hip_sys::Optional;

/// A function of the table.
pub(crate) trait Entry {
    /// The type of the C function.
    type Function;

    /// The function; skips the case if the library lacks it.
    fn entry(&self) -> Result<Self::Function, Failure>;
}

impl<F: Copy> Entry for Optional<F> {
    type Function = F;

    fn entry(&self) -> Result<F, Failure> {
        self.get().map_err(|absent| Failure::skip(absent.to_string()))
    }
}

macro_rules! entries {
    ($($($argument:ident)*;)*) => {
        $(impl<R, $($argument),*> Entry for unsafe extern "C" fn($($argument),*) -> R {
            type Function = Self;

            fn entry(&self) -> Result<Self, Failure> {
                Ok(*self)
            }
        })*
    };
}

entries! {
    ;
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
    A B C D E F G H I;
    A B C D E F G H I J;
    A B C D E F G H I J K;
}
