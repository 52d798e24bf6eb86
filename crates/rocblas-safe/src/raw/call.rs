//! How one operation becomes a call of one of the C functions that do it: plain, on an array of addresses, or at equal distances; with
//! 32-bit sizes, or with 64-bit ones where those are needed.

use hip_sys::RocblasTable;
use hip_sys::rocblas::{rocblas_handle, rocblas_status};
use std::ffi::c_void;

/// A C call that did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    Status { function: &'static str, status: rocblas_status },
    Absent { function: &'static str, since: &'static str },
}

pub type Result<T> = std::result::Result<T, Failure>;

/// Which of the three functions of an operation is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Single,
    Pointers,
    Strided,
}

/// What all functions get.
pub struct Call<'a> {
    pub(crate) table: &'a RocblasTable,
    pub(crate) handle: rocblas_handle,
    pub(crate) form: Form,
    pub(crate) count: i64,
    /// Whether the functions with 64-bit sizes are called even where 32 bits would do: a result's width goes with them.
    pub(crate) wide: bool,
    /// Where a reduction's results go; null for other operations.
    pub(crate) result: *mut c_void,
}

/// A vector or matrix as C takes it: its address, or that of an array of addresses; its increment or leading dimension; and the elements from
/// one member of a batch to the next.
#[derive(Debug, Clone, Copy)]
pub struct Operand {
    pub(crate) address: *mut c_void,
    pub(crate) ld: i64,
    pub(crate) stride: i64,
}

impl<'a> Call<'a> {
    /// The same in another form.
    pub(crate) fn with(&self, form: Form, count: i64) -> Call<'a> {
        Call { form, count, ..*self }
    }

    /// Whether the functions with 32-bit sizes will do.
    pub(crate) fn is_narrow(&self, sizes: &[i64]) -> bool {
        !self.wide && sizes.iter().chain([&self.count]).all(|&size| i32::try_from(size).is_ok())
    }
}

impl Failure {
    /// Whether there is no such function, on the platform or in this library, so that nothing was done.
    pub(crate) fn is_missing(self) -> bool {
        match self {
            Self::Status { status, .. } => status == rocblas_status::rocblas_status_not_implemented,
            Self::Absent { .. } => true,
        }
    }
}

/// Success also where the library had less memory than it would like: the result is the same.
pub(crate) fn status(function: &'static str, status: rocblas_status) -> Result<()> {
    match status {
        rocblas_status::rocblas_status_success | rocblas_status::rocblas_status_perf_degraded => Ok(()),
        status => Err(Failure::Status { function, status }),
    }
}

/// Calls one of six functions, given by their names: plain, on addresses, strided, and each of them again with 64-bit sizes. The arguments
/// behind the handle, in C's order, are:
/// - `size(e)`: a number that is 32 or 64 bits wide;
/// - `op(o)`: an [`Operand`]: address, ld, and its stride in the strided form; `typed(o, t)`: the same with the type behind the address;
///   `ptr(o)`: the same without ld;
/// - `count`: the number of members, where there are any;
/// - `val(e)`: anything else.
macro_rules! invoke {
    ($call:ident, [$plain:ident $batched:ident $strided:ident $plain64:ident $batched64:ident $strided64:ident], $($args:tt)*) => {{
        let narrow = $call.is_narrow(&$crate::raw::call::sizes!([] $($args)*));
        match ($call.form, narrow) {
            ($crate::raw::Form::Single, true) => $crate::raw::call::narrow!($call, $plain, Single, $($args)*),
            ($crate::raw::Form::Pointers, true) => $crate::raw::call::narrow!($call, $batched, Pointers, $($args)*),
            ($crate::raw::Form::Strided, true) => $crate::raw::call::narrow!($call, $strided, Strided, $($args)*),
            ($crate::raw::Form::Single, false) => $crate::raw::call::wide!($call, $plain64, Single, $($args)*),
            ($crate::raw::Form::Pointers, false) => $crate::raw::call::wide!($call, $batched64, Pointers, $($args)*),
            ($crate::raw::Form::Strided, false) => $crate::raw::call::wide!($call, $strided64, Strided, $($args)*),
        }
    }};
}

/// Calls a function that every release has.
macro_rules! narrow {
    ($call:ident, $function:ident, $form:ident, $($args:tt)*) => {
        // SAFETY: S1, S2, S3: the caller vouches for the arguments.
        $crate::raw::call::status(stringify!($function), unsafe {
            $crate::raw::call::pass!($form ($call.table.$function) ($call) ($call.handle,) $($args)*)
        })
    };
}

