//! The contents of quantized blocks: random bytes with scales of moderate size.

use reference::{DType, QuantFormat, Value};

use crate::random::{Draw, Stream};

/// `len` bytes, which are whole blocks. Most numbers are below 2, all below 8.
///
/// If `whole`, all scales are powers of two: the numbers of blocks of 256 are multiples of the same one, and of smaller
/// blocks of up to four times that. Else one block in 32 has a scale of 0 or a subnormal one.
pub(crate) fn generate(format: QuantFormat, whole: bool, len: usize, stream: Stream) -> Vec<u8> {
    let size = format.type_size();
    let mut bytes: Vec<u8> = (0..len).map(|at| stream.element(at).bits() as u8).collect();
    for (number, block) in bytes.chunks_exact_mut(size).enumerate() {
        let mut draw = stream.element(len + number);
        if format == QuantFormat::MXFP4 {
            block[0] = exponent_byte(whole, &mut draw);
        }
        // The same for both scales of a block.
        let shift = if format.block_size() == 32 { draw.below(3) as i32 } else { 0 };
        for (which, at) in format.scales().iter().enumerate() {
            let size = size_of_scale(format, which == 1, whole);
            let bits = if whole { power(size + shift, &mut draw) } else { scale(size, &mut draw) };
            block[*at..*at + 2].copy_from_slice(&(bits as u16).to_le_bytes());
        }
    }
    bytes
}

/// The exponent n of an `f16` scale of about 2^n: of the integers, or of the bases.
fn size_of_scale(format: QuantFormat, of_bases: bool, whole: bool) -> i32 {
    let integers = -(format.largest().next_power_of_two().ilog2() as i32);
    match format {
        _ if !of_bases => integers,
        // The base of a block of 32 is the scale itself.
        QuantFormat::Q4_1 | QuantFormat::Q5_1 => integers + 3,
        // Others are multiplied by 4 or 6 bits.
        _ if whole => integers,
        QuantFormat::Q2K => -4,
        _ => -6,
    }
}

/// The `f16` ±2^size.
fn power(size: i32, draw: &mut Draw) -> u64 {
    let sign = if draw.bits() & 1 == 0 { 1.0 } else { -1.0 };
    number(sign * 2f64.powi(size))
}

/// An `f16` of magnitude 2^(size − 1) to 2^(size + 1).
fn scale(size: i32, draw: &mut Draw) -> u64 {
    match draw.below(64) {
        0 => number(0.0f64.copysign(draw.unit() - 0.5)),
        1 => draw.below(1 << 10) | draw.below(2) << 15,
        _ => number(draw.signed_power(f64::from(size) - 1.0, f64::from(size) + 1.0)),
    }
}

fn number(x: f64) -> u64 {
    DType::F16.encode(Value::Float(x))
}

/// The exponent of an MXFP4 block. The numbers of exponents 0 and 1 are subnormal in `f32`.
fn exponent_byte(whole: bool, draw: &mut Draw) -> u8 {
    match draw.below(32) {
        exponent @ 0..2 if !whole => exponent as u8,
        _ => draw.between(123, 125) as u8,
    }
}

#[cfg(test)]
mod tests {
    use reference::{Array, dequantize};

    use super::*;

    const COUNT: usize = 400;

    fn numbers(format: QuantFormat, whole: bool) -> Vec<f64> {
        let bytes = generate(format, whole, COUNT * format.type_size(), Stream::new(3, "test", 0));
        let blocks = Array::from_bytes(DType::U8, &[bytes.len()], &bytes).expect("the length is the shape's");
        let numbers = dequantize(format, &blocks, DType::F32).expect("whole blocks");
        numbers.iter().map(|expected| expected.value.hi).collect()
    }

    #[test]
    fn numbers_are_moderate() {
        for format in QuantFormat::ALL {
            let numbers = numbers(format, false);
            assert_eq!(numbers.len(), COUNT * format.block_size());
            assert!(numbers.iter().all(|x| x.abs() < 8.0), "{format}");
            let ordinary = numbers.iter().filter(|x| (0.01..4.0).contains(&x.abs())).count();
            assert!(ordinary * 2 > numbers.len(), "{format}: {ordinary}");
            let small =
                numbers.chunks(format.block_size()).filter(|block| block.iter().all(|x| x.abs() < 1e-3));
            assert!(small.count() > 0 || format.scales().len() == 2, "{format}");
        }
    }

    #[test]
    fn whole_numbers_are_multiples_of_a_power_of_two() {
        for format in QuantFormat::ALL {
            let largest = f64::from(format.largest().next_power_of_two());
            // The unit of MXFP4 is 2^(123 − 128), not a 16th.
            let unit = if format == QuantFormat::MXFP4 { 1.0 / 32.0 } else { 1.0 / largest };
            assert!(
                numbers(format, true).iter().all(|x| (x / unit).fract() == 0.0 && x.abs() <= 8.0),
                "{format}"
            );
        }
    }
}
