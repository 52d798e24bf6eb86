//! Convolution descriptors.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::math::Math;
use crate::descriptor::Descriptors;
use crate::entry::{entries, give, list, offer, offer_list, there};
use crate::library::check;
use crate::raw::{Lazy, RawConvolution};
use crate::tensor::{Tensor, tensor_of};
use crate::{BAD, Outcome};
use cudarc::cudnn::sys;
use hip_sys::miopen::*;
use std::ffi::c_int;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

/// The geometry of a convolution.
#[derive(Default)]
pub(crate) struct Convolution {
    pub(crate) transposed: bool,
    pads: Vec<c_int>,
    strides: Vec<c_int>,
    dilations: Vec<c_int>,
    /// The additional length of a transposed convolution's output.
    output_pads: Vec<c_int>,
    groups: c_int,
    /// The values of [`miopenConvolutionAttrib_t`].
    attributes: [c_int; 3],
    /// cuDNN's descriptors, one for each element type and math mode.
    raws: [Lazy<RawConvolution>; Math::COUNT],
}

const DETERMINISTIC: usize = miopenConvolutionAttrib_t::MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC.0 as usize;

static CONVOLUTIONS: LazyLock<Descriptors<Convolution>> = LazyLock::new(|| Descriptors::new(0x52));

/// The convolution of a descriptor.
pub(crate) fn convolution_of(handle: miopenConvolutionDescriptor_t) -> Outcome<Arc<Convolution>> {
    CONVOLUTIONS.get(handle)
}

impl PartialEq for Convolution {
    fn eq(&self, other: &Self) -> bool {
        let key = |c: &Self| (c.transposed, c.groups, c.attributes);
        let lists = |c: &Self, d: &Self| {
            c.pads == d.pads
                && c.strides == d.strides
                && c.dilations == d.dilations
                && c.output_pads == d.output_pads
        };
        key(self) == key(other) && lists(self, other)
    }
}

impl Eq for Convolution {}

impl Hash for Convolution {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.transposed, self.groups, self.attributes).hash(state);
        (&self.pads, &self.strides, &self.dilations, &self.output_pads).hash(state);
    }
}

impl Convolution {
    fn new(
        mode: miopenConvolutionMode_t,
        pads: Vec<c_int>,
        strides: Vec<c_int>,
        dilations: Vec<c_int>,
    ) -> Outcome<Self> {
        let transposed = match mode {
            miopenConvolutionMode_t::miopenTranspose => true,
            miopenConvolutionMode_t::miopenConvolution
            | miopenConvolutionMode_t::miopenGroupConv
            | miopenConvolutionMode_t::miopenDepthwise => false,
            _ => return Err(BAD),
        };
        let below = |list: &[c_int], least: c_int| list.iter().any(|n| *n < least);
        if pads.is_empty() || below(&pads, 0) || below(&strides, 1) || below(&dilations, 1) {
            return Err(BAD);
        }
        let output_pads = vec![0; pads.len()];
        Ok(Self { transposed, pads, strides, dilations, output_pads, groups: 1, ..Self::default() })
    }

    #[cfg(test)]
    pub(crate) fn sample(pads: &[c_int], strides: &[c_int], dilations: &[c_int], groups: c_int) -> Self {
        let mode = miopenConvolutionMode_t::miopenConvolution;
        let plain = Self::new(mode, pads.to_vec(), strides.to_vec(), dilations.to_vec()).unwrap();
        plain.with(|c| c.groups = groups)
    }

    /// The same with a change; cuDNN's descriptors are made again.
    fn with(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut changed = Self {
            transposed: self.transposed,
            pads: self.pads.clone(),
            strides: self.strides.clone(),
            dilations: self.dilations.clone(),
            output_pads: self.output_pads.clone(),
            groups: self.groups,
            attributes: self.attributes,
            raws: Default::default(),
        };
        change(&mut changed);
        changed
    }

    fn spatial(&self) -> usize {
        self.pads.len()
    }

    fn mode(&self) -> miopenConvolutionMode_t {
        if self.transposed {
            miopenConvolutionMode_t::miopenTranspose
        } else {
            miopenConvolutionMode_t::miopenConvolution
        }
    }

    pub(crate) fn is_deterministic(&self) -> bool {
        self.attributes[DETERMINISTIC] == 1
    }

    /// Pads, strides and dilations. One dimension becomes two, with a width of one.
    fn lists(&self) -> [Vec<c_int>; 3] {
        [(&self.pads, 0), (&self.strides, 1), (&self.dilations, 1)].map(|(list, rest)| {
            let mut list = list.clone();
            list.resize(list.len().max(2), rest);
            list
        })
    }

    /// The same in 64 bits, for a descriptor that was set.
    pub(crate) fn picture(&self) -> Outcome<[Vec<i64>; 3]> {
        if self.pads.is_empty() {
            return Err(BAD);
        }
        Ok(self.lists().map(|list| list.into_iter().map(i64::from).collect()))
    }

