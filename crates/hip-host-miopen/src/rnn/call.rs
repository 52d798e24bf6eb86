//! Networks as calls, with a tensor descriptor for each step.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::descriptor::{NETWORKS, Network};
use super::run::{Data, Forward, Weights, run_data, run_forward, run_weights};
use super::sequence::{STEPS, Sequences, TIGHT};
use super::sizes::bytes;
use crate::answer::{BAD, Outcome, answer, check};
use crate::job::is_there;
use crate::tensor::descriptor::tensors;
use crate::tensor::tensor;
use hip_sys::miopen::{
    miopenHandle_t, miopenRNNDescriptor_t, miopenRNNMode_t, miopenStatus_t, miopenTensorDescriptor_t,
};
use std::ffi::{c_int, c_void};

/// The sequences that a list of steps describes: a step's tensor has a row for each sequence that is not over. `memory` is the
/// network's input, which has all rows.
///
/// # Safety
/// `descs` is null or points to that many descriptors.
unsafe fn sequences(
    network: &Network,
    count: c_int,
    descs: *const miopenTensorDescriptor_t,
    memory: *const c_void,
) -> Outcome<Sequences> {
    // SAFETY: S11: the C contract makes the list that long.
    let steps = unsafe { tensors(descs, count) }?;
    let first = &steps[0];
    let alike =
        |it: &crate::tensor::Tensor| it.rank() == 2 && it.dtype == first.dtype && it.lens[1] == first.lens[1];
    check(steps.iter().all(alike), BAD)?;
    check(steps.is_sorted_by(|a, b| a.lens[0] >= b.lens[0]), BAD)?;
    // The list of sequences gets an entry for each row of the first tensor, so the input must have that many.
    is_there(memory, [first.lens[0], bytes(network)])?;
    let len = |sequence: usize| steps.partition_point(|it| it.lens[0] > sequence);
    Ok(Sequences {
        dtype: first.dtype,
        layout: if network.padded { STEPS } else { TIGHT },
        steps: steps.len(),
        lens: (0..first.lens[0]).map(len).collect(),
        width: first.lens[1],
        filler: None,
    })
}

/// A descriptor of states, and their address or null.
type Described = (miopenTensorDescriptor_t, *const c_void);

/// Checks the descriptors of the given states: the output state, and the cell state, which only an LSTM has.
pub(super) fn states(network: &Network, batch: usize, hidden: &[Described], cell: &[Described]) -> Outcome {
    let lens = [network.layers * network.ways(), batch, network.hidden];
    let cell = if network.mode == miopenRNNMode_t::miopenLSTM { cell } else { &[] };
    for (desc, _) in hidden.iter().chain(cell).filter(|(_, pointer)| !pointer.is_null()) {
        let it = tensor(*desc)?;
        check(it.lens == lens && it.dtype == network.dtype && it.is_packed(), BAD)?;
    }
    Ok(())
}

/// The network, and the sequences of input and output.
///
/// # Safety
/// Each list is null or points to that many descriptors.
unsafe fn case(
    descriptor: miopenRNNDescriptor_t,
    count: c_int,
    [x_desc, y_desc]: [*const miopenTensorDescriptor_t; 2],
    x: *const c_void,
) -> Outcome<(Network, [Sequences; 2])> {
    let network = NETWORKS.get(descriptor)?;
    // SAFETY: S11: the caller's lists.
    let both = unsafe { [sequences(&network, count, x_desc, x)?, sequences(&network, count, y_desc, x)?] };
    Ok((network, both))
}

/// Checks that the weights' descriptor has that many elements.
fn enough(w_desc: miopenTensorDescriptor_t, network: &Network, input: usize) -> Outcome {
    check(tensor(w_desc)?.count() >= network.weights(input), BAD)
}

/// The descriptors of a forward pass.
struct ForwardDescs {
    /// Lists for the input and for the output.
    lists: [*const miopenTensorDescriptor_t; 2],
    /// Of the states, each an output state and a cell state.
    first: [miopenTensorDescriptor_t; 2],
    w: miopenTensorDescriptor_t,
    last: [miopenTensorDescriptor_t; 2],
}

/// # Safety
/// Each list is null or points to that many descriptors.
unsafe fn forward(
    handle: miopenHandle_t,
    descriptor: miopenRNNDescriptor_t,
    count: c_int,
    descs: ForwardDescs,
    memory: Forward,
) -> Outcome {
    // SAFETY: S11: the caller's lists.
    let (network, both) = unsafe { case(descriptor, count, descs.lists, memory.x) }?;
    let state =
        |at: usize| [(descs.first[at], memory.first[at]), (descs.last[at], memory.last[at].cast_const())];
    states(&network, both[0].lens.len(), &state(0), &state(1))?;
    enough(descs.w, &network, both[0].width)?;
    run_forward(handle, network, both, memory)
}

