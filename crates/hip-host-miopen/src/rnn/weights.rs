//! Single matrices and biases of the weights. MIOpen's functions count a bidirectional layer as two.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::descriptor::{NETWORKS, Network};
use super::sizes::{bytes, with_input};
use crate::answer::{BAD, Outcome, answer, check, give, offer};
use crate::handle::stream;
use crate::job::Job;
use crate::tensor::{BLOCK, Kind, TENSORS, Tensor, blocks, tensor};
use hip_sys::miopen::{miopenHandle_t, miopenRNNDescriptor_t, miopenStatus_t, miopenTensorDescriptor_t};
use std::ffi::{c_int, c_void};

/// A matrix or a bias of the weights.
struct Part {
    start: usize,
    lens: Vec<usize>,
}

/// The layer in this library's count, its direction, and the id.
fn parts_of(network: &Network, layer: c_int, id: c_int) -> Outcome<(usize, usize, usize)> {
    let (layer, id) = (usize::try_from(layer).map_err(|_| BAD)?, usize::try_from(id).map_err(|_| BAD)?);
    check(layer < network.layers * network.ways() && id < 2 * network.gates(), BAD)?;
    Ok((layer / network.ways(), layer % network.ways(), id))
}

fn matrix(network: &Network, layer: c_int, id: c_int, input: usize) -> Outcome<Part> {
    let (layer, way, id) = parts_of(network, layer, id)?;
    let width = if id < network.gates() { network.width(layer, input) } else { network.hidden };
    // In skip mode there is no matrix for the input.
    check(width > 0, BAD)?;
    Ok(Part { start: network.matrix(layer, way, id, input), lens: vec![network.hidden, width] })
}

fn bias(network: &Network, layer: c_int, id: c_int, input: usize) -> Outcome<Part> {
    let (layer, way, id) = parts_of(network, layer, id)?;
    Ok(Part { start: network.bias(layer, way, id, input), lens: vec![network.hidden] })
}

/// The part of the weights that a caller names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Matrix,
    Bias,
}

impl Which {
    fn part(self, network: &Network, layer: c_int, id: c_int, input: usize) -> Outcome<Part> {
        match self {
            Self::Matrix => matrix(network, layer, id, input),
            Self::Bias => bias(network, layer, id, input),
        }
    }
}

pub(crate) unsafe extern "C" fn miopenGetRNNLayerParamSize(
    handle: miopenHandle_t,
    descriptor: miopenRNNDescriptor_t,
    layer: c_int,
    x_desc: miopenTensorDescriptor_t,
    id: c_int,
    size: *mut usize,
) -> miopenStatus_t {
    answer(|| {
        stream(handle)?;
        let (network, input) = with_input(descriptor, x_desc)?;
        parts_of(&network, layer, id)?;
        let count = matrix(&network, layer, id, input).map_or(0, |part| part.lens[0] * part.lens[1]);
        // SAFETY: S11: the caller's output pointer for the size.
        unsafe { give(size, count * bytes(&network)) }
    })
}

pub(crate) unsafe extern "C" fn miopenGetRNNLayerBiasSize(
    handle: miopenHandle_t,
    descriptor: miopenRNNDescriptor_t,
    _: c_int,
    _: c_int,
    size: *mut usize,
) -> miopenStatus_t {
    answer(|| {
        stream(handle)?;
        let network = NETWORKS.get(descriptor)?;
        // SAFETY: S11: the caller's output pointer for the size.
        unsafe { give(size, network.hidden * bytes(&network)) }
    })
}

/// Returns the length of a part, and its offset in elements.
///
/// # Safety
/// `start` is null or writable.
unsafe fn offset(
    descriptor: miopenRNNDescriptor_t,
    x_desc: miopenTensorDescriptor_t,
    (layer, id, which): (c_int, c_int, Which),
    part_desc: miopenTensorDescriptor_t,
    start: *mut usize,
) -> Outcome {
    let (network, input) = with_input(descriptor, x_desc)?;
    let part = which.part(&network, layer, id, input)?;
    TENSORS.set(part_desc, || Tensor::packed(network.dtype, part.lens))?;
    // SAFETY: S11: the caller's output pointer for the offset.
    unsafe { offer(start, part.start) };
    Ok(())
}

