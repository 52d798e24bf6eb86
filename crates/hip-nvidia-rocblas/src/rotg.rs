//! `rotg`: the rotation that makes the second of two numbers zero.

use super::check::{At, Int, done_if, there};
use super::functions::Cublas;
use super::handle::{done, with};
use super::held::in_place;
use super::library::cublas;
use super::table::present;
use hip_sys::RocblasTable;
use hip_sys::rocblas::{rocblas_double_complex, rocblas_float_complex, rocblas_handle};
use hip_sys::rocblas::{rocblas_status, rocblas_stride};

/// An element type, with the type of its magnitude.
trait Rotated: Sized {
    type Real;
    fn function(
        cublas: &Cublas,
    ) -> unsafe extern "C" fn(
        super::functions::Raw,
        *mut Self,
        *mut Self,
        *mut Self::Real,
        *mut Self,
    ) -> super::functions::Code;
}

macro_rules! rotated {
    ($table:ident; $($T:ty, $Real:ty, $cublas:ident: $one:ident $one_64:ident, $many:ident $many_64:ident;)*) => {
        $(impl Rotated for $T {
            type Real = $Real;
            fn function(
                cublas: &Cublas,
            ) -> unsafe extern "C" fn(
                super::functions::Raw,
                *mut Self,
                *mut Self,
                *mut Self::Real,
                *mut Self,
            ) -> super::functions::Code {
                cublas.$cublas
            }
        })*

        pub(super) fn fill($table: &mut RocblasTable) {
            $(
                $table.$one = rotg::<$T>;
                present(&mut $table.$one_64, rotg::<$T>);
                $table.$many = rotg_strided::<$T, i32>;
                present(&mut $table.$many_64, rotg_strided::<$T, i64>);
            )*
        }
    };
}

rotated! { table;
    f32, f32, cublasSrotg_v2: rocblas_srotg rocblas_srotg_64, rocblas_srotg_strided_batched rocblas_srotg_strided_batched_64;
    f64, f64, cublasDrotg_v2: rocblas_drotg rocblas_drotg_64, rocblas_drotg_strided_batched rocblas_drotg_strided_batched_64;
    rocblas_float_complex, f32, cublasCrotg_v2: rocblas_crotg rocblas_crotg_64, rocblas_crotg_strided_batched rocblas_crotg_strided_batched_64;
    rocblas_double_complex, f64, cublasZrotg_v2: rocblas_zrotg rocblas_zrotg_64, rocblas_zrotg_strided_batched rocblas_zrotg_strided_batched_64;
}

unsafe extern "C" fn rotg<T: Rotated>(
    handle: rocblas_handle,
    a: *mut T,
    b: *mut T,
    c: *mut T::Real,
    s: *mut T,
) -> rocblas_status {
    // SAFETY: S11: the caller's arguments; one is as many, whatever the stride.
    unsafe { rotg_strided::<T, i32>(handle, a, 0, b, 0, c, 0, s, 0, 1) }
}

unsafe extern "C" fn rotg_strided<T: Rotated, I: Int>(
    handle: rocblas_handle,
    a: *mut T,
    stride_a: rocblas_stride,
    b: *mut T,
    stride_b: rocblas_stride,
    c: *mut T::Real,
    stride_c: rocblas_stride,
    s: *mut T,
    stride_s: rocblas_stride,
    count: I,
) -> rocblas_status {
    with(handle, |handle| {
        done_if(count.long() <= 0)?;
        there(a)?;
        there(b)?;
        there(c)?;
        there(s)?;
        let function = T::function(cublas());
        for index in 0..count.long() {
            let (a, b) = (a.at(index, stride_a), b.at(index, stride_b));
            let (c, s) = (c.at(index, stride_c), s.at(index, stride_s));
            let bytes = size_of::<T>();
            // SAFETY: S2, S11: the caller's output pointers, on the host or not as the handle says.
            unsafe {
                in_place(handle.on_host(), a, bytes, |a| {
                    in_place(handle.on_host(), b, bytes, |b| {
                        in_place(handle.on_host(), s, bytes, |s| done(function(handle.raw, a, b, c, s)))
                    })
                })
            }?;
        }
        Ok(())
    })
}