pub(crate) unsafe extern "C" fn miopenRNNForwardInference(
    handle: miopenHandle_t,
    descriptor: miopenRNNDescriptor_t,
    count: c_int,
    x_desc: *const miopenTensorDescriptor_t,
    x: *const c_void,
    hx_desc: miopenTensorDescriptor_t,
    hx: *const c_void,
    cx_desc: miopenTensorDescriptor_t,
    cx: *const c_void,
    w_desc: miopenTensorDescriptor_t,
    w: *const c_void,
    y_desc: *const miopenTensorDescriptor_t,
    y: *mut c_void,
    hy_desc: miopenTensorDescriptor_t,
    hy: *mut c_void,
    cy_desc: miopenTensorDescriptor_t,
    cy: *mut c_void,
    _: *mut c_void,
    _: usize,
) -> miopenStatus_t {
    answer(|| {
        let memory = Forward { x, w, first: [hx, cx], y, last: [hy, cy], kept: None };
        let descs = ForwardDescs {
            lists: [x_desc, y_desc],
            first: [hx_desc, cx_desc],
            w: w_desc,
            last: [hy_desc, cy_desc],
        };
        // SAFETY: S11: the caller's lists.
        unsafe { forward(handle, descriptor, count, descs, memory) }
    })
}

pub(crate) unsafe extern "C" fn miopenRNNForwardTraining(
    handle: miopenHandle_t,
    descriptor: miopenRNNDescriptor_t,
    count: c_int,
    x_desc: *const miopenTensorDescriptor_t,
    x: *const c_void,
    hx_desc: miopenTensorDescriptor_t,
    hx: *const c_void,
    cx_desc: miopenTensorDescriptor_t,
    cx: *const c_void,
    w_desc: miopenTensorDescriptor_t,
    w: *const c_void,
    y_desc: *const miopenTensorDescriptor_t,
    y: *mut c_void,
    hy_desc: miopenTensorDescriptor_t,
    hy: *mut c_void,
    cy_desc: miopenTensorDescriptor_t,
    cy: *mut c_void,
    _: *mut c_void,
    _: usize,
    reserve: *mut c_void,
    reserve_bytes: usize,
) -> miopenStatus_t {
    answer(|| {
        let memory =
            Forward { x, w, first: [hx, cx], y, last: [hy, cy], kept: Some((reserve, reserve_bytes)) };
        let descs = ForwardDescs {
            lists: [x_desc, y_desc],
            first: [hx_desc, cx_desc],
            w: w_desc,
            last: [hy_desc, cy_desc],
        };
        // SAFETY: S11: the caller's lists.
        unsafe { forward(handle, descriptor, count, descs, memory) }
    })
}

pub(crate) unsafe extern "C" fn miopenRNNBackwardData(
    handle: miopenHandle_t,
    descriptor: miopenRNNDescriptor_t,
    count: c_int,
    y_desc: *const miopenTensorDescriptor_t,
    _: *const c_void,
    dy_desc: *const miopenTensorDescriptor_t,
    dy: *const c_void,
    dhy_desc: miopenTensorDescriptor_t,
    dhy: *const c_void,
    dcy_desc: miopenTensorDescriptor_t,
    dcy: *const c_void,
    w_desc: miopenTensorDescriptor_t,
    w: *const c_void,
    hx_desc: miopenTensorDescriptor_t,
    hx: *const c_void,
    cx_desc: miopenTensorDescriptor_t,
    cx: *const c_void,
    dx_desc: *const miopenTensorDescriptor_t,
    dx: *mut c_void,
    dhx_desc: miopenTensorDescriptor_t,
    dhx: *mut c_void,
    dcx_desc: miopenTensorDescriptor_t,
    dcx: *mut c_void,
    _: *mut c_void,
    _: usize,
    reserve: *mut c_void,
    reserve_bytes: usize,
) -> miopenStatus_t {
    answer(|| {
        // SAFETY: S11: the caller's lists.
        let (network, both) = unsafe { case(descriptor, count, [dx_desc, dy_desc], dx) }?;
        // SAFETY: S11: as above.
        check(unsafe { sequences(&network, count, y_desc, dx) }? == both[1], BAD)?;
        let hidden = [(dhy_desc, dhy), (hx_desc, hx), (dhx_desc, dhx.cast_const())];
        let cell = [(dcy_desc, dcy), (cx_desc, cx), (dcx_desc, dcx.cast_const())];
        states(&network, both[0].lens.len(), &hidden, &cell)?;
        enough(w_desc, &network, both[0].width)?;
        let kept = (reserve, reserve_bytes);
        let (first, d_last, d_first) = ([hx, cx], [dhy, dcy], [dhx, dcx]);
        run_data(handle, network, both, Data { dy, w, first, d_last, dx, d_first, kept })
    })
}

pub(crate) unsafe extern "C" fn miopenRNNBackwardWeights(
    handle: miopenHandle_t,
    descriptor: miopenRNNDescriptor_t,
    count: c_int,
    x_desc: *const miopenTensorDescriptor_t,
    x: *const c_void,
    hx_desc: miopenTensorDescriptor_t,
    hx: *const c_void,
    y_desc: *const miopenTensorDescriptor_t,
    _: *const c_void,
    dw_desc: miopenTensorDescriptor_t,
    dw: *mut c_void,
    _: *mut c_void,
    _: usize,
    reserve: *const c_void,
    reserve_bytes: usize,
) -> miopenStatus_t {
    answer(|| {
        // SAFETY: S11: the caller's lists.
        let (network, both) = unsafe { case(descriptor, count, [x_desc, y_desc], x) }?;
        states(&network, both[0].lens.len(), &[(hx_desc, hx)], &[])?;
        enough(dw_desc, &network, both[0].width)?;
        let kept = (reserve.cast_mut(), reserve_bytes);
        run_weights(handle, network, both, Weights { x, hx, dw, kept })
    })
}
