//! The parameters of convolutions.

use candle_core::Result;
use candle_core::conv::{ParamsConv1D, ParamsConv2D, ParamsConvTranspose1D, ParamsConvTranspose2D};

/// What tensor-core needs of a convolution. The lengths are those of the operands.
pub(super) struct Params {
    pub(super) padding: usize,
    pub(super) output_padding: usize,
    pub(super) stride: usize,
    pub(super) dilation: usize,
}

macro_rules! read {
    ($name:ident, $params:ident, $output_padding:expr) => {
        pub(super) fn $name(params: &$params) -> Result<Params> {
            let output_padding: fn(&$params) -> usize = $output_padding;
            Ok(Params {
                padding: params.padding,
                output_padding: output_padding(params),
                stride: params.stride,
                dilation: params.dilation,
            })
        }
    };
}

read!(conv1d, ParamsConv1D, |_| 0);
read!(conv2d, ParamsConv2D, |_| 0);
read!(conv_transpose1d, ParamsConvTranspose1D, |params| params.output_padding);
read!(conv_transpose2d, ParamsConvTranspose2D, |params| params.output_padding);
