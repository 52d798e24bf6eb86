//! Tensor descriptors, which are also the descriptors of weights.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::convert::{data_type, size_of_type};
use super::descriptor::Descriptors;
use super::entry::{entries, give, list, offer, offer_list};
use super::library::check;
use super::raw::{Lazy, RawFilter, RawTensor};
use super::{BAD, Outcome, UNSUPPORTED};
use cudarc::cudnn::sys;
use hip_sys::miopen::*;
use std::ffi::c_int;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

/// Lengths and strides in elements, with cuDNN's descriptors of the same.
pub(super) struct Tensor {
    pub(super) kind: miopenDataType_t,
    pub(super) dims: Box<[usize]>,
    pub(super) strides: Box<[usize]>,
    /// Contiguous with the channels innermost, and not described by another layout as well.
    channels_last: bool,
    raw: Lazy<RawTensor>,
    exact: Lazy<RawTensor>,
    /// Contiguous weights in NCHW, and in NHWC.
    filters: [Lazy<RawFilter>; 2],
}

/// cuDNN's operations need at least four dimensions.
const LEAST: usize = 4;

static TENSORS: LazyLock<Descriptors<Tensor>> = LazyLock::new(|| Descriptors::new(0x51));

/// The tensor of a descriptor.
pub(super) fn tensor_of(handle: miopenTensorDescriptor_t) -> Outcome<Arc<Tensor>> {
    TENSORS.get(handle)
}

/// Sets a descriptor that a caller passed for a result.
pub(super) fn set_tensor(handle: miopenTensorDescriptor_t, tensor: Tensor) -> Outcome {
    TENSORS.set(handle, tensor)
}

impl Default for Tensor {
    fn default() -> Self {
        Self::unchecked(miopenDataType_t::miopenFloat, Box::default(), Box::default())
    }
}

impl PartialEq for Tensor {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, &self.dims, &self.strides) == (other.kind, &other.dims, &other.strides)
    }
}

impl Eq for Tensor {}

impl Hash for Tensor {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.kind, &self.dims, &self.strides).hash(state);
    }
}

/// The strides of a contiguous tensor with the dimensions in this order, the last one innermost.
fn packed(dims: &[usize], order: impl DoubleEndedIterator<Item = usize>) -> Outcome<Box<[usize]>> {
    let mut strides = vec![0; dims.len()].into_boxed_slice();
    let mut next = 1_usize;
    for dim in order.rev() {
        strides[dim] = next;
        next = next.checked_mul(dims[dim]).ok_or(BAD)?;
    }
    Ok(strides)
}

/// Whether strides match a layout; strides of dimensions of length 1 are ignored.
fn follow(dims: &[usize], strides: &[usize], layout: &[usize]) -> bool {
    dims.iter().zip(strides).zip(layout).all(|((dim, mine), packed)| *dim == 1 || mine == packed)
}

/// The dimensions with the channels (the second) as the innermost.
fn channels_innermost(rank: usize) -> impl DoubleEndedIterator<Item = usize> {
    std::iter::once(0).chain(2..rank).chain((rank > 1).then_some(1))
}

impl Tensor {
    fn unchecked(kind: miopenDataType_t, dims: Box<[usize]>, strides: Box<[usize]>) -> Self {
        let (raw, exact, filters) = (Lazy::new(), Lazy::new(), [Lazy::new(), Lazy::new()]);
        let mut tensor = Self { kind, dims, strides, channels_last: false, raw, exact, filters };
        let is = |order: Outcome<Box<[usize]>>| order.is_ok_and(|strides| tensor.is_packed(&strides));
        let rank = tensor.rank();
        let plain = is(packed(&tensor.dims, 0..rank));
        tensor.channels_last = !plain && is(packed(&tensor.dims, channels_innermost(rank)));
        tensor
    }