/// Calls a function that not every release has.
macro_rules! wide {
    ($call:ident, $function:ident, $form:ident, $($args:tt)*) => {
        match $call.table.$function.get() {
            // SAFETY: S1, S2, S3: the caller vouches for the arguments.
            Ok(function) => $crate::raw::call::status(stringify!($function), unsafe {
                $crate::raw::call::pass!($form (function) ($call) ($call.handle,) $($args)*)
            }),
            Err(hip_sys::Unsupported { symbol, since }) => {
                Err($crate::raw::Failure::Absent { function: symbol, since })
            }
        }
    };
}

/// The numbers that have to fit 32 bits, as an array.
macro_rules! sizes {
    ([$($done:expr,)*]) => { [$($done),*] };
    ([$($done:expr,)*] size($e:expr) $($rest:tt)*) => { $crate::raw::call::sizes!([$($done,)* $e,] $($rest)*) };
    ([$($done:expr,)*] op($o:expr) $($rest:tt)*) => { $crate::raw::call::sizes!([$($done,)* $o.ld,] $($rest)*) };
    ([$($done:expr,)*] typed($o:expr, $t:expr) $($rest:tt)*) => { $crate::raw::call::sizes!([$($done,)* $o.ld,] $($rest)*) };
    ([$($done:expr,)*] ptr($o:expr) $($rest:tt)*) => { $crate::raw::call::sizes!([$($done,)*] $($rest)*) };
    ([$($done:expr,)*] val($e:expr) $($rest:tt)*) => { $crate::raw::call::sizes!([$($done,)*] $($rest)*) };
    ([$($done:expr,)*] count $($rest:tt)*) => { $crate::raw::call::sizes!([$($done,)*] $($rest)*) };
}

/// The call, its arguments put together one after the other.
macro_rules! pass {
    ($form:ident ($f:expr) ($call:expr) ($($done:tt)*)) => { $f($($done)*) };
    ($form:ident ($f:expr) ($call:expr) ($($done:tt)*) size($e:expr) $($rest:tt)*) => {
        $crate::raw::call::pass!($form ($f) ($call) ($($done)* $e as _,) $($rest)*)
    };
    ($form:ident ($f:expr) ($call:expr) ($($done:tt)*) val($e:expr) $($rest:tt)*) => {
        $crate::raw::call::pass!($form ($f) ($call) ($($done)* $e,) $($rest)*)
    };
    (Strided ($f:expr) ($call:expr) ($($done:tt)*) op($o:expr) $($rest:tt)*) => {
        $crate::raw::call::pass!(Strided ($f) ($call) ($($done)* $o.address.cast(), $o.ld as _, $o.stride,) $($rest)*)
    };
    ($form:ident ($f:expr) ($call:expr) ($($done:tt)*) op($o:expr) $($rest:tt)*) => {
        $crate::raw::call::pass!($form ($f) ($call) ($($done)* $o.address.cast(), $o.ld as _,) $($rest)*)
    };
    (Strided ($f:expr) ($call:expr) ($($done:tt)*) typed($o:expr, $t:expr) $($rest:tt)*) => {
        $crate::raw::call::pass!(Strided ($f) ($call) ($($done)* $o.address.cast(), $t, $o.ld as _, $o.stride,) $($rest)*)
    };
    ($form:ident ($f:expr) ($call:expr) ($($done:tt)*) typed($o:expr, $t:expr) $($rest:tt)*) => {
        $crate::raw::call::pass!($form ($f) ($call) ($($done)* $o.address.cast(), $t, $o.ld as _,) $($rest)*)
    };
    (Strided ($f:expr) ($call:expr) ($($done:tt)*) ptr($o:expr) $($rest:tt)*) => {
        $crate::raw::call::pass!(Strided ($f) ($call) ($($done)* $o.address.cast(), $o.stride,) $($rest)*)
    };
    ($form:ident ($f:expr) ($call:expr) ($($done:tt)*) ptr($o:expr) $($rest:tt)*) => {
        $crate::raw::call::pass!($form ($f) ($call) ($($done)* $o.address.cast(),) $($rest)*)
    };
    (Single ($f:expr) ($call:expr) ($($done:tt)*) count $($rest:tt)*) => {
        $crate::raw::call::pass!(Single ($f) ($call) ($($done)*) $($rest)*)
    };
    ($form:ident ($f:expr) ($call:expr) ($($done:tt)*) count $($rest:tt)*) => {
        $crate::raw::call::pass!($form ($f) ($call) ($($done)* $call.count as _,) $($rest)*)
    };
}

pub(crate) use {invoke, narrow, pass, sizes, wide};

#[cfg(test)]
mod tests {
    use super::*;
    use hip_sys::Optional;
    use hip_sys::rocblas::rocblas_stride;
    use std::cell::Cell;

