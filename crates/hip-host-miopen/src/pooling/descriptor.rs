//! Pooling descriptors.
#![allow(non_snake_case, reason = "MIOpen's names")]

use crate::answer::{BAD, Outcome, answer, check, give, int, list, offer, offer_list, product, sum};
use crate::registry::Registry;
use crate::tensor::{Tensor, tensor};
use hip_sys::miopen::{
    miopenIndexType_t, miopenPoolingDescriptor_t, miopenPoolingMode_t, miopenPoolingWorkspaceIndexMode_t,
    miopenStatus_t, miopenTensorDescriptor_t,
};
use std::ffi::c_int;

/// The settings of a pooling descriptor. A new descriptor has no dimensions.
#[derive(Debug, Clone)]
pub(super) struct Pooling {
    pub(super) mode: miopenPoolingMode_t,
    pub(super) window: Vec<usize>,
    pub(super) pads: Vec<usize>,
    pub(super) strides: Vec<usize>,
    pub(super) index: miopenIndexType_t,
    /// Whether an index counts positions of the image, instead of the window.
    pub(super) global: bool,
}

const IMAGE: miopenPoolingWorkspaceIndexMode_t =
    miopenPoolingWorkspaceIndexMode_t::miopenPoolingWorkspaceIndexImage;
const MASK: miopenPoolingWorkspaceIndexMode_t =
    miopenPoolingWorkspaceIndexMode_t::miopenPoolingWorkspaceIndexMask;

/// All pooling descriptors.
pub(super) static POOLINGS: Registry<Pooling> = Registry::new(0x74);

impl Default for Pooling {
    fn default() -> Self {
        Self {
            mode: miopenPoolingMode_t::miopenPoolingMax,
            window: Vec::new(),
            pads: Vec::new(),
            strides: Vec::new(),
            index: miopenIndexType_t::miopenIndexUint8,
            global: false,
        }
    }
}

impl Pooling {
    fn new(mode: miopenPoolingMode_t, window: &[c_int], pads: &[c_int], strides: &[c_int]) -> Outcome<Self> {
        let sizes = |list: &[c_int], least: usize| {
            let sizes = list.iter().map(|&it| usize::try_from(it).ok().filter(|&it| it >= least));
            sizes.collect::<Option<Vec<_>>>().ok_or(BAD)
        };
        check(mode.0 <= miopenPoolingMode_t::miopenPoolingAverageInclusive.0, BAD)?;
        check((2..=3).contains(&window.len()), BAD)?;
        let sides = sizes(window, 1)?;
        // The window's size must not overflow: averages divide by it, and indices are below it.
        product(sides.iter().copied())?;
        Ok(Self {
            mode,
            window: sides,
            pads: sizes(pads, 0)?,
            strides: sizes(strides, 1)?,
            global: window.len() == 3,
            ..Self::default()
        })
    }

    /// Whether it is maximum pooling.
    pub(super) fn is_max(&self) -> bool {
        self.mode == miopenPoolingMode_t::miopenPoolingMax
    }

    /// Bytes of an index, which is below [`Pooling::indices`].
    pub(super) fn index_bytes(&self) -> usize {
        1 << self.index.0
    }

    /// The largest number of the index type, which means no index.
    pub(super) fn indices(&self) -> usize {
        match self.index_bytes() {
            8 => usize::MAX,
            bytes => (1 << (8 * bytes)) - 1,
        }
    }

    /// The lengths of the output.
    ///
    /// # Errors
    /// BadParm if the tensor has another number of dimensions, or lengths overflow.
    pub(super) fn output(&self, x: &Tensor) -> Outcome<Vec<usize>> {
        let rank = self.window.len();
        check(rank > 0 && x.rank() == rank + 2, BAD)?;
        let length = |axis: usize| {
            let padded = sum([x.lens[axis + 2], 2 * self.pads[axis]])?;
            Ok(padded.checked_sub(self.window[axis]).map_or(1, |rest| rest / self.strides[axis] + 1))
        };
        x.lens[..2].iter().map(|&len| Ok(len)).chain((0..rank).map(length)).collect()
    }
}

pub(crate) unsafe extern "C" fn miopenCreatePoolingDescriptor(
    out: *mut miopenPoolingDescriptor_t,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the handle.
    answer(|| unsafe { POOLINGS.create(out, Pooling::default()) })
}

pub(crate) unsafe extern "C" fn miopenDestroyPoolingDescriptor(
    descriptor: miopenPoolingDescriptor_t,
) -> miopenStatus_t {
    answer(|| POOLINGS.destroy(descriptor))
}

pub(crate) unsafe extern "C" fn miopenSet2dPoolingDescriptor(
    descriptor: miopenPoolingDescriptor_t,
    mode: miopenPoolingMode_t,
    window_h: c_int,
    window_w: c_int,
    pad_h: c_int,
    pad_w: c_int,
    stride_h: c_int,
    stride_w: c_int,
) -> miopenStatus_t {
    answer(|| {
        POOLINGS.set(descriptor, || {
            Pooling::new(mode, &[window_h, window_w], &[pad_h, pad_w], &[stride_h, stride_w])
        })
    })
}

pub(crate) unsafe extern "C" fn miopenSetNdPoolingDescriptor(
    descriptor: miopenPoolingDescriptor_t,
    mode: miopenPoolingMode_t,
    rank: c_int,
    window: *const c_int,
    pads: *const c_int,
    strides: *const c_int,
) -> miopenStatus_t {
    answer(|| {
        POOLINGS.set(descriptor, || {
            // SAFETY: S11: the C contract makes the lists that long.
            let lists = unsafe { [list(window, rank), list(pads, rank), list(strides, rank)] };
            let [window, pads, strides] = lists.map(|list| list.map_err(|_| BAD));
            Pooling::new(mode, &window?, &pads?, &strides?)
        })
    })
}

