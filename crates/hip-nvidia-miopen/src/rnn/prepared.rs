//! cuDNN's objects for a network: its descriptor, and the copies of its weights.

use super::descriptor::{Rnn, Shape};
use crate::convert::{data_type, hip};
use crate::handle::Session;
use crate::library::{Out, check, cudnn};
use crate::raw::{Lazy, RawRnn, RawTensor};
use crate::{BAD, Outcome, Status};
use cudarc::cudnn::sys;
use hip_nvidia::library::{copy, fill_with_zeros};
use hip_sys::miopen::{miopenDataType_t, miopenRNNMode_t};
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::Arc;

/// The objects for one input length, with or without padding.
pub(crate) struct Prepared {
    input: usize,
    padded: bool,
    pub(super) raw: RawRnn,
    /// The size of cuDNN's weights in bytes.
    pub(super) weights: usize,
    pieces: Lazy<Vec<Piece>>,
}

/// Pieces of weights that are contiguous in both orders, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    mine: usize,
    theirs: usize,
    bytes: usize,
}

/// The direction in which weights are copied.
#[derive(Clone, Copy)]
pub(super) enum Way {
    ToCudnn,
    FromCudnn,
}

/// The alignment of cuDNN's workspace, which follows the weights.
const ALIGNMENT: usize = 256;

/// cuDNN's index of a gate. MIOpen has the new value last, and in a GRU the update gate before the reset gate.
fn gate(mode: miopenRNNMode_t, id: usize) -> usize {
    match (mode, id) {
        (miopenRNNMode_t::miopenLSTM, 2) => 3,
        (miopenRNNMode_t::miopenLSTM, 3) => 2,
        (miopenRNNMode_t::miopenGRU, 0) => 1,
        (miopenRNNMode_t::miopenGRU, 1) => 0,
        (_, id) => id,
    }
}

fn descriptor(shape: &Shape, input: usize, padded: bool) -> Outcome<RawRnn> {
    use sys::*;
    let int = |n: usize| i32::try_from(n).map_err(|_| BAD);
    let cell = match shape.mode {
        miopenRNNMode_t::miopenRNNRELU => cudnnRNNMode_t::CUDNN_RNN_RELU,
        miopenRNNMode_t::miopenRNNTANH => cudnnRNNMode_t::CUDNN_RNN_TANH,
        miopenRNNMode_t::miopenLSTM => cudnnRNNMode_t::CUDNN_LSTM,
        _ => cudnnRNNMode_t::CUDNN_GRU,
    };
    let bias = if shape.bias {
        cudnnRNNBiasMode_t::CUDNN_RNN_DOUBLE_BIAS
    } else {
        cudnnRNNBiasMode_t::CUDNN_RNN_NO_BIAS
    };
    let direction = if shape.bidirectional {
        cudnnDirectionMode_t::CUDNN_BIDIRECTIONAL
    } else {
        cudnnDirectionMode_t::CUDNN_UNIDIRECTIONAL
    };
    let mode = if shape.skip {
        cudnnRNNInputMode_t::CUDNN_SKIP_INPUT
    } else {
        cudnnRNNInputMode_t::CUDNN_LINEAR_INPUT
    };
    // f32 never uses TF32.
    let math = match shape.kind {
        miopenDataType_t::miopenFloat => cudnnMathType_t::CUDNN_FMA_MATH,
        _ => cudnnMathType_t::CUDNN_TENSOR_OP_MATH,
    };
    let kind = data_type(shape.kind)?;
    let dropout = match &shape.dropout {
        Some((_, dropout)) => dropout.raw()?.raw(),
        None => null_mut(),
    };
    let (input, hidden, layers) = (int(input)?, int(shape.hidden)?, int(shape.layers)?);
    RawRnn::new(|library, raw| {
        // SAFETY: S1: a new descriptor; the dropout's is kept by the network.
        check(unsafe {
            (library.cudnnSetRNNDescriptor_v8)(
                raw,
                cudnnRNNAlgo_t::CUDNN_RNN_ALGO_STANDARD,
                cell,
                bias,
                direction,
                mode,
                kind,
                cudnnDataType_t::CUDNN_DATA_FLOAT,
                math,
                input,
                hidden,
                hidden,
                layers,
                dropout,
                u32::from(padded),
            )
        })
    })
}

#[cfg(test)]
impl Rnn {
    /// cuDNN's descriptor of a network of both directions with biases, for inputs of three.
    pub(crate) fn sample(
        mode: miopenRNNMode_t,
        hidden: usize,
        layers: usize,
        kind: miopenDataType_t,
    ) -> Outcome<RawRnn> {
        let shape = Shape { hidden, layers, mode, kind, bidirectional: true, bias: true, ..Shape::default() };
        descriptor(&shape, 3, false)
    }
}

impl Rnn {
    /// cuDNN's objects for this input length, made again if the last call had another.
    pub(super) fn prepare(&self, session: &Session, input: usize, padded: bool) -> Outcome<Arc<Prepared>> {
        let mut slot = self.prepared.lock();
        if let Some(prepared) = slot.as_ref().filter(|p| (p.input, p.padded) == (input, padded)) {
            return Ok(prepared.clone());
        }
        let raw = descriptor(&self.shape, input, padded)?;
        let mut weights = 0;
        // SAFETY: S1: a live descriptor and a live variable.
        check(unsafe { (cudnn()?.cudnnGetRNNWeightSpaceSize)(session.raw, raw.raw(), &mut weights) })?;
        let prepared = Arc::new(Prepared { input, padded, raw, weights, pieces: Lazy::new() });
        *slot = Some(prepared.clone());
        Ok(prepared)
    }
}

