//! Convolution descriptors.
#![allow(non_snake_case, reason = "MIOpen's names")]

use crate::answer::{BAD, Outcome, UNKNOWN, answer, check, give, int, list, offer, offer_list, product, sum};
use crate::registry::Registry;
use crate::tensor::{Tensor, tensor};
use hip_sys::miopen::{
    miopenConvolutionAttrib_t, miopenConvolutionDescriptor_t, miopenConvolutionMode_t, miopenStatus_t,
    miopenTensorDescriptor_t,
};
use std::ffi::c_int;

/// The settings of a convolution descriptor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Convolution {
    pub(crate) transposed: bool,
    pub(crate) pads: Vec<usize>,
    pub(crate) strides: Vec<usize>,
    pub(crate) dilations: Vec<usize>,
    /// The additional length of a transposed convolution's output.
    more: Vec<usize>,
    pub(crate) groups: usize,
    /// The attributes by number. They have no effect: results are always deterministic.
    attributes: [c_int; 3],
}

/// All convolution descriptors.
pub(crate) static CONVOLUTIONS: Registry<Convolution> = Registry::new(0x72);

impl Default for Convolution {
    fn default() -> Self {
        Self {
            transposed: false,
            pads: vec![0; 2],
            strides: vec![1; 2],
            dilations: vec![1; 2],
            more: vec![0; 2],
            groups: 1,
            attributes: [-1, 0, 0],
        }
    }
}

impl Convolution {
    fn new(
        mode: miopenConvolutionMode_t,
        pads: &[c_int],
        strides: &[c_int],
        dilations: &[c_int],
    ) -> Outcome<Self> {
        let sizes = |list: &[c_int], least: usize| {
            let sizes = list.iter().map(|&it| usize::try_from(it).ok().filter(|&it| it >= least));
            sizes.collect::<Option<Vec<_>>>().ok_or(BAD)
        };
        check(mode.0 <= miopenConvolutionMode_t::miopenDepthwise.0, BAD)?;
        check((1..=3).contains(&pads.len()), BAD)?;
        Ok(Self {
            transposed: mode == miopenConvolutionMode_t::miopenTranspose,
            pads: sizes(pads, 0)?,
            strides: sizes(strides, 1)?,
            dilations: sizes(dilations, 1)?,
            more: vec![0; pads.len()],
            ..Self::default()
        })
    }

    /// The number of spatial dimensions.
    pub(crate) fn rank(&self) -> usize {
        self.pads.len()
    }

    fn mode(&self) -> miopenConvolutionMode_t {
        if self.transposed {
            miopenConvolutionMode_t::miopenTranspose
        } else {
            miopenConvolutionMode_t::miopenConvolution
        }
    }

    /// The output's spatial lengths of a convolution that is not transposed.
    ///
    /// # Errors
    /// BadParm if they overflow.
    pub(crate) fn reach(&self, input: &[usize], kernel: &[usize]) -> Outcome<Vec<usize>> {
        let length = |axis: usize| {
            let span = self.dilations[axis].checked_mul(kernel[axis] - 1)?.checked_add(1)?;
            let padded = input[axis].checked_add(2 * self.pads[axis])?;
            Some(padded.checked_sub(span).map_or(1, |rest| rest / self.strides[axis] + 1))
        };
        (0..self.rank()).map(length).collect::<Option<_>>().ok_or(BAD)
    }

    /// The lengths of the output.
    ///
    /// # Errors
    /// BadParm if the channels do not match, the added length of a transposed output exceeds its stride, or lengths overflow.
    pub(crate) fn output(&self, x: &Tensor, w: &Tensor) -> Outcome<Vec<usize>> {
        let rank = self.rank();
        check(x.rank() == rank + 2 && w.rank() == rank + 2 && x.dtype == w.dtype, BAD)?;
        let (channels, [k, c]) = (x.lens[1], [w.lens[0], w.lens[1]]);
        if self.transposed {
            check(channels == k && k.is_multiple_of(self.groups), BAD)?;
            check(self.more.iter().zip(&self.strides).all(|(more, stride)| more < stride), BAD)?;
            let length = |axis: usize| {
                let steps = product([self.strides[axis], x.lens[axis + 2] - 1])?;
                let span = product([self.dilations[axis], w.lens[axis + 2] - 1])?;
                let full = sum([steps, 1, self.more[axis], span])?;
                Ok(full.saturating_sub(2 * self.pads[axis]).max(1))
            };
            let channels = product([c, self.groups]);
            return [Ok(x.lens[0]), channels].into_iter().chain((0..rank).map(length)).collect();
        }
        let fits = match self.groups {
            1 => channels == c,
            _ => channels.is_multiple_of(c) && k.is_multiple_of(channels / c),
        };
        check(fits, BAD)?;
        Ok([vec![x.lens[0], k], self.reach(&x.lens[2..], &w.lens[2..])?].concat())
    }
}

