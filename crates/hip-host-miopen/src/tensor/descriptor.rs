//! Tensor descriptors.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::{Tensor, element};
use crate::answer::{BAD, Outcome, VALUE, answer, check, give, int, list, offer, offer_list};
use crate::registry::Registry;
use hip_sys::miopen::{miopenDataType_t, miopenStatus_t, miopenTensorDescriptor_t, miopenTensorLayout_t};
use std::ffi::c_int;

/// All tensor descriptors.
pub(crate) static TENSORS: Registry<Tensor> = Registry::new(0x71);

/// The current settings of a descriptor that has dimensions.
///
/// # Errors
/// BadParm if the descriptor does not exist or was not set.
pub(crate) fn tensor(handle: miopenTensorDescriptor_t) -> Outcome<Tensor> {
    let tensor = TENSORS.get(handle)?;
    check(!tensor.lens.is_empty(), BAD)?;
    Ok(tensor)
}

/// C's ints as sizes.
fn sizes(values: &[c_int]) -> Outcome<Vec<usize>> {
    values.iter().map(|&value| usize::try_from(value).ok().filter(|&it| it > 0).ok_or(BAD)).collect()
}

pub(crate) unsafe extern "C" fn miopenCreateTensorDescriptor(
    out: *mut miopenTensorDescriptor_t,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the handle.
    answer(|| unsafe { TENSORS.create(out, Tensor::default()) })
}

pub(crate) unsafe extern "C" fn miopenDestroyTensorDescriptor(
    descriptor: miopenTensorDescriptor_t,
) -> miopenStatus_t {
    answer(|| TENSORS.destroy(descriptor))
}

pub(crate) unsafe extern "C" fn miopenSet4dTensorDescriptor(
    descriptor: miopenTensorDescriptor_t,
    dtype: miopenDataType_t,
    n: c_int,
    c: c_int,
    h: c_int,
    w: c_int,
) -> miopenStatus_t {
    answer(|| TENSORS.set(descriptor, || Tensor::packed(dtype, sizes(&[n, c, h, w])?)))
}

pub(crate) unsafe extern "C" fn miopenSet4dTensorDescriptorEx(
    descriptor: miopenTensorDescriptor_t,
    dtype: miopenDataType_t,
    n: c_int,
    c: c_int,
    h: c_int,
    w: c_int,
    n_stride: c_int,
    c_stride: c_int,
    h_stride: c_int,
    w_stride: c_int,
) -> miopenStatus_t {
    answer(|| {
        TENSORS.set(descriptor, || {
            Tensor::strided(dtype, sizes(&[n, c, h, w])?, sizes(&[n_stride, c_stride, h_stride, w_stride])?)
        })
    })
}

pub(crate) unsafe extern "C" fn miopenSetNdTensorDescriptorWithLayout(
    descriptor: miopenTensorDescriptor_t,
    dtype: miopenDataType_t,
    layout: miopenTensorLayout_t,
    lens: *const c_int,
    count: c_int,
) -> miopenStatus_t {
    answer(|| {
        TENSORS.set(descriptor, || {
            // SAFETY: S11: the C contract makes the list that long.
            let lens = unsafe { list(lens, count)? };
            Tensor::laid_out(dtype, layout, sizes(&lens)?)
        })
    })
}

pub(crate) unsafe extern "C" fn miopenSetTensorDescriptor(
    descriptor: miopenTensorDescriptor_t,
    dtype: miopenDataType_t,
    count: c_int,
    lens: *const c_int,
    strides: *const c_int,
) -> miopenStatus_t {
    answer(|| {
        TENSORS.set(descriptor, || {
            // SAFETY: S11: the C contract makes the lists that long.
            unsafe {
                let lens = sizes(&list(lens, count)?)?;
                if strides.is_null() {
                    return Tensor::packed(dtype, lens);
                }
                Tensor::strided(dtype, lens, sizes(&list(strides, count)?)?)
            }
        })
    })
}

pub(crate) unsafe extern "C" fn miopenSetTensorDescriptorV2(
    descriptor: miopenTensorDescriptor_t,
    dtype: miopenDataType_t,
    count: c_int,
    lens: *const usize,
    strides: *const usize,
) -> miopenStatus_t {
    answer(|| {
        TENSORS.set(descriptor, || {
            // SAFETY: S11: the C contract makes the lists that long.
            unsafe {
                let lens = list(lens, count)?;
                if strides.is_null() {
                    return Tensor::packed(dtype, lens);
                }
                Tensor::strided(dtype, lens, list(strides, count)?)
            }
        })
    })
}

pub(crate) unsafe extern "C" fn miopenSetTensorCastType(
    descriptor: miopenTensorDescriptor_t,
    cast: miopenDataType_t,
) -> miopenStatus_t {
    answer(|| {
        check(element::bytes(cast).is_some(), BAD)?;
        TENSORS.with(descriptor, |tensor| tensor.cast = Some(cast))
    })
}

pub(crate) unsafe extern "C" fn miopenGet4dTensorDescriptor(
    descriptor: miopenTensorDescriptor_t,
    dtype: *mut miopenDataType_t,
    n: *mut c_int,
    c: *mut c_int,
    h: *mut c_int,
    w: *mut c_int,
    n_stride: *mut c_int,
    c_stride: *mut c_int,
    h_stride: *mut c_int,
    w_stride: *mut c_int,
) -> miopenStatus_t {
    answer(|| {
        let tensor = TENSORS.get(descriptor)?;
        check(tensor.rank() == 4, BAD)?;
        let outs = [n, c, h, w, n_stride, c_stride, h_stride, w_stride];
        // SAFETY: S11: the caller's output pointer for the type.
        unsafe { give(dtype, tensor.dtype)? };
        let values = tensor.lens.iter().chain(&tensor.strides);
        // SAFETY: S11: the caller's output pointers for the numbers.
        outs.into_iter().zip(values).try_for_each(|(out, value)| unsafe { give(out, int(*value)) })
    })
}

pub(crate) unsafe extern "C" fn miopenGetTensorDescriptor(
    descriptor: miopenTensorDescriptor_t,
    dtype: *mut miopenDataType_t,
    lens: *mut c_int,
    strides: *mut c_int,
) -> miopenStatus_t {
    answer(|| {
        let tensor = TENSORS.get(descriptor)?;
        // SAFETY: S11: the caller's output pointers for the results, with room for all dimensions.
        unsafe {
            offer(dtype, tensor.dtype);
            offer_list(lens, tensor.lens);
            offer_list(strides, tensor.strides);
        }
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn miopenGetTensorDescriptorSize(
    descriptor: miopenTensorDescriptor_t,
    out: *mut c_int,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the number.
    answer(|| unsafe { give(out, int(TENSORS.get(descriptor)?.rank())) })
}

pub(crate) unsafe extern "C" fn miopenGetTensorNumBytes(
    descriptor: miopenTensorDescriptor_t,
    out: *mut usize,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the number.
    answer(|| unsafe { give(out, TENSORS.get(descriptor)?.bytes()) })
}

/// The descriptors of a list of handles.
///
/// # Safety
/// `handles` is null or leads to that many handles.
pub(crate) unsafe fn tensors(handles: *const miopenTensorDescriptor_t, count: c_int) -> Outcome<Vec<Tensor>> {
    // SAFETY: S11: the C contract makes the list that long.
    let handles = unsafe { list(handles, count) }.map_err(|_| if count < 1 { VALUE } else { BAD })?;
    handles.into_iter().map(tensor).collect()
}
