//! Sorting: on values worked out by hand, and by what a sort is: an ordered, stable permutation.

use std::cmp::Reverse;

use crate::common::{FLOATS, INTS, layouts, on_devices, same, tensor, values, vector};
use tensor_core::{DType, Device, F8E4M3, Result, Tensor, bf16, f16};

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

#[test]
fn floats_in_both_directions() {
    on_devices(|device| {
        for dtype in FLOATS {
            let inf = if dtype == DType::F8E4M3 { 448.0 } else { INF };
            let x = tensor([0.0, NAN, -1.0, -0.0, inf, 0.0, NAN, -inf, -1.0], dtype, device)?;
            let (sorted, positions) = x.sort(0, false)?;
            same(&sorted, &[-inf, -1.0, -1.0, -0.0, 0.0, 0.0, inf, NAN, NAN])?;
            assert_eq!(positions.to_vec::<u32>()?, [7, 2, 8, 3, 0, 5, 4, 1, 6], "{dtype}");
            let (sorted, positions) = x.sort(-1, true)?;
            same(&sorted, &[NAN, NAN, inf, 0.0, 0.0, -0.0, -1.0, -1.0, -inf])?;
            assert_eq!(positions.to_vec::<u32>()?, [1, 6, 4, 0, 5, 3, 2, 8, 7], "{dtype}");
        }
        Ok(())
    });
}

#[test]
fn integers_in_both_directions() {
    on_devices(|device| {
        for dtype in INTS {
            let (least, greatest) = match dtype {
                DType::U8 => (0, u8::MAX.into()),
                DType::U32 => (0, u32::MAX.into()),
                DType::I16 => (i16::MIN.into(), i16::MAX.into()),
                DType::I32 => (i32::MIN.into(), i32::MAX.into()),
                _ => (i64::MIN, i64::MAX),
            };
            let x = tensor([3, greatest, 1, least, 3, greatest], dtype, device)?;
            let wide = |x: &Tensor| x.to_dtype(DType::I64)?.to_vec::<i64>();
            let (sorted, positions) = x.sort_last_dim(true)?;
            assert_eq!(wide(&sorted)?, [least, 1, 3, 3, greatest, greatest], "{dtype}");
            assert_eq!(positions.to_vec::<u32>()?, [3, 2, 0, 4, 1, 5], "{dtype}");
            let (sorted, positions) = x.sort_last_dim(false)?;
            assert_eq!(wide(&sorted)?, [greatest, greatest, 3, 3, 1, least], "{dtype}");
            assert_eq!(positions.to_vec::<u32>()?, [1, 5, 0, 4, 2, 3], "{dtype}");
            assert_eq!(x.arg_sort_last_dim(true)?.to_vec::<u32>()?, [3, 2, 0, 4, 1, 5]);
            assert_eq!(x.argsort(0, true)?.to_vec::<u32>()?, [1, 5, 0, 4, 2, 3]);
        }
        Ok(())
    });
}

#[test]
fn any_axis_of_any_layout() {
    on_devices(|device| {
        let x = tensor([[5, 1, 4, 0], [5, 3, 0, 9], [1, 9, 4, 2]], DType::F16, device)?;
        for (name, x) in layouts(&x)? {
            let (sorted, positions) = x.sort(0, true)?;
            assert_eq!(values(&sorted)?, [5., 9., 4., 9., 5., 3., 4., 2., 1., 1., 0., 0.], "{name}");
            assert_eq!(
                positions.contiguous()?.to_vec2::<u32>()?,
                [[0, 2, 0, 1], [1, 1, 2, 2], [2, 0, 1, 0]],
                "{name}"
            );
            let (sorted, positions) = x.topk(2, 1, false)?;
            assert_eq!((sorted.dims(), positions.dims()), (&[3, 2][..], &[3, 2][..]));
            assert_eq!(values(&sorted)?, [0., 1., 0., 3., 1., 2.], "{name}");
            assert_eq!(positions.to_vec2::<u32>()?, [[3, 1], [2, 1], [0, 3]], "{name}");
        }
        // Equal elements, which a stride of 0 repeats, stay where they are.
        let repeated = vector(&[2u8, 1], device)?.unsqueeze(1)?.expand([2, 3000])?;
        let expected: Vec<u32> = (0..3000).chain(0..3000).collect();
        assert_eq!(repeated.argsort(1, true)?.to_vec::<u32>()?, expected);
        Ok(())
    });
}

/// Numbers without a pattern: the low bits of a multiplicative generator.
fn noise(count: usize) -> impl Iterator<Item = u32> {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    (0..count).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    })
}