pub(crate) unsafe extern "C" fn miopenCreateConvolutionDescriptor(
    out: *mut miopenConvolutionDescriptor_t,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the handle.
    answer(|| unsafe { CONVOLUTIONS.create(out, Convolution::default()) })
}

pub(crate) unsafe extern "C" fn miopenDestroyConvolutionDescriptor(
    descriptor: miopenConvolutionDescriptor_t,
) -> miopenStatus_t {
    answer(|| CONVOLUTIONS.destroy(descriptor))
}

pub(crate) unsafe extern "C" fn miopenInitConvolutionDescriptor(
    descriptor: miopenConvolutionDescriptor_t,
    mode: miopenConvolutionMode_t,
    pad_h: c_int,
    pad_w: c_int,
    stride_h: c_int,
    stride_w: c_int,
    dilation_h: c_int,
    dilation_w: c_int,
) -> miopenStatus_t {
    answer(|| {
        CONVOLUTIONS.set(descriptor, || {
            Convolution::new(mode, &[pad_h, pad_w], &[stride_h, stride_w], &[dilation_h, dilation_w])
        })
    })
}

pub(crate) unsafe extern "C" fn miopenInitConvolutionNdDescriptor(
    descriptor: miopenConvolutionDescriptor_t,
    rank: c_int,
    pads: *const c_int,
    strides: *const c_int,
    dilations: *const c_int,
    mode: miopenConvolutionMode_t,
) -> miopenStatus_t {
    answer(|| {
        CONVOLUTIONS.set(descriptor, || {
            // SAFETY: S11: the C contract makes the lists that long.
            let lists = unsafe { [list(pads, rank), list(strides, rank), list(dilations, rank)] };
            let [pads, strides, dilations] = lists.map(|list| list.map_err(|_| BAD));
            Convolution::new(mode, &pads?, &strides?, &dilations?)
        })
    })
}

pub(crate) unsafe extern "C" fn miopenSetConvolutionGroupCount(
    descriptor: miopenConvolutionDescriptor_t,
    groups: c_int,
) -> miopenStatus_t {
    answer(|| {
        let groups = usize::try_from(groups).ok().filter(|&it| it > 0).ok_or(BAD)?;
        CONVOLUTIONS.with(descriptor, |it| it.groups = groups)
    })
}

pub(crate) unsafe extern "C" fn miopenGetConvolutionGroupCount(
    descriptor: miopenConvolutionDescriptor_t,
    out: *mut c_int,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the number.
    answer(|| unsafe { give(out, int(CONVOLUTIONS.get(descriptor)?.groups)) })
}

fn set_more(descriptor: miopenConvolutionDescriptor_t, more: &[c_int]) -> Outcome {
    CONVOLUTIONS.with(descriptor, |it| {
        check(it.rank() == more.len(), UNKNOWN)?;
        let more = more.iter().map(|&more| usize::try_from(more).map_err(|_| BAD));
        it.more = more.collect::<Outcome<Vec<_>>>()?;
        Ok(())
    })?
}

pub(crate) unsafe extern "C" fn miopenSetTransposeConvOutputPadding(
    descriptor: miopenConvolutionDescriptor_t,
    h: c_int,
    w: c_int,
) -> miopenStatus_t {
    answer(|| set_more(descriptor, &[h, w]))
}

pub(crate) unsafe extern "C" fn miopenSetTransposeConvNdOutputPadding(
    descriptor: miopenConvolutionDescriptor_t,
    rank: c_int,
    more: *const c_int,
) -> miopenStatus_t {
    // SAFETY: S11: the C contract makes the list that long.
    answer(|| set_more(descriptor, &unsafe { list(more, rank) }.map_err(|_| BAD)?))
}

pub(crate) unsafe extern "C" fn miopenGetConvolutionSpatialDim(
    descriptor: miopenConvolutionDescriptor_t,
    out: *mut c_int,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the number.
    answer(|| unsafe { give(out, int(CONVOLUTIONS.get(descriptor)?.rank())) })
}

