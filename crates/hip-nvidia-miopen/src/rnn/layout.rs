//! MIOpen's layout of the weights, in elements: layer by layer, all input matrices
//! of both directions of a layer
//! before its hidden ones. All biases follow all matrices, in the same order.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::descriptor::{Shape, rnn_of};
use crate::convert::size_of_type;
use crate::entry::{entries, give, offer};
use crate::tensor::{Tensor, set_tensor, tensor_of};
use crate::{BAD, Outcome};
use hip_sys::miopen::*;
use std::ffi::c_int;

impl Shape {
    /// The number of layers, where each direction counts as a layer: backward in time follows forward.
    pub(super) fn pseudo_layers(&self) -> usize {
        self.layers * self.directions()
    }

    /// The input length of a layer; 0 in skip mode, which has no matrix for the input.
    fn width(&self, layer: usize, input: usize) -> usize {
        match layer / self.directions() {
            0 if self.skip => 0,
            0 => input,
            _ => self.hidden * self.directions(),
        }
    }

    /// Rows and columns of a matrix. The ids of the hidden side follow those of the input side.
    pub(super) fn matrix(&self, layer: usize, input: usize, id: usize) -> (usize, usize) {
        (self.hidden, if id < self.gates() { self.width(layer, input) } else { self.hidden })
    }

    pub(super) fn matrix_offset(&self, layer: usize, input: usize, id: usize) -> usize {
        let (directions, gates, hidden) = (self.directions(), self.gates(), self.hidden);
        let (level, direction) = (layer / directions, layer % directions);
        let side = |width: usize| gates * hidden * width;
        let before: usize =
            (0..level).map(|l| directions * (side(self.width(l * directions, input)) + side(hidden))).sum();
        let width = self.width(layer, input);
        before
            + match id.checked_sub(gates) {
                None => direction * side(width) + id * hidden * width,
                Some(id) => directions * side(width) + direction * side(hidden) + id * hidden * hidden,
            }
    }

    pub(super) fn bias_offset(&self, layer: usize, input: usize, id: usize) -> usize {
        let (directions, gates, hidden) = (self.directions(), self.gates(), self.hidden);
        let (level, direction) = (layer / directions, layer % directions);
        let (side, id) = (id / gates, id % gates);
        let matrices = self.matrix_offset(self.pseudo_layers(), input, 0);
        matrices + (((level * 2 + side) * directions + direction) * gates + id) * hidden
    }

    /// The number of all weights.
    pub(super) fn count(&self, input: usize) -> usize {
        let end = self.pseudo_layers();
        if self.bias { self.bias_offset(end, input, 0) } else { self.matrix_offset(end, input, 0) }
    }

    /// The layer and the id that a caller passes.
    pub(super) fn named(&self, layer: c_int, id: c_int) -> Outcome<(usize, usize)> {
        let within = |n: c_int, end: usize| usize::try_from(n).ok().filter(|n| *n < end).ok_or(BAD);
        Ok((within(layer, self.pseudo_layers())?, within(id, 2 * self.gates())?))
    }

    /// The length of an input vector, from the descriptor of a time step.
    pub(super) fn input(&self, x: &Tensor) -> Outcome<usize> {
        let input = *x.dims.get(1).ok_or(BAD)?;
        if x.kind != self.kind || self.skip && input != self.hidden { Err(BAD) } else { Ok(input) }
    }

    pub(super) fn bytes(&self, count: usize) -> Outcome<usize> {
        count.checked_mul(size_of_type(self.kind)?).ok_or(BAD)
    }
}

type H = miopenHandle_t;
type D = miopenRNNDescriptor_t;
type T = miopenTensorDescriptor_t;