/// Asserts that the positions order `keys`, that equal keys keep their order, and that no position is there twice.
fn check(keys: &[f32], values: &[f32], positions: &[u32], descending: bool, what: &str) {
    let mut seen = vec![false; keys.len()];
    for (rank, (&value, &position)) in values.iter().zip(positions).enumerate() {
        assert_eq!(value.to_bits(), keys[position as usize].to_bits(), "{what}: value at {rank}");
        assert!(!std::mem::replace(&mut seen[position as usize], true), "{what}: {position} is there twice");
        if rank > 0 {
            let before = values[rank - 1];
            let ordered = if descending { before > value } else { before < value };
            let stable = before == value && positions[rank - 1] < position;
            assert!(ordered || stable, "{what}: {before} at {rank} - 1, then {value}");
        }
    }
}

#[test]
fn a_million_elements() {
    on_devices(|device| {
        // Few enough distinct numbers that most have equals.
        let keys: Vec<f32> = noise(1 << 20).map(|x| (x >> 14) as f32 - 100_000.0).collect();
        let x = vector(&keys, device)?;
        for descending in [false, true] {
            let (sorted, positions) = x.sort(0, descending)?;
            let (sorted, positions) = (sorted.to_vec::<f32>()?, positions.to_vec::<u32>()?);
            assert_eq!(sorted.len(), keys.len());
            check(&keys, &sorted, &positions, descending, &device.to_string());
            let (top, top_positions) = x.topk(100, 0, descending)?;
            assert_eq!(top.to_vec::<f32>()?, sorted[..100]);
            assert_eq!(top_positions.to_vec::<u32>()?, positions[..100]);
        }
        Ok(())
    });
}

#[test]
#[ignore = "takes a minute of processor time on each device of the host"]
fn sixteen_million_elements_as_the_standard_library_sorts_them() {
    // About sixteen of each number.
    let keys: Vec<u32> = noise(1 << 24).map(|x| x >> 12).collect();
    let mut ascending: Vec<u32> = (0..1 << 24).collect();
    let mut descending = ascending.clone();
    ascending.sort_by_key(|&position| keys[position as usize]);
    descending.sort_by_key(|&position| Reverse(keys[position as usize]));
    on_devices(|device| {
        let x = vector(&keys, device)?;
        for (expected, turned) in [(&ascending, false), (&descending, true)] {
            let (sorted, positions) = x.sort(0, turned)?;
            assert!(positions.to_vec::<u32>()? == *expected, "positions on {device}");
            let at = |&position: &u32| keys[position as usize];
            assert!(sorted.to_vec::<u32>()?.into_iter().eq(expected.iter().map(at)), "elements on {device}");
            assert!(x.argsort(0, turned)?.to_vec::<u32>()? == *expected, "positions alone on {device}");
        }
        Ok(())
    });
}

#[test]
fn rows_of_lengths_around_those_of_tiles() {
    on_devices(|device| {
        for length in [1, 2, 7, 8, 9, 63, 64, 65, 511, 512, 513, 1000, 2047, 2048, 2049, 4096, 4097, 6145] {
            let rows = 1 + 3000 / length;
            let keys: Vec<f32> = noise(rows * length).map(|x| (x >> 23) as f32).collect();
            let x = vector(&keys, device)?.reshape([rows, length])?;
            for descending in [false, true] {
                let (sorted, positions) = x.sort(1, descending)?;
                let (sorted, positions) = (sorted.to_vec::<f32>()?, positions.to_vec::<u32>()?);
                let what = format!("{length} on {device}");
                for row in 0..rows {
                    let range = row * length..(row + 1) * length;
                    check(&keys[range.clone()], &sorted[range.clone()], &positions[range], descending, &what);
                }
                assert_eq!(x.argsort(1, descending)?.to_vec::<u32>()?, positions, "{what}");
                // What topk keeps is the beginning of the whole order.
                let k = length.div_ceil(3);
                let (top, top_positions) = x.topk(k, 1, descending)?;
                assert_eq!(top.dims(), [rows, k]);
                let first = |row: usize| row * length..row * length + k;
                let expected: Vec<f32> = (0..rows).flat_map(|row| sorted[first(row)].to_vec()).collect();
                assert_eq!(top.to_vec::<f32>()?, expected, "{what}");
                let expected: Vec<u32> = (0..rows).flat_map(|row| positions[first(row)].to_vec()).collect();
                assert_eq!(top_positions.to_vec::<u32>()?, expected, "{what}");
            }
        }
        Ok(())
    });
}