    /// A tensor, if its lengths and strides are valid.
    pub(super) fn new(kind: miopenDataType_t, dims: &[usize], strides: Option<&[usize]>) -> Outcome<Self> {
        size_of_type(kind)?;
        let strides = match strides {
            Some(strides) => strides.into(),
            None => packed(dims, 0..dims.len())?,
        };
        if dims.is_empty() || strides.len() != dims.len() || dims.contains(&0) || strides.contains(&0) {
            return Err(BAD);
        }
        let tensor = Self::unchecked(kind, dims.into(), strides);
        tensor.bytes()?;
        Ok(tensor)
    }

    /// The number of elements from its first to its last in memory.
    fn bytes(&self) -> Outcome<usize> {
        let mut last = 0_usize;
        for (dim, stride) in self.dims.iter().zip(&self.strides) {
            last = (dim - 1).checked_mul(*stride).and_then(|way| last.checked_add(way)).ok_or(BAD)?;
        }
        last.checked_add(1).and_then(|count| count.checked_mul(size_of_type(self.kind).ok()?)).ok_or(BAD)
    }

    pub(super) fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Whether the strides match; those of dimensions of length 1 are ignored.
    fn is_packed(&self, strides: &[usize]) -> bool {
        follow(&self.dims, &self.strides, strides)
    }

    /// Whether the channels are innermost, and no other layout describes it as well.
    pub(super) fn is_channels_last(&self) -> bool {
        self.channels_last
    }

    /// The lengths or the strides as cuDNN takes them: at least this many, with further ones of 1.
    fn ints(list: &[usize], least: usize) -> Outcome<Vec<c_int>> {
        let mut ints =
            list.iter().map(|n| c_int::try_from(*n).map_err(|_| UNSUPPORTED)).collect::<Outcome<Vec<_>>>()?;
        ints.resize(ints.len().max(least), 1);
        Ok(ints)
    }

    /// cuDNN's descriptor.
    pub(super) fn raw(&self) -> Outcome<sys::cudnnTensorDescriptor_t> {
        self.raw.get(|| self.make(LEAST)).map(RawTensor::raw)
    }

    /// Lengths and strides of at least four dimensions. `channels_last` says whether one of the call's tensors has its channels
    /// innermost. Strides of dimensions of length 1, which are arbitrary, are set to that layout's.
    pub(super) fn picture(&self, channels_last: bool) -> Outcome<(Vec<i64>, Vec<i64>)> {
        if self.dims.is_empty() {
            return Err(BAD);
        }
        let [mut dims, mut strides] = [self.dims.to_vec(), self.strides.to_vec()];
        dims.resize(dims.len().max(LEAST), 1);
        strides.resize(dims.len(), 1);
        let rank = dims.len();
        let plain = packed(&dims, 0..rank)?;
        let last = packed(&dims, channels_innermost(rank))?;
        let orders = if channels_last { [last, plain] } else { [plain, last] };
        if let Some(order) = orders.into_iter().find(|order| follow(&dims, &strides, order)) {
            strides = order.into_vec();
        }
        let wide = |list: Vec<usize>| {
            list.into_iter().map(|n| i64::try_from(n).map_err(|_| UNSUPPORTED)).collect::<Outcome<Vec<_>>>()
        };
        Ok((wide(dims)?, wide(strides)?))
    }

    /// cuDNN's descriptor with as many dimensions as the tensor has: some functions want three.
    pub(super) fn exact(&self) -> Outcome<sys::cudnnTensorDescriptor_t> {
        self.exact.get(|| self.make(self.rank())).map(RawTensor::raw)
    }

    fn make(&self, least: usize) -> Outcome<RawTensor> {
        if self.dims.is_empty() {
            return Err(BAD);
        }
        let kind = data_type(self.kind)?;
        let (dims, strides) = (Self::ints(&self.dims, least)?, Self::ints(&self.strides, least)?);
        RawTensor::new(|library, raw| {
            // SAFETY: S1: a new descriptor and two lists of that length.
            check(unsafe {
                let rank = dims.len() as c_int;
                (library.cudnnSetTensorNdDescriptor)(raw, kind, rank, dims.as_ptr(), strides.as_ptr())
            })
        })
    }

