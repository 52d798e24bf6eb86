//! From our values to C's and back.

use crate::{Direction, Transform};
use hip_sys::rocfft::{rocfft_array_type, rocfft_status, rocfft_transform_type};

pub(crate) fn kind(transform: Transform) -> rocfft_transform_type {
    match transform {
        Transform::Complex(Direction::Forward) => {
            rocfft_transform_type::rocfft_transform_type_complex_forward
        }
        Transform::Complex(Direction::Inverse) => {
            rocfft_transform_type::rocfft_transform_type_complex_inverse
        }
        Transform::RealForward => rocfft_transform_type::rocfft_transform_type_real_forward,
        Transform::RealInverse => rocfft_transform_type::rocfft_transform_type_real_inverse,
    }
}

/// The array types of input and output.
pub(crate) fn arrays(transform: Transform) -> [rocfft_array_type; 2] {
    let half = rocfft_array_type::rocfft_array_type_hermitian_interleaved;
    let real = rocfft_array_type::rocfft_array_type_real;
    match transform {
        Transform::Complex(_) => [rocfft_array_type::rocfft_array_type_complex_interleaved; 2],
        Transform::RealForward => [real, half],
        Transform::RealInverse => [half, real],
    }
}

/// The name of a status.
pub(crate) fn status_name(status: rocfft_status) -> &'static str {
    hip_sys::layout::ROCFFT.status_name("rocfft_status_e", status.0)
}