pub(crate) unsafe extern "C" fn miopenGetRNNLayerParamOffset(
    descriptor: miopenRNNDescriptor_t,
    layer: c_int,
    x_desc: miopenTensorDescriptor_t,
    id: c_int,
    part_desc: miopenTensorDescriptor_t,
    start: *mut usize,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the offset.
    answer(|| unsafe { offset(descriptor, x_desc, (layer, id, Which::Matrix), part_desc, start) })
}

/// Does nothing for a network without biases.
pub(crate) unsafe extern "C" fn miopenGetRNNLayerBiasOffset(
    descriptor: miopenRNNDescriptor_t,
    layer: c_int,
    x_desc: miopenTensorDescriptor_t,
    id: c_int,
    part_desc: miopenTensorDescriptor_t,
    start: *mut usize,
) -> miopenStatus_t {
    answer(|| {
        if !NETWORKS.get(descriptor)?.biased {
            return Ok(());
        }
        // SAFETY: S11: the caller's output pointer for the offset.
        unsafe { offset(descriptor, x_desc, (layer, id, Which::Bias), part_desc, start) }
    })
}

/// Copies a part out of the weights.
fn get(
    handle: miopenHandle_t,
    (descriptor, x_desc): (miopenRNNDescriptor_t, miopenTensorDescriptor_t),
    (layer, id, which): (c_int, c_int, Which),
    w: *const c_void,
    (part_desc, to): (miopenTensorDescriptor_t, *mut c_void),
) -> Outcome {
    let (network, input) = with_input(descriptor, x_desc)?;
    let part = which.part(&network, layer, id, input)?;
    let tensor = Tensor::packed(network.dtype, part.lens.clone())?;
    TENSORS.set(part_desc, || Ok(tensor.clone()))?;
    if to.is_null() {
        return Ok(());
    }
    let kind = Kind::of(network.dtype).ok_or(BAD)?;
    let mut job = Job::new(handle)?;
    let weights = job.read_view(w, kind, network.weights(input))?.from(part.start);
    let to = job.write(to, &tensor)?;
    job.submit("miopenGetRNNLayer", move || {
        blocks(to.count(), |first, count| {
            let mut buffer = [0.0_f32; BLOCK];
            weights.load(first, 1, &mut buffer[..count]);
            to.store(first, &buffer[..count]);
        });
    })
}

/// Copies a part into the weights, where `get` finds it.
fn set(
    handle: miopenHandle_t,
    (descriptor, x_desc): (miopenRNNDescriptor_t, miopenTensorDescriptor_t),
    (layer, id, which): (c_int, c_int, Which),
    w: *mut c_void,
    (part_desc, from): (miopenTensorDescriptor_t, *const c_void),
) -> Outcome {
    let (network, input) = with_input(descriptor, x_desc)?;
    let (part, given) = (which.part(&network, layer, id, input)?, tensor(part_desc)?);
    check(!from.is_null() && given.lens == part.lens && given.dtype == network.dtype, BAD)?;
    let kind = Kind::of(network.dtype).ok_or(BAD)?;
    let mut job = Job::new(handle)?;
    let weights = job.write_view(w, kind, network.weights(input))?.from(part.start);
    let from = job.read(from, &given)?;
    job.submit("miopenSetRNNLayer", move || {
        blocks(from.count(), |first, count| {
            let mut buffer = [0.0_f32; BLOCK];
            from.load(first, &mut buffer[..count]);
            weights.store(first, 1, &buffer[..count]);
        });
    })
}

macro_rules! copies {
    ($($Name:ident: $copy:ident $which:ident, $W:ty, $Part:ty;)*) => {$(
        pub(crate) unsafe extern "C" fn $Name(
            handle: miopenHandle_t,
            descriptor: miopenRNNDescriptor_t,
            layer: c_int,
            x_desc: miopenTensorDescriptor_t,
            _: miopenTensorDescriptor_t,
            w: $W,
            id: c_int,
            part_desc: miopenTensorDescriptor_t,
            part: $Part,
        ) -> miopenStatus_t {
            answer(|| {
                if Which::$which == Which::Bias && !NETWORKS.get(descriptor)?.biased {
                    return Ok(());
                }
                $copy(handle, (descriptor, x_desc), (layer, id, Which::$which), w, (part_desc, part))
            })
        }
    )*};
}
copies! {
    miopenGetRNNLayerParam: get Matrix, *const c_void, *mut c_void;
    miopenGetRNNLayerBias: get Bias, *const c_void, *mut c_void;
    miopenSetRNNLayerParam: set Matrix, *mut c_void, *const c_void;
    miopenSetRNNLayerBias: set Bias, *mut c_void, *const c_void;
}