    thread_local! {
        static SEEN: Cell<(&'static str, i64, i64, i64, i64)> = const { Cell::new(("", 0, 0, 0, 0)) };
    }

    const SUCCESS: rocblas_status = rocblas_status::rocblas_status_success;

    unsafe extern "C" fn narrow_scal(
        _: rocblas_handle,
        n: i32,
        _: *const f32,
        _: *mut f32,
        inc: i32,
    ) -> rocblas_status {
        SEEN.set(("narrow", n.into(), inc.into(), 0, 0));
        SUCCESS
    }

    unsafe extern "C" fn wide_scal(
        _: rocblas_handle,
        n: i64,
        _: *const f32,
        _: *mut f32,
        inc: i64,
    ) -> rocblas_status {
        SEEN.set(("wide", n, inc, 0, 0));
        rocblas_status::rocblas_status_perf_degraded
    }

    unsafe extern "C" fn wide_strided(
        _: rocblas_handle,
        n: i64,
        _: *const f32,
        _: *mut f32,
        inc: i64,
        stride: rocblas_stride,
        count: i64,
    ) -> rocblas_status {
        SEEN.set(("wide strided", n, inc, stride, count));
        rocblas_status::rocblas_status_invalid_size
    }

    unsafe fn scal(call: &Call<'_>, n: i64, x: Operand) -> Result<()> {
        invoke!(call, [rocblas_sscal rocblas_sscal_batched rocblas_sscal_strided_batched rocblas_sscal_64 rocblas_sscal_batched_64
            rocblas_sscal_strided_batched_64], size(n) val(std::ptr::null()) op(x) count)
    }

    fn run(table: &RocblasTable, form: Form, n: i64, inc: i64, count: i64) -> Result<()> {
        let null = std::ptr::null_mut();
        let call = Call { table, handle: std::ptr::null_mut(), form, count, wide: false, result: null };
        let x = Operand { address: std::ptr::null_mut(), ld: inc, stride: 5 };
        // SAFETY: S1: the functions above use none of the pointers.
        unsafe { scal(&call, n, x) }
    }

    #[test]
    fn sizes_beyond_32_bits_take_the_functions_for_them() {
        let table = RocblasTable {
            rocblas_sscal: narrow_scal,
            rocblas_sscal_64: Optional::present(wide_scal, "rocblas_sscal_64", "6.0"),
            rocblas_sscal_strided_batched_64: Optional::present(wide_strided, "strided", "6.0"),
            ..RocblasTable::not_implemented()
        };
        const LIMIT: i64 = i32::MAX as i64;
        assert_eq!(run(&table, Form::Single, LIMIT, -3, 1), Ok(()));
        assert_eq!(SEEN.get(), ("narrow", LIMIT, -3, 0, 0));
        assert_eq!(run(&table, Form::Single, LIMIT + 1, 1, 1), Ok(()));
        assert_eq!(SEEN.get(), ("wide", LIMIT + 1, 1, 0, 0));
        assert_eq!(run(&table, Form::Single, 2, -LIMIT - 2, 1), Ok(()));
        assert_eq!(SEEN.get(), ("wide", 2, -LIMIT - 2, 0, 0));
        let failed = run(&table, Form::Strided, 2, 3, LIMIT + 1);
        assert_eq!(SEEN.get(), ("wide strided", 2, 3, 5, LIMIT + 1));
        let status = rocblas_status::rocblas_status_invalid_size;
        assert_eq!(failed, Err(Failure::Status { function: "rocblas_sscal_strided_batched_64", status }));
    }

    #[test]
    fn a_64_bit_call_stays_64_bit_for_one_member() {
        let table = RocblasTable {
            rocblas_sscal: narrow_scal,
            rocblas_sscal_64: Optional::present(wide_scal, "rocblas_sscal_64", "6.0"),
            ..RocblasTable::not_implemented()
        };
        let null = std::ptr::null_mut();
        let whole = Call {
            table: &table,
            handle: std::ptr::null_mut(),
            form: Form::Pointers,
            count: 1 << 31,
            wide: true,
            result: null,
        };
        let x = Operand { address: null, ld: 1, stride: 0 };
        // SAFETY: S1: the functions above use none of the pointers.
        assert_eq!(unsafe { scal(&whole.with(Form::Single, 1), 3, x) }, Ok(()));
        assert_eq!(SEEN.get(), ("wide", 3, 1, 0, 0));
    }

    #[test]
    fn a_library_without_them_is_not_called() {
        let table = RocblasTable { rocblas_sscal: narrow_scal, ..RocblasTable::not_implemented() };
        SEEN.set(("none", 0, 0, 0, 0));
        let failed = run(&table, Form::Single, 1 << 31, 1, 1);
        assert!(matches!(failed, Err(Failure::Absent { function: "rocblas_sscal_64", .. })), "{failed:?}");
        assert_eq!(SEEN.get().0, "none");
        let message = crate::Error::from(failed.unwrap_err()).to_string();
        assert!(message.contains("above 2147483647") && message.contains("rocblas_sscal_64"), "{message}");
    }
}
