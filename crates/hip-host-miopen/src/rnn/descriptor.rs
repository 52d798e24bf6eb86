//! Descriptors of networks, and MIOpen's layout of their weights.
#![allow(non_snake_case, reason = "MIOpen's names")]

use crate::answer::{BAD, Outcome, answer, check, int, offer, product};
use crate::dropout::{DROPOUTS, Dropout};
use crate::registry::Registry;
use hip_sys::miopen::{
    miopenDataType_t, miopenDropoutDescriptor_t, miopenRNNAlgo_t, miopenRNNBiasMode_t, miopenRNNDescriptor_t,
    miopenRNNDirectionMode_t, miopenRNNInputMode_t, miopenRNNMode_t, miopenRNNPaddingMode_t, miopenStatus_t,
};
use std::ffi::c_int;
use std::ptr::null_mut;

/// The settings of a descriptor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Network {
    pub(super) hidden: usize,
    pub(super) layers: usize,
    pub(super) mode: miopenRNNMode_t,
    /// Whether the input is added to the gates without a matrix.
    pub(super) skips: bool,
    pub(super) both_ways: bool,
    pub(super) biased: bool,
    algorithm: miopenRNNAlgo_t,
    pub(super) dtype: miopenDataType_t,
    pub(super) padded: bool,
    dropout: usize,
}

impl Network {
    /// The dropout between layers in training, if there is any.
    ///
    /// # Errors
    /// BadParm if the dropout descriptor was destroyed.
    pub(super) fn drops(&self) -> Outcome<Option<Dropout>> {
        if self.dropout == 0 || self.layers == 1 {
            return Ok(None);
        }
        let dropout = DROPOUTS.get(self.dropout as miopenDropoutDescriptor_t)?;
        Ok(Some(dropout).filter(Dropout::drops))
    }
}

pub(super) static NETWORKS: Registry<Network> = Registry::new(0x78);

const SKIP: miopenRNNInputMode_t = miopenRNNInputMode_t::miopenRNNskip;
const LINEAR: miopenRNNInputMode_t = miopenRNNInputMode_t::miopenRNNlinear;
const BOTH: miopenRNNDirectionMode_t = miopenRNNDirectionMode_t::miopenRNNbidirection;
const ONE_WAY: miopenRNNDirectionMode_t = miopenRNNDirectionMode_t::miopenRNNunidirection;
const BIASED: miopenRNNBiasMode_t = miopenRNNBiasMode_t::miopenRNNwithBias;
const UNBIASED: miopenRNNBiasMode_t = miopenRNNBiasMode_t::miopenRNNNoBias;
const PADDED: miopenRNNPaddingMode_t = miopenRNNPaddingMode_t::miopenRNNIOWithPadding;
const TIGHT: miopenRNNPaddingMode_t = miopenRNNPaddingMode_t::miopenRNNIONotPadded;

impl Default for Network {
    fn default() -> Self {
        Self {
            hidden: 0,
            layers: 1,
            mode: miopenRNNMode_t::miopenRNNTANH,
            skips: false,
            both_ways: false,
            biased: false,
            algorithm: miopenRNNAlgo_t::miopenRNNdefault,
            dtype: miopenDataType_t::miopenFloat,
            padded: false,
            dropout: 0,
        }
    }
}

impl Network {
    /// The number of a layer's matrices for the input; there are as many for the hidden state.
    pub(super) fn gates(&self) -> usize {
        match self.mode {
            miopenRNNMode_t::miopenLSTM => 4,
            miopenRNNMode_t::miopenGRU => 3,
            _ => 1,
        }
    }

    /// Directions of a layer.
    pub(super) fn ways(&self) -> usize {
        1 + usize::from(self.both_ways)
    }

    /// Columns of the matrices for a layer's input. MIOpen's functions count a bidirectional layer as two; this function
    /// does not.
    pub(super) fn width(&self, layer: usize, input: usize) -> usize {
        match layer {
            0 if self.skips => 0,
            0 => input,
            _ => self.hidden * self.ways(),
        }
    }

    /// The offset of a layer's matrices: those for the input of all directions come first, then those for the state. `usize::MAX` if it
    /// overflows.
    fn layer_start(&self, layer: usize, input: usize) -> usize {
        let all = self.gates() * self.ways() * self.hidden;
        let rows = |layer: usize| self.width(layer, input).saturating_add(self.hidden);
        let above = layer.saturating_sub(1).saturating_mul(rows(1));
        let first = if layer == 0 { 0 } else { rows(0) };
        first.saturating_add(above).saturating_mul(all)
    }