entries! {
    fn miopenGetRNNParamsSize(_handle: H, rnn: D, x: T, out: *mut usize, kind: miopenDataType_t) {
        let rnn = rnn_of(rnn)?;
        let input = rnn.shape.input(&*tensor_of(x)?)?;
        if kind != rnn.shape.kind {
            return Err(BAD);
        }
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, rnn.shape.bytes(rnn.shape.count(input))?) }
    }

    fn miopenGetRNNParamsDescriptor(_handle: H, rnn: D, x: T, w: T, kind: miopenDataType_t) {
        let rnn = rnn_of(rnn)?;
        let shape = &rnn.shape;
        let input = if shape.skip { 0 } else { shape.input(&*tensor_of(x)?)? };
        if kind != shape.kind {
            return Err(BAD);
        }
        let deeper = (shape.layers - 1) * (shape.directions() + 1) + 1;
        let rows = input + deeper * shape.hidden + if shape.bias { 2 * shape.layers } else { 0 };
        let columns = shape.directions() * shape.hidden * shape.gates();
        set_tensor(w, Tensor::new(kind, &[rows, columns], None)?)
    }

    fn miopenGetRNNLayerParamSize(_handle: H, rnn: D, layer: c_int, x: T, id: c_int, out: *mut usize) {
        let rnn = rnn_of(rnn)?;
        let (layer, id) = rnn.shape.named(layer, id)?;
        let (rows, columns) = rnn.shape.matrix(layer, rnn.shape.input(&*tensor_of(x)?)?, id);
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, rnn.shape.bytes(rows * columns)?) }
    }

    fn miopenGetRNNLayerBiasSize(_handle: H, rnn: D, layer: c_int, id: c_int, out: *mut usize) {
        let rnn = rnn_of(rnn)?;
        rnn.shape.named(layer, id)?;
        // SAFETY: S11: as above.
        unsafe { give(out, rnn.shape.bytes(rnn.shape.hidden)?) }
    }

    /// Returns elements. The pointer for the offset may be null.
    fn miopenGetRNNLayerParamOffset(rnn: D, layer: c_int, x: T, id: c_int, matrix: T, out: *mut usize) {
        let rnn = rnn_of(rnn)?;
        let (layer, id) = rnn.shape.named(layer, id)?;
        let input = rnn.shape.input(&*tensor_of(x)?)?;
        let (rows, columns) = rnn.shape.matrix(layer, input, id);
        set_tensor(matrix, Tensor::new(rnn.shape.kind, &[rows, columns], None)?)?;
        // SAFETY: S11: as above.
        unsafe { offer(out, rnn.shape.matrix_offset(layer, input, id)) };
        Ok(())
    }

    /// Returns elements. Without biases nothing is written. The pointer for the offset may be null.
    fn miopenGetRNNLayerBiasOffset(rnn: D, layer: c_int, x: T, id: c_int, bias: T, out: *mut usize) {
        let rnn = rnn_of(rnn)?;
        if !rnn.shape.bias {
            return Ok(());
        }
        let (layer, id) = rnn.shape.named(layer, id)?;
        let input = rnn.shape.input(&*tensor_of(x)?)?;
        set_tensor(bias, Tensor::new(rnn.shape.kind, &[rnn.shape.hidden], None)?)?;
        // SAFETY: S11: as above.
        unsafe { offer(out, rnn.shape.bias_offset(layer, input, id)) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(mode: u32, layers: usize, bidirectional: bool) -> Shape {
        let mode = miopenRNNMode_t(mode);
        Shape { hidden: 5, layers, mode, bidirectional, bias: true, ..Shape::default() }
    }

    #[test]
    fn one_direction() {
        // A GRU of two layers, inputs of 3: three matrices of 5 by 3, then of 5 by 5; biases behind 45 + 75 + 150.
        let gru = shape(3, 2, false);
        assert_eq!(gru.matrix_offset(0, 3, 2), 30);
        assert_eq!(gru.matrix_offset(0, 3, 3), 45);
        assert_eq!(gru.matrix_offset(1, 3, 0), 120);
        assert_eq!(gru.matrix_offset(1, 3, 4), 120 + 100);
        assert_eq!(gru.bias_offset(0, 3, 0), 270);
        assert_eq!(gru.bias_offset(0, 3, 4), 270 + 20);
        assert_eq!(gru.bias_offset(1, 3, 1), 270 + 30 + 5);
        assert_eq!(gru.count(3), 270 + 60);
        assert_eq!(gru.matrix(0, 3, 0), (5, 3));
        assert_eq!(gru.matrix(1, 3, 0), (5, 5));
    }

    #[test]
    fn two_directions() {
        // Plain, two layers, inputs of 3: in 15 15, hidden 25 25; in 50 50, hidden 25 25; biases in in hidden hidden.
        let plain = shape(1, 2, true);
        let offsets = |id| [0, 1, 2, 3].map(|layer| plain.matrix_offset(layer, 3, id));
        assert_eq!(offsets(0), [0, 15, 80, 130]);
        assert_eq!(offsets(1), [30, 55, 180, 205]);
        let biases = |id| [0, 1, 2, 3].map(|layer| plain.bias_offset(layer, 3, id));
        assert_eq!(biases(0), [230, 235, 250, 255]);
        assert_eq!(biases(1), [240, 245, 260, 265]);
        assert_eq!(plain.count(3), 270);
        assert_eq!(plain.matrix(2, 3, 0), (5, 10));
    }

    #[test]
    fn an_input_that_skips_has_no_matrix() {
        let skipping = Shape { skip: true, bias: false, ..shape(2, 1, false) };
        assert_eq!(skipping.matrix(0, 5, 0), (5, 0));
        assert_eq!(skipping.matrix_offset(0, 5, 4), 0);
        assert_eq!(skipping.count(5), 100);
        let x = |length| Tensor::new(miopenDataType_t::miopenFloat, &[2, length], None).unwrap();
        assert_eq!(skipping.input(&x(5)), Ok(5));
        assert_eq!(skipping.input(&x(4)), Err(BAD));
        assert_eq!(skipping.named(1, 0), Err(BAD));
        assert_eq!(skipping.named(0, 8), Err(BAD));
    }
}
