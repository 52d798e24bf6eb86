//! Descriptors of recurrent networks, of their sequences, and of their parameters' positions.

use crate::convert::{self, out};
use crate::owner::{Owner, RnnObject};
use crate::raw::rnn as raw;
use crate::{DataType, DropoutDesc, Element, Error, Handle, Result, TensorDesc};
use hip_sys::miopen::*;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

crate::convert::c_enum! {
    /// The kind of a cell.
    RnnMode = miopenRNNMode_t {
        /// `relu(W x + R h + b)`.
        Relu = miopenRNNMode_t::miopenRNNRELU,
        /// `tanh(W x + R h + b)`.
        Tanh = miopenRNNMode_t::miopenRNNTANH,
        /// Long short-term memory: parameters 0 to 3 are of the input, forget, output and new gates for the input, 4 to 7 for the state.
        Lstm = miopenRNNMode_t::miopenLSTM,
        /// Gated recurrent unit: parameters 0 to 2 are of the update, reset and new gates for the input, 3 to 5 for the state.
        Gru = miopenRNNMode_t::miopenGRU,
    }
}

impl RnnMode {
    /// The number of a cell's matrices for its input; there are as many for its state.
    pub fn gates(self) -> usize {
        match self {
            Self::Relu | Self::Tanh => 1,
            Self::Lstm => 4,
            Self::Gru => 3,
        }
    }
}

/// The settings of a recurrent network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rnn {
    /// The kind of its cells.
    pub mode: RnnMode,
    /// Length of a cell's state.
    pub hidden: usize,
    /// The number of layers.
    pub layers: usize,
    /// Whether each layer runs in both directions, its outputs side by side.
    pub bidirectional: bool,
    /// Whether cells add biases: two for each gate.
    pub bias: bool,
    /// Whether the first layer takes the input without a matrix; the input then has the state's length.
    pub skip_input: bool,
}

impl Rnn {
    /// One layer in one direction, with biases.
    pub fn new(mode: RnnMode, hidden: usize) -> Self {
        Self { mode, hidden, layers: 1, bidirectional: false, bias: true, skip_input: false }
    }

    /// 2 for a bidirectional one.
    pub fn directions(&self) -> usize {
        1 + usize::from(self.bidirectional)
    }

    fn check(&self) -> Result<()> {
        if self.hidden == 0 || self.layers == 0 {
            let found = (self.hidden, self.layers);
            return Err(Error::invalid("a network's state and layers", found, "each has to be at least 1"));
        }
        convert::product("a network's layers and state", &[self.layers, self.directions(), self.hidden])?;
        Ok(())
    }
}

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

/// A recurrent network's descriptor, with its dropout between layers, if it has one. Training borrows it exclusively.
#[doc(alias = "miopenRNNDescriptor_t")]
pub struct RnnDesc {
    // Dropped first, since it refers to the dropout.
    object: Owner<RnnObject>,
    dropout: Option<DropoutDesc>,
    rnn: Rnn,
    data_type: DataType,
    /// A number that is unique in this process.
    id: u64,
}

impl RnnDesc {
    /// Creates the descriptor, for elements of `T`.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::TooLarge`]; the library's error.
    #[doc(alias = "miopenCreateRNNDescriptor")]
    #[doc(alias = "miopenSetRNNDescriptor")]
    #[doc(alias = "miopenSetRNNDescriptor_V2")]
    pub fn new<T: Element>(handle: &Handle, rnn: Rnn, dropout: Option<DropoutDesc>) -> Result<Self> {
        rnn.check()?;
        let hidden = convert::int("the length of a state", rnn.hidden)?;
        let layers = convert::int("the number of layers", rnn.layers)?;
        let input = if rnn.skip_input {
            miopenRNNInputMode_t::miopenRNNskip
        } else {
            miopenRNNInputMode_t::miopenRNNlinear
        };
        let direction = if rnn.bidirectional {
            miopenRNNDirectionMode_t::miopenRNNbidirection
        } else {
            miopenRNNDirectionMode_t::miopenRNNunidirection
        };
        let bias = if rnn.bias {
            miopenRNNBiasMode_t::miopenRNNwithBias
        } else {
            miopenRNNBiasMode_t::miopenRNNNoBias
        };
        let (mode, algorithm, data_type) = (rnn.mode.raw(), miopenRNNAlgo_t::miopenRNNdefault, T::DATA_TYPE);
        let drops = dropout.as_ref().map(|dropout| dropout.on(handle)).transpose()?;
        let object = Owner::new(handle.platform(), |m, desc| {
            let of = data_type.raw();
            // SAFETY: S1, S4: the descriptors are live, and the dropout's lives as long.
            unsafe {
                match drops {
                    None => raw::set_rnn_descriptor(
                        m, desc, hidden, layers, input, direction, mode, bias, algorithm, of,
                    ),
                    Some(drops) => raw::set_rnn_descriptor_v2(
                        m, desc, hidden, layers, drops, input, direction, mode, bias, algorithm, of,
                    ),
                }
            }
        })?;
        Ok(Self { object, dropout, rnn, data_type, id: NEXT_ID.fetch_add(1, Ordering::Relaxed) })
    }