#[test]
fn the_first_few_of_long_rows() {
    on_devices(|device| {
        for dtype in FLOATS.iter().chain(&INTS).copied() {
            // Seven values in turn, and in the middle of the last of three rows one that is alone.
            let mut elements: Vec<f64> = (0..3 * 9000).map(|i| f64::from(i % 9000 % 7)).collect();
            elements[2 * 9000 + 4321] = 8.0;
            let x = tensor(elements, dtype, device)?.reshape([3, 9000])?;
            let (least, positions) = x.topk(300, -1, false)?;
            same(&least, &[0.0; 900])?;
            let expected: Vec<u32> = (0..900).map(|i| i % 300 * 7).collect();
            assert_eq!(positions.to_vec::<u32>()?, expected, "{dtype}");
            let (greatest, positions) = x.topk(3, 1, true)?;
            same(&greatest, &[6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 8.0, 6.0, 6.0])?;
            assert_eq!(positions.to_vec::<u32>()?, [6, 13, 20, 6, 13, 20, 4321, 6, 13], "{dtype}");
        }
        Ok(())
    });
}

#[test]
fn every_pattern_moves_unchanged() {
    on_devices(|device| {
        // Sixteen-bit floats: rising values, then the NaNs in their order, bit by bit.
        let mut expected: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        let x = vector(&expected, device)?;
        expected.sort_by(|a, b| match (a.is_nan(), b.is_nan()) {
            (false, false) => a.total_cmp(b),
            (a, b) => a.cmp(&b),
        });
        let bits = |values: &[f16]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert!(bits(&x.sort(0, false)?.0.to_vec::<f16>()?) == bits(&expected), "f16 on {device}");

        let mut expected: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
        let x = vector(&expected, device)?;
        expected.sort_by(|a, b| match (a.is_nan(), b.is_nan()) {
            (false, false) => b.total_cmp(a),
            (a, b) => b.cmp(&a),
        });
        let bits = |values: &[bf16]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert!(bits(&x.sort(0, true)?.0.to_vec::<bf16>()?) == bits(&expected), "bf16 on {device}");

        let all: Vec<F8E4M3> = (0..=u8::MAX).map(F8E4M3::from_bits).collect();
        let sorted: Vec<F8E4M3> = vector(&all, device)?.sort(0, false)?.0.to_vec()?;
        // Negative ones from -448 up to -0, positive ones from 0, then both NaNs in their order.
        let expected: Vec<u8> = (0x80..=0xfe).rev().chain(0..=0x7f).chain([0xff]).collect();
        assert_eq!(sorted.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), expected);
        Ok(())
    });
}

#[test]
fn nothing_to_sort() {
    on_devices(|device| {
        for (dims, axis) in [([0, 5], 1), ([5, 0], 1), ([5, 0], 0), ([0, 5], 0)] {
            let x = Tensor::zeros(dims, DType::F32, device)?;
            let (sorted, positions) = x.sort(axis, false)?;
            assert_eq!((sorted.dims(), positions.dims()), (&dims[..], &dims[..]));
            assert_eq!((sorted.dtype(), positions.dtype()), (DType::F32, DType::U32));
            assert_eq!(x.argsort(axis, true)?.dims(), dims);
        }
        let x = vector(&[1f32, 2.0], device)?;
        let (sorted, positions) = x.topk(0, 0, true)?;
        assert_eq!((sorted.dims(), positions.dims()), (&[0][..], &[0][..]));
        Ok(())
    });
}

#[test]
fn an_axis_that_cannot_be_sorted_is_named() {
    on_devices(|device| {
        let says = |result: Result<(Tensor, Tensor)>, expected: &str| match result {
            Ok(_) => panic!("no error, expected: {expected}"),
            Err(error) => assert_eq!(error.to_string(), format!("{expected} on {device}")),
        };
        let x = Tensor::zeros([2, 3], DType::F32, device)?;
        says(x.sort(2, false), "sort: axis 2 is out of range for [2, 3]");
        says(x.topk(4, 1, true), "topk: 4 elements wanted of 3 along axis 1 of [2, 3]");
        says(x.topk(1, -3, true), "topk: axis -3 is out of range for [2, 3]");
        let scalar = Tensor::zeros((), DType::F32, device)?;
        says(scalar.sort_last_dim(true), "sort_last_dim: axis -1 is out of range for []");
        Ok(())
    });
    let long = Tensor::zeros(1, DType::U8, &Device::Cpu).unwrap().expand([1usize << 32]).unwrap();
    let error = long.argsort(0, false).unwrap_err().to_string();
    let expected = "argsort: 4294967296 elements to search in [4294967296], but positions are u32 on cpu";
    assert_eq!(error, expected);
}