impl Prepared {
    /// The part of the caller's workspace that the weights take.
    pub(super) fn weights_space(&self) -> usize {
        self.weights.next_multiple_of(ALIGNMENT)
    }

    /// cuDNN's addresses of the matrix and the bias of an id, for weights at this address; null if there is none.
    fn addresses(&self, session: &Session, layer: usize, id: usize, base: Out) -> Outcome<(Out, Out)> {
        let (matrix, bias) = (RawTensor::new(|_, _| Ok(()))?, RawTensor::new(|_, _| Ok(()))?);
        let (mut matrix_at, mut bias_at) = (null_mut(), null_mut());
        // SAFETY: S1: live descriptors and live variables; addresses are computed, nothing is read.
        check(unsafe {
            (cudnn()?.cudnnGetRNNWeightParams)(
                session.raw,
                self.raw.raw(),
                layer as i32,
                self.weights,
                base,
                id as i32,
                matrix.raw(),
                &mut matrix_at,
                bias.raw(),
                &mut bias_at,
            )
        })?;
        Ok((matrix_at, bias_at))
    }

    fn pieces(&self, session: &Session, shape: &Shape, base: Out) -> Outcome<Vec<Piece>> {
        let mut pieces = Vec::new();
        let mut add = |mine: usize, at: Out, count: usize| {
            if count > 0 {
                let theirs = (at as usize).checked_sub(base as usize).filter(|offset| *offset < self.weights);
                let theirs = theirs.ok_or(Status::miopenStatusInternalError)?;
                pieces.push(Piece { mine: shape.bytes(mine)?, theirs, bytes: shape.bytes(count)? });
            }
            Ok(())
        };
        let gates = shape.gates();
        for layer in 0..shape.pseudo_layers() {
            for id in 0..2 * gates {
                let number = id / gates * gates + gate(shape.mode, id % gates);
                let (matrix, bias) = self.addresses(session, layer, number, base)?;
                let (rows, columns) = shape.matrix(layer, self.input, id);
                add(shape.matrix_offset(layer, self.input, id), matrix, rows * columns)?;
                if shape.bias {
                    add(shape.bias_offset(layer, self.input, id), bias, shape.hidden)?;
                }
            }
        }
        Ok(joined(pieces))
    }

    /// Copies all weights on the session's stream.
    ///
    /// # Safety
    /// Both have the size of their weights.
    pub(super) unsafe fn copy(
        &self,
        session: &Session,
        shape: &Shape,
        mine: Out,
        theirs: Out,
        way: Way,
    ) -> Outcome {
        for piece in self.pieces.get(|| self.pieces(session, shape, theirs))? {
            let (mine, theirs) = (mine.wrapping_byte_add(piece.mine), theirs.wrapping_byte_add(piece.theirs));
            let (to, from) = match way {
                Way::ToCudnn => (theirs, mine),
                Way::FromCudnn => (mine, theirs),
            };
            // SAFETY: S11: inside both weights; the session's stream is live.
            unsafe { copy(to, from, piece.bytes, session.stream.cast()) }.map_err(hip)?;
        }
        Ok(())
    }

    /// Fills cuDNN's weights with zeros on the session's stream.
    ///
    /// # Safety
    /// The memory is large enough for the weights.
    pub(super) unsafe fn clear(&self, session: &Session, theirs: Out) -> Outcome {
        // SAFETY: S11: the caller's memory; the session's stream is live.
        unsafe { fill_with_zeros(theirs, self.weights, session.stream.cast()) }.map_err(hip)
    }
}

/// The same pieces; those that follow each other in both orders are merged.
fn joined(mut pieces: Vec<Piece>) -> Vec<Piece> {
    pieces.sort_by_key(|piece| piece.mine);
    let mut list: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match list.last_mut() {
            Some(last)
                if last.mine + last.bytes == piece.mine && last.theirs + last.bytes == piece.theirs =>
            {
                last.bytes += piece.bytes;
            }
            _ => list.push(piece),
        }
    }
    list
}

/// cuDNN's descriptor of the states of all layers, contiguous; cuDNN needs three dimensions here.
pub(super) fn states(shape: &Shape, batch: usize) -> Outcome<RawTensor> {
    let int = |n: usize| c_int::try_from(n).map_err(|_| BAD);
    let dims = [int(shape.pseudo_layers())?, int(batch)?, int(shape.hidden)?];
    let strides = [int(batch * shape.hidden)?, dims[2], 1];
    let kind = data_type(shape.kind)?;
    RawTensor::new(|library, raw| {
        // SAFETY: S1: a new descriptor and two lists of three.
        check(unsafe { (library.cudnnSetTensorNdDescriptor)(raw, kind, 3, dims.as_ptr(), strides.as_ptr()) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_renumbered_for_cudnn() {
        let all = |mode, count| (0..count).map(|id| gate(mode, id)).collect::<Vec<_>>();
        // Input, forget, output, new value; update, reset, new value.
        assert_eq!(all(miopenRNNMode_t::miopenLSTM, 4), [0, 1, 3, 2]);
        assert_eq!(all(miopenRNNMode_t::miopenGRU, 3), [1, 0, 2]);
        assert_eq!(all(miopenRNNMode_t::miopenRNNTANH, 1), [0]);
    }

    #[test]
    fn pieces_that_follow_each_other_are_one() {
        let piece = |mine, theirs, bytes| Piece { mine, theirs, bytes };
        let list = joined(vec![piece(24, 8, 8), piece(0, 100, 8), piece(8, 108, 16), piece(32, 20, 4)]);
        assert_eq!(list, [piece(0, 100, 24), piece(24, 8, 8), piece(32, 20, 4)]);
    }
}