    /// cuDNN's descriptor of the tensor as weights, for NHWC or NCHW inputs. cuDNN supports only contiguous
    /// weights.
    pub(super) fn filter(&self, channels_last: bool) -> Outcome<sys::cudnnFilterDescriptor_t> {
        let make = || {
            let rank = self.rank();
            if rank == 0 {
                return Err(BAD);
            }
            let strides = match channels_last {
                true => packed(&self.dims, channels_innermost(rank))?,
                false => packed(&self.dims, 0..rank)?,
            };
            if !self.is_packed(&strides) {
                return Err(UNSUPPORTED);
            }
            let (kind, dims) = (data_type(self.kind)?, Self::ints(&self.dims, LEAST)?);
            let format = if channels_last {
                sys::cudnnTensorFormat_t::CUDNN_TENSOR_NHWC
            } else {
                sys::cudnnTensorFormat_t::CUDNN_TENSOR_NCHW
            };
            RawFilter::new(|library, raw| {
                // SAFETY: S1: a new descriptor and a list of that length.
                check(unsafe {
                    (library.cudnnSetFilterNdDescriptor)(
                        raw,
                        kind,
                        format,
                        dims.len() as c_int,
                        dims.as_ptr(),
                    )
                })
            })
        };
        self.filters[usize::from(channels_last)].get(make).map(RawFilter::raw)
    }
}

/// Lengths that a caller passed as ints.
pub(super) fn lengths(list: &[c_int]) -> Outcome<Vec<usize>> {
    list.iter().map(|n| usize::try_from(*n).map_err(|_| BAD)).collect()
}

fn int(size: usize) -> Outcome<c_int> {
    c_int::try_from(size).map_err(|_| BAD)
}

fn ints(list: &[usize]) -> Outcome<Vec<c_int>> {
    list.iter().map(|n| int(*n)).collect()
}

fn with_layout(kind: miopenDataType_t, layout: miopenTensorLayout_t, dims: &[usize]) -> Outcome<Tensor> {
    let rank = dims.len();
    let strides = match (layout, rank) {
        (miopenTensorLayout_t::miopenTensorNCHW, 4) | (miopenTensorLayout_t::miopenTensorNCDHW, 5) => {
            packed(dims, 0..rank)
        }
        (miopenTensorLayout_t::miopenTensorNHWC, 4) | (miopenTensorLayout_t::miopenTensorNDHWC, 5) => {
            packed(dims, channels_innermost(rank))
        }
        (miopenTensorLayout_t::miopenTensorCHWN, 4) => packed(dims, [1, 2, 3, 0].into_iter()),
        // Formats with channels in groups of four or eight.
        (layout, _) if (3..=6).contains(&layout.0) => Err(UNSUPPORTED),
        _ => Err(BAD),
    }?;
    Tensor::new(kind, dims, Some(&strides))
}

/// The descriptor of batch normalisation's parameters, per channel or per activation.
fn derived(x: &Tensor, mode: miopenBatchNormMode_t) -> Outcome<Tensor> {
    if x.rank() < 2 {
        return Err(BAD);
    }
    let mut dims = x.dims.to_vec();
    dims[0] = 1;
    match mode {
        miopenBatchNormMode_t::miopenBNSpatial => dims[2..].fill(1),
        miopenBatchNormMode_t::miopenBNPerActivation => (),
        _ => return Err(BAD),
    }
    Tensor::new(miopenDataType_t::miopenFloat, &dims, None)
}

type Handle = miopenTensorDescriptor_t;
type Kind = miopenDataType_t;