    /// The offset of a matrix; those for the input come before those for the state.
    pub(super) fn matrix(&self, layer: usize, way: usize, id: usize, input: usize) -> usize {
        let (gates, hidden, width) = (self.gates(), self.hidden, self.width(layer, input));
        let start = self.layer_start(layer, input);
        match id.checked_sub(gates) {
            None => start + (way * gates + id) * width * hidden,
            Some(id) => start + self.ways() * gates * width * hidden + (way * gates + id) * hidden * hidden,
        }
    }

    /// The offset of a bias; those for the input come before those for the state.
    pub(super) fn bias(&self, layer: usize, way: usize, id: usize, input: usize) -> usize {
        let (gates, ways) = (self.gates(), self.ways());
        let which = match id.checked_sub(gates) {
            None => way * gates + id,
            Some(id) => ways * gates + way * gates + id,
        };
        self.layer_start(self.layers, input) + (layer * 2 * ways * gates + which) * self.hidden
    }

    /// The number of all weights; `usize::MAX` if it overflows. Otherwise every matrix and bias is below it.
    pub(super) fn weights(&self, input: usize) -> usize {
        let each = 2 * self.ways() * self.gates() * self.hidden;
        let biases = if self.biased { self.layers.saturating_mul(each) } else { 0 };
        self.layer_start(self.layers, input).saturating_add(biases)
    }

    /// The size of the weights in bytes, in the network's type.
    ///
    /// # Errors
    /// BadParm if it overflows.
    pub(super) fn weight_bytes(&self, input: usize) -> Outcome<usize> {
        product([self.weights(input), super::sizes::bytes(self)])
    }

    /// Elements of the states of a batch.
    ///
    /// # Errors
    /// As [`Network::weight_bytes`].
    pub(super) fn states(&self, batch: usize) -> Outcome<usize> {
        product([self.layers, self.ways(), batch, self.hidden])
    }
}

pub(crate) unsafe extern "C" fn miopenCreateRNNDescriptor(out: *mut miopenRNNDescriptor_t) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the handle.
    answer(|| unsafe { NETWORKS.create(out, Network::default()) })
}

pub(crate) unsafe extern "C" fn miopenDestroyRNNDescriptor(
    descriptor: miopenRNNDescriptor_t,
) -> miopenStatus_t {
    answer(|| NETWORKS.destroy(descriptor))
}

pub(crate) unsafe extern "C" fn miopenSetRNNDescriptor_V2(
    descriptor: miopenRNNDescriptor_t,
    hidden: c_int,
    layers: c_int,
    dropout: miopenDropoutDescriptor_t,
    input: miopenRNNInputMode_t,
    direction: miopenRNNDirectionMode_t,
    mode: miopenRNNMode_t,
    bias: miopenRNNBiasMode_t,
    algorithm: miopenRNNAlgo_t,
    dtype: miopenDataType_t,
) -> miopenStatus_t {
    answer(|| {
        let size = |value: c_int| usize::try_from(value).ok().filter(|&it| it > 0).ok_or(BAD);
        check([ONE_WAY, BOTH].contains(&direction) && [UNBIASED, BIASED].contains(&bias), BAD)?;
        check([LINEAR, SKIP].contains(&input) && mode.0 <= miopenRNNMode_t::miopenGRU.0, BAD)?;
        check([miopenDataType_t::miopenFloat, miopenDataType_t::miopenHalf].contains(&dtype), BAD)?;
        if !dropout.is_null() {
            DROPOUTS.with(dropout, |_| ())?;
        }
        let network = Network {
            hidden: size(hidden)?,
            layers: size(layers)?,
            mode,
            skips: input == SKIP,
            both_ways: direction == BOTH,
            biased: bias == BIASED,
            algorithm,
            dtype,
            padded: false,
            dropout: dropout as usize,
        };
        NETWORKS.set(descriptor, || Ok(network))
    })
}

pub(crate) unsafe extern "C" fn miopenSetRNNDescriptor(
    descriptor: miopenRNNDescriptor_t,
    hidden: c_int,
    layers: c_int,
    input: miopenRNNInputMode_t,
    direction: miopenRNNDirectionMode_t,
    mode: miopenRNNMode_t,
    bias: miopenRNNBiasMode_t,
    algorithm: miopenRNNAlgo_t,
    dtype: miopenDataType_t,
) -> miopenStatus_t {
    let none = null_mut();
    // SAFETY: S11: the same contract.
    unsafe {
        miopenSetRNNDescriptor_V2(
            descriptor, hidden, layers, none, input, direction, mode, bias, algorithm, dtype,
        )
    }
}