pub(crate) unsafe extern "C" fn miopenGetConvolutionDescriptor(
    descriptor: miopenConvolutionDescriptor_t,
    mode: *mut miopenConvolutionMode_t,
    pad_h: *mut c_int,
    pad_w: *mut c_int,
    stride_h: *mut c_int,
    stride_w: *mut c_int,
    dilation_h: *mut c_int,
    dilation_w: *mut c_int,
) -> miopenStatus_t {
    answer(|| {
        let it = CONVOLUTIONS.get(descriptor)?;
        check(it.rank() == 2, UNKNOWN)?;
        let outs = [pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w];
        let values = it.pads.iter().chain(&it.strides).chain(&it.dilations);
        // SAFETY: S11: the caller's output pointer for the mode.
        unsafe { give(mode, it.mode())? };
        // SAFETY: S11: the caller's output pointers for the numbers.
        outs.into_iter().zip(values).try_for_each(|(out, value)| unsafe { give(out, int(*value)) })
    })
}

pub(crate) unsafe extern "C" fn miopenGetConvolutionNdDescriptor(
    descriptor: miopenConvolutionDescriptor_t,
    requested: c_int,
    rank: *mut c_int,
    pads: *mut c_int,
    strides: *mut c_int,
    dilations: *mut c_int,
    mode: *mut miopenConvolutionMode_t,
) -> miopenStatus_t {
    answer(|| {
        let it = CONVOLUTIONS.get(descriptor)?;
        let wanted = usize::try_from(requested).ok().filter(|&wanted| wanted <= it.rank()).ok_or(UNKNOWN)?;
        // SAFETY: S11: the caller's arrays, with space for as many as it asked for.
        unsafe {
            offer(rank, int(it.rank()));
            offer(mode, it.mode());
            offer_list(pads, it.pads.into_iter().take(wanted));
            offer_list(strides, it.strides.into_iter().take(wanted));
            offer_list(dilations, it.dilations.into_iter().take(wanted));
        }
        Ok(())
    })
}

fn output(
    descriptor: miopenConvolutionDescriptor_t,
    x: miopenTensorDescriptor_t,
    w: miopenTensorDescriptor_t,
) -> Outcome<Vec<usize>> {
    CONVOLUTIONS.get(descriptor)?.output(&tensor(x)?, &tensor(w)?)
}

pub(crate) unsafe extern "C" fn miopenGetConvolutionForwardOutputDim(
    descriptor: miopenConvolutionDescriptor_t,
    x: miopenTensorDescriptor_t,
    filter: miopenTensorDescriptor_t,
    n: *mut c_int,
    c: *mut c_int,
    h: *mut c_int,
    w: *mut c_int,
) -> miopenStatus_t {
    answer(|| {
        check(CONVOLUTIONS.get(descriptor)?.rank() == 2, UNKNOWN)?;
        let lens = output(descriptor, x, filter)?;
        // SAFETY: S11: the caller's output pointers for the numbers.
        [n, c, h, w].into_iter().zip(lens).try_for_each(|(out, len)| unsafe { give(out, int(len)) })
    })
}

pub(crate) unsafe extern "C" fn miopenGetConvolutionNdForwardOutputDim(
    descriptor: miopenConvolutionDescriptor_t,
    x: miopenTensorDescriptor_t,
    filter: miopenTensorDescriptor_t,
    rank: *mut c_int,
    lens: *mut c_int,
) -> miopenStatus_t {
    answer(|| {
        let output = output(descriptor, x, filter)?;
        check(!lens.is_null(), BAD)?;
        // SAFETY: S11: the caller's arrays, with space for all dimensions.
        unsafe {
            give(rank, int(output.len()))?;
            offer_list(lens, output);
        }
        Ok(())
    })
}

/// The index of an attribute.
fn slot(attribute: miopenConvolutionAttrib_t) -> Outcome<usize> {
    usize::try_from(attribute.0).ok().filter(|&it| it < 3).ok_or(BAD)
}

pub(crate) unsafe extern "C" fn miopenSetConvolutionAttribute(
    descriptor: miopenConvolutionDescriptor_t,
    attribute: miopenConvolutionAttrib_t,
    value: c_int,
) -> miopenStatus_t {
    answer(|| {
        let slot = slot(attribute)?;
        let range = if slot == 0 { -1..=1 } else { 0..=1 };
        check(range.contains(&value), BAD)?;
        CONVOLUTIONS.with(descriptor, |it| it.attributes[slot] = value)
    })
}

pub(crate) unsafe extern "C" fn miopenGetConvolutionAttribute(
    descriptor: miopenConvolutionDescriptor_t,
    attribute: miopenConvolutionAttrib_t,
    out: *mut c_int,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the number.
    answer(|| unsafe { give(out, CONVOLUTIONS.get(descriptor)?.attributes[slot(attribute)?]) })
}
