//! One unsafe function for each operation and type, over the two forms in which the library has it: statuses become results. Nothing else
//! here touches the table.
//!
//! # Safety
//! Every function asks of its caller what the C functions ask: a live handle that no other thread uses at the same time, operands inside live
//! memory of the handle's device, sizes that agree, and that device current (docs/SAFETY.md S1 to S3).

// The functions repeat C's; the trait seals a public one, and is reachable by that alone.
#![allow(clippy::too_many_arguments, unreachable_pub)]

mod calls;

pub use calls::Calls;

use hip_sys::RocsolverTable;
use hip_sys::rocblas::{rocblas_handle, rocblas_status};
use std::ffi::c_void;

/// A C call that did not succeed.
#[derive(Debug, Clone, Copy)]
pub struct Failure {
    pub(crate) function: &'static str,
    pub(crate) status: rocblas_status,
}

pub type Result = std::result::Result<(), Failure>;

/// What all functions get.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub(crate) table: &'a RocsolverTable,
    pub(crate) handle: rocblas_handle,
    /// The number of members, in the form at equal distances.
    pub(crate) batch: Option<i32>,
    /// The member that the plain form is called for, if members are called one after the other.
    pub(crate) member: Option<usize>,
    /// The addresses of the members of the matrices that lie anywhere.
    pub(crate) lists: &'a [Vec<*mut c_void>],
}

impl Call<'_> {
    /// The address of an operand.
    fn at(&self, operand: Operand) -> *mut c_void {
        let Operand { address, stride, element, list, .. } = operand;
        match (self.member, list) {
            (None, _) => address,
            (Some(member), Some(list)) => self.lists[list][member],
            (Some(member), None) => {
                address.wrapping_byte_add(member.wrapping_mul(stride as usize).wrapping_mul(element))
            }
        }
    }
}

/// A matrix or a vector as C takes it: the address of the first member, the leading dimension, and the elements, of so many bytes, from one
/// member to the next; or the index of its members' addresses in [`Call::lists`].
#[derive(Debug, Clone, Copy)]
pub struct Operand {
    pub(crate) address: *mut c_void,
    pub(crate) ld: i32,
    pub(crate) stride: i64,
    pub(crate) element: usize,
    pub(crate) list: Option<usize>,
}

impl Operand {
    /// None at all.
    pub(crate) const NONE: Self =
        Self { address: std::ptr::null_mut(), ld: 1, stride: 0, element: 0, list: None };
}

fn status(function: &'static str, status: rocblas_status) -> Result {
    match status {
        rocblas_status::rocblas_status_success => Ok(()),
        status => Err(Failure { function, status }),
    }
}

/// Calls one of two functions, given by their names: the plain one, or the one at equal distances. The arguments behind the handle are, in C's
/// order, `mat(o)`: address, ld, and the stride in the second form; `vec(o)`: the same without ld; `val(e)`: anything else; `count`: the
/// number of members in the second form.
macro_rules! invoke {
    ($call:ident, $plain:ident $strided:ident, $($args:tt)*) => {
        match $call.batch {
            None => invoke!(@plain $call, $plain, [] $($args)*),
            Some(count) => invoke!(@strided $call, count, $strided, [] $($args)*),
        }
    };
    (@plain $call:ident, $f:ident, [$($done:tt)*] mat($e:expr) $($rest:tt)*) => {
        invoke!(@plain $call, $f, [$($done)* $call.at($e).cast(), $e.ld,] $($rest)*)
    };
    (@plain $call:ident, $f:ident, [$($done:tt)*] vec($e:expr) $($rest:tt)*) => {
        invoke!(@plain $call, $f, [$($done)* $call.at($e).cast(),] $($rest)*)
    };
    (@plain $call:ident, $f:ident, [$($done:tt)*] val($e:expr) $($rest:tt)*) => {
        invoke!(@plain $call, $f, [$($done)* $e,] $($rest)*)
    };
    (@plain $call:ident, $f:ident, [$($done:tt)*] count $($rest:tt)*) => {
        invoke!(@plain $call, $f, [$($done)*] $($rest)*)
    };
    (@strided $call:ident, $n:ident, $f:ident, [$($done:tt)*] mat($e:expr) $($rest:tt)*) => {
        invoke!(@strided $call, $n, $f, [$($done)* $call.at($e).cast(), $e.ld, $e.stride,] $($rest)*)
    };
    (@strided $call:ident, $n:ident, $f:ident, [$($done:tt)*] vec($e:expr) $($rest:tt)*) => {
        invoke!(@strided $call, $n, $f, [$($done)* $call.at($e).cast(), $e.stride,] $($rest)*)
    };
    (@strided $call:ident, $n:ident, $f:ident, [$($done:tt)*] val($e:expr) $($rest:tt)*) => {
        invoke!(@strided $call, $n, $f, [$($done)* $e,] $($rest)*)
    };
    (@strided $call:ident, $n:ident, $f:ident, [$($done:tt)*] count $($rest:tt)*) => {
        invoke!(@strided $call, $n, $f, [$($done)* $n,] $($rest)*)
    };
    (@plain $call:ident, $f:ident, [$($done:tt)*]) => {
        // SAFETY: S1, S2, S3: the caller vouches for the operands.
        $crate::raw::status(stringify!($f), unsafe { ($call.table.$f)($call.handle, $($done)*) })
    };
    (@strided $call:ident, $n:ident, $f:ident, [$($done:tt)*]) => {
        // SAFETY: S1, S2, S3: the caller vouches for the operands.
        $crate::raw::status(stringify!($f), unsafe { ($call.table.$f)($call.handle, $($done)*) })
    };
}

use invoke;
