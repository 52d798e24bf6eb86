//! Quantized numbers against what gguf computes, and products against sums by hand and by 8-bit activations.

use reference::{
    Array, DType, Error, Judge, Outcome, QuantFormat, dequantize, quant_embedding, quant_experts,
    quant_matmul,
};

/// Random blocks and the numbers that the package gguf gives them: `quant.py` beside them wrote the files.
fn vectors(format: QuantFormat) -> (Vec<u8>, Vec<u8>) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tensor-core/tests/vectors/quant");
    let bytes = std::fs::read(format!("{folder}/{format}.dequantized")).unwrap();
    let count = bytes.len() / (format.type_size() + 4 * format.block_size());
    let (blocks, numbers) = bytes.split_at(count * format.type_size());
    assert_eq!(numbers.len(), 4 * count * format.block_size());
    (blocks.to_vec(), numbers.to_vec())
}

fn bytes(shape: &[usize], bytes: &[u8]) -> Array {
    Array::from_bytes(DType::U8, shape, bytes).unwrap()
}

/// Blocks of q8_0: the scale 1, and integers.
fn ones(integers: &[[i8; 32]]) -> Vec<u8> {
    let block = |integers: &[i8; 32]| {
        let bytes = [0, 0x3c].into_iter();
        bytes.chain(integers.iter().map(|q| q.to_le_bytes()[0])).collect::<Vec<u8>>()
    };
    integers.iter().flat_map(block).collect()
}

fn values(outcome: &Outcome<'_>) -> Vec<f64> {
    outcome.iter().map(|expected| expected.value.hi).collect()
}

#[test]
fn numbers_are_those_of_gguf() {
    for format in QuantFormat::ALL {
        let (blocks, numbers) = vectors(format);
        let array = bytes(&[blocks.len()], &blocks);
        let outcome = dequantize(format, &array, DType::F32).unwrap();
        assert_eq!(outcome.shape(), [blocks.len() / format.type_size() * format.block_size()]);
        assert!(outcome.to_bytes() == numbers, "{format}");
        assert_eq!(outcome.judge(), Judge::Exact);
    }
}

#[test]
fn no_number_is_larger_than_its_format_says() {
    for format in QuantFormat::ALL {
        // A block of ones in all bits has the largest integers; the scale is made 1 and the base 0.
        let fill = |byte: u8| {
            let mut block = vec![byte; format.type_size()];
            for (scale, at) in [0x3c00u16, 0].into_iter().zip(format.scales()) {
                block[*at..*at + 2].copy_from_slice(&scale.to_le_bytes());
            }
            if format == QuantFormat::MXFP4 {
                block[0] = 128;
            }
            let array = bytes(&[block.len()], &block);
            let outcome = dequantize(format, &array, DType::F32).unwrap();
            values(&outcome).into_iter().fold(0.0, |most: f64, x| most.max(x.abs()))
        };
        let most = (0..=255).map(fill).fold(0.0, f64::max);
        // The largest scale and the largest integer need not be of one byte.
        let largest = f64::from(format.largest());
        assert!(most <= largest && most * 2.0 >= largest, "{format}: {most} of {largest}");
    }
}

#[test]
fn small_dtypes_round_once_more() {
    let (blocks, numbers) = vectors(QuantFormat::Q4K);
    let array = bytes(&[1, blocks.len()], &blocks);
    let wide = Array::from_bytes(DType::F32, &[1, numbers.len() / 4], &numbers).unwrap();
    for dtype in [DType::F16, DType::BF16] {
        let outcome = dequantize(QuantFormat::Q4K, &array, dtype).unwrap();
        assert_eq!(outcome.dtype(), dtype);
        assert_eq!(outcome.to_bytes(), reference::cast(&wide, dtype).to_bytes());
    }
}

#[test]
fn rows_are_looked_up() {
    let table = bytes(&[3, 34], &ones(&[[1; 32], [2; 32], [-3; 32]]));
    let ids = Array::from_i64(DType::I32, &[2, 2], &[2, 0, 1, 2]).unwrap();
    let rows = quant_embedding(QuantFormat::Q8_0, &table, &ids).unwrap();
    assert_eq!((rows.dtype(), rows.shape()), (DType::F32, &[2, 2, 32][..]));
    assert_eq!(values(&rows).chunks(32).map(|row| row[31]).collect::<Vec<_>>(), [-3.0, 1.0, 2.0, -3.0]);
}

#[test]
fn products_by_hand() {
    let w = bytes(&[2, 34], &ones(&[[1; 32], std::array::from_fn(|i| i as i8)]));
    let mut x = vec![1.0; 64];
    x[32..].fill(2.0);
    let x = Array::from_f64(DType::F16, &[2, 1, 32], &x).unwrap();
    let y = quant_matmul(QuantFormat::Q8_0, &x, &w).unwrap();
    assert_eq!((y.dtype(), y.shape()), (DType::F16, &[2, 1, 2][..]));
    assert_eq!(values(&y), [32.0, 496.0, 64.0, 992.0]);
    // The bound is little more than Σ |w| · max |x| / 254, the rounding of a step to f16, and that of the result.
    let rounding = y.judge().tolerance(DType::F16, &y.at(0)) - 32.0 / 254.0 - 32.0 / 2048.0;
    assert!((0.0..0.04).contains(&rounding), "{rounding}");

    let experts = bytes(&[2, 1, 34], &ones(&[[1; 32], [2; 32]]));
    let ids = Array::from_i64(DType::U8, &[2, 2], &[1, 0, 0, 1]).unwrap();
    let y = quant_experts(QuantFormat::Q8_0, &x, &ids, &experts).unwrap();
    assert_eq!(y.shape(), [2, 2, 1]);
    assert_eq!(values(&y), [64.0, 32.0, 64.0, 128.0]);
    let each = x.reshape(&[1, 2, 32]).unwrap();
    let ids = ids.narrow(0, 0, 1).unwrap();
    let y = quant_experts(QuantFormat::Q8_0, &each, &ids, &experts).unwrap();
    assert_eq!(values(&y), [64.0, 64.0]);
}

