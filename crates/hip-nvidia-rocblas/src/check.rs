//! rocBLAS's argument checks, in its order and with its statuses: cuBLAS has one status for all bad arguments.

use super::convert::Pass;
use super::held::Hold;
pub(super) use hip_sys::provider::ensure;
use hip_sys::rocblas::rocblas_float_complex;
use hip_sys::rocblas::{rocblas_bfloat16, rocblas_diagonal, rocblas_double_complex, rocblas_fill};
use hip_sys::rocblas::{rocblas_half, rocblas_operation, rocblas_side, rocblas_status};

/// The outcome of a call or of a check. An error of `success` ends a call that has nothing to do.
pub(super) type Outcome<T = ()> = Result<T, rocblas_status>;

pub(super) const SUCCESS: rocblas_status = rocblas_status::rocblas_status_success;
pub(super) const HANDLE: rocblas_status = rocblas_status::rocblas_status_invalid_handle;
pub(super) const VALUE: rocblas_status = rocblas_status::rocblas_status_invalid_value;
pub(super) const SIZE: rocblas_status = rocblas_status::rocblas_status_invalid_size;
pub(super) const POINTER: rocblas_status = rocblas_status::rocblas_status_invalid_pointer;
pub(super) const NOT_IMPLEMENTED: rocblas_status = rocblas_status::rocblas_status_not_implemented;

/// The status that a call returns.
pub(super) fn status(outcome: Outcome) -> rocblas_status {
    outcome.err().unwrap_or(SUCCESS)
}

/// Ends the call with success if there is nothing to do.
pub(super) fn done_if(nothing: bool) -> Outcome {
    ensure(!nothing, SUCCESS)
}

pub(super) fn sizes(fine: bool) -> Outcome {
    ensure(fine, SIZE)
}

/// Fails if the pointer is null.
pub(super) fn there<T>(pointer: *const T) -> Outcome {
    ensure(!pointer.is_null(), POINTER)
}

/// A size; rocBLAS has functions for 32 and for 64 bits.
pub(super) trait Int: Pass<To = Self> + Hold + Copy + Ord {
    fn long(self) -> i64;
    fn of(small: i32) -> Self;
}

impl Int for i32 {
    fn long(self) -> i64 {
        self.into()
    }
    fn of(small: i32) -> Self {
        small
    }
}

impl Int for i64 {
    fn long(self) -> i64 {
        self
    }
    fn of(small: i32) -> Self {
        small.into()
    }
}

/// A leading dimension for cuBLAS, which wants at least 1; rocBLAS takes 0 for a matrix without rows.
pub(super) fn leading<I: Int>(dimension: I) -> I {
    dimension.max(I::of(1))
}

/// The type of an element, also of a scalar.
pub(super) trait Scalar: Copy {
    const COMPLEX: bool = false;
    fn is(self, number: u8) -> bool;
}

impl Scalar for f32 {
    fn is(self, number: u8) -> bool {
        self == f32::from(number)
    }
}

impl Scalar for f64 {
    fn is(self, number: u8) -> bool {
        self == f64::from(number)
    }
}

impl Scalar for i32 {
    fn is(self, number: u8) -> bool {
        self == i32::from(number)
    }
}

impl Scalar for rocblas_float_complex {
    const COMPLEX: bool = true;
    fn is(self, number: u8) -> bool {
        self.x.is(number) && self.y.is(0)
    }
}

impl Scalar for rocblas_double_complex {
    const COMPLEX: bool = true;
    fn is(self, number: u8) -> bool {
        self.x.is(number) && self.y.is(0)
    }
}

impl Scalar for rocblas_half {
    fn is(self, number: u8) -> bool {
        super::scalar::from_f16(self.data).is(number)
    }
}

impl Scalar for rocblas_bfloat16 {
    fn is(self, number: u8) -> bool {
        super::scalar::from_bf16(self.data).is(number)
    }
}

/// An enumeration argument.
pub(super) trait Choice: Sized {
    fn known(self) -> bool;
    fn valid(self) -> Outcome {
        ensure(self.known(), VALUE)
    }
}

impl Choice for rocblas_operation {
    fn known(self) -> bool {
        (Self::rocblas_operation_none.0..=Self::rocblas_operation_conjugate_transpose.0).contains(&self.0)
    }
}

/// Upper or lower; BLAS has no operation on "full".
impl Choice for rocblas_fill {
    fn known(self) -> bool {
        self == Self::rocblas_fill_upper || self == Self::rocblas_fill_lower
    }
}

impl Choice for rocblas_diagonal {
    fn known(self) -> bool {
        self == Self::rocblas_diagonal_unit || self == Self::rocblas_diagonal_non_unit
    }
}

impl Choice for rocblas_side {
    fn known(self) -> bool {
        self == Self::rocblas_side_left || self == Self::rocblas_side_right
    }
}

/// A pointer to the first of several operands with a stride in elements.
pub(super) trait At {
    fn at(self, index: i64, stride: i64) -> Self;
}

impl<T> At for *const T {
    fn at(self, index: i64, stride: i64) -> Self {
        self.wrapping_offset(index.wrapping_mul(stride) as isize)
    }
}

impl<T> At for *mut T {
    fn at(self, index: i64, stride: i64) -> Self {
        self.wrapping_offset(index.wrapping_mul(stride) as isize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_with_nothing_to_do_succeeds() {
        assert_eq!(status(done_if(true)), SUCCESS);
        assert_eq!(done_if(false), Ok(()));
        assert_eq!(status(sizes(false)), SIZE);
        assert_eq!(status(there::<f32>(std::ptr::null())), POINTER);
    }

    #[test]
    fn only_blas_s_enumeration_values_are_accepted() {
        assert!(rocblas_fill::rocblas_fill_upper.known() && !rocblas_fill::rocblas_fill_full.known());
        assert!(rocblas_side::rocblas_side_right.known() && !rocblas_side::rocblas_side_both.known());
        assert!(!rocblas_operation(110).known() && !rocblas_operation(114).known());
        assert!(rocblas_operation(113).known() && !rocblas_diagonal(130).known());
    }

    #[test]
    fn the_third_operand_is_two_strides_after_the_first() {
        let many = [0_u16; 9];
        assert_eq!(many.as_ptr().at(2, 4), &raw const many[8]);
        assert_eq!((&raw const many[8]).at(1, -3), &raw const many[5]);
    }
}
