//! Reductions on both host devices: rows with barriers and shuffles, columns, any layout, special values.

mod common;

use common::Random;
use common::device::{BOTH, input, output, run, value};
use half::{bf16, f16};
use kernels_hip::args::ReduceMap;

/// Runs `reduce_<op>_<dtype>` (or with `cols_` before the op) on `input`.
fn reduce<T: bytemuck::NoUninit, O: bytemuck::Pod>(
    device: i32,
    (op, dtype): (&str, &str),
    shape: (u32, u32),
    x: &[T],
    map: ReduceMap,
) -> Vec<O> {
    let mut out = vec![O::zeroed(); map.outputs as usize];
    let mut args = [input(x), output(&mut out), value(&map)];
    // SAFETY: S9: the tests keep their maps inside the input.
    unsafe { run(device, &format!("reduce_{op}_{dtype}"), shape, &mut args) };
    out
}

fn rows(outputs: u64, length: u64) -> ReduceMap {
    ReduceMap::new(&[outputs], &[length], &[length], &[1]).expect("one dim each")
}

#[test]
fn sums_of_rows_of_any_length() {
    let mut random = Random(11);
    // Lengths around a span, for several threads, and for several spans a thread.
    for length in [0, 1, 15, 16, 17, 255, 2047, 2048, 2049, 4096, 5000, 70_001] {
        let outputs = if length > 10_000 { 3 } else { 7 };
        let input: Vec<i32> = (0..outputs * length).map(|_| random.next() as i32).collect();
        let wanted: Vec<i32> = (0..outputs as usize)
            .map(|o| {
                input[o * length as usize..][..length as usize].iter().fold(0i32, |s, x| s.wrapping_add(*x))
            })
            .collect();
        for device in BOTH {
            // Fewer blocks than outputs, so that the slots of a block are reused.
            for shape in [(2, 64), (7, 128), (1, 256)] {
                let got: Vec<i32> = reduce(device, ("sum", "i32"), shape, &input, rows(outputs, length));
                assert_eq!(got, wanted, "{length} on {device} with {shape:?}");
            }
            let got: Vec<i32> = reduce(device, ("cols_sum", "i32"), (2, 64), &input, rows(outputs, length));
            assert_eq!(got, wanted, "{length} on {device} by columns");
        }
    }
}

#[test]
fn many_ones() {
    const N: u64 = 1 << 25;
    let ones = vec![1f32; N as usize];
    for device in BOTH {
        for (op, shape) in [("sum", (1, 256)), ("sum", (1, 64)), ("cols_sum", (1, 64))] {
            assert_eq!(
                reduce::<_, f32>(device, (op, "f32"), shape, &ones, rows(1, N)),
                [N as f32],
                "{op} on {device}"
            );
        }
        // Contiguous columns of stride 0: one element is read again and again.
        let again = ReduceMap::new(&[32], &[0], &[N], &[0]).expect("one dim each");
        assert_eq!(reduce::<_, f32>(device, ("cols_sum", "f32"), (1, 64), &[1f32], again), [N as f32; 32]);
    }
    let ones = vec![1f64; 1 << 20];
    assert_eq!(reduce::<_, f64>(0, ("sum", "f64"), (1, 256), &ones, rows(1, 1 << 20)), [1048576.0]);
}

#[test]
fn small_floats_accumulate_in_f32_and_round_once() {
    let ones = vec![f16::ONE; 10_000];
    for device in BOTH {
        for op in ["sum", "cols_sum"] {
            let sum = |input: &[f16]| {
                reduce::<_, f16>(device, (op, "f16"), (1, 64), input, rows(1, input.len() as u64))[0]
            };
            assert_eq!(sum(&ones), f16::from_f32(10_000.0));
            // 2049 is not representable in f16. It is a tie and rounds to the even 2048.
            assert_eq!(sum(&ones[..2049]), f16::from_f32(2048.0));
            let large = [60000.0, 60000.0, -60000.0].map(f16::from_f32);
            assert_eq!(sum(&large), f16::from_f32(60000.0));
            let ones = vec![bf16::ONE; 4096];
            assert_eq!(
                reduce::<_, bf16>(device, (op, "bf16"), (1, 64), &ones, rows(1, 4096)),
                [bf16::from_f32(4096.0)]
            );
            // 448 of f8 is 0x7e; 1.0 is 0x38.
            assert_eq!(
                reduce::<_, u8>(device, (op, "f8e4m3"), (1, 64), &[0x38u8; 1000], rows(1, 1000)),
                [0x7e]
            );
        }
    }
}

