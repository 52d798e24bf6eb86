//! Networks as calls: with a tensor for each step, and with descriptors of sequences. Only inference: nothing is kept for a way back.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::descriptor::{NETWORKS, Network};
use super::forward::{Tensors, forward};
use super::sequence::{Rows, SEQUENCES, STEPS, Sequences, TIGHT};
use super::sizes::bytes;
use crate::miopen::answer::{BAD, NO_SOLVER, Outcome, UNKNOWN, answer, check};
use crate::miopen::job::Job;
use crate::miopen::tensor::descriptor::tensors;
use crate::miopen::tensor::{Kind, View, tensor};
use hip_sys::miopen::{
    miopenHandle_t, miopenRNNDescriptor_t, miopenRNNFWDMode_t, miopenRNNMode_t, miopenSeqTensorDescriptor_t,
    miopenStatus_t, miopenTensorDescriptor_t,
};
use std::ffi::{c_int, c_void};

/// Where the tensors of a call are; null for states that are not given or not wanted.
struct Memory {
    x: *const c_void,
    hx: *const c_void,
    cx: *const c_void,
    w: *const c_void,
    y: *mut c_void,
    hy: *mut c_void,
    cy: *mut c_void,
}

fn load(view: &View, count: usize) -> Vec<f32> {
    let mut values = vec![0.0; count];
    view.load(0, 1, &mut values);
    values
}

fn run(handle: miopenHandle_t, network: Network, [x, y]: [Sequences; 2], memory: Memory) -> Outcome {
    check(!memory.x.is_null() && !memory.w.is_null() && !memory.y.is_null(), BAD)?;
    check(x.dtype == network.dtype && y.dtype == network.dtype && network.hidden > 0, BAD)?;
    check(y.width == network.ways() * network.hidden && x.lens == y.lens && x.steps == y.steps, BAD)?;
    check(!network.skips || x.width == network.hidden, BAD)?;
    let (from, to) = (Rows::new(&x)?, Rows::new(&y)?);
    let kind = Kind::of(network.dtype).ok_or(NO_SOLVER)?;
    let states = network.layers * network.ways() * x.lens.len() * network.hidden;
    let lstm = network.mode == miopenRNNMode_t::miopenLSTM;
    let (input, output, weights) = (x.width, y.width, network.weights(x.width));
    let mut job = Job::new(handle)?;
    let x_view = job.read_view(memory.x, kind, x.rows() * input)?;
    let w_view = job.read_view(memory.w, kind, weights)?;
    let mut given = |pointer: *const c_void, counts: bool| {
        (counts && !pointer.is_null()).then(|| job.read_view(pointer, kind, states)).transpose()
    };
    let (hx, cx) = (given(memory.hx, true)?, given(memory.cx, lstm)?);
    let y_view = job.write_view(memory.y, kind, y.rows() * output)?;
    let mut wanted = |pointer: *mut c_void, counts: bool| {
        (counts && !pointer.is_null()).then(|| job.write_view(pointer, kind, states)).transpose()
    };
    let (hy, cy) = (wanted(memory.hy, true)?, wanted(memory.cy, lstm)?);
    let filler = y.filler.unwrap_or_default();
    job.submit("miopenRNNForward", move || {
        let mut x = vec![0.0; from.places.len() * input];
        for (row, place) in x.chunks_mut(input).zip(&from.places) {
            x_view.load(place * input, 1, row);
        }
        let tensors = Tensors {
            x,
            weights: load(&w_view, weights),
            hidden: hx.map(|view| load(&view, states)),
            cell: cx.map(|view| load(&view, states)),
        };
        let results = forward(&network, &from, input, tensors);
        for (row, place) in results.y.chunks(output).zip(&to.places) {
            y_view.store(place * output, 1, row);
        }
        let value = match kind {
            Kind::Half => half::f16::from_le_bytes([filler[0], filler[1]]).to_f32(),
            _ => f32::from_le_bytes([filler[0], filler[1], filler[2], filler[3]]),
        };
        let padding = vec![value; output];
        to.padding.iter().for_each(|place| y_view.store(place * output, 1, &padding));
        if let Some(hy) = &hy {
            hy.store(0, 1, &results.hidden);
        }
        if let Some(cy) = &cy {
            cy.store(0, 1, &results.cell);
        }
    })
}

/// The sequences that a list of steps stands for: at each step as many go on as its tensor has rows.
///
/// # Safety
/// `descs` is null or leads to that many descriptors.
unsafe fn sequences(
    network: &Network,
    count: c_int,
    descs: *const miopenTensorDescriptor_t,
) -> Outcome<Sequences> {
    // SAFETY: S11: the C contract makes the list that long.
    let steps = unsafe { tensors(descs, count) }?;
    let first = &steps[0];
    check(
        steps.iter().all(|it| it.rank() == 2 && it.dtype == first.dtype && it.lens[1] == first.lens[1]),
        BAD,
    )?;
    check(steps.is_sorted_by(|a, b| a.lens[0] >= b.lens[0]), BAD)?;
    let len = |sequence: usize| steps.iter().filter(|it| it.lens[0] > sequence).count();
    Ok(Sequences {
        dtype: first.dtype,
        layout: if network.padded { STEPS } else { TIGHT },
        steps: steps.len(),
        lens: (0..first.lens[0]).map(len).collect(),
        width: first.lens[1],
        filler: None,
    })
}

/// Checks a descriptor of states, where there are states.
fn states(
    network: &Network,
    batch: usize,
    desc: miopenTensorDescriptor_t,
    pointer: *const c_void,
) -> Outcome {
    if pointer.is_null() {
        return Ok(());
    }
    let lens = [network.layers * network.ways(), batch, network.hidden];
    let it = tensor(desc)?;
    check(it.lens == lens && it.dtype == network.dtype && it.is_packed(), BAD)
}

pub(in crate::miopen) unsafe extern "C" fn miopenRNNForwardInference(
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
        let network = NETWORKS.get(descriptor)?;
        // SAFETY: S11: the caller's lists.
        let both = unsafe { [sequences(&network, count, x_desc)?, sequences(&network, count, y_desc)?] };
        let batch = both[0].lens.len();
        states(&network, batch, hx_desc, hx)?;
        states(&network, batch, hy_desc, hy)?;
        if network.mode == miopenRNNMode_t::miopenLSTM {
            states(&network, batch, cx_desc, cx)?;
            states(&network, batch, cy_desc, cy)?;
        }
        check(tensor(w_desc)?.count() >= network.weights(both[0].width), BAD)?;
        run(handle, network, both, Memory { x, hx, cx, w, y, hy, cy })
    })
}

pub(in crate::miopen) unsafe extern "C" fn miopenRNNForward(
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
    _: *mut c_void,
    _: usize,
) -> miopenStatus_t {
    answer(|| {
        let network = NETWORKS.get(descriptor)?;
        check(mode == miopenRNNFWDMode_t::miopenRNNInference, NO_SOLVER)?;
        let both = [SEQUENCES.get(x_desc)?, SEQUENCES.get(y_desc)?];
        let batch = both[0].lens.len();
        states(&network, batch, h_desc, hx)?;
        states(&network, batch, h_desc, hy)?;
        if network.mode == miopenRNNMode_t::miopenLSTM {
            states(&network, batch, c_desc, cx)?;
            states(&network, batch, c_desc, cy)?;
        }
        check(w_bytes >= network.weights(both[0].width) * bytes(&network), UNKNOWN)?;
        run(handle, network, both, Memory { x, hx, cx, w, y, hy, cy })
    })
}