    /// cuDNN's descriptor.
    pub(crate) fn raw(&self, math: Math) -> Outcome<sys::cudnnConvolutionDescriptor_t> {
        let make = || {
            if self.pads.is_empty() {
                return Err(BAD);
            }
            let [pads, strides, dilations] = self.lists();
            let (sum, way) = math.raw();
            RawConvolution::new(|library, raw| {
                // SAFETY: S1: a new descriptor and three lists of that length.
                unsafe {
                    check((library.cudnnSetConvolutionNdDescriptor)(
                        raw,
                        pads.len() as c_int,
                        pads.as_ptr(),
                        strides.as_ptr(),
                        dilations.as_ptr(),
                        sys::cudnnConvolutionMode_t::CUDNN_CROSS_CORRELATION,
                        sum,
                    ))?;
                    check((library.cudnnSetConvolutionGroupCount)(raw, self.groups))?;
                    check((library.cudnnSetConvolutionMathType)(raw, way))
                }
            })
        };
        self.raws[math as usize].get(make).map(RawConvolution::raw)
    }

    /// The output's lengths.
    pub(crate) fn output(&self, x: &Tensor, w: &Tensor) -> Outcome<Vec<c_int>> {
        let spatial = self.spatial();
        if spatial == 0 || x.rank() != spatial + 2 || w.rank() != spatial + 2 || x.kind != w.kind {
            return Err(BAD);
        }
        let int = |n: usize| i64::try_from(n).map_err(|_| BAD);
        let (channels, groups) = (int(x.dims[1])?, i64::from(self.groups));
        let (k, c) = (int(w.dims[0])?, int(w.dims[1])?);
        let fits = match self.transposed {
            true => channels == k && k % groups == 0,
            false => channels == c.checked_mul(groups).ok_or(BAD)? && k % groups == 0,
        };
        if !fits {
            return Err(BAD);
        }
        let channels = if self.transposed { c.checked_mul(groups).ok_or(BAD)? } else { k };
        let mut lengths = vec![int(x.dims[0])?, channels];
        for dim in 0..spatial {
            let (length, window) = (int(x.dims[dim + 2])?, int(w.dims[dim + 2])?);
            let of = |list: &[c_int]| i64::from(list[dim]);
            let (pad, stride, extra) = (of(&self.pads), of(&self.strides), of(&self.output_pads));
            let reach =
                (window - 1).checked_mul(of(&self.dilations)).and_then(|n| n.checked_add(1)).ok_or(BAD)?;
            lengths.push(if self.transposed {
                if extra >= stride {
                    return Err(BAD);
                }
                let spread =
                    (length - 1).checked_mul(stride).and_then(|n| n.checked_add(reach)).ok_or(BAD)?;
                (spread - 2 * pad + extra).max(1)
            } else {
                // A window larger than the input still gives one output.
                ((length - reach + 2 * pad).div_euclid(stride) + 1).max(1)
            });
        }
        lengths.into_iter().map(|n| c_int::try_from(n).map_err(|_| BAD)).collect()
    }
}

type Handle = miopenConvolutionDescriptor_t;
type Tensors = miopenTensorDescriptor_t;
type IntOut = *mut c_int;