entries! {
    fn miopenCreateTensorDescriptor(out: *mut Handle) {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { TENSORS.create(out) }
    }

    fn miopenDestroyTensorDescriptor(handle: Handle) {
        TENSORS.destroy(handle)
    }

    fn miopenSet4dTensorDescriptor(handle: Handle, kind: Kind, n: c_int, c: c_int, h: c_int, w: c_int) {
        TENSORS.set(handle, Tensor::new(kind, &lengths(&[n, c, h, w])?, None)?)
    }

    fn miopenSet4dTensorDescriptorEx(
        handle: Handle, kind: Kind, n: c_int, c: c_int, h: c_int, w: c_int,
        n_stride: c_int, c_stride: c_int, h_stride: c_int, w_stride: c_int,
    ) {
        let strides = lengths(&[n_stride, c_stride, h_stride, w_stride])?;
        TENSORS.set(handle, Tensor::new(kind, &lengths(&[n, c, h, w])?, Some(&strides))?)
    }

    fn miopenGet4dTensorDescriptor(
        handle: Handle, kind: *mut Kind, n: *mut c_int, c: *mut c_int, h: *mut c_int, w: *mut c_int,
        n_stride: *mut c_int, c_stride: *mut c_int, h_stride: *mut c_int, w_stride: *mut c_int,
    ) {
        let tensor = tensor_of(handle)?;
        if tensor.rank() != 4 {
            return Err(BAD);
        }
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(kind, tensor.kind)? };
        for (out, value) in [n, c, h, w].into_iter().zip(&tensor.dims) {
            // SAFETY: S11: as above.
            unsafe { give(out, int(*value)?)? };
        }
        for (out, value) in [n_stride, c_stride, h_stride, w_stride].into_iter().zip(&tensor.strides) {
            // SAFETY: S11: as above.
            unsafe { give(out, int(*value)?)? };
        }
        Ok(())
    }

    /// Without strides it is contiguous.
    fn miopenSetTensorDescriptor(
        handle: Handle, kind: Kind, count: c_int, dims: *const c_int, strides: *const c_int,
    ) {
        let count = usize::try_from(count).map_err(|_| BAD)?;
        // SAFETY: S11: the caller's lists have that many lengths and strides.
        let (dims, strides) = unsafe {
            (lengths(&list(dims, count)?)?, if strides.is_null() { None } else { Some(lengths(&list(strides, count)?)?) })
        };
        TENSORS.set(handle, Tensor::new(kind, &dims, strides.as_deref())?)
    }

    /// The same with lengths of 64 bits.
    fn miopenSetTensorDescriptorV2(
        handle: Handle, kind: Kind, count: c_int, dims: *const usize, strides: *const usize,
    ) {
        let count = usize::try_from(count).map_err(|_| BAD)?;
        // SAFETY: S11: the caller's lists have that many lengths and strides.
        let (dims, strides) = unsafe {
            (list(dims, count)?, if strides.is_null() { None } else { Some(list(strides, count)?) })
        };
        TENSORS.set(handle, Tensor::new(kind, &dims, strides.as_deref())?)
    }

    fn miopenSetNdTensorDescriptorWithLayout(
        handle: Handle, kind: Kind, layout: miopenTensorLayout_t, dims: *const c_int, count: c_int,
    ) {
        let count = usize::try_from(count).map_err(|_| BAD)?;
        // SAFETY: S11: the caller's list has that many lengths.
        let dims = lengths(&unsafe { list(dims, count) }?)?;
        TENSORS.set(handle, with_layout(kind, layout, &dims)?)
    }

    /// Each pointer may be null.
    fn miopenGetTensorDescriptor(handle: Handle, kind: *mut Kind, dims: *mut c_int, strides: *mut c_int) {
        let tensor = tensor_of(handle)?;
        let (lengths, steps) = (ints(&tensor.dims)?, ints(&tensor.strides)?);
        // SAFETY: S11: the caller's output pointers are valid for as many numbers as the tensor has dimensions.
        unsafe {
            offer(kind, tensor.kind);
            offer_list(dims, &lengths);
            offer_list(strides, &steps);
        }
        Ok(())
    }

    fn miopenGetTensorDescriptorSize(handle: Handle, out: *mut c_int) {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, int(tensor_of(handle)?.rank())?) }
    }

    fn miopenGetTensorNumBytes(handle: Handle, out: *mut usize) {
        let tensor = tensor_of(handle)?;
        let bytes = if tensor.dims.is_empty() { 0 } else { tensor.bytes()? };
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, bytes) }
    }

    fn miopenDeriveBNTensorDescriptor(derived_handle: Handle, x: Handle, mode: miopenBatchNormMode_t) {
        TENSORS.set(derived_handle, derived(&*tensor_of(x)?, mode)?)
    }
}

#[cfg(test)]
mod tests;
