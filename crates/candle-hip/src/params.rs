//! The parameters of convolutions. The patch replaces this file.
//!
//! In candle as published the fields of `ParamsConv1D` and its siblings are visible in candle alone. What it derives is
//! not hidden: their `Debug` text names each field, and this file reads the numbers from it, without a string in between.

use std::fmt::{self, Debug, Write};

use candle_core::conv::{ParamsConv1D, ParamsConv2D, ParamsConvTranspose1D, ParamsConvTranspose2D};
use candle_core::{Error, Result};

/// What tensor-core needs of a convolution. The lengths are those of the operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Params {
    pub(super) padding: usize,
    /// Of transposed convolutions; else 0.
    pub(super) output_padding: usize,
    pub(super) stride: usize,
    pub(super) dilation: usize,
}

pub(super) fn conv1d(params: &ParamsConv1D) -> Result<Params> {
    read(params, false)
}

pub(super) fn conv2d(params: &ParamsConv2D) -> Result<Params> {
    read(params, false)
}

pub(super) fn conv_transpose1d(params: &ParamsConvTranspose1D) -> Result<Params> {
    read(params, true)
}

pub(super) fn conv_transpose2d(params: &ParamsConvTranspose2D) -> Result<Params> {
    read(params, true)
}

fn read(params: &dyn Debug, transposed: bool) -> Result<Params> {
    let mut fields = Fields::default();
    // The sink returns no error.
    let _ = write!(fields, "{params:?}");
    let [padding, output_padding, stride, dilation] = fields.found;
    let output_padding = if transposed { output_padding } else { Some(0) };
    match (padding, output_padding, stride, dilation) {
        (Some(padding), Some(output_padding), Some(stride), Some(dilation)) => {
            Ok(Params { padding, output_padding, stride, dilation })
        }
        _ => Err(Error::Msg(format!("no padding, stride or dilation in {params:?}")).bt()),
    }
}

/// Reads a text of `name: number` pairs as it is written.
#[derive(Default)]
struct Fields {
    found: [Option<usize>; 4],
    /// Which of the fields the next number belongs to.
    named: Option<usize>,
}

const NAMES: [&str; 4] = ["padding", "output_padding", "stride", "dilation"];

impl Write for Fields {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if let Some(field) = NAMES.iter().position(|name| *name == text) {
            self.named = Some(field);
        } else if let Some(field) = self.named {
            // The derived text writes a name, ": ", and a number, each at once.
            if let Ok(number) = text.parse() {
                self.found[field] = Some(number);
                self.named = None;
            }
        }
        Ok(())
    }
}
