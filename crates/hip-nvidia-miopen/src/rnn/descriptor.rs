//! Descriptors of networks.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::prepared::Prepared;
use crate::descriptor::Descriptors;
use crate::dropout::{Dropout, dropout_of};
use crate::entry::{entries, give, offer};
use crate::{BAD, Outcome};
use hip_sys::miopen::*;
use parking_lot::Mutex;
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::{Arc, LazyLock};

/// A network. Before it is set, its hidden size is zero.
#[derive(Clone)]
pub(crate) struct Shape {
    pub(super) hidden: usize,
    pub(super) layers: usize,
    pub(super) mode: miopenRNNMode_t,
    pub(super) skip: bool,
    pub(super) bidirectional: bool,
    pub(super) bias: bool,
    pub(super) algorithm: miopenRNNAlgo_t,
    pub(super) kind: miopenDataType_t,
    /// The dropout descriptor that it was set with, and its value at that time.
    pub(super) dropout: Option<(usize, Arc<Dropout>)>,
    pub(super) padded: bool,
}

#[derive(Default)]
pub(crate) struct Rnn {
    pub(super) shape: Shape,
    /// cuDNN's objects for the most recent input size.
    pub(super) prepared: Mutex<Option<Arc<Prepared>>>,
}

static RNNS: LazyLock<Descriptors<Rnn>> = LazyLock::new(|| Descriptors::new(0x5b));

/// The network of a descriptor that was set.
pub(crate) fn rnn_of(handle: miopenRNNDescriptor_t) -> Outcome<Arc<Rnn>> {
    let rnn = RNNS.get(handle)?;
    if rnn.shape.hidden == 0 { Err(BAD) } else { Ok(rnn) }
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            hidden: 0,
            layers: 1,
            mode: miopenRNNMode_t::miopenRNNTANH,
            skip: false,
            bidirectional: false,
            bias: false,
            algorithm: miopenRNNAlgo_t::miopenRNNdefault,
            kind: miopenDataType_t::miopenFloat,
            dropout: None,
            padded: false,
        }
    }
}

impl Shape {
    pub(super) fn directions(&self) -> usize {
        if self.bidirectional { 2 } else { 1 }
    }

    /// The number of matrices on one side of a layer: one for each gate.
    pub(super) fn gates(&self) -> usize {
        match self.mode {
            miopenRNNMode_t::miopenLSTM => 4,
            miopenRNNMode_t::miopenGRU => 3,
            _ => 1,
        }
    }

    fn input_mode(&self) -> miopenRNNInputMode_t {
        miopenRNNInputMode_t(u32::from(self.skip))
    }

    fn direction(&self) -> miopenRNNDirectionMode_t {
        miopenRNNDirectionMode_t(u32::from(self.bidirectional))
    }

    fn bias_mode(&self) -> miopenRNNBiasMode_t {
        miopenRNNBiasMode_t(u32::from(self.bias))
    }
}

/// The common part of the two functions that set a network.
struct Setting {
    hidden: c_int,
    layers: c_int,
    dropout: miopenDropoutDescriptor_t,
    input: miopenRNNInputMode_t,
    direction: miopenRNNDirectionMode_t,
    mode: miopenRNNMode_t,
    bias: miopenRNNBiasMode_t,
    algorithm: miopenRNNAlgo_t,
    kind: miopenDataType_t,
}

impl Setting {
    fn shape(&self, padded: bool) -> Outcome<Shape> {
        let size = |n: c_int| usize::try_from(n).ok().filter(|n| *n > 0).ok_or(BAD);
        let kinds = [miopenDataType_t::miopenFloat, miopenDataType_t::miopenHalf];
        if self.input.0 > 1
            || self.direction.0 > 1
            || self.mode.0 > 3
            || self.bias.0 > 1
            || !kinds.contains(&self.kind)
        {
            return Err(BAD);
        }
        let dropout = match self.dropout.is_null() {
            true => None,
            false => Some((self.dropout as usize, dropout_of(self.dropout)?)),
        };
        Ok(Shape {
            hidden: size(self.hidden)?,
            layers: size(self.layers)?,
            mode: self.mode,
            skip: self.input.0 == 1,
            bidirectional: self.direction.0 == 1,
            bias: self.bias.0 == 1,
            algorithm: self.algorithm,
            kind: self.kind,
            dropout,
            padded,
        })
    }
}

