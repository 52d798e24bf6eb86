//! Pooling. cuDNN finds the maxima again in the backward pass, so the workspace that MIOpen has for indices is empty.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::convert::pooling_mode;
use super::descriptor::Descriptors;
use super::entry::{all_there, entries, give, list, offer, offer_list, there};
use super::factor::Factor;
use super::handle::with;
use super::library::{In, Out, check, cudnn};
use super::raw::{Lazy, RawPooling};
use super::tensor::{Tensor, tensor_of};
use super::{BAD, Outcome};
use cudarc::cudnn::sys;
use hip_sys::miopen::*;
use std::ffi::c_int;
use std::sync::{Arc, LazyLock};

/// A window and its steps.
pub(super) struct Pooling {
    mode: miopenPoolingMode_t,
    window: Vec<c_int>,
    pads: Vec<c_int>,
    strides: Vec<c_int>,
    /// MIOpen's setting for indices, which is only stored.
    index_type: miopenIndexType_t,
    index_mode: miopenPoolingWorkspaceIndexMode_t,
    raw: Lazy<RawPooling>,
}

static POOLINGS: LazyLock<Descriptors<Pooling>> = LazyLock::new(|| Descriptors::new(0x54));

impl Default for Pooling {
    fn default() -> Self {
        Self {
            mode: miopenPoolingMode_t::miopenPoolingMax,
            window: Vec::new(),
            pads: Vec::new(),
            strides: Vec::new(),
            index_type: miopenIndexType_t::miopenIndexUint8,
            index_mode: miopenPoolingWorkspaceIndexMode_t::miopenPoolingWorkspaceIndexMask,
            raw: Lazy::new(),
        }
    }
}

impl Pooling {
    /// The same with another window; the setting for indices stays.
    fn with_window(
        &self,
        mode: miopenPoolingMode_t,
        window: Vec<c_int>,
        pads: Vec<c_int>,
        strides: Vec<c_int>,
    ) -> Outcome<Self> {
        pooling_mode(mode)?;
        let below = |list: &[c_int], least: c_int| list.iter().any(|n| *n < least);
        if window.is_empty() || below(&window, 1) || below(&pads, 0) || below(&strides, 1) {
            return Err(BAD);
        }
        let (index_type, index_mode) = (self.index_type, self.index_mode);
        Ok(Self { mode, window, pads, strides, index_type, index_mode, raw: Lazy::new() })
    }

    #[cfg(test)]
    pub(super) fn sample(
        mode: miopenPoolingMode_t,
        window: &[c_int],
        pads: &[c_int],
        strides: &[c_int],
    ) -> Self {
        Self::default().with_window(mode, window.to_vec(), pads.to_vec(), strides.to_vec()).unwrap()
    }

    fn with_indices(&self, kind: miopenIndexType_t, mode: miopenPoolingWorkspaceIndexMode_t) -> Self {
        Self {
            mode: self.mode,
            window: self.window.clone(),
            pads: self.pads.clone(),
            strides: self.strides.clone(),
            index_type: kind,
            index_mode: mode,
            raw: Lazy::new(),
        }
    }

    pub(super) fn raw(&self) -> Outcome<sys::cudnnPoolingDescriptor_t> {
        let make = || {
            if self.window.len() < 2 {
                return Err(BAD);
            }
            let mode = pooling_mode(self.mode)?;
            RawPooling::new(|library, raw| {
                // SAFETY: S1: a new descriptor and three lists of that length.
                check(unsafe {
                    (library.cudnnSetPoolingNdDescriptor)(
                        raw,
                        mode,
                        sys::cudnnNanPropagation_t::CUDNN_NOT_PROPAGATE_NAN,
                        self.window.len() as c_int,
                        self.window.as_ptr(),
                        self.pads.as_ptr(),
                        self.strides.as_ptr(),
                    )
                })
            })
        };
        self.raw.get(make).map(RawPooling::raw)
    }

