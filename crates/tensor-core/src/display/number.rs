//! One format for all numbers of a tensor.

use crate::dtype::DType;
use crate::scalar::Scalar;

/// Digits after the decimal point.
const PRECISION: usize = 4;

/// The format of all numbers of a tensor, which aligns the columns.
pub(super) struct Format {
    /// Minimum width of each number.
    pub(super) width: usize,
    style: Style,
}

enum Style {
    /// Integers.
    Int,
    /// Floats that are all whole numbers: a decimal point without digits after it.
    Whole,
    /// Floats with digits after the decimal point.
    Fixed,
    /// Floats with an exponent.
    Scientific,
}

impl Format {
    /// The format for all of `numbers`. Zeros, NaN and infinities do not influence it.
    pub(super) fn of(numbers: &[Scalar], dtype: DType) -> Format {
        if dtype.is_int() {
            let width = numbers.iter().map(|x| x.to_string().len()).max().unwrap_or(1);
            return Format { width, style: Style::Int };
        }
        let said: Vec<f64> =
            numbers.iter().map(|x| x.to_f64()).filter(|x| x.is_finite() && *x != 0.0).collect();
        let least = said.iter().fold(f64::INFINITY, |least, x| least.min(x.abs()));
        let greatest = said.iter().fold(0f64, |greatest, x| greatest.max(x.abs()));
        let spread = greatest / least > 1000.0 || greatest > 1e8 || least < 1e-4;
        let style = if said.is_empty() {
            Style::Whole
        } else if spread {
            Style::Scientific
        } else if said.iter().all(|x| x.fract() == 0.0) {
            Style::Whole
        } else {
            Style::Fixed
        };
        let mut format = Format { width: 1, style };
        format.width = said.iter().map(|x| format.write(Scalar::Float(*x)).len()).fold(1, usize::max);
        format
    }

    /// Formats a number, aligned to the right.
    pub(super) fn write(&self, number: Scalar) -> String {
        let text = match (&self.style, number) {
            (_, Scalar::Int(i)) => i.to_string(),
            (_, Scalar::Float(x)) if !x.is_finite() => not_finite(x),
            (Style::Int | Style::Whole, Scalar::Float(x)) => format!("{x:.0}."),
            (Style::Fixed, Scalar::Float(x)) => format!("{x:.PRECISION$}"),
            (Style::Scientific, Scalar::Float(x)) => scientific(x),
        };
        format!("{text:>width$}", width = self.width)
    }
}

/// Formats NaN, or an infinity with its sign.
fn not_finite(x: f64) -> String {
    let text = match x {
        f64::INFINITY => "inf",
        f64::NEG_INFINITY => "-inf",
        _ => "nan",
    };
    text.to_owned()
}

/// Formats as C does, with a signed exponent of at least two digits.
fn scientific(x: f64) -> String {
    let text = format!("{x:.PRECISION$e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let (sign, digits) = match exponent.strip_prefix('-') {
                Some(digits) => ('-', digits),
                None => ('+', exponent),
            };
            format!("{mantissa}e{sign}{digits:0>2}")
        }
        None => text,
    }
}
