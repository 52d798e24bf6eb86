//! Parameters of convolutions. candle lets nobody make them; the tests need some.

use std::fmt::Debug;
use std::mem::MaybeUninit;

use candle_core::conv::{ParamsConv1D, ParamsConv2D, ParamsConvTranspose1D, ParamsConvTranspose2D};

/// A structure of candle whose fields are `usize`, and at most one enum of one byte for which 0 to 8 are values.
///
/// # Safety
/// It has these fields and no others.
unsafe trait Words: Debug + Sized {}

// SAFETY: S6: candle-core 0.11.1 defines them so: numbers, and `Option<CudnnFwdAlgo>`, an enum of nine variants.
unsafe impl Words for ParamsConv1D {}
// SAFETY: S6: as above.
unsafe impl Words for ParamsConv2D {}
// SAFETY: S6: numbers alone.
unsafe impl Words for ParamsConvTranspose1D {}
// SAFETY: S6: numbers alone.
unsafe impl Words for ParamsConvTranspose2D {}

/// The value of these words in memory.
fn of_words<P: Words>(words: &[usize]) -> P {
    assert_eq!(size_of::<P>(), size_of_val(words));
    let mut value = MaybeUninit::<P>::uninit();
    // SAFETY: S6 and S15: both have this size; every word is below 9, or one that a number was found in, so that it is valid for each
    // field, wherever the compiler put it.
    unsafe {
        value.as_mut_ptr().cast::<usize>().copy_from_nonoverlapping(words.as_ptr(), words.len());
        value.assume_init()
    }
}

/// The parameters with these fields. The order of the fields in memory is found by their debug text.
fn made<P: Words>(fields: &[(&str, usize)]) -> P {
    let mut words = vec![1; size_of::<P>() / size_of::<usize>()];
    for word in 0..words.len() {
        let mut probe = vec![1; words.len()];
        probe[word] = 7;
        let text = format!("{:?}", of_words::<P>(&probe));
        let marked = |name: &str| text.contains(&format!(" {name}: 7"));
        if let Some((_, value)) = fields.iter().find(|(name, _)| marked(name)) {
            words[word] = *value;
        }
    }
    let made = of_words::<P>(&words);
    let text = format!("{made:?}");
    for (name, value) in fields {
        assert!(text.contains(&format!(" {name}: {value}")), "{name} in {text}");
    }
    made
}

/// Padding, stride and dilation.
pub type Steps = (usize, usize, usize);

/// `[batch, channels, length]`, and `[out, in, window]`.
pub fn conv1d(x: [usize; 3], kernel: [usize; 3], (padding, stride, dilation): Steps) -> ParamsConv1D {
    made(&[
        ("b_size", x[0]),
        ("l_in", x[2]),
        ("c_out", kernel[0]),
        ("c_in", kernel[1]),
        ("k_size", kernel[2]),
        ("padding", padding),
        ("stride", stride),
        ("dilation", dilation),
    ])
}

/// `[batch, channels, height, width]`, and `[out, in, height, width]`.
pub fn conv2d(x: [usize; 4], kernel: [usize; 4], (padding, stride, dilation): Steps) -> ParamsConv2D {
    made(&[
        ("b_size", x[0]),
        ("i_h", x[2]),
        ("i_w", x[3]),
        ("k_h", kernel[2]),
        ("k_w", kernel[3]),
        ("c_out", kernel[0]),
        ("c_in", kernel[1]),
        ("padding", padding),
        ("stride", stride),
        ("dilation", dilation),
    ])
}

/// As [`conv1d`]; the kernel is `[in, out, window]`.
pub fn conv_transpose1d(
    x: [usize; 3],
    kernel: [usize; 3],
    output_padding: usize,
    (padding, stride, dilation): Steps,
) -> ParamsConvTranspose1D {
    made(&[
        ("b_size", x[0]),
        ("l_in", x[2]),
        ("c_out", kernel[1]),
        ("c_in", kernel[0]),
        ("k_size", kernel[2]),
        ("padding", padding),
        ("output_padding", output_padding),
        ("stride", stride),
        ("dilation", dilation),
    ])
}

/// As [`conv2d`]; the kernel is `[in, out, height, width]`.
pub fn conv_transpose2d(
    x: [usize; 4],
    kernel: [usize; 4],
    output_padding: usize,
    (padding, stride, dilation): Steps,
) -> ParamsConvTranspose2D {
    made(&[
        ("b_size", x[0]),
        ("i_h", x[2]),
        ("i_w", x[3]),
        ("k_h", kernel[2]),
        ("k_w", kernel[3]),
        ("c_out", kernel[1]),
        ("c_in", kernel[0]),
        ("padding", padding),
        ("output_padding", output_padding),
        ("stride", stride),
        ("dilation", dilation),
    ])
}
