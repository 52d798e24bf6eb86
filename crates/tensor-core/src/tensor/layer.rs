//! Network layers with an activation: convolutions and linear layers.

use super::conv::{Conv1dConfig, Conv2dConfig, Kind};
use super::{CAST_TO_FLOAT, Tensor};
use crate::activation::{Activation, Step};
use crate::error::{ErrorKind, On, Result};
use crate::hip::HipStorage;
use crate::hip::ops::matmul::vector;
use crate::layout::Layout;
use crate::shape::Shape;
use crate::storage::{Storage, by_device};

/// Activations chosen at run time.
impl Tensor {
    /// The activation of each element, as the method of the same name.
    ///
    /// # Errors
    /// As [`Tensor::unary`] and [`Tensor::unary_scalar`].
    pub fn activate(&self, activation: Activation) -> Result<Tensor> {
        match activation.step() {
            Step::Unary(op) => self.unary(op),
            Step::Scalar(op, scalar) => self.unary_scalar(op, scalar),
        }
    }
}

/// Convolutions with an optional bias `[outputs]`, followed by an activation. Shapes and errors are those of the method
/// without an activation.
///
/// If the platform's library fuses all three, a HIP device may use that call. Otherwise it runs a convolution and then
/// a pass over its result. Results equal the convolution followed by [`Tensor::activate`], with two exceptions. Types
/// of 16 bits may be rounded before the bias is added, before the activation and after it, or at the end only. For
/// `Relu` and `LeakyRelu` the library decides the results for NaN and infinities, and the sign of zeros.
impl Tensor {
    /// As [`Tensor::conv1d_with`], followed by an activation.
    ///
    /// # Errors
    /// As [`Tensor::conv1d_with`].
    pub fn conv1d_with_activation(
        &self,
        kernel: &Tensor,
        bias: Option<&Tensor>,
        config: &Conv1dConfig,
        activation: Activation,
    ) -> Result<Tensor> {
        self.convolve(kernel, bias, &(*config).into(), Some(activation), Kind::CONV1D)
    }

    /// As [`Tensor::conv2d_with`], followed by an activation.
    ///
    /// ```
    /// use tensor_core::{Activation, Conv2dConfig, Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let x = Tensor::new([[[[1f32, 2.0, 3.0]]]], &Device::Cpu)?;
    /// let kernel = Tensor::new([[[[10f32]]]], &Device::Cpu)?;
    /// let bias = Tensor::new([-15f32], &Device::Cpu)?;
    /// let y = x.conv2d_with_activation(&kernel, Some(&bias), &Conv2dConfig::default(), Activation::Relu)?;
    /// assert_eq!(y.reshape(3)?.to_vec::<f32>()?, [0.0, 5.0, 15.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Tensor::conv2d_with`].
    #[doc(alias = "cudnn_convolution_relu")]
    #[doc(alias = "miopen_convolution_relu")]
    pub fn conv2d_with_activation(
        &self,
        kernel: &Tensor,
        bias: Option<&Tensor>,
        config: &Conv2dConfig,
        activation: Activation,
    ) -> Result<Tensor> {
        self.convolve(kernel, bias, config, Some(activation), Kind::CONV2D)
    }

    /// As [`Tensor::conv_transpose1d_with`], followed by an activation. No library fuses them.
    ///
    /// # Errors
    /// As [`Tensor::conv_transpose1d_with`].
    pub fn conv_transpose1d_with_activation(
        &self,
        kernel: &Tensor,
        bias: Option<&Tensor>,
        config: &Conv1dConfig,
        activation: Activation,
    ) -> Result<Tensor> {
        self.convolve(kernel, bias, &(*config).into(), Some(activation), Kind::TRANSPOSE1D)
    }

    /// As [`Tensor::conv_transpose2d_with`], followed by an activation. No library fuses them.
    ///
    /// # Errors
    /// As [`Tensor::conv_transpose2d_with`].
    pub fn conv_transpose2d_with_activation(
        &self,
        kernel: &Tensor,
        bias: Option<&Tensor>,
        config: &Conv2dConfig,
        activation: Activation,
    ) -> Result<Tensor> {
        self.convolve(kernel, bias, config, Some(activation), Kind::TRANSPOSE2D)
    }
}