    /// Its settings.
    pub fn rnn(&self) -> Rnn {
        self.rnn
    }

    /// The type of its elements.
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// Destroys it and its dropout, and returns any error.
    ///
    /// # Errors
    /// The library's error.
    #[doc(alias = "miopenDestroyRNNDescriptor")]
    pub fn close(self) -> Result<()> {
        let closed = self.object.close();
        closed.and(self.dropout.map_or(Ok(()), DropoutDesc::close))
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// The descriptor's object for calls with this handle.
    pub(crate) fn on(&self, handle: &Handle) -> Result<miopenRNNDescriptor_t> {
        if let Some(dropout) = &self.dropout {
            dropout.on(handle)?;
        }
        self.object.on(handle)
    }

    pub(crate) fn dropout(&mut self) -> Option<&mut DropoutDesc> {
        self.dropout.as_mut()
    }
}

impl fmt::Debug for RnnDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {:?}", self.rnn, self.data_type)
    }
}

/// The sequences of a network: how many there are at each time, and the length of an input. Cloning it copies a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RnnSequence {
    inner: Arc<SequenceInner>,
}

#[derive(Debug, PartialEq, Eq)]
struct SequenceInner {
    rnn: Rnn,
    data_type: DataType,
    /// Whether the network has dropout, which changes what training keeps.
    drops: bool,
    input: usize,
    batches: Vec<usize>,
    /// A descriptor for each time.
    x: Vec<TensorDesc>,
    y: Vec<TensorDesc>,
    hidden: TensorDesc,
    params: TensorDesc,
    param_count: usize,
}

/// The position of a matrix or a bias among a network's parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RnnParam {
    /// Its first element.
    pub offset: usize,
    /// Its shape: rows for outputs.
    pub dims: Vec<usize>,
}

impl RnnParam {
    /// Its elements among the parameters.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.dims.iter().product::<usize>()
    }
}

