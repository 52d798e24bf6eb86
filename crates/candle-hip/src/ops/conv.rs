//! Convolutions. candle splits groups before it calls these.

use candle_core::conv::{ParamsConv1D, ParamsConv2D, ParamsConvTranspose1D, ParamsConvTranspose2D};
use candle_core::Result;

use super::super::error::Candles;
use super::super::{params, HipStorage};
use super::Operand;

pub(in super::super) fn conv1d(x: Operand, kernel: Operand, given: &ParamsConv1D) -> Result<HipStorage> {
    let p = params::conv1d(given)?;
    let (kernel, x_device) = (kernel.0.tensor(kernel.1)?, x.0.hip_device());
    let result = x.0.tensor(x.1)?.conv1d(&kernel, p.padding, p.stride, p.dilation, 1).candles()?;
    HipStorage::of(result, x_device)
}

pub(in super::super) fn conv2d(x: Operand, kernel: Operand, given: &ParamsConv2D) -> Result<HipStorage> {
    let p = params::conv2d(given)?;
    let (kernel, x_device) = (kernel.0.tensor(kernel.1)?, x.0.hip_device());
    let result = x.0.tensor(x.1)?.conv2d(&kernel, p.padding, p.stride, p.dilation, 1).candles()?;
    HipStorage::of(result, x_device)
}

pub(in super::super) fn conv_transpose1d(
    x: Operand,
    kernel: Operand,
    given: &ParamsConvTranspose1D,
) -> Result<HipStorage> {
    let p = params::conv_transpose1d(given)?;
    let (kernel, x_device) = (kernel.0.tensor(kernel.1)?, x.0.hip_device());
    let x = x.0.tensor(x.1)?;
    let result =
        x.conv_transpose1d(&kernel, p.padding, p.output_padding, p.stride, p.dilation, 1).candles()?;
    HipStorage::of(result, x_device)
}

pub(in super::super) fn conv_transpose2d(
    x: Operand,
    kernel: Operand,
    given: &ParamsConvTranspose2D,
) -> Result<HipStorage> {
    let p = params::conv_transpose2d(given)?;
    let (kernel, x_device) = (kernel.0.tensor(kernel.1)?, x.0.hip_device());
    let x = x.0.tensor(x.1)?;
    let result = x.conv_transpose2d(&kernel, p.padding, p.output_padding, p.stride, p.dilation).candles()?;
    HipStorage::of(result, x_device)
}
