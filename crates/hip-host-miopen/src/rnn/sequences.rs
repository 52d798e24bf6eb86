//! Descriptors of sequences, and networks over them as calls.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::call::states;
use super::descriptor::NETWORKS;
use super::run::{Data, Forward, Weights, run_data, run_forward, run_weights};
use super::sequence::{BATCH, SEQUENCES, STEPS, Sequences, TIGHT};
use crate::answer::{BAD, Outcome, UNKNOWN, answer, check, give, int, list, offer_list};
use crate::tensor::Kind;
use hip_sys::miopen::{
    miopenDataType_t, miopenHandle_t, miopenRNNBaseLayout_t, miopenRNNDescriptor_t, miopenRNNFWDMode_t,
    miopenSeqTensorDescriptor_t, miopenStatus_t, miopenTensorDescriptor_t,
};
use std::ffi::{c_int, c_void};

pub(crate) unsafe extern "C" fn miopenCreateSeqTensorDescriptor(
    out: *mut miopenSeqTensorDescriptor_t,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the handle.
    answer(|| unsafe { SEQUENCES.create(out, Sequences::default()) })
}

pub(crate) unsafe extern "C" fn miopenDestroySeqTensorDescriptor(
    descriptor: miopenSeqTensorDescriptor_t,
) -> miopenStatus_t {
    answer(|| SEQUENCES.destroy(descriptor))
}

pub(crate) unsafe extern "C" fn miopenSetRNNDataSeqTensorDescriptor(
    descriptor: miopenSeqTensorDescriptor_t,
    dtype: miopenDataType_t,
    layout: miopenRNNBaseLayout_t,
    steps: c_int,
    batch: c_int,
    width: c_int,
    lens: *const c_int,
    filler: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        check([TIGHT, STEPS, BATCH].contains(&layout), BAD)?;
        let bytes = Kind::of(dtype).ok_or(BAD)?.bytes();
        let size = |value: c_int| usize::try_from(value).ok().filter(|&it| it > 0).ok_or(BAD);
        // SAFETY: S11: the C contract makes the list that long.
        let lens = unsafe { list(lens, batch) }.map_err(|_| BAD)?;
        let lens =
            lens.into_iter().map(|len| usize::try_from(len).map_err(|_| BAD)).collect::<Outcome<Vec<_>>>()?;
        let filler = (!filler.is_null()).then(|| {
            let mut value = [0; 8];
            // SAFETY: S11: not null, and an element by the C contract.
            unsafe { filler.cast::<u8>().copy_to_nonoverlapping(value.as_mut_ptr(), bytes) };
            value
        });
        let it = Sequences { dtype, layout, steps: size(steps)?, lens, width: size(width)?, filler };
        check(it.lens.iter().all(|len| *len <= it.steps), BAD)?;
        SEQUENCES.set(descriptor, || Ok(it))
    })
}