impl RnnSequence {
    /// `batches[t]` sequences at time `t`, never more than before, each with `input` elements.
    ///
    /// # Errors
    /// [`Error::Invalid`] for no time, or batches that grow or are 0; the library's error.
    #[doc(alias = "miopenGetRNNParamsSize")]
    #[doc(alias = "miopenGetRNNParamsDescriptor")]
    pub fn new(handle: &Handle, network: &RnnDesc, batches: &[usize], input: usize) -> Result<Self> {
        let (rnn, of) = (network.rnn(), network.data_type());
        let Some(batch) = batches.first().copied() else {
            return Err(Error::invalid("the times of a network", 0, "there has to be at least 1"));
        };
        if batches.windows(2).any(|pair| pair[1] > pair[0]) || batches.contains(&0) {
            let wanted = "there has to be at least 1 each time, and never more than before";
            return Err(Error::invalid("the sequences at each time", batches, wanted));
        }
        if rnn.skip_input && input != rnn.hidden {
            return Err(Error::mismatch("the length of an input that is taken as it is", rnn.hidden, input));
        }
        let rows =
            batches.iter().try_fold(0_usize, |rows, batch| rows.checked_add(*batch)).unwrap_or(usize::MAX);
        let outputs = rnn.hidden * rnn.directions();
        convert::product("the elements of a network's input", &[rows, input])?;
        convert::product("the elements of a network's output", &[rows, outputs])?;
        let (mut x, mut y) = (Vec::<TensorDesc>::new(), Vec::<TensorDesc>::new());
        for batch in batches {
            match (x.last(), y.last()) {
                (Some(former_x), Some(former_y)) if former_x.dims()[0] == *batch => {
                    let (former_x, former_y) = (former_x.clone(), former_y.clone());
                    x.push(former_x);
                    y.push(former_y);
                }
                _ => {
                    x.push(TensorDesc::packed_of(handle, of, &[*batch, input])?);
                    y.push(TensorDesc::packed_of(handle, of, &[*batch, outputs])?);
                }
            }
        }
        let hidden = TensorDesc::packed_of(handle, of, &[rnn.layers * rnn.directions(), batch, rnn.hidden])?;
        let (desc, first) = (network.on(handle)?, x[0].on(handle)?);
        let bytes = handle.call("the size of a network's parameters", |m, h| {
            // SAFETY: S1: handle and descriptors are live, and the out-pointer too.
            out(|bytes| unsafe { raw::get_rnn_params_size(m, h, desc, first, bytes, of.raw()) })
        })?;
        let param_count = bytes / of.size();
        let params = TensorDesc::filled_by(handle, |m, h, params| {
            // SAFETY: S1: handle and descriptors are live.
            unsafe { raw::get_rnn_params_descriptor(m, h, desc, first, params, of.raw()) }
        })?;
        let inner = SequenceInner {
            rnn,
            data_type: of,
            drops: network.dropout.is_some(),
            input,
            batches: batches.to_vec(),
            x,
            y,
            hidden,
            params,
            param_count,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The number of elements of all parameters.
    pub fn param_count(&self) -> usize {
        self.inner.param_count
    }

    /// The number of elements of the input `[rows, input]`, ordered by time.
    pub fn input_count(&self) -> usize {
        self.rows() * self.inner.input
    }

    /// The number of elements of the output `[rows, hidden · directions]`.
    pub fn output_count(&self) -> usize {
        self.rows() * self.inner.rnn.hidden * self.inner.rnn.directions()
    }

    /// The number of elements of the states `[layers · directions, first batch, hidden]`.
    pub fn state_count(&self) -> usize {
        self.inner.hidden.elements()
    }

    /// The number of sequences at each time.
    pub fn batches(&self) -> &[usize] {
        &self.inner.batches
    }

    fn rows(&self) -> usize {
        self.inner.batches.iter().sum()
    }

    /// The position of matrix `id` of a layer. Bidirectional layers count twice, the backward one after the forward one. See [`RnnMode`]
    /// for the numbers.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such layer or matrix; the library's error.
    #[doc(alias = "miopenGetRNNLayerParamOffset")]
    pub fn matrix(&self, handle: &Handle, network: &RnnDesc, layer: usize, id: usize) -> Result<RnnParam> {
        self.check(network)?;
        let (layer, id) = self.check_param(layer, id)?;
        let (desc, x) = (network.on(handle)?, self.inner.x[0].on(handle)?);
        let mut offset = 0;
        let found = TensorDesc::filled_by(handle, |m, _, param| {
            // SAFETY: S1: descriptors and out-pointer are live.
            unsafe { raw::get_rnn_layer_param_offset(m, desc, layer, x, id, param, &mut offset) }
        })?;
        self.param(offset, &found)
    }

    /// The position of bias `id` of a layer, counted as for [`RnnSequence::matrix`].
    ///
    /// # Errors
    /// As [`RnnSequence::matrix`], and [`Error::Invalid`] for a network without biases.
    #[doc(alias = "miopenGetRNNLayerBiasOffset")]
    pub fn bias(&self, handle: &Handle, network: &RnnDesc, layer: usize, id: usize) -> Result<RnnParam> {
        self.check(network)?;
        if !self.inner.rnn.bias {
            return Err(Error::invalid("the bias of a network", id, "this network has none"));
        }
        let (layer, id) = self.check_param(layer, id)?;
        let (desc, x) = (network.on(handle)?, self.inner.x[0].on(handle)?);
        let mut offset = 0;
        let found = TensorDesc::filled_by(handle, |m, _, param| {
            // SAFETY: S1: descriptors and out-pointer are live.
            unsafe { raw::get_rnn_layer_bias_offset(m, desc, layer, x, id, param, &mut offset) }
        })?;
        self.param(offset, &found)
    }

    fn param(&self, offset: usize, found: &TensorDesc) -> Result<RnnParam> {
        let param = RnnParam { offset, dims: found.dims().to_vec() };
        if offset.checked_add(found.elements()).is_some_and(|end| end <= self.param_count()) {
            return Ok(param);
        }
        Err(Error::mismatch("the position of a network's parameter", self.param_count(), param))
    }

    fn check_param(&self, layer: usize, id: usize) -> Result<(i32, i32)> {
        let rnn = self.inner.rnn;
        let (layers, ids) = (rnn.layers * rnn.directions(), rnn.mode.gates() * 2);
        if layer >= layers || id >= ids {
            let wanted = "the layer, or the number in the layer, is past the last";
            return Err(Error::invalid("a parameter of a network", (layer, id), wanted));
        }
        Ok((convert::int("a layer", layer)?, convert::int("a parameter", id)?))
    }

    /// Refuses a network that it was not created for.
    pub(crate) fn check(&self, network: &RnnDesc) -> Result<()> {
        let SequenceInner { rnn, data_type, drops, .. } = &*self.inner;
        let wanted = (network.rnn(), network.data_type(), network.dropout.is_some());
        let found = (*rnn, *data_type, *drops);
        if wanted == found {
            Ok(())
        } else {
            Err(Error::mismatch("the network of a sequence", wanted, found))
        }
    }

    pub(crate) fn data_type(&self) -> DataType {
        self.inner.data_type
    }

    /// The descriptors of input and output at each time.
    pub(crate) fn each_time(&self, handle: &Handle) -> Result<[Vec<miopenTensorDescriptor_t>; 2]> {
        let on = |descs: &[TensorDesc]| descs.iter().map(|desc| desc.on(handle)).collect::<Result<Vec<_>>>();
        Ok([on(&self.inner.x)?, on(&self.inner.y)?])
    }

    /// The descriptors of the states and of the parameters.
    pub(crate) fn whole(&self, handle: &Handle) -> Result<[miopenTensorDescriptor_t; 2]> {
        Ok([self.inner.hidden.on(handle)?, self.inner.params.on(handle)?])
    }
}