fn set(handle: miopenRNNDescriptor_t, setting: &Setting) -> Outcome {
    RNNS.change(handle, |former| {
        Ok(Rnn { shape: setting.shape(former.shape.padded)?, prepared: Mutex::default() })
    })
}

type D = miopenRNNDescriptor_t;

entries! {
    fn miopenCreateRNNDescriptor(out: *mut D) {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { RNNS.create(out) }
    }

    fn miopenDestroyRNNDescriptor(handle: D) {
        RNNS.destroy(handle)
    }

    fn miopenSetRNNDescriptor(
        handle: D, hidden: c_int, layers: c_int, input: miopenRNNInputMode_t, direction: miopenRNNDirectionMode_t,
        mode: miopenRNNMode_t, bias: miopenRNNBiasMode_t, algorithm: miopenRNNAlgo_t, kind: miopenDataType_t,
    ) {
        let dropout = null_mut();
        set(handle, &Setting { hidden, layers, dropout, input, direction, mode, bias, algorithm, kind })
    }

    fn miopenSetRNNDescriptor_V2(
        handle: D, hidden: c_int, layers: c_int, dropout: miopenDropoutDescriptor_t, input: miopenRNNInputMode_t,
        direction: miopenRNNDirectionMode_t, mode: miopenRNNMode_t, bias: miopenRNNBiasMode_t,
        algorithm: miopenRNNAlgo_t, kind: miopenDataType_t,
    ) {
        set(handle, &Setting { hidden, layers, dropout, input, direction, mode, bias, algorithm, kind })
    }

    /// Each pointer may be null.
    fn miopenGetRNNDescriptor(
        handle: D, mode: *mut miopenRNNMode_t, algorithm: *mut miopenRNNAlgo_t, input: *mut miopenRNNInputMode_t,
        direction: *mut miopenRNNDirectionMode_t, bias: *mut miopenRNNBiasMode_t, hidden: *mut c_int,
        layers: *mut c_int,
    ) {
        let rnn = RNNS.get(handle)?;
        let shape = &rnn.shape;
        // SAFETY: S11: the caller's output pointers for the results.
        unsafe {
            offer(mode, shape.mode);
            offer(algorithm, shape.algorithm);
            offer(input, shape.input_mode());
            offer(direction, shape.direction());
            offer(bias, shape.bias_mode());
            offer(hidden, shape.hidden as c_int);
            offer(layers, shape.layers as c_int);
        }
        Ok(())
    }

    /// Each pointer may be null.
    fn miopenGetRNNDescriptor_V2(
        handle: D, hidden: *mut c_int, layers: *mut c_int, dropout: *mut miopenDropoutDescriptor_t,
        input: *mut miopenRNNInputMode_t, direction: *mut miopenRNNDirectionMode_t, mode: *mut miopenRNNMode_t,
        bias: *mut miopenRNNBiasMode_t, algorithm: *mut miopenRNNAlgo_t, kind: *mut miopenDataType_t,
    ) {
        let rnn = RNNS.get(handle)?;
        let shape = &rnn.shape;
        // SAFETY: S11: the caller's output pointers for the results.
        unsafe {
            offer(hidden, shape.hidden as c_int);
            offer(layers, shape.layers as c_int);
            offer(dropout, shape.dropout.as_ref().map_or(0, |(handle, _)| *handle) as miopenDropoutDescriptor_t);
            offer(input, shape.input_mode());
            offer(direction, shape.direction());
            offer(mode, shape.mode);
            offer(bias, shape.bias_mode());
            offer(algorithm, shape.algorithm);
            offer(kind, shape.kind);
        }
        Ok(())
    }

    fn miopenSetRNNPaddingMode(handle: D, mode: miopenRNNPaddingMode_t) {
        if mode.0 > 1 {
            return Err(BAD);
        }
        RNNS.change(handle, |former| {
            Ok(Rnn { shape: Shape { padded: mode.0 == 1, ..former.shape.clone() }, prepared: Mutex::default() })
        })
    }

    fn miopenGetRNNPaddingMode(handle: D, out: *mut miopenRNNPaddingMode_t) {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, miopenRNNPaddingMode_t(u32::from(RNNS.get(handle)?.shape.padded))) }
    }
}