#[test]
fn integers_wrap_and_products_multiply() {
    for device in BOTH {
        assert_eq!(reduce::<_, u8>(device, ("sum", "u8"), (1, 64), &[1u8; 300], rows(1, 300)), [44]);
        assert_eq!(reduce::<_, i16>(device, ("sum", "i16"), (1, 64), &[i16::MAX; 3], rows(1, 3)), [32765]);
        assert_eq!(
            reduce::<_, u32>(device, ("prod", "u32"), (1, 64), &[3u32; 40], rows(1, 40)),
            [3u32.wrapping_pow(40)]
        );
        let input: Vec<i64> = (0..5000).map(|i| 2 * i + 1).collect();
        let wanted = input.iter().fold(1i64, |p, x| p.wrapping_mul(*x));
        for op in ["prod", "cols_prod"] {
            assert_eq!(reduce::<_, i64>(device, (op, "i64"), (1, 64), &input, rows(1, 5000)), [wanted]);
        }
        assert_eq!(
            reduce::<_, f32>(device, ("prod", "f32"), (1, 64), &[-2f32; 21], rows(1, 21)),
            [-2097152.0]
        );
        // No elements: the identity elements.
        assert_eq!(reduce::<_, f64>(device, ("prod", "f64"), (1, 64), &[0f64; 0], rows(2, 0)), [1.0, 1.0]);
        assert_eq!(
            reduce::<_, f64>(device, ("cols_sum", "f64"), (1, 64), &[0f64; 0], rows(2, 0)),
            [0.0, 0.0]
        );
    }
}

/// The position of the extreme by definition: the first NaN, else the first of the greatest in total order.
fn position(row: &[f32], greatest: bool) -> usize {
    let nan = row.iter().position(|x| x.is_nan());
    let better = |a: f32, b: f32| if greatest { a.total_cmp(&b).is_gt() } else { a.total_cmp(&b).is_lt() };
    nan.unwrap_or_else(|| (1..row.len()).fold(0, |best, i| if better(row[i], row[best]) { i } else { best }))
}

#[test]
fn extremes_and_their_indices() {
    let mut random = Random(12);
    let special = [f32::NAN, -f32::NAN, 0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, 1e-45, -1e-45, 2.0];
    for length in [1usize, 2, 9, 100, 2049, 9000] {
        let outputs = 12;
        // Few distinct values, so that ties are common; NaN in some rows only.
        let mut value = |row: usize| {
            let pick = random.next() as usize % 64;
            if pick < special.len() && (row.is_multiple_of(3) || !special[pick].is_nan()) {
                special[pick]
            } else {
                (pick % 5) as f32 - 2.0
            }
        };
        let mut input: Vec<f32> = (0..outputs * length).map(|i| value(i / length)).collect();
        // Rows of a single value, and a row whose only NaN is last.
        input[length..2 * length].fill(-0.0);
        input[2 * length..3 * length].fill(f32::NEG_INFINITY);
        input[4 * length - 1] = f32::NAN;
        let map = rows(outputs as u64, length as u64);
        for (op, greatest) in [("min", false), ("max", true)] {
            let indices: Vec<usize> = input.chunks(length).map(|row| position(row, greatest)).collect();
            for device in BOTH {
                for (cols, shape) in [("", (3, 64)), ("", (12, 256)), ("cols_", (2, 64))] {
                    let found: Vec<u32> =
                        reduce(device, (&format!("{cols}arg{op}"), "f32"), shape, &input, map);
                    assert_eq!(
                        found,
                        indices.iter().map(|p| *p as u32).collect::<Vec<_>>(),
                        "{cols}arg{op} {length}"
                    );
                    let values: Vec<f32> =
                        reduce(device, (&format!("{cols}{op}"), "f32"), shape, &input, map);
                    for (o, got) in values.iter().enumerate() {
                        let wanted = input[o * length + indices[o]];
                        let same = got.to_bits() == wanted.to_bits() || (got.is_nan() && wanted.is_nan());
                        assert!(same, "{cols}{op} of row {o} of length {length}: {got} for {wanted}");
                    }
                }
            }
        }
    }
}

fn bytes_of<T: bytemuck::NoUninit>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}

