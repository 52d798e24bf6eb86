//! Operations on vectors whose types are arguments.

use super::check::{Int, Outcome, done_if, there};
use super::convert::{self, DataType};
use super::functions::{AxpyEx, Cublas, DotEx, DotcEx, Nrm2Ex, RotEx, Scal, ScalEx};
use super::handle::{done, with};
use super::held::{aligned_to, hold_typed, in_place};
use super::level1::{reduction_of, scal_strided};
use super::library::cublas;
use super::scalar::{is, widened};
use super::table::put;
use hip_sys::RocblasTable;
use hip_sys::rocblas::{rocblas_datatype, rocblas_double_complex as C64, rocblas_float_complex as C32};
use hip_sys::rocblas::{rocblas_handle, rocblas_status, rocblas_stride};
use std::ffi::c_void;

#[rustfmt::skip]
pub(super) fn fill(table: &mut RocblasTable) {
    put! { table;
        axpy_ex axpy_strided_ex: rocblas_axpy_ex rocblas_axpy_ex_64, rocblas_axpy_strided_batched_ex rocblas_axpy_strided_batched_ex_64;
        dot_ex dot_strided_ex: rocblas_dot_ex rocblas_dot_ex_64, rocblas_dot_strided_batched_ex rocblas_dot_strided_batched_ex_64;
        dotc_ex dotc_strided_ex: rocblas_dotc_ex rocblas_dotc_ex_64, rocblas_dotc_strided_batched_ex rocblas_dotc_strided_batched_ex_64;
        nrm2_ex nrm2_strided_ex: rocblas_nrm2_ex rocblas_nrm2_ex_64, rocblas_nrm2_strided_batched_ex rocblas_nrm2_strided_batched_ex_64;
        rot_ex rot_strided_ex: rocblas_rot_ex rocblas_rot_ex_64, rocblas_rot_strided_batched_ex rocblas_rot_strided_batched_ex_64;
        scal_ex scal_strided_ex: rocblas_scal_ex rocblas_scal_ex_64, rocblas_scal_strided_batched_ex rocblas_scal_strided_batched_ex_64;
    }
}

/// A batch of operands: the first address, the type, and the stride in bytes.
struct Operands {
    first: *mut c_void,
    data: DataType,
    stride: i64,
}

impl Operands {
    /// A batch of vectors with a stride in elements.
    fn vectors(first: *const c_void, data: rocblas_datatype, stride: rocblas_stride) -> Outcome<Self> {
        let (data, bytes) = convert::data_type(data)?;
        aligned_to(first, bytes)?;
        Ok(Self { first: first.cast_mut(), data, stride: stride.wrapping_mul(bytes as i64) })
    }

    /// Contiguous results.
    fn results(first: *mut c_void, data: rocblas_datatype) -> Outcome<Self> {
        let (data, bytes) = convert::data_type(data)?;
        Ok(Self { first, data, stride: bytes as i64 })
    }

    fn at(&self, index: i64) -> *mut c_void {
        self.first.wrapping_byte_offset(index.wrapping_mul(self.stride) as isize)
    }
}

/// A scalar as cuBLAS takes it, with its type.
fn wide(value: &Option<f32>, scalar: *const c_void, data: DataType) -> (*const c_void, DataType) {
    match value {
        Some(value) => ((&raw const *value).cast(), DataType::F32),
        None => (scalar, data),
    }
}

pub(super) unsafe extern "C" fn axpy_strided_ex<I: Int>(
    handle: rocblas_handle,
    n: I,
    alpha: *const c_void,
    alpha_type: rocblas_datatype,
    x: *const c_void,
    x_type: rocblas_datatype,
    incx: I,
    stride_x: rocblas_stride,
    y: *mut c_void,
    y_type: rocblas_datatype,
    incy: I,
    stride_y: rocblas_stride,
    count: I,
    execution: rocblas_datatype,
) -> rocblas_status
where
    Cublas: AxpyEx<I>,
{
    // SAFETY: S2, S11: the caller's arguments; a live handle with its context current.
    with(handle, |handle| unsafe {
        done_if(n <= I::of(0) || count <= I::of(0))?;
        there(alpha)?;
        done_if(is(handle, alpha, alpha_type, 0))?;
        there(x)?;
        there(y)?;
        let (x, y) = (Operands::vectors(x, x_type, stride_x)?, Operands::vectors(y, y_type, stride_y)?);
        let alpha = hold_typed(handle, alpha, alpha_type)?;
        let (alpha_type, _) = convert::data_type(alpha_type)?;
        let value = widened(handle, alpha.pointer(), alpha_type);
        let (alpha, alpha_type) = wide(&value, alpha.pointer(), alpha_type);
        let execution = convert::execution_type(execution)?;
        (0..count.long()).try_for_each(|index| {
            done(cublas().axpy_ex()(
                handle.raw,
                n,
                alpha,
                alpha_type,
                x.at(index),
                x.data,
                incx,
                y.at(index),
                y.data,
                incy,
                execution,
            ))
        })
    })
}

