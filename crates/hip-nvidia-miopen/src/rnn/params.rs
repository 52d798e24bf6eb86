//! Copies a matrix or a bias out of the weights or into them, element by element.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::descriptor::{Rnn, rnn_of};
use crate::convert::hip;
use crate::entry::{all_there, entries};
use crate::handle::with;
use crate::library::{In, Out};
use crate::tensor::{Tensor, set_tensor, tensor_of};
use crate::{BAD, Outcome};
use hip_nvidia::library::copy;
use hip_sys::miopen::*;
use std::ffi::c_int;

/// A matrix or a bias.
struct Param {
    offset: usize,
    dims: Vec<usize>,
}

impl Rnn {
    fn matrix_param(&self, layer: c_int, x: miopenTensorDescriptor_t, id: c_int) -> Outcome<Param> {
        let (layer, id) = self.shape.named(layer, id)?;
        let input = self.shape.input(&*tensor_of(x)?)?;
        let (rows, columns) = self.shape.matrix(layer, input, id);
        if columns == 0 {
            return Err(BAD);
        }
        Ok(Param { offset: self.shape.matrix_offset(layer, input, id), dims: vec![rows, columns] })
    }

    fn bias_param(&self, layer: c_int, x: miopenTensorDescriptor_t, id: c_int) -> Outcome<Param> {
        let (layer, id) = self.shape.named(layer, id)?;
        let offset = self.shape.bias_offset(layer, self.shape.input(&*tensor_of(x)?)?, id);
        Ok(Param { offset, dims: vec![self.shape.hidden] })
    }

    /// # Safety
    /// The weights are the network's, and the other memory fits the parameter.
    unsafe fn copy(&self, handle: miopenHandle_t, param: &Param, w: In, other: Out, out: bool) -> Outcome {
        all_there(&[w, other.cast_const()])?;
        let at = w.wrapping_byte_add(self.shape.bytes(param.offset)?);
        let bytes = self.shape.bytes(param.dims.iter().product())?;
        let (to, from) = if out { (other, at) } else { (at.cast_mut(), other.cast_const()) };
        with(handle, |session| {
            // SAFETY: S11: the caller's memory; the session's stream is live.
            unsafe { copy(to, from, bytes, session.stream.cast()) }.map_err(hip)
        })
    }

    /// # Safety
    /// As [`Rnn::copy`]; if the other memory is null, only the descriptor is set.
    unsafe fn get(&self, handle: H, param: &Param, w: In, descriptor: T, other: Out) -> Outcome {
        set_tensor(descriptor, Tensor::new(self.shape.kind, &param.dims, None)?)?;
        if other.is_null() {
            return Ok(());
        }
        // SAFETY: S11: the caller's memory.
        unsafe { self.copy(handle, param, w, other, true) }
    }

    /// # Safety
    /// As [`Rnn::copy`].
    unsafe fn set(&self, handle: H, param: &Param, w: Out, descriptor: T, other: In) -> Outcome {
        if *tensor_of(descriptor)?.dims != *param.dims {
            return Err(BAD);
        }
        // SAFETY: S11: the caller's memory.
        unsafe { self.copy(handle, param, w, other.cast_mut(), false) }
    }
}

type H = miopenHandle_t;
type D = miopenRNNDescriptor_t;
type T = miopenTensorDescriptor_t;

entries! {
    fn miopenGetRNNLayerParam(handle: H, rnn: D, layer: c_int, x: T, _wd: T, w: In, id: c_int, pd: T, param: Out) {
        let rnn = rnn_of(rnn)?;
        // SAFETY: S11: the caller's memory.
        unsafe { rnn.get(handle, &rnn.matrix_param(layer, x, id)?, w, pd, param) }
    }

    fn miopenSetRNNLayerParam(handle: H, rnn: D, layer: c_int, x: T, _wd: T, w: Out, id: c_int, pd: T, param: In) {
        let rnn = rnn_of(rnn)?;
        // SAFETY: S11: as above.
        unsafe { rnn.set(handle, &rnn.matrix_param(layer, x, id)?, w, pd, param) }
    }

    /// Does nothing without biases.
    fn miopenGetRNNLayerBias(handle: H, rnn: D, layer: c_int, x: T, _wd: T, w: In, id: c_int, bd: T, bias: Out) {
        let rnn = rnn_of(rnn)?;
        if !rnn.shape.bias {
            return Ok(());
        }
        // SAFETY: S11: as above.
        unsafe { rnn.get(handle, &rnn.bias_param(layer, x, id)?, w, bd, bias) }
    }

    /// Does nothing without biases.
    fn miopenSetRNNLayerBias(handle: H, rnn: D, layer: c_int, x: T, _wd: T, w: Out, id: c_int, bd: T, bias: In) {
        let rnn = rnn_of(rnn)?;
        if !rnn.shape.bias {
            return Ok(());
        }
        // SAFETY: S11: as above.
        unsafe { rnn.set(handle, &rnn.bias_param(layer, x, id)?, w, bd, bias) }
    }
}
