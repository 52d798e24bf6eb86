//! Copies matrices and biases out of the parameters of recurrent networks and into them.

use crate::convert;
use crate::raw::rnn as raw;
use crate::tensor::is_packed;
use crate::work::Work;
use crate::{Element, Error, Handle, Result, RnnDesc, RnnParam, RnnSequence, Tensor, TensorDesc, TensorMut};
use hip_safe::{DeviceView, DeviceViewMut};

/// A parameter of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RnnParamKind {
    /// A matrix, by its number. See [`RnnMode`](crate::RnnMode).
    Matrix(usize),
    /// A bias, by its number.
    Bias(usize),
}

impl Handle {
    /// Copies a matrix or a bias of a layer out of the parameters `w`.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a shape that is not the parameter's; as [`RnnSequence::matrix`].
    #[doc(alias = "miopenGetRNNLayerParam")]
    #[doc(alias = "miopenGetRNNLayerBias")]
    pub fn rnn_param<T: Element>(
        &self,
        network: &RnnDesc,
        sequence: &RnnSequence,
        layer: usize,
        kind: RnnParamKind,
        w: &DeviceView<'_, T>,
        param: &mut TensorMut<'_, T>,
    ) -> Result<()> {
        let (_, id) = self.check_param::<T>(network, sequence, layer, kind, w.len(), param.desc())?;
        let (desc, layer) = (network.on(self)?, convert::int("a layer", layer)?);
        let ([x_descs, _], [_, w_desc]) = (sequence.each_time(self)?, sequence.whole(self)?);
        let (x, p_desc) = (x_descs[0], param.desc().on(self)?);
        let mut work = Work::new(self, "a parameter of a network");
        let (w, param) = (work.read_slice(w), work.write(param));
        // SAFETY: S1, S2: the parameter lies inside of the parameters and has the shape given.
        work.run(|m, h| unsafe {
            match kind {
                RnnParamKind::Matrix(_) => {
                    raw::get_rnn_layer_param(m, h, desc, layer, x, w_desc, w, id, p_desc, param)
                }
                RnnParamKind::Bias(_) => {
                    raw::get_rnn_layer_bias(m, h, desc, layer, x, w_desc, w, id, p_desc, param)
                }
            }
        })
    }

    /// Copies a matrix or a bias of a layer into the parameters `w`.
    ///
    /// # Errors
    /// As [`Handle::rnn_param`].
    #[doc(alias = "miopenSetRNNLayerParam")]
    #[doc(alias = "miopenSetRNNLayerBias")]
    pub fn set_rnn_param<T: Element>(
        &self,
        network: &RnnDesc,
        sequence: &RnnSequence,
        layer: usize,
        kind: RnnParamKind,
        param: &Tensor<'_, T>,
        w: &mut DeviceViewMut<'_, T>,
    ) -> Result<()> {
        let (part, _) = self.check_param::<T>(network, sequence, layer, kind, w.len(), param.desc())?;
        // Not by MIOpen's functions: that for matrices (3.5.1) writes them transposed, and reads and computes with them as they lie.
        self.stream().copy(param.elements(), &mut w.slice_mut(part.range())?)?;
        Ok(())
    }

    /// Checks the shape, and returns the parameter's part and C's number of it.
    fn check_param<T: Element>(
        &self,
        network: &RnnDesc,
        sequence: &RnnSequence,
        layer: usize,
        kind: RnnParamKind,
        len: usize,
        found: &TensorDesc,
    ) -> Result<(RnnParam, i32)> {
        let (part, id): (RnnParam, usize) = match kind {
            RnnParamKind::Matrix(id) => (sequence.matrix(self, network, layer, id)?, id),
            RnnParamKind::Bias(id) => (sequence.bias(self, network, layer, id)?, id),
        };
        if sequence.data_type() != T::DATA_TYPE {
            return Err(Error::mismatch(
                "the type of a network's elements",
                sequence.data_type(),
                T::DATA_TYPE,
            ));
        }
        if len != sequence.param_count() {
            return Err(Error::mismatch("the length of a network's parameters", sequence.param_count(), len));
        }
        crate::tensor::has_dims("the shape of a network's parameter", &part.dims, found)?;
        is_packed("a network's parameter", found)?;
        let id = convert::int("a parameter", id)?;
        Ok((part, id))
    }
}