    /// The output's lengths.
    pub(super) fn output(&self, x: &Tensor) -> Outcome<Vec<c_int>> {
        if self.window.is_empty() || x.rank() != self.window.len() + 2 {
            return Err(BAD);
        }
        let int = |n: usize| c_int::try_from(n).map_err(|_| BAD);
        let mut lengths = vec![int(x.dims[0])?, int(x.dims[1])?];
        for dim in 0..self.window.len() {
            let of = |list: &[c_int]| i64::from(list[dim]);
            let room = i64::from(int(x.dims[dim + 2])?) + 2 * of(&self.pads) - of(&self.window);
            let length = (room.div_euclid(of(&self.strides)) + 1).max(1);
            lengths.push(c_int::try_from(length).map_err(|_| BAD)?);
        }
        Ok(lengths)
    }
}

fn pooling_of(handle: miopenPoolingDescriptor_t) -> Outcome<Arc<Pooling>> {
    POOLINGS.get(handle)
}

type H = miopenHandle_t;
type T = miopenTensorDescriptor_t;
type D = miopenPoolingDescriptor_t;
type Mode = miopenPoolingMode_t;
type IntOut = *mut c_int;

entries! {
    fn miopenCreatePoolingDescriptor(out: *mut D) {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { POOLINGS.create(out) }
    }

    fn miopenDestroyPoolingDescriptor(handle: D) {
        POOLINGS.destroy(handle)
    }

    fn miopenSet2dPoolingDescriptor(
        handle: D, mode: Mode, height: c_int, width: c_int, pad_h: c_int, pad_w: c_int, stride_h: c_int,
        stride_w: c_int,
    ) {
        POOLINGS.change(handle, |former| {
            former.with_window(mode, vec![height, width], vec![pad_h, pad_w], vec![stride_h, stride_w])
        })
    }

    fn miopenSetNdPoolingDescriptor(
        handle: D, mode: Mode, count: c_int, window: *const c_int, pads: *const c_int, strides: *const c_int,
    ) {
        let count = usize::try_from(count).ok().filter(|n| (2..=3).contains(n)).ok_or(BAD)?;
        // SAFETY: S11: the caller's lists have that many numbers.
        let lists = unsafe { (list(window, count)?, list(pads, count)?, list(strides, count)?) };
        POOLINGS.change(handle, |former| former.with_window(mode, lists.0, lists.1, lists.2))
    }

    /// Each pointer may be null.
    fn miopenGet2dPoolingDescriptor(
        handle: D, mode: *mut Mode, height: IntOut, width: IntOut, pad_h: IntOut, pad_w: IntOut, stride_h: IntOut,
        stride_w: IntOut,
    ) {
        let pooling = pooling_of(handle)?;
        if pooling.window.len() != 2 {
            return Err(BAD);
        }
        let values = [&pooling.window, &pooling.pads, &pooling.strides];
        for (outs, list) in [[height, width], [pad_h, pad_w], [stride_h, stride_w]].into_iter().zip(values) {
            for (out, value) in outs.into_iter().zip(list) {
                // SAFETY: S11: the caller's output pointers for the results.
                unsafe { offer(out, *value) };
            }
        }
        // SAFETY: S11: as above.
        unsafe { offer(mode, pooling.mode) };
        Ok(())
    }

    /// Each pointer may be null.
    fn miopenGetNdPoolingDescriptor(
        handle: D, requested: c_int, mode: *mut Mode, count: IntOut, window: IntOut, pads: IntOut, strides: IntOut,
    ) {
        let pooling = pooling_of(handle)?;
        let room = usize::try_from(requested).map_err(|_| BAD)?.min(pooling.window.len());
        // SAFETY: S11: the caller's output pointers are valid for as many numbers as were requested.
        unsafe {
            offer(mode, pooling.mode);
            offer(count, pooling.window.len() as c_int);
            offer_list(window, &pooling.window[..room]);
            offer_list(pads, &pooling.pads[..room]);
            offer_list(strides, &pooling.strides[..room]);
        }
        Ok(())
    }

    fn miopenSetPoolingIndexType(handle: D, kind: miopenIndexType_t) {
        if kind.0 > miopenIndexType_t::miopenIndexUint64.0 {
            return Err(BAD);
        }
        POOLINGS.change(handle, |former| Ok(former.with_indices(kind, former.index_mode)))
    }

    fn miopenGetPoolingIndexType(handle: D, out: *mut miopenIndexType_t) {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, pooling_of(handle)?.index_type) }
    }

    fn miopenSetPoolingWorkSpaceIndexMode(handle: D, mode: miopenPoolingWorkspaceIndexMode_t) {
        if mode.0 > 1 {
            return Err(BAD);
        }
        POOLINGS.change(handle, |former| Ok(former.with_indices(former.index_type, mode)))
    }

    fn miopenGetPoolingWorkSpaceIndexMode(handle: D, out: *mut miopenPoolingWorkspaceIndexMode_t) {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, pooling_of(handle)?.index_mode) }
    }

    fn miopenGetPoolingForwardOutputDim(handle: D, x: T, n: IntOut, c: IntOut, h: IntOut, w: IntOut) {
        let lengths = pooling_of(handle)?.output(&*tensor_of(x)?)?;
        if lengths.len() != 4 {
            return Err(BAD);
        }
        for (out, length) in [n, c, h, w].into_iter().zip(lengths) {
            // SAFETY: S11: the caller's output pointers for the results.
            unsafe { give(out, length)? };
        }
        Ok(())
    }

    fn miopenGetPoolingNdForwardOutputDim(handle: D, x: T, count: c_int, dims: IntOut) {
        let lengths = pooling_of(handle)?.output(&*tensor_of(x)?)?;
        there(dims)?;
        if usize::try_from(count) != Ok(lengths.len()) {
            return Err(BAD);
        }
        // SAFETY: S11: the caller's output pointer is valid for that many lengths.
        unsafe { offer_list(dims, &lengths) };
        Ok(())
    }

    fn miopenPoolingGetWorkSpaceSize(y: T, out: *mut usize) {
        tensor_of(y)?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, 0) }
    }

    fn miopenPoolingGetWorkSpaceSizeV2(handle: D, y: T, out: *mut usize) {
        pooling_of(handle)?;
        tensor_of(y)?;
        // SAFETY: S11: as above.
        unsafe { give(out, 0) }
    }

    fn miopenPoolingForward(
        handle: H, pooling: D, alpha: In, xd: T, x: In, beta: In, yd: T, y: Out, _do_backward: bool, _memory: Out,
        _size: usize,
    ) {
        let (pooling, xd, yd) = (pooling_of(pooling)?, tensor_of(xd)?, tensor_of(yd)?);
        all_there(&[x, y.cast_const()])?;
        // SAFETY: S11: the caller's factors.
        let (alpha, beta) = unsafe { (Factor::read(alpha, yd.kind)?, Factor::read(beta, yd.kind)?) };
        let (raw, x_raw, y_raw) = (pooling.raw()?, xd.raw()?, yd.raw()?);
        with(handle, |session| {
            // SAFETY: S11: live descriptors and factors, and the caller's memory.
            check(unsafe {
                (cudnn()?.cudnnPoolingForward)(session.raw, raw, alpha.get(), x_raw, x, beta.get(), y_raw, y)
            })
        })
    }

    fn miopenPoolingBackward(
        handle: H, pooling: D, alpha: In, yd: T, y: In, dyd: T, dy: In, xd: T, x: In, beta: In, dxd: T, dx: Out,
        _memory: Out,
    ) {
        let pooling = pooling_of(pooling)?;
        let (yd, dyd, xd, dxd) = (tensor_of(yd)?, tensor_of(dyd)?, tensor_of(xd)?, tensor_of(dxd)?);
        all_there(&[y, dy, x, dx.cast_const()])?;
        // SAFETY: S11: the caller's factors.
        let (alpha, beta) = unsafe { (Factor::read(alpha, dxd.kind)?, Factor::read(beta, dxd.kind)?) };
        let (raw, y_raw, dy_raw) = (pooling.raw()?, yd.raw()?, dyd.raw()?);
        let (x_raw, dx_raw) = (xd.raw()?, dxd.raw()?);
        with(handle, |session| {
            // SAFETY: S11: as above.
            check(unsafe {
                (cudnn()?.cudnnPoolingBackward)(
                    session.raw, raw, alpha.get(), y_raw, y, dy_raw, dy, x_raw, x, beta.get(), dx_raw, dx,
                )
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null_mut;

    #[test]
    fn lengths_of_the_output() {
        let pooling = |window, pad, stride| {
            let two = |n: c_int| vec![n, n];
            let mode = miopenPoolingMode_t::miopenPoolingAverage;
            Pooling::default().with_window(mode, two(window), two(pad), two(stride)).unwrap()
        };
        let x = Tensor::new(miopenDataType_t::miopenFloat, &[2, 3, 7, 8], None).unwrap();
        assert_eq!(pooling(2, 0, 2).output(&x), Ok(vec![2, 3, 3, 4]));
        assert_eq!(pooling(3, 1, 2).output(&x), Ok(vec![2, 3, 4, 4]));
        assert_eq!(pooling(9, 0, 1).output(&x), Ok(vec![2, 3, 1, 1]));
        let line = Tensor::new(miopenDataType_t::miopenFloat, &[2, 3, 7], None).unwrap();
        assert_eq!(pooling(2, 0, 2).output(&line), Err(BAD));
    }

    #[test]
    fn settings_read_back() {
        let mut handle = null_mut();
        let (mut mode, mut count, mut kind) =
            (Mode::miopenPoolingMax, 0, miopenIndexType_t::miopenIndexUint8);
        let [mut window, mut pads, mut strides] = [[0; 3]; 3];
        // SAFETY: S11: live variables and lists of three.
        unsafe {
            assert_eq!(miopenCreatePoolingDescriptor(&mut handle).0, 0);
            assert_eq!(miopenSetPoolingIndexType(handle, miopenIndexType_t::miopenIndexUint32).0, 0);
            let lists = ([4, 5, 6], [1, 2, 3], [7, 8, 9]);
            let average = Mode::miopenPoolingAverage;
            assert_eq!(
                miopenSetNdPoolingDescriptor(
                    handle,
                    average,
                    3,
                    lists.0.as_ptr(),
                    lists.1.as_ptr(),
                    lists.2.as_ptr()
                )
                .0,
                0
            );
            assert_eq!(miopenSet2dPoolingDescriptor(handle, average, 0, 1, 0, 0, 1, 1), BAD);
            assert_eq!(miopenSet2dPoolingDescriptor(handle, miopenPoolingMode_t(3), 1, 1, 0, 0, 1, 1), BAD);
            assert_eq!(
                miopenGetNdPoolingDescriptor(
                    handle,
                    3,
                    &mut mode,
                    &mut count,
                    window.as_mut_ptr(),
                    pads.as_mut_ptr(),
                    strides.as_mut_ptr()
                )
                .0,
                0
            );
            let [mut a, mut b] = [0; 2];
            assert_eq!(
                miopenGet2dPoolingDescriptor(
                    handle,
                    &mut mode,
                    &mut a,
                    &mut b,
                    null_mut(),
                    null_mut(),
                    null_mut(),
                    null_mut()
                ),
                BAD
            );
            assert_eq!(miopenGetPoolingIndexType(handle, &mut kind).0, 0);
            assert_eq!(miopenDestroyPoolingDescriptor(handle).0, 0);
        }
        assert_eq!(
            (mode, count, kind),
            (Mode::miopenPoolingAverage, 3, miopenIndexType_t::miopenIndexUint32)
        );
        assert_eq!((window, pads, strides), ([4, 5, 6], [1, 2, 3], [7, 8, 9]));
    }
}