/// Extremes of every dtype from bits: the rank of a pattern is its index in the order of values.
#[test]
fn extremes_of_every_dtype() {
    let cases: [(&str, Vec<u8>, [u32; 2]); 9] = [
        ("u8", vec![3, 0, 255, 255, 0], [1, 2]),
        ("i16", bytes_of(&[5i16, i16::MIN, -1, i16::MAX, i16::MIN, i16::MAX]), [1, 3]),
        ("u32", bytes_of(&[5u32, u32::MAX, 0, 0x8000_0000, u32::MAX, 0]), [2, 1]),
        ("i32", bytes_of(&[5i32, i32::MIN, -1, i32::MAX, i32::MIN, i32::MAX]), [1, 3]),
        ("f16", bytes_of(&[0u16, 0x8000, 0x7bff, 0xfbff, 0x7c00, 0xfc00]), [5, 4]),
        ("bf16", bytes_of(&[0u16, 0x8000, 0x7f7f, 0xff7f, 0x7f80, 0xff80]), [5, 4]),
        ("i64", bytes_of(&[5i64, i64::MAX, i64::MIN, -1, i64::MAX, i64::MIN]), [2, 1]),
        ("f64", bytes_of(&[0.0f64, -0.0, 1e300, -1e300, f64::INFINITY, f64::NEG_INFINITY]), [5, 4]),
        ("f8e4m3", vec![0x00, 0x80, 0x7e, 0xfe, 0x7f, 0xff], [4, 4]),
    ];
    for device in BOTH {
        for (dtype, bytes, indices) in &cases {
            let size = common::formats::bytes(dtype);
            let map = rows(1, (bytes.len() / size) as u64);
            for (op, index) in ["min", "max"].into_iter().zip(*indices) {
                for cols in ["", "cols_"] {
                    let found: Vec<u32> =
                        reduce(device, (&format!("{cols}arg{op}"), dtype), (1, 64), bytes, map);
                    assert_eq!(found, [index], "{cols}arg{op} of {dtype}");
                    let mut out = vec![0u8; size];
                    let mut args = [input(bytes), output(&mut out), value(&map)];
                    // SAFETY: S9: one row, one output.
                    unsafe { run(device, &format!("reduce_{cols}{op}_{dtype}"), (1, 64), &mut args) };
                    assert_eq!(out, bytes[index as usize * size..][..size], "{cols}{op} of {dtype}");
                }
            }
        }
    }
}

#[test]
fn any_axes_and_strides() {
    // [6, 5, 4, 70] tight: reduces axes 0 and 2; 1 and 3; 3 of a transposed view; 0 (contiguous columns).
    let input: Vec<i32> = (0..6 * 5 * 4 * 70).map(|i| (i * 7919) % 10_007 - 5000).collect();
    let layouts = [
        (vec![5, 70], vec![280, 1], vec![6, 4], vec![1400, 70]),
        (vec![6, 4], vec![1400, 70], vec![5, 70], vec![280, 1]),
        (vec![70, 6], vec![1, 1400], vec![20], vec![70]),
        (vec![1400], vec![1], vec![6], vec![1400]),
        (vec![], vec![], vec![6, 5, 4, 70], vec![1400, 280, 70, 1]),
        (vec![3], vec![0], vec![8400], vec![1]),
        (vec![2, 3], vec![1, 2], vec![2, 5, 2, 2, 5, 7], vec![4200, 280, 140, 70, 14, 2]),
    ];
    for (kept, kept_strides, reduced, reduced_strides) in layouts {
        let map = ReduceMap::new(&kept, &kept_strides, &reduced, &reduced_strides).expect("at most 8 dims");
        let offsets = |dims: &[u64], strides: &[u64]| {
            dims.iter().zip(strides).fold(vec![0u64], |all, (dim, stride)| {
                all.iter().flat_map(|base| (0..*dim).map(move |i| base + i * stride)).collect()
            })
        };
        let inner = offsets(&reduced, &reduced_strides);
        let (mut sums, mut indices) = (Vec::new(), Vec::new());
        for base in offsets(&kept, &kept_strides) {
            let row: Vec<i32> = inner.iter().map(|i| input[(base + i) as usize]).collect();
            sums.push(row.iter().sum::<i32>());
            let greatest = row.iter().max().expect("not empty");
            indices.push(row.iter().position(|x| x == greatest).expect("it is there") as u32);
        }
        for device in BOTH {
            for (cols, shape) in [("", (5, 64)), ("cols_", (3, 64))] {
                let got: Vec<i32> = reduce(device, (&format!("{cols}sum"), "i32"), shape, &input, map);
                assert_eq!(got, sums, "{cols}sum {kept:?} {reduced:?}");
                let got: Vec<u32> = reduce(device, (&format!("{cols}argmax"), "i32"), shape, &input, map);
                assert_eq!(got, indices, "{cols}argmax {kept:?} {reduced:?}");
            }
        }
    }
}

#[test]
fn sums_do_not_depend_on_the_wave_size() {
    let mut random = Random(13);
    let input: Vec<f32> = (0..40_000).map(|_| (random.next() >> 40) as f32 - 8e6).collect();
    let sums = BOTH.map(|device| reduce::<_, u32>(device, ("sum", "f32"), (4, 256), &input, rows(2, 20_000)));
    assert_eq!(sums[0], sums[1]);
}
