//! Convolutions.

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, DType, Layout};

use crate::cases;
use crate::compare::{assert_near, sum, Tolerance};
use crate::given::{values, Arrangement, Given, Made};
use crate::params::{conv1d, conv2d, conv_transpose1d, conv_transpose2d};

/// candle's CPU multiplies no matrices of other types, and convolves by matrices.
const TYPES: [DType; 4] = [DType::BF16, DType::F16, DType::F32, DType::F64];
/// Planes of `bf16` are an error of candle's CPU.
const OF_PLANES: [DType; 3] = [DType::F16, DType::F32, DType::F64];

fn small(dims: &[usize]) -> Given {
    values(dims).of(|i| ((i * 7 + 3) % 11) as f64 / 8.0 - 0.5)
}

/// candle's CPU copies a kernel of another layout, and then reads the original.
fn kernel(dims: &[usize]) -> Given {
    small(dims).tight_for_candle()
}

/// Both sum in `f32` and round once to `bf16`: neighbours at most.
const ROUNDED: Tolerance = Tolerance::of(1.0, 1.0);

const LINE: [usize; 3] = [2, 3, 8];
/// candle's CPU multiplies the wrong rows of several lines, where it convolves by one product of matrices.
const ONE_LINE: [usize; 3] = [1, 3, 8];
const K1: [usize; 3] = [4, 3, 3];
const PLANE: [usize; 4] = [2, 3, 6, 5];
const K2: [usize; 4] = [4, 3, 3, 2];
/// From three channels to four.
const T1: [usize; 3] = [3, 4, 3];
const T2: [usize; 4] = [3, 4, 3, 3];

cases! {
    line: TYPES, sum(9, 1.0), [small(&LINE), kernel(&K1)] => |[x, k]| x.s.conv1d(x.l, k.s, k.l, &conv1d(LINE, K1, (0, 1, 1)));
    padded_line: TYPES, sum(9, 1.0), [small(&LINE), kernel(&K1)] => |[x, k]| x.s.conv1d(x.l, k.s, k.l, &conv1d(LINE, K1, (2, 2, 1)));
    dilated_line: TYPES, sum(9, 1.0), [small(&LINE), kernel(&K1)] => |[x, k]| x.s.conv1d(x.l, k.s, k.l, &conv1d(LINE, K1, (1, 1, 2)));
    plane: OF_PLANES, sum(18, 1.0), [small(&PLANE), kernel(&K2)] => |[x, k]| x.s.conv2d(x.l, k.s, k.l, &conv2d(PLANE, K2, (0, 1, 1)));
    padded_plane: OF_PLANES, sum(18, 1.0), [small(&PLANE), kernel(&K2)] => |[x, k]| x.s.conv2d(x.l, k.s, k.l, &conv2d(PLANE, K2, (1, 2, 1)));
    dilated_plane: OF_PLANES, sum(18, 1.0), [small(&PLANE), kernel(&K2)] => |[x, k]| x.s.conv2d(x.l, k.s, k.l, &conv2d(PLANE, K2, (2, 1, 2)));
    transposed_line: TYPES, sum(9, 1.0), [small(&ONE_LINE), kernel(&T1)] => |[x, k]| x.s.conv_transpose1d(x.l, k.s, k.l, &conv_transpose1d(ONE_LINE, T1, 0, (0, 1, 1)));
    stretched_line: TYPES, sum(9, 1.0), [small(&LINE), kernel(&T1)] => |[x, k]| x.s.conv_transpose1d(x.l, k.s, k.l, &conv_transpose1d(LINE, T1, 1, (1, 2, 1)));
    transposed_plane: TYPES, sum(27, 1.0), [small(&PLANE), kernel(&T2)] => |[x, k]| x.s.conv_transpose2d(x.l, k.s, k.l, &conv_transpose2d(PLANE, T2, 0, (0, 1, 1)));
    stretched_plane: TYPES, sum(27, 1.0), [small(&PLANE), kernel(&T2)] => |[x, k]| x.s.conv_transpose2d(x.l, k.s, k.l, &conv_transpose2d(PLANE, T2, 1, (1, 2, 1)));
}

#[test]
fn transposed_lines_are_those_of_each_alone() {
    let l = Layout::contiguous((2, 3, 8));
    for device in crate::devices() {
        let x = Made::new(&small(&LINE), DType::F32, Arrangement::Contiguous, &device);
        let k = Made::new(&small(&T1), DType::F32, Arrangement::Contiguous, &device);
        let both = conv_transpose1d(LINE, T1, 0, (0, 2, 1));
        let got = x.ours().s.conv_transpose1d(&l, k.ours().s, k.ours().l, &both).expect("lines");
        let got = got.to_cpu_storage().expect("a reading");
        let mut expected = Vec::new();
        for item in 0..2 {
            let one = conv_transpose1d(ONE_LINE, T1, 0, (0, 2, 1));
            let l = l.narrow(0, item, 1).expect("an item");
            let (x, k) = (x.candles(), k.candles());
            let alone = x.s.conv_transpose1d(&l, k.s, k.l, &one).and_then(|line| line.to_cpu_storage());
            expected.extend(alone.expect("a line").as_slice::<f32>().expect("f32").to_vec());
        }
        assert_near(&got, &CpuStorage::F32(expected), sum(9, 1.0), device.name());
    }
}

#[test]
fn planes_of_bf16_are_those_of_f32() {
    for device in crate::devices() {
        for arrangement in crate::given::LAYOUTS {
            let made = |given: &Given, dtype| Made::new(given, dtype, arrangement, &device);
            for steps in [(0, 1, 1), (1, 2, 1), (2, 1, 2)] {
                let params = conv2d(PLANE, K2, steps);
                let (x, k) = (made(&small(&PLANE), DType::BF16), made(&small(&K2), DType::BF16));
                let (x, k) = (x.ours(), k.ours());
                let got = x.s.conv2d(x.l, k.s, k.l, &params).and_then(|planes| planes.to_cpu_storage());
                // bf16 has all of these elements.
                let (x, k) = (made(&small(&PLANE), DType::F32), made(&kernel(&K2), DType::F32));
                let (x, k) = (x.candles(), k.candles());
                let exact = x.s.conv2d(x.l, k.s, k.l, &params).and_then(|planes| planes.to_cpu_storage());
                let exact = exact.expect("planes");
                let all = Layout::contiguous(crate::compare::numbers(&exact).len());
                let exact = exact.to_dtype(&all, DType::BF16);
                assert_near(
                    &got.expect("planes"),
                    &exact.expect("bf16"),
                    ROUNDED,
                    &format!("{arrangement:?}"),
                );
            }
        }
    }
}