/// Linear layers, as PyTorch's `linear`. Floats only.
///
/// The product, the sum with the bias, and the activation are each rounded to the dtype. Bias and activation are
/// applied in place: nothing is allocated besides the result and what [`Tensor::matmul`] allocates.
impl Tensor {
    /// The product of `[…, inputs]` and a transposed weight `[outputs, inputs]`, plus an optional bias `[outputs]`:
    /// `[…, outputs]`.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let x = Tensor::new([[1f32, 2.0]], &Device::Cpu)?;
    /// let weight = Tensor::new([[1f32, 10.0], [3.0, 30.0], [0.0, 1.0]], &Device::Cpu)?;
    /// let bias = Tensor::new([100f32, 200.0, 300.0], &Device::Cpu)?;
    /// assert_eq!(x.linear(&weight, Some(&bias))?.to_vec2::<f32>()?, [[121.0, 263.0, 302.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Rank`], [`ErrorKind::Argument`] for shapes that do not match, [`ErrorKind::DTypeMismatch`],
    /// [`ErrorKind::DeviceMismatch`], [`ErrorKind::UnsupportedDType`] for integers, or an error of the device.
    pub fn linear(&self, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
        const LINEAR: &str = "linear";
        self.require_alike(weight, LINEAR)?;
        self.require(LINEAR, self.dtype().is_float(), CAST_TO_FLOAT)?;
        let rank = |tensor: &Tensor, expected: &'static str| {
            self.error(LINEAR, ErrorKind::Rank { shape: tensor.shape().clone(), expected })
        };
        let Some(&inputs) = self.dims().last() else { return Err(rank(self, "at least 1")) };
        let &[outputs, wanted] = weight.dims() else { return Err(rank(weight, "2")) };
        let wrong = |what: String| Err(self.error(LINEAR, ErrorKind::Argument { what }));
        if inputs != wanted {
            let (x, weight) = (self.shape(), weight.shape());
            return wrong(format!(
                "the input {x} has {inputs} features, but the weight {weight} takes {wanted}"
            ));
        }
        if let Some(bias) = bias {
            self.require_alike(bias, LINEAR)?;
            if bias.dims() != [outputs] {
                let (bias, weight) = (bias.shape(), weight.shape());
                return wrong(format!("the bias {bias} is not [{outputs}], as the weight {weight} needs"));
            }
        }
        let weight = weight.t()?;
        let mut result = if self.rank() > 2 && self.is_contiguous() && self.elements() > 0 {
            // One product for the whole batch.
            let rows = self.reshape([self.elements() / inputs, inputs])?;
            let mut dims = self.dims().to_vec();
            dims[self.rank() - 1] = outputs;
            rows.matmul(&weight)?.reshape(dims)?
        } else {
            self.matmul(&weight)?
        };
        if let Some(bias) = bias {
            result.add_assign_(bias)?;
        }
        Ok(result)
    }

    /// The results of several layers without biases for the same input, as [`Tensor::linear`] of each. A HIP device computes
    /// those of a single row in one launch.
    ///
    /// # Errors
    /// As [`Tensor::linear`].
    pub fn linear_each(&self, weights: &[&Tensor]) -> Result<Vec<Tensor>> {
        let inputs = self.dims().last().copied().unwrap_or(0);
        let row = self.is_contiguous() && inputs > 0 && self.elements() == inputs;
        let alike =
            |weight: &&Tensor| weight.rank() == 2 && weight.dims()[1] == inputs && weight.dims()[0] > 0;
        let fits = row && (2..=vector::MOST).contains(&weights.len()) && weights.iter().all(alike);
        if let (true, Storage::Hip(x)) = (fits, self.storage()) {
            let line = self.layout.view(&Shape::from([1, inputs])).expect("a contiguous row");
            let turned: Vec<Layout> = weights.iter().map(|weight| weight.layout.transpose(0, 1)).collect();
            let matrices =
                weights.iter().zip(&turned).filter_map(|(weight, layout)| match weight.storage() {
                    Storage::Hip(storage) if self.require_alike(weight, "linear").is_ok() => {
                        Some((storage, layout))
                    }
                    _ => None,
                });
            let matrices: Vec<(&HipStorage, &Layout)> = matrices.collect();
            if matrices.len() == weights.len()
                && let Some(products) = vector::by_vector((x, &line), &matrices).on(self)?
            {
                let shaped = products.into_iter().zip(weights).map(|(product, weight)| {
                    let mut dims = self.dims().to_vec();
                    dims[self.rank() - 1] = weight.dims()[0];
                    Tensor::tight(Storage::Hip(product), Shape::from(dims.as_slice()), "linear")
                });
                return shaped.collect();
            }
        }
        weights.iter().map(|weight| self.linear(weight, None)).collect()
    }

    /// As [`Tensor::linear`], followed by an activation.
    ///
    /// # Errors
    /// As [`Tensor::linear`].
    pub fn linear_with_activation(
        &self,
        weight: &Tensor,
        bias: Option<&Tensor>,
        activation: Activation,
    ) -> Result<Tensor> {
        let mut result = self.linear(weight, bias)?;
        result.write(|storage, layout| {
            by_device!(unary::activate_assign(x, layout, activation), x = storage)
        })?;
        Ok(result)
    }
}