pub(crate) unsafe extern "C" fn miopenGet2dPoolingDescriptor(
    descriptor: miopenPoolingDescriptor_t,
    mode: *mut miopenPoolingMode_t,
    window_h: *mut c_int,
    window_w: *mut c_int,
    pad_h: *mut c_int,
    pad_w: *mut c_int,
    stride_h: *mut c_int,
    stride_w: *mut c_int,
) -> miopenStatus_t {
    answer(|| {
        let it = POOLINGS.get(descriptor)?;
        check(it.window.len() == 2, BAD)?;
        let outs = [window_h, window_w, pad_h, pad_w, stride_h, stride_w];
        let values = it.window.iter().chain(&it.pads).chain(&it.strides);
        // SAFETY: S11: the caller's output pointer for the mode.
        unsafe { give(mode, it.mode)? };
        // SAFETY: S11: the caller's output pointers for the numbers.
        outs.into_iter().zip(values).try_for_each(|(out, value)| unsafe { give(out, int(*value)) })
    })
}

pub(crate) unsafe extern "C" fn miopenGetNdPoolingDescriptor(
    descriptor: miopenPoolingDescriptor_t,
    requested: c_int,
    mode: *mut miopenPoolingMode_t,
    rank: *mut c_int,
    window: *mut c_int,
    pads: *mut c_int,
    strides: *mut c_int,
) -> miopenStatus_t {
    answer(|| {
        let it = POOLINGS.get(descriptor)?;
        let wanted =
            usize::try_from(requested).ok().filter(|&wanted| wanted <= it.window.len()).ok_or(BAD)?;
        // SAFETY: S11: the caller's arrays, with space for as many as it asked for.
        unsafe {
            offer(mode, it.mode);
            offer(rank, int(it.window.len()));
            offer_list(window, it.window.into_iter().take(wanted));
            offer_list(pads, it.pads.into_iter().take(wanted));
            offer_list(strides, it.strides.into_iter().take(wanted));
        }
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn miopenSetPoolingIndexType(
    descriptor: miopenPoolingDescriptor_t,
    index: miopenIndexType_t,
) -> miopenStatus_t {
    answer(|| {
        check(index.0 <= miopenIndexType_t::miopenIndexUint64.0, BAD)?;
        POOLINGS.with(descriptor, |it| it.index = index)
    })
}

pub(crate) unsafe extern "C" fn miopenGetPoolingIndexType(
    descriptor: miopenPoolingDescriptor_t,
    out: *mut miopenIndexType_t,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the type.
    answer(|| unsafe { give(out, POOLINGS.get(descriptor)?.index) })
}

pub(crate) unsafe extern "C" fn miopenSetPoolingWorkSpaceIndexMode(
    descriptor: miopenPoolingDescriptor_t,
    mode: miopenPoolingWorkspaceIndexMode_t,
) -> miopenStatus_t {
    answer(|| {
        check([MASK, IMAGE].contains(&mode), BAD)?;
        POOLINGS.with(descriptor, |it| it.global = mode == IMAGE)
    })
}

pub(crate) unsafe extern "C" fn miopenGetPoolingWorkSpaceIndexMode(
    descriptor: miopenPoolingDescriptor_t,
    out: *mut miopenPoolingWorkspaceIndexMode_t,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the mode.
    answer(|| unsafe { give(out, if POOLINGS.get(descriptor)?.global { IMAGE } else { MASK }) })
}

pub(crate) unsafe extern "C" fn miopenGetPoolingForwardOutputDim(
    descriptor: miopenPoolingDescriptor_t,
    x: miopenTensorDescriptor_t,
    n: *mut c_int,
    c: *mut c_int,
    h: *mut c_int,
    w: *mut c_int,
) -> miopenStatus_t {
    answer(|| {
        let lens = POOLINGS.get(descriptor)?.output(&tensor(x)?)?;
        check(lens.len() == 4, BAD)?;
        // SAFETY: S11: the caller's output pointers for the numbers.
        [n, c, h, w].into_iter().zip(lens).try_for_each(|(out, len)| unsafe { give(out, int(len)) })
    })
}

pub(crate) unsafe extern "C" fn miopenGetPoolingNdForwardOutputDim(
    descriptor: miopenPoolingDescriptor_t,
    x: miopenTensorDescriptor_t,
    rank: c_int,
    lens: *mut c_int,
) -> miopenStatus_t {
    answer(|| {
        let output = POOLINGS.get(descriptor)?.output(&tensor(x)?)?;
        check(int(output.len()) == rank && !lens.is_null(), BAD)?;
        // SAFETY: S11: the caller's list, with room for all dimensions.
        unsafe { offer_list(lens, output) };
        Ok(())
    })
}

/// For indices of a byte.
pub(crate) unsafe extern "C" fn miopenPoolingGetWorkSpaceSize(
    y: miopenTensorDescriptor_t,
    out: *mut usize,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the size.
    answer(|| unsafe { give(out, tensor(y)?.count()) })
}

pub(crate) unsafe extern "C" fn miopenPoolingGetWorkSpaceSizeV2(
    descriptor: miopenPoolingDescriptor_t,
    y: miopenTensorDescriptor_t,
    out: *mut usize,
) -> miopenStatus_t {
    answer(|| {
        let it = POOLINGS.get(descriptor)?;
        let bytes = if it.is_max() { product([tensor(y)?.count(), it.index_bytes()])? } else { 0 };
        // SAFETY: S11: the caller's output pointer for the size.
        unsafe { give(out, bytes) }
    })
}
