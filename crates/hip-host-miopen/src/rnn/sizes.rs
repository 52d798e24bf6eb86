//! How much memory networks, their inputs and their states need.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::descriptor::{NETWORKS, Network};
use super::forward::kept;
use super::sequence::SEQUENCES;
use crate::answer::{BAD, Outcome, answer, check, give, offer, product, sum};
use crate::handle::stream;
use crate::tensor::descriptor::tensors;
use crate::tensor::{Kind, TENSORS, Tensor, tensor};
use hip_sys::miopen::{
    miopenDataType_t, miopenHandle_t, miopenRNNDescriptor_t, miopenRNNFWDMode_t, miopenSeqTensorDescriptor_t,
    miopenStatus_t, miopenTensorDescriptor_t,
};
use std::ffi::c_int;

/// Bytes of an element of the network's type.
pub(super) fn bytes(network: &Network) -> usize {
    Kind::of(network.dtype).map_or(0, Kind::bytes)
}

/// The network, and the length of its input vectors.
pub(super) fn with_input(
    descriptor: miopenRNNDescriptor_t,
    x_desc: miopenTensorDescriptor_t,
) -> Outcome<(Network, usize)> {
    let (network, x) = (NETWORKS.get(descriptor)?, tensor(x_desc)?);
    check(x.rank() >= 2 && x.dtype == network.dtype && network.hidden > 0, BAD)?;
    check(!network.skips || x.lens[1] == network.hidden, BAD)?;
    network.weight_bytes(x.lens[1])?;
    Ok((network, x.lens[1]))
}

pub(crate) unsafe extern "C" fn miopenGetRNNParamsSize(
    handle: miopenHandle_t,
    descriptor: miopenRNNDescriptor_t,
    x_desc: miopenTensorDescriptor_t,
    size: *mut usize,
    dtype: miopenDataType_t,
) -> miopenStatus_t {
    answer(|| {
        stream(handle)?;
        let (network, input) = with_input(descriptor, x_desc)?;
        check(dtype == network.dtype, BAD)?;
        // SAFETY: S11: the caller's output pointer for the size.
        unsafe { give(size, network.weight_bytes(input)?) }
    })
}

pub(crate) unsafe extern "C" fn miopenGetRNNParamsDescriptor(
    handle: miopenHandle_t,
    descriptor: miopenRNNDescriptor_t,
    x_desc: miopenTensorDescriptor_t,
    w_desc: miopenTensorDescriptor_t,
    dtype: miopenDataType_t,
) -> miopenStatus_t {
    answer(|| {
        stream(handle)?;
        let (network, input) = with_input(descriptor, x_desc)?;
        check(dtype == network.dtype, BAD)?;
        let width = network.ways() * network.hidden * network.gates();
        let lens = vec![network.weights(input) / width, width];
        TENSORS.set(w_desc, || Tensor::packed(dtype, lens))
    })
}

/// The steps of a sequence: a tensor for each step, with a batch of vectors.
unsafe fn steps(
    handle: miopenHandle_t,
    descriptor: miopenRNNDescriptor_t,
    count: c_int,
    x_desc: *const miopenTensorDescriptor_t,
) -> Outcome<(Network, Vec<Tensor>)> {
    stream(handle)?;
    let network = NETWORKS.get(descriptor)?;
    // SAFETY: S11: the C contract makes the list that long.
    let steps = unsafe { tensors(x_desc, count) }?;
    check(steps.iter().all(|it| it.rank() >= 2 && it.dtype == network.dtype), BAD)?;
    Ok((network, steps))
}

pub(crate) unsafe extern "C" fn miopenGetRNNWorkspaceSize(
    handle: miopenHandle_t,
    descriptor: miopenRNNDescriptor_t,
    count: c_int,
    x_desc: *const miopenTensorDescriptor_t,
    size: *mut usize,
) -> miopenStatus_t {
    answer(|| {
        // SAFETY: S11: the caller's list, and its output pointer for the size.
        unsafe {
            steps(handle, descriptor, count, x_desc)?;
            give(size, 0)
        }
    })
}

/// Bytes that are kept for a backward pass: floats, whatever the network's type is.
fn reserve(network: &Network, rows: usize) -> Outcome<usize> {
    product([kept(network, rows, network.drops()?.is_some())?, size_of::<f32>()])
}

pub(crate) unsafe extern "C" fn miopenGetRNNTrainingReserveSize(
    handle: miopenHandle_t,
    descriptor: miopenRNNDescriptor_t,
    count: c_int,
    x_desc: *const miopenTensorDescriptor_t,
    size: *mut usize,
) -> miopenStatus_t {
    answer(|| {
        // SAFETY: S11: the caller's list, and its output pointer for the size.
        unsafe {
            let (network, steps) = steps(handle, descriptor, count, x_desc)?;
            give(size, reserve(&network, sum(steps.iter().map(|it| it.lens[0]))?)?)
        }
    })
}

pub(crate) unsafe extern "C" fn miopenGetRNNTempSpaceSizes(
    handle: miopenHandle_t,
    descriptor: miopenRNNDescriptor_t,
    x_desc: miopenSeqTensorDescriptor_t,
    mode: miopenRNNFWDMode_t,
    workspace: *mut usize,
    reserve_bytes: *mut usize,
) -> miopenStatus_t {
    answer(|| {
        stream(handle)?;
        let (network, x) = (NETWORKS.get(descriptor)?, SEQUENCES.get(x_desc)?);
        check(x.dtype == network.dtype, BAD)?;
        let bytes = reserve(&network, product([x.steps, x.lens.len()])?)?;
        // SAFETY: S11: the caller's output pointers for the sizes.
        unsafe {
            offer(workspace, 0);
            if mode == miopenRNNFWDMode_t::miopenRNNTraining {
                offer(reserve_bytes, bytes);
            }
        }
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn miopenGetRNNInputTensorSize(
    handle: miopenHandle_t,
    descriptor: miopenRNNDescriptor_t,
    count: c_int,
    x_desc: *mut miopenTensorDescriptor_t,
    size: *mut usize,
) -> miopenStatus_t {
    answer(|| {
        // SAFETY: S11: the caller's list, and its output pointer for the size.
        unsafe {
            let (network, steps) = steps(handle, descriptor, count, x_desc)?;
            let rows = match network.padded {
                true => product([steps.len(), steps[0].lens[0]])?,
                false => sum(steps.iter().map(|it| it.lens[0]))?,
            };
            give(size, product([rows, steps[0].lens[1], bytes(&network)])?)
        }
    })
}

pub(crate) unsafe extern "C" fn miopenGetRNNHiddenTensorSize(
    handle: miopenHandle_t,
    descriptor: miopenRNNDescriptor_t,
    count: c_int,
    x_desc: *mut miopenTensorDescriptor_t,
    size: *mut usize,
) -> miopenStatus_t {
    answer(|| {
        // SAFETY: S11: the caller's list, and its output pointer for the size.
        unsafe {
            let (network, steps) = steps(handle, descriptor, count, x_desc)?;
            give(size, product([network.states(steps[0].lens[0])?, bytes(&network)])?)
        }
    })
}