pub(crate) unsafe extern "C" fn miopenGetRNNDescriptor_V2(
    descriptor: miopenRNNDescriptor_t,
    hidden: *mut c_int,
    layers: *mut c_int,
    dropout: *mut miopenDropoutDescriptor_t,
    input: *mut miopenRNNInputMode_t,
    direction: *mut miopenRNNDirectionMode_t,
    mode: *mut miopenRNNMode_t,
    bias: *mut miopenRNNBiasMode_t,
    algorithm: *mut miopenRNNAlgo_t,
    dtype: *mut miopenDataType_t,
) -> miopenStatus_t {
    answer(|| {
        let it = NETWORKS.get(descriptor)?;
        // SAFETY: S11: the caller's output pointers for the results.
        unsafe {
            offer(hidden, int(it.hidden));
            offer(layers, int(it.layers));
            offer(dropout, it.dropout as miopenDropoutDescriptor_t);
            offer(input, if it.skips { SKIP } else { LINEAR });
            offer(direction, if it.both_ways { BOTH } else { ONE_WAY });
            offer(mode, it.mode);
            offer(bias, if it.biased { BIASED } else { UNBIASED });
            offer(algorithm, it.algorithm);
            offer(dtype, it.dtype);
        }
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn miopenGetRNNDescriptor(
    descriptor: miopenRNNDescriptor_t,
    mode: *mut miopenRNNMode_t,
    algorithm: *mut miopenRNNAlgo_t,
    input: *mut miopenRNNInputMode_t,
    direction: *mut miopenRNNDirectionMode_t,
    bias: *mut miopenRNNBiasMode_t,
    hidden: *mut c_int,
    layers: *mut c_int,
) -> miopenStatus_t {
    let (dropout, dtype) = (null_mut(), null_mut());
    // SAFETY: S11: the same contract.
    unsafe {
        miopenGetRNNDescriptor_V2(
            descriptor, hidden, layers, dropout, input, direction, mode, bias, algorithm, dtype,
        )
    }
}

pub(crate) unsafe extern "C" fn miopenSetRNNPaddingMode(
    descriptor: miopenRNNDescriptor_t,
    mode: miopenRNNPaddingMode_t,
) -> miopenStatus_t {
    answer(|| {
        check([TIGHT, PADDED].contains(&mode), BAD)?;
        NETWORKS.with(descriptor, |it| it.padded = mode == PADDED)
    })
}

pub(crate) unsafe extern "C" fn miopenGetRNNPaddingMode(
    descriptor: miopenRNNDescriptor_t,
    out: *mut miopenRNNPaddingMode_t,
) -> miopenStatus_t {
    answer(|| {
        let it = NETWORKS.get(descriptor)?;
        // SAFETY: S11: the caller's output pointer for the mode.
        unsafe { offer(out, if it.padded { PADDED } else { TIGHT }) };
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values by MIOpen's own formulas.
    #[test]
    fn weights_are_where_miopen_puts_them() {
        let mut it =
            Network { hidden: 3, layers: 2, mode: miopenRNNMode_t::miopenLSTM, ..Network::default() };
        it.biased = true;
        // Input of 5: four matrices of 3 by 5, four of 3 by 3; then eight of 3 by 3; then biases.
        assert_eq!([it.matrix(0, 0, 1, 5), it.matrix(0, 0, 4, 5), it.matrix(1, 0, 0, 5)], [15, 60, 96]);
        assert_eq!([it.matrix(1, 0, 5, 5), it.bias(0, 0, 0, 5), it.bias(1, 0, 5, 5)], [141, 168, 207]);
        assert_eq!(it.weights(5), 168 + 2 * 2 * 4 * 3);
        it.both_ways = true;
        // For each direction four matrices of 3 by 5, then four of 3 by 3; the next layer's have an input of 6.
        assert_eq!([it.matrix(0, 1, 0, 5), it.matrix(0, 0, 4, 5), it.matrix(0, 1, 4, 5)], [60, 120, 156]);
        assert_eq!([it.matrix(1, 0, 0, 5), it.matrix(1, 1, 0, 5), it.matrix(1, 0, 4, 5)], [192, 264, 336]);
        assert_eq!(it.bias(0, 1, 0, 5), 408 + 12);
        assert_eq!(it.bias(0, 0, 4, 5), 408 + 24);
        assert_eq!(it.weights(5), 408 + 2 * 2 * 2 * 4 * 3);
    }
}