pub(crate) unsafe extern "C" fn miopenGetRNNDataSeqTensorDescriptor(
    descriptor: miopenSeqTensorDescriptor_t,
    dtype: *mut miopenDataType_t,
    layout: *mut miopenRNNBaseLayout_t,
    steps: *mut c_int,
    batch: *mut c_int,
    width: *mut c_int,
    most: c_int,
    lens: *mut c_int,
    filler: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        let it = SEQUENCES.get(descriptor)?;
        let bytes = Kind::of(it.dtype).map_or(0, Kind::bytes);
        // SAFETY: S11: the caller's arrays, with space for as many lengths as it says, and for an element.
        unsafe {
            give(dtype, it.dtype)?;
            give(layout, it.layout)?;
            give(steps, int(it.steps))?;
            give(batch, int(it.lens.len()))?;
            give(width, int(it.width))?;
            offer_list(lens, it.lens.into_iter().take(usize::try_from(most).unwrap_or(0)));
            if let Some(value) = it.filler
                && !filler.is_null()
            {
                filler.cast::<u8>().copy_from_nonoverlapping(value.as_ptr(), bytes);
            }
        }
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn miopenRNNForward(
    handle: miopenHandle_t,
    descriptor: miopenRNNDescriptor_t,
    mode: miopenRNNFWDMode_t,
    x_desc: miopenSeqTensorDescriptor_t,
    x: *const c_void,
    h_desc: miopenTensorDescriptor_t,
    hx: *const c_void,
    hy: *mut c_void,
    c_desc: miopenTensorDescriptor_t,
    cx: *const c_void,
    cy: *mut c_void,
    y_desc: miopenSeqTensorDescriptor_t,
    y: *mut c_void,
    w: *const c_void,
    w_bytes: usize,
    _: *mut c_void,
    _: usize,
    reserve: *mut c_void,
    reserve_bytes: usize,
) -> miopenStatus_t {
    answer(|| {
        let network = NETWORKS.get(descriptor)?;
        let both = [SEQUENCES.get(x_desc)?, SEQUENCES.get(y_desc)?];
        let (hidden, cell) =
            ([(h_desc, hx), (h_desc, hy.cast_const())], [(c_desc, cx), (c_desc, cy.cast_const())]);
        states(&network, both[0].lens.len(), &hidden, &cell)?;
        check(w_bytes >= network.weight_bytes(both[0].width)?, UNKNOWN)?;
        let kept = (mode == miopenRNNFWDMode_t::miopenRNNTraining).then_some((reserve, reserve_bytes));
        run_forward(handle, network, both, Forward { x, w, first: [hx, cx], y, last: [hy, cy], kept })
    })
}

pub(crate) unsafe extern "C" fn miopenRNNBackwardSeqData(
    handle: miopenHandle_t,
    descriptor: miopenRNNDescriptor_t,
    y_desc: miopenSeqTensorDescriptor_t,
    _: *const c_void,
    dy: *const c_void,
    h_desc: miopenTensorDescriptor_t,
    hx: *const c_void,
    dhy: *const c_void,
    dhx: *mut c_void,
    c_desc: miopenTensorDescriptor_t,
    cx: *const c_void,
    dcy: *const c_void,
    dcx: *mut c_void,
    x_desc: miopenSeqTensorDescriptor_t,
    dx: *mut c_void,
    w: *const c_void,
    w_bytes: usize,
    _: *mut c_void,
    _: usize,
    reserve: *mut c_void,
    reserve_bytes: usize,
) -> miopenStatus_t {
    answer(|| {
        let network = NETWORKS.get(descriptor)?;
        let both = [SEQUENCES.get(x_desc)?, SEQUENCES.get(y_desc)?];
        let hidden = [(h_desc, hx), (h_desc, dhy), (h_desc, dhx.cast_const())];
        let cell = [(c_desc, cx), (c_desc, dcy), (c_desc, dcx.cast_const())];
        states(&network, both[0].lens.len(), &hidden, &cell)?;
        check(w_bytes >= network.weight_bytes(both[0].width)?, UNKNOWN)?;
        let kept = (reserve, reserve_bytes);
        let (first, d_last, d_first) = ([hx, cx], [dhy, dcy], [dhx, dcx]);
        run_data(handle, network, both, Data { dy, w, first, d_last, dx, d_first, kept })
    })
}

pub(crate) unsafe extern "C" fn miopenRNNBackwardWeightsSeqTensor(
    handle: miopenHandle_t,
    descriptor: miopenRNNDescriptor_t,
    x_desc: miopenSeqTensorDescriptor_t,
    x: *const c_void,
    h_desc: miopenTensorDescriptor_t,
    hx: *const c_void,
    y_desc: miopenSeqTensorDescriptor_t,
    _: *const c_void,
    dw: *mut c_void,
    w_bytes: usize,
    _: *mut c_void,
    _: usize,
    reserve: *const c_void,
    reserve_bytes: usize,
) -> miopenStatus_t {
    answer(|| {
        let network = NETWORKS.get(descriptor)?;
        let both = [SEQUENCES.get(x_desc)?, SEQUENCES.get(y_desc)?];
        states(&network, both[0].lens.len(), &[(h_desc, hx)], &[])?;
        check(w_bytes >= network.weight_bytes(both[0].width)?, UNKNOWN)?;
        let kept = (reserve.cast_mut(), reserve_bytes);
        run_weights(handle, network, both, Weights { x, hx, dw, kept })
    })
}