pub(super) unsafe extern "C" fn axpy_ex<I: Int>(
    handle: rocblas_handle,
    n: I,
    alpha: *const c_void,
    alpha_type: rocblas_datatype,
    x: *const c_void,
    x_type: rocblas_datatype,
    incx: I,
    y: *mut c_void,
    y_type: rocblas_datatype,
    incy: I,
    execution: rocblas_datatype,
) -> rocblas_status
where
    Cublas: AxpyEx<I>,
{
    let one = I::of(1);
    // SAFETY: S11: the caller's arguments; one is as many, whatever the stride.
    unsafe {
        axpy_strided_ex(handle, n, alpha, alpha_type, x, x_type, incx, 0, y, y_type, incy, 0, one, execution)
    }
}

macro_rules! dots {
    ($($one:ident $many:ident $Call:ident.$method:ident;)*) => {$(
        pub(super) unsafe extern "C" fn $many<I: Int>(
            handle: rocblas_handle,
            n: I,
            x: *const c_void,
            x_type: rocblas_datatype,
            incx: I,
            stride_x: rocblas_stride,
            y: *const c_void,
            y_type: rocblas_datatype,
            incy: I,
            stride_y: rocblas_stride,
            count: I,
            result: *mut c_void,
            result_type: rocblas_datatype,
            execution: rocblas_datatype,
        ) -> rocblas_status
        where
            Cublas: $Call<I>,
        {
            // SAFETY: S2, S11: the caller's arguments; a live handle with its context current.
            with(handle, |handle| unsafe {
                let (_, bytes) = convert::data_type(result_type)?;
                reduction_of(handle, n > I::of(0), count, result, bytes)?;
                there(x)?;
                there(y)?;
                let (x, y) = (Operands::vectors(x, x_type, stride_x)?, Operands::vectors(y, y_type, stride_y)?);
                let results = Operands::results(result, result_type)?;
                let execution = convert::execution_type(execution)?;
                (0..count.long()).try_for_each(|index| {
                    in_place(handle.on_host(), results.at(index), bytes, |result| {
                        done(cublas().$method()(
                            handle.raw,
                            n,
                            x.at(index),
                            x.data,
                            incx,
                            y.at(index),
                            y.data,
                            incy,
                            result,
                            results.data,
                            execution,
                        ))
                    })
                })
            })
        }

        pub(super) unsafe extern "C" fn $one<I: Int>(
            handle: rocblas_handle,
            n: I,
            x: *const c_void,
            x_type: rocblas_datatype,
            incx: I,
            y: *const c_void,
            y_type: rocblas_datatype,
            incy: I,
            result: *mut c_void,
            result_type: rocblas_datatype,
            execution: rocblas_datatype,
        ) -> rocblas_status
        where
            Cublas: $Call<I>,
        {
            let one = I::of(1);
            // SAFETY: S11: the caller's arguments; one is as many, whatever the stride.
            unsafe {
                $many(handle, n, x, x_type, incx, 0, y, y_type, incy, 0, one, result, result_type, execution)
            }
        }
    )*};
}

dots! {
    dot_ex dot_strided_ex DotEx.dot_ex;
    dotc_ex dotc_strided_ex DotcEx.dotc_ex;
}

unsafe extern "C" fn nrm2_strided_ex<I: Int>(
    handle: rocblas_handle,
    n: I,
    x: *const c_void,
    x_type: rocblas_datatype,
    incx: I,
    stride_x: rocblas_stride,
    count: I,
    result: *mut c_void,
    result_type: rocblas_datatype,
    execution: rocblas_datatype,
) -> rocblas_status
where
    Cublas: Nrm2Ex<I>,
{
    // SAFETY: S2, S11: the caller's arguments; a live handle with its context current.
    with(handle, |handle| unsafe {
        let (_, bytes) = convert::data_type(result_type)?;
        reduction_of(handle, n > I::of(0) && incx > I::of(0), count, result, bytes)?;
        there(x)?;
        let (x, results) = (Operands::vectors(x, x_type, stride_x)?, Operands::results(result, result_type)?);
        let execution = convert::execution_type(execution)?;
        (0..count.long()).try_for_each(|index| {
            let (x_type, result_type) = (x.data, results.data);
            let x = x.at(index);
            in_place(handle.on_host(), results.at(index), bytes, |result| {
                done(cublas().nrm2_ex()(handle.raw, n, x, x_type, incx, result, result_type, execution))
            })
        })
    })
}

unsafe extern "C" fn nrm2_ex<I: Int>(
    handle: rocblas_handle,
    n: I,
    x: *const c_void,
    x_type: rocblas_datatype,
    incx: I,
    result: *mut c_void,
    result_type: rocblas_datatype,
    execution: rocblas_datatype,
) -> rocblas_status
where
    Cublas: Nrm2Ex<I>,
{
    // SAFETY: S11: the caller's arguments; one is as many, whatever the stride.
    unsafe { nrm2_strided_ex(handle, n, x, x_type, incx, 0, I::of(1), result, result_type, execution) }
}

