//! Convolutions in one and two dimensions, forward and transposed.

use super::{CAST_TO_FLOAT, Tensor};
use crate::activation::Activation;
use crate::error::{ErrorKind, On, Result};
use crate::plan::join::Piece;
use crate::shape::Shape;
use crate::storage::{Backend, by_device, for_backend_of};
use crate::window::{ConvAxis, Convolution};

/// Parameters of a convolution in one dimension; see [`Conv2dConfig`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Conv1dConfig {
    /// Zeros on either side of the input.
    pub padding: usize,
    /// Step in the input from one output to the next. Transposed: step in the output from one input to the next.
    pub stride: usize,
    /// Distance in the input between neighbouring kernel elements.
    pub dilation: usize,
    /// Groups of channels. Each output channel uses the input channels of its own group.
    pub groups: usize,
    /// Elements added at the end of a transposed convolution's output. Must be less than the stride or the dilation.
    pub output_padding: usize,
}

/// Parameters of a convolution in two dimensions, for rows and for columns.
///
/// ```
/// use tensor_core::Conv2dConfig;
///
/// let config = Conv2dConfig { padding: [1, 0], groups: 2, ..Default::default() };
/// assert_eq!((config.stride, config.dilation, config.output_padding), ([1, 1], [1, 1], [0, 0]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Conv2dConfig {
    /// Zeros on either side of the input.
    pub padding: [usize; 2],
    /// Step in the input from one output to the next. Transposed: step in the output from one input to the next.
    pub stride: [usize; 2],
    /// Distance in the input between neighbouring kernel elements.
    pub dilation: [usize; 2],
    /// Groups of channels. Each output channel uses the input channels of its own group.
    pub groups: usize,
    /// Elements added at the end of a transposed convolution's output. Must be less than the stride or the dilation.
    pub output_padding: [usize; 2],
}

impl Default for Conv1dConfig {
    fn default() -> Conv1dConfig {
        Conv1dConfig { padding: 0, stride: 1, dilation: 1, groups: 1, output_padding: 0 }
    }
}

impl Default for Conv2dConfig {
    fn default() -> Conv2dConfig {
        Conv2dConfig { padding: [0; 2], stride: [1; 2], dilation: [1; 2], groups: 1, output_padding: [0; 2] }
    }
}

impl From<Conv1dConfig> for Conv2dConfig {
    /// The same parameters for the columns of an image with one row.
    fn from(config: Conv1dConfig) -> Conv2dConfig {
        Conv2dConfig {
            padding: [0, config.padding],
            stride: [1, config.stride],
            dilation: [1, config.dilation],
            groups: config.groups,
            output_padding: [0, config.output_padding],
        }
    }
}

/// Convolutions of floats, as PyTorch's and candle's: cross-correlations, with the kernel not flipped.
///
/// Types of 16 and 8 bits are accumulated in `f32`, `f64` in `f64`. The bias is added to the sum, which is rounded
/// once. Strided operands are read in place. Besides the result, a HIP device allocates only the workspace of its
/// library, and for `f32` on matrix units 6 bytes per operand element, with channels padded to multiples of 16. Padding
/// counts as zeros. An infinite or NaN kernel element over the padding may or may not give NaN.
///
/// Moves the input, the kernel and the result once, if caches hold the input that neighbouring outputs share. `f32` on
/// matrix units moves the input and the kernel four times.
///
/// All of them fail with [`ErrorKind::Rank`], [`ErrorKind::DTypeMismatch`], [`ErrorKind::DeviceMismatch`],
/// [`ErrorKind::UnsupportedDType`] for integers, [`ErrorKind::Argument`] if channels, groups or lengths do not match or
/// a stride, a dilation or the number of groups is 0, [`ErrorKind::Overflow`], or an error of the device.
impl Tensor {
    /// The convolution of `[batch, channels, length]` with a kernel `[outputs, channels / groups, taps]`:
    /// `[batch, outputs, (length + 2·padding − dilation·(taps − 1) − 1) / stride + 1]`.
    ///
    /// # Errors
    /// As for every convolution, see above.
    pub fn conv1d(
        &self,
        kernel: &Tensor,
        padding: usize,
        stride: usize,
        dilation: usize,
        groups: usize,
    ) -> Result<Tensor> {
        self.conv1d_with(kernel, None, &Conv1dConfig { padding, stride, dilation, groups, output_padding: 0 })
    }

    /// As [`Tensor::conv1d`], with an optional bias `[outputs]`.
    ///
    /// # Errors
    /// As for every convolution, see above; also for an output padding.
    pub fn conv1d_with(
        &self,
        kernel: &Tensor,
        bias: Option<&Tensor>,
        config: &Conv1dConfig,
    ) -> Result<Tensor> {
        self.convolve(kernel, bias, &(*config).into(), None, Kind::CONV1D)
    }