/// A row of activations as a device rounds it: 8 bits, and a step for each 32.
fn rounded(x: &[f32]) -> Vec<(i32, f32)> {
    let group = |x: &[f32]| {
        let step = x.iter().fold(0f32, |most, x| most.max(x.abs())) / 127.0;
        let inverse = if step == 0.0 { 0.0 } else { 1.0 / step };
        x.iter().map(|x| ((x * inverse).round_ties_even() as i32, step)).collect::<Vec<_>>()
    };
    x.chunks(32).flat_map(group).collect()
}

fn noise(count: usize) -> Vec<f32> {
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn sums_of_rounded_activations_are_right_and_a_lost_group_is_not() {
    let width = 640;
    let numbers: Vec<[i8; 32]> =
        noise(3 * width).as_chunks::<32>().0.iter().map(|x| x.map(|x| (x * 127.0) as i8)).collect();
    let w = bytes(&[3, 20 * 34], &ones(&numbers));
    let x = noise(2 * width);
    let array =
        Array::from_f64(DType::F32, &[2, width], &x.iter().map(|x| f64::from(*x)).collect::<Vec<_>>())
            .unwrap();
    let y = quant_matmul(QuantFormat::Q8_0, &array, &w).unwrap();
    for (index, expected) in y.iter().enumerate() {
        let (x, w) = (rounded(&x[index / 3 * width..][..width]), &numbers[index % 3 * 20..][..20]);
        let sum = |skipped: usize| {
            let groups = x.chunks(32).zip(w).enumerate().filter(|(group, _)| *group != skipped);
            groups.fold(0f32, |sum, (_, (x, w))| {
                let whole: i32 = x.iter().zip(w).map(|((q, _), w)| q * i32::from(*w)).sum();
                sum + whole as f32 * x[0].1
            })
        };
        let accepted = |sum: f32| y.judge().accepts(DType::F32, &expected, u64::from(sum.to_bits()));
        assert!(accepted(sum(usize::MAX)), "{index}");
        let lost = (0..20).filter(|group| !accepted(sum(*group))).count();
        assert!(lost > 5, "{lost} of 20 groups are seen in {index}");
    }
}

#[test]
fn many_rows_may_be_rounded_too() {
    let w = bytes(&[1, 34], &ones(&[[3; 32]]));
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        let x = Array::from_f64(dtype, &[9, 32], &[1.0; 9 * 32]).unwrap();
        let y = quant_matmul(QuantFormat::Q8_0, &x, &w).unwrap();
        let (expected, plain) = (
            y.at(8),
            reference::matmul(&x, &Array::from_f64(dtype, &[32, 1], &[3.0; 32]).unwrap()).unwrap().at(8),
        );
        assert_eq!((expected.value, expected.bits), (plain.value, plain.bits));
        assert_eq!(y.judge(), Judge::Within { ulps: 1.0, t: 1.0 });
        // Of 96: half a step, the rounding of a step to f16, and what may be lost below its normal numbers. Rounding the
        // weights moves less.
        let bound = 96.0 * (0.5001 / 127.0 + 1.0039 / 2048.0 + 127.0 / f64::from(1 << 25));
        assert!((bound..1.001 * bound).contains(&expected.scale), "{} {bound}", expected.scale);
    }
}

#[test]
fn wrong_operands_are_errors() {
    let format = QuantFormat::Q8_0;
    let (x, w) = (Array::from_f64(DType::F32, &[1, 32], &[0.0; 32]).unwrap(), bytes(&[1, 34], &[0; 34]));
    let short = bytes(&[2, 17], &[0; 34]);
    let error = dequantize(format, &short, DType::F32).unwrap_err();
    assert_eq!(
        error.to_string(),
        "dequantize: u8 of shape [2, 17] is no rows of q8_0 blocks: use u8, and rows of a multiple of 34 bytes"
    );
    assert!(matches!(dequantize(format, &x, DType::F32), Err(Error::Blocks { .. })));
    assert!(matches!(dequantize(format, &w, DType::F64), Err(Error::Unsupported { .. })));
    let ids = |shape: &[usize], id| Array::from_i64(DType::I64, shape, &[id]).unwrap();
    assert!(matches!(quant_embedding(format, &w, &ids(&[1], 1)), Err(Error::OutOfRange { index: 1, .. })));
    assert!(matches!(quant_embedding(format, &w, &x), Err(Error::Ids { .. })));
    let two = Array::from_f64(DType::F32, &[1, 64], &[0.0; 64]).unwrap();
    assert!(matches!(quant_matmul(format, &two, &w), Err(Error::Inner { .. })));
    assert!(matches!(quant_matmul(format, &w, &w), Err(Error::Unsupported { .. })));
    let (x, w) = (x.reshape(&[1, 1, 32]).unwrap(), w.reshape(&[1, 1, 34]).unwrap());
    assert!(matches!(quant_experts(format, &x, &ids(&[1], 0), &w), Err(Error::Fit { .. })));
    assert!(matches!(quant_experts(format, &x, &ids(&[1, 1], -1), &w), Err(Error::OutOfRange { .. })));
}