entries! {
    fn miopenCreateConvolutionDescriptor(out: *mut Handle) {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { CONVOLUTIONS.create(out) }
    }

    fn miopenDestroyConvolutionDescriptor(handle: Handle) {
        CONVOLUTIONS.destroy(handle)
    }

    fn miopenInitConvolutionDescriptor(
        handle: Handle, mode: miopenConvolutionMode_t, pad_h: c_int, pad_w: c_int, stride_h: c_int, stride_w: c_int,
        dilation_h: c_int, dilation_w: c_int,
    ) {
        let lists = (vec![pad_h, pad_w], vec![stride_h, stride_w], vec![dilation_h, dilation_w]);
        CONVOLUTIONS.set(handle, Convolution::new(mode, lists.0, lists.1, lists.2)?)
    }

    fn miopenInitConvolutionNdDescriptor(
        handle: Handle, count: c_int, pads: *const c_int, strides: *const c_int, dilations: *const c_int,
        mode: miopenConvolutionMode_t,
    ) {
        let count = usize::try_from(count).ok().filter(|n| (1..=3).contains(n)).ok_or(BAD)?;
        // SAFETY: S11: the caller's lists have that many numbers.
        let lists = unsafe { (list(pads, count)?, list(strides, count)?, list(dilations, count)?) };
        CONVOLUTIONS.set(handle, Convolution::new(mode, lists.0, lists.1, lists.2)?)
    }

    fn miopenSetConvolutionGroupCount(handle: Handle, groups: c_int) {
        if groups < 1 {
            return Err(BAD);
        }
        CONVOLUTIONS.change(handle, |former| Ok(former.with(|c| c.groups = groups)))
    }

    fn miopenGetConvolutionGroupCount(handle: Handle, out: IntOut) {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, convolution_of(handle)?.groups) }
    }

    fn miopenGetConvolutionSpatialDim(handle: Handle, out: IntOut) {
        // SAFETY: S11: as above.
        unsafe { give(out, convolution_of(handle)?.spatial() as c_int) }
    }

    fn miopenSetTransposeConvOutputPadding(handle: Handle, adj_h: c_int, adj_w: c_int) {
        set_output_pads(handle, vec![adj_h, adj_w])
    }

    fn miopenSetTransposeConvNdOutputPadding(handle: Handle, count: c_int, pads: *const c_int) {
        // SAFETY: S11: the caller's list has that many numbers.
        set_output_pads(handle, unsafe { list(pads, usize::try_from(count).map_err(|_| BAD)?) }?)
    }

    fn miopenSetConvolutionAttribute(handle: Handle, attribute: miopenConvolutionAttrib_t, value: c_int) {
        let index = attribute.0 as usize;
        if index > 2 || index == DETERMINISTIC && !(0..=1).contains(&value) {
            return Err(BAD);
        }
        CONVOLUTIONS.change(handle, |former| Ok(former.with(|c| c.attributes[index] = value)))
    }

    fn miopenGetConvolutionAttribute(handle: Handle, attribute: miopenConvolutionAttrib_t, out: IntOut) {
        let value = *convolution_of(handle)?.attributes.get(attribute.0 as usize).ok_or(BAD)?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, value) }
    }

    /// Two dimensions. Each pointer may be null.
    fn miopenGetConvolutionDescriptor(
        handle: Handle, mode: *mut miopenConvolutionMode_t, pad_h: IntOut, pad_w: IntOut, stride_h: IntOut,
        stride_w: IntOut, dilation_h: IntOut, dilation_w: IntOut,
    ) {
        let conv = convolution_of(handle)?;
        if conv.spatial() != 2 {
            return Err(BAD);
        }
        let values = [&conv.pads, &conv.strides, &conv.dilations];
        for (outs, list) in [[pad_h, pad_w], [stride_h, stride_w], [dilation_h, dilation_w]].into_iter().zip(values) {
            for (out, value) in outs.into_iter().zip(list) {
                // SAFETY: S11: the caller's output pointers for the results.
                unsafe { offer(out, *value) };
            }
        }
        // SAFETY: S11: as above.
        unsafe { offer(mode, conv.mode()) };
        Ok(())
    }

    /// Each pointer may be null.
    fn miopenGetConvolutionNdDescriptor(
        handle: Handle, requested: c_int, count: IntOut, pads: IntOut, strides: IntOut, dilations: IntOut,
        mode: *mut miopenConvolutionMode_t,
    ) {
        let conv = convolution_of(handle)?;
        if usize::try_from(requested).map_err(|_| BAD)? < conv.spatial() {
            return Err(BAD);
        }
        // SAFETY: S11: the caller's output pointers are valid for as many numbers as were requested.
        unsafe {
            offer(count, conv.spatial() as c_int);
            offer_list(pads, &conv.pads);
            offer_list(strides, &conv.strides);
            offer_list(dilations, &conv.dilations);
            offer(mode, conv.mode());
        }
        Ok(())
    }

    fn miopenGetConvolutionForwardOutputDim(
        handle: Handle, x: Tensors, w: Tensors, n: IntOut, c: IntOut, h: IntOut, width: IntOut,
    ) {
        let lengths = convolution_of(handle)?.output(&*tensor_of(x)?, &*tensor_of(w)?)?;
        if lengths.len() != 4 {
            return Err(BAD);
        }
        for (out, length) in [n, c, h, width].into_iter().zip(lengths) {
            // SAFETY: S11: the caller's output pointers for the results.
            unsafe { give(out, length)? };
        }
        Ok(())
    }

    fn miopenGetConvolutionNdForwardOutputDim(handle: Handle, x: Tensors, w: Tensors, count: IntOut, dims: IntOut) {
        let lengths = convolution_of(handle)?.output(&*tensor_of(x)?, &*tensor_of(w)?)?;
        there(dims)?;
        // SAFETY: S11: the caller's output pointers, with room for as many lengths as the picture has.
        unsafe {
            offer(count, lengths.len() as c_int);
            offer_list(dims, &lengths);
        }
        Ok(())
    }
}

fn set_output_pads(handle: Handle, pads: Vec<c_int>) -> Outcome {
    CONVOLUTIONS.change(handle, |former| {
        if pads.len() != former.spatial() || pads.iter().any(|n| *n < 0) {
            return Err(BAD);
        }
        Ok(former.with(|c| c.output_pads = pads))
    })
}

#[cfg(test)]
mod tests;