    /// The convolution of `[batch, channels, height, width]` with a kernel
    /// `[outputs, channels / groups, rows, columns]`.
    ///
    /// ```
    /// use tensor_core::{DType, Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let x = Tensor::ones([1, 1, 3, 3], DType::F32, &Device::Cpu)?;
    /// let kernel = Tensor::ones([1, 1, 3, 3], DType::F32, &Device::Cpu)?;
    /// let y = x.conv2d(&kernel, 1, 1, 1, 1)?.reshape([3, 3])?;
    /// assert_eq!(y.to_vec2::<f32>()?, [[4.0, 6.0, 4.0], [6.0, 9.0, 6.0], [4.0, 6.0, 4.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for every convolution, see above.
    pub fn conv2d(
        &self,
        kernel: &Tensor,
        padding: usize,
        stride: usize,
        dilation: usize,
        groups: usize,
    ) -> Result<Tensor> {
        let config = Conv2dConfig {
            padding: [padding; 2],
            stride: [stride; 2],
            dilation: [dilation; 2],
            groups,
            output_padding: [0; 2],
        };
        self.conv2d_with(kernel, None, &config)
    }

    /// As [`Tensor::conv2d`], with an optional bias `[outputs]` and separate parameters for both axes.
    ///
    /// # Errors
    /// As for every convolution, see above; also for an output padding.
    pub fn conv2d_with(
        &self,
        kernel: &Tensor,
        bias: Option<&Tensor>,
        config: &Conv2dConfig,
    ) -> Result<Tensor> {
        self.convolve(kernel, bias, config, None, Kind::CONV2D)
    }

    /// The transposed convolution of `[batch, channels, length]` with a kernel `[channels, outputs / groups, taps]`:
    /// `[batch, outputs, (length − 1)·stride − 2·padding + dilation·(taps − 1) + output_padding + 1]`.
    ///
    /// Input element i and kernel element k add to output element `i·stride + k·dilation − padding`. Each output is
    /// summed by one thread, so that without a library the result is the same in every run.
    ///
    /// # Errors
    /// As for every convolution, see above; also if the output padding is not less than the stride or the dilation.
    pub fn conv_transpose1d(
        &self,
        kernel: &Tensor,
        padding: usize,
        output_padding: usize,
        stride: usize,
        dilation: usize,
        groups: usize,
    ) -> Result<Tensor> {
        let config = Conv1dConfig { padding, stride, dilation, groups, output_padding };
        self.conv_transpose1d_with(kernel, None, &config)
    }

    /// As [`Tensor::conv_transpose1d`], with an optional bias `[outputs]`.
    ///
    /// # Errors
    /// As [`Tensor::conv_transpose1d`].
    pub fn conv_transpose1d_with(
        &self,
        kernel: &Tensor,
        bias: Option<&Tensor>,
        config: &Conv1dConfig,
    ) -> Result<Tensor> {
        self.convolve(kernel, bias, &(*config).into(), None, Kind::TRANSPOSE1D)
    }

    /// The transposed convolution of `[batch, channels, height, width]` with a kernel
    /// `[channels, outputs, rows, columns]`; see [`Tensor::conv_transpose1d`].
    ///
    /// # Errors
    /// As [`Tensor::conv_transpose1d`].
    pub fn conv_transpose2d(
        &self,
        kernel: &Tensor,
        padding: usize,
        output_padding: usize,
        stride: usize,
        dilation: usize,
    ) -> Result<Tensor> {
        let config = Conv2dConfig {
            padding: [padding; 2],
            stride: [stride; 2],
            dilation: [dilation; 2],
            groups: 1,
            output_padding: [output_padding; 2],
        };
        self.conv_transpose2d_with(kernel, None, &config)
    }

    /// As [`Tensor::conv_transpose2d`], with groups (the kernel is `[channels, outputs / groups, rows, columns]`), an
    /// optional bias `[outputs]`, and separate parameters for both axes.
    ///
    /// # Errors
    /// As [`Tensor::conv_transpose1d`].
    pub fn conv_transpose2d_with(
        &self,
        kernel: &Tensor,
        bias: Option<&Tensor>,
        config: &Conv2dConfig,
    ) -> Result<Tensor> {
        self.convolve(kernel, bias, config, None, Kind::TRANSPOSE2D)
    }