unsafe extern "C" fn rot_strided_ex<I: Int>(
    handle: rocblas_handle,
    n: I,
    x: *mut c_void,
    x_type: rocblas_datatype,
    incx: I,
    stride_x: rocblas_stride,
    y: *mut c_void,
    y_type: rocblas_datatype,
    incy: I,
    stride_y: rocblas_stride,
    c: *const c_void,
    s: *const c_void,
    cs_type: rocblas_datatype,
    count: I,
    execution: rocblas_datatype,
) -> rocblas_status
where
    Cublas: RotEx<I>,
{
    // SAFETY: S2, S11: the caller's arguments; a live handle with its context current.
    with(handle, |handle| unsafe {
        done_if(n <= I::of(0) || count <= I::of(0))?;
        there(x)?;
        there(y)?;
        there(c)?;
        there(s)?;
        let (x, y) = (Operands::vectors(x, x_type, stride_x)?, Operands::vectors(y, y_type, stride_y)?);
        let (c, s) = (hold_typed(handle, c, cs_type)?, hold_typed(handle, s, cs_type)?);
        let (c, s) = (c.pointer(), s.pointer());
        let (cs_type, _) = convert::data_type(cs_type)?;
        let execution = convert::execution_type(execution)?;
        (0..count.long()).try_for_each(|index| {
            done(cublas().rot_ex()(
                handle.raw,
                n,
                x.at(index),
                x.data,
                incx,
                y.at(index),
                y.data,
                incy,
                c,
                s,
                cs_type,
                execution,
            ))
        })
    })
}

unsafe extern "C" fn rot_ex<I: Int>(
    handle: rocblas_handle,
    n: I,
    x: *mut c_void,
    x_type: rocblas_datatype,
    incx: I,
    y: *mut c_void,
    y_type: rocblas_datatype,
    incy: I,
    c: *const c_void,
    s: *const c_void,
    cs_type: rocblas_datatype,
    execution: rocblas_datatype,
) -> rocblas_status
where
    Cublas: RotEx<I>,
{
    let one = I::of(1);
    // SAFETY: S11: the caller's arguments; one is as many, whatever the stride.
    unsafe {
        rot_strided_ex(handle, n, x, x_type, incx, 0, y, y_type, incy, 0, c, s, cs_type, one, execution)
    }
}

/// A complex vector times a real scalar is an operation of its own in cuBLAS.
unsafe extern "C" fn scal_strided_ex<I: Int>(
    handle: rocblas_handle,
    n: I,
    alpha: *const c_void,
    alpha_type: rocblas_datatype,
    x: *mut c_void,
    x_type: rocblas_datatype,
    incx: I,
    stride_x: rocblas_stride,
    count: I,
    execution: rocblas_datatype,
) -> rocblas_status
where
    Cublas: ScalEx<I> + Scal<I, f32, C32> + Scal<I, f64, C64>,
{
    use rocblas_datatype as R;
    // SAFETY: S11: the caller's arguments, which are of these types.
    unsafe {
        match (alpha_type, x_type) {
            (R::rocblas_datatype_f32_r, R::rocblas_datatype_f32_c) => {
                let (alpha, x) = (alpha.cast::<f32>(), x.cast::<C32>());
                return scal_strided(handle, n, alpha, x, incx, stride_x, count);
            }
            (R::rocblas_datatype_f64_r, R::rocblas_datatype_f64_c) => {
                let (alpha, x) = (alpha.cast::<f64>(), x.cast::<C64>());
                return scal_strided(handle, n, alpha, x, incx, stride_x, count);
            }
            _ => {}
        }
    }
    // SAFETY: S2, S11: the caller's arguments; a live handle with its context current.
    with(handle, |handle| unsafe {
        done_if(n <= I::of(0) || incx <= I::of(0) || count <= I::of(0))?;
        there(alpha)?;
        there(x)?;
        let x = Operands::vectors(x, x_type, stride_x)?;
        let alpha = hold_typed(handle, alpha, alpha_type)?;
        let (alpha_type, _) = convert::data_type(alpha_type)?;
        let value = widened(handle, alpha.pointer(), alpha_type);
        let (alpha, alpha_type) = wide(&value, alpha.pointer(), alpha_type);
        let execution = convert::execution_type(execution)?;
        (0..count.long()).try_for_each(|index| {
            let (data, x) = (x.data, x.at(index));
            done(cublas().scal_ex()(handle.raw, n, alpha, alpha_type, x, data, incx, execution))
        })
    })
}

unsafe extern "C" fn scal_ex<I: Int>(
    handle: rocblas_handle,
    n: I,
    alpha: *const c_void,
    alpha_type: rocblas_datatype,
    x: *mut c_void,
    x_type: rocblas_datatype,
    incx: I,
    execution: rocblas_datatype,
) -> rocblas_status
where
    Cublas: ScalEx<I> + Scal<I, f32, C32> + Scal<I, f64, C64>,
{
    let one = I::of(1);
    // SAFETY: S11: the caller's arguments; one is as many, whatever the stride.
    unsafe { scal_strided_ex(handle, n, alpha, alpha_type, x, x_type, incx, 0, one, execution) }
}