    /// The implementation of all of them.
    pub(super) fn convolve(
        &self,
        kernel: &Tensor,
        bias: Option<&Tensor>,
        config: &Conv2dConfig,
        activation: Option<Activation>,
        kind: Kind,
    ) -> Result<Tensor> {
        let Kind { operation, axes, .. } = kind;
        self.require_alike(kernel, operation)?;
        self.require(operation, self.dtype().is_float(), CAST_TO_FLOAT)?;
        for tensor in [self, kernel] {
            if tensor.rank() != axes + 2 {
                let expected = if axes == 1 { "3" } else { "4" };
                return Err(
                    self.error(operation, ErrorKind::Rank { shape: tensor.shape().clone(), expected })
                );
            }
        }
        let wrong = |what: String| self.error(operation, ErrorKind::Argument { what });
        let plan = kind.plan(self.shape(), kernel.shape(), config).map_err(wrong)?;
        let overflow = || self.error(operation, ErrorKind::Overflow { shape: kernel.shape().clone() });
        let outputs = plan.groups.checked_mul(plan.out_channels).ok_or_else(overflow)?;
        if let Some(bias) = bias {
            self.require_alike(bias, operation)?;
            if bias.dims() != [outputs] {
                let (got, kernel) = (bias.shape(), kernel.shape());
                return Err(wrong(format!(
                    "the bias {got} is not [{outputs}], as the kernel {kernel} needs"
                )));
            }
        }
        let last = [plan.h.out, plan.w.out];
        let shape: Shape =
            [plan.batch, outputs].into_iter().chain(last[2 - axes..].iter().copied()).collect();
        shape.elements(operation).on(self)?;
        let (mut x, mut filter) = (self.layout.clone(), kernel.layout.clone());
        if axes == 1 {
            (x, filter) = (x.unsqueeze(2), filter.unsqueeze(2));
        }
        let storage = by_device!(
            conv::conv((a, &x), (b, &filter), (self.bias_beside(bias, operation)?, activation), &plan),
            a = self.storage(),
            b = kernel.storage()
        );
        Tensor::tight(storage.on(self)?, shape, operation)
    }

    fn bias_beside<'a, S: Backend>(
        &self,
        bias: Option<&'a Tensor>,
        operation: &'static str,
    ) -> Result<Option<Piece<'a, S>>> {
        bias.map(|bias| Ok((for_backend_of(self.storage(), bias.storage(), operation)?, &bias.layout)))
            .transpose()
    }
}

/// Which convolution a call asked for.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    operation: &'static str,
    /// Number of spatial dimensions.
    axes: usize,
    transposed: bool,
}

impl Kind {
    pub(super) const CONV1D: Kind = Kind { operation: "conv1d", axes: 1, transposed: false };
    pub(super) const CONV2D: Kind = Kind { operation: "conv2d", axes: 2, transposed: false };
    pub(super) const TRANSPOSE1D: Kind = Kind { operation: "conv_transpose1d", axes: 1, transposed: true };
    pub(super) const TRANSPOSE2D: Kind = Kind { operation: "conv_transpose2d", axes: 2, transposed: true };

    /// Plans the convolution of tensors of these shapes, whose ranks are right. The error says why there is none.
    fn plan(self, x: &Shape, kernel: &Shape, config: &Conv2dConfig) -> Result<Convolution, String> {
        let Conv2dConfig { padding, stride, dilation, groups, output_padding } = *config;
        // A parameter as the caller gave it: one number per axis.
        let given = |values: [usize; 2]| format!("{:?}", &values[2 - self.axes..]);
        for (name, values) in [("stride", stride), ("dilation", dilation)] {
            if values.contains(&0) {
                return Err(format!("the {name} {} has a 0 (input {x}, kernel {kernel})", given(values)));
            }
        }
        let (channels, first, second) = (x[1], kernel[0], kernel[1]);
        if groups == 0 || channels % groups != 0 || first % groups != 0 {
            return Err(format!(
                "{groups} groups do not divide the channels of the input {x} and of the kernel {kernel}"
            ));
        }
        let (wanted, out_channels) = if self.transposed {
            (Some(first), second)
        } else {
            (second.checked_mul(groups), first / groups)
        };
        if wanted != Some(channels) {
            let wanted = wanted.map_or_else(|| "more than 2^64".to_owned(), |wanted| wanted.to_string());
            return Err(format!(
                "the input {x} has {channels} channels, but the kernel {kernel} with {groups} groups takes {wanted}"
            ));
        }
        for axis in 0..2 {
            let limit = if self.transposed { stride[axis].max(dilation[axis]) } else { 1 };
            if output_padding[axis] >= limit {
                return Err(format!(
                    "the output padding {} is not less than {limit} (stride {}, dilation {})",
                    given(output_padding),
                    given(stride),
                    given(dilation)
                ));
            }
        }
        let length = |shape: &Shape, axis: usize| match self.axes {
            1 if axis == 0 => 1,
            1 => shape[2],
            _ => shape[2 + axis],
        };
        let axis = |axis: usize| {
            let walk = [padding[axis], stride[axis], dilation[axis]];
            let (input, taps) = (length(x, axis), length(kernel, axis));
            if self.transposed {
                ConvAxis::transposed(input, taps, walk, output_padding[axis])
            } else {
                ConvAxis::forward(input, taps, walk)
            }
        };
        let (Some(h), Some(w)) = (axis(0), axis(1)) else {
            let what = if self.transposed { "leave no output of" } else { "do not fit into" };
            return Err(format!(
                "the kernel {kernel}, dilation {} and padding {} {what} the input {x}",
                given(dilation),
                given(padding)
            ));
        };
        Ok(Convolution {
            operation: self.operation,
            transposed: self.transposed,
            batch: x[0],
            groups,
            in_channels: channels / groups,
            out_channels,
            h,
            w,
        })
    }
}
