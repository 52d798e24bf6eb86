//! Convolutions.

use candle_core::backend::BackendStorage;
use candle_core::DType;

use crate::cases;
use crate::compare::sum;
use crate::given::{values, Given};
use crate::params::{conv1d, conv2d, conv_transpose1d, conv_transpose2d};

/// candle's CPU multiplies no matrices of other types, and convolves by matrices.
const TYPES: [DType; 4] = [DType::BF16, DType::F16, DType::F32, DType::F64];

fn small(dims: &[usize]) -> Given {
    values(dims).of(|i| ((i * 7 + 3) % 11) as f64 / 8.0 - 0.5)
}

const LINE: [usize; 3] = [2, 3, 8];
const K1: [usize; 3] = [4, 3, 3];
const PLANE: [usize; 4] = [2, 3, 6, 5];
const K2: [usize; 4] = [4, 3, 3, 2];
/// From three channels to four.
const T1: [usize; 3] = [3, 4, 3];
const T2: [usize; 4] = [3, 4, 3, 3];

cases! {
    line: TYPES, sum(9, 1.0), [small(&LINE), small(&K1)] => |[x, k]| x.s.conv1d(x.l, k.s, k.l, &conv1d(LINE, K1, (0, 1, 1)));
    padded_line: TYPES, sum(9, 1.0), [small(&LINE), small(&K1)] => |[x, k]| x.s.conv1d(x.l, k.s, k.l, &conv1d(LINE, K1, (2, 2, 1)));
    dilated_line: TYPES, sum(9, 1.0), [small(&LINE), small(&K1)] => |[x, k]| x.s.conv1d(x.l, k.s, k.l, &conv1d(LINE, K1, (1, 1, 2)));
    plane: TYPES, sum(18, 1.0), [small(&PLANE), small(&K2)] => |[x, k]| x.s.conv2d(x.l, k.s, k.l, &conv2d(PLANE, K2, (0, 1, 1)));
    padded_plane: TYPES, sum(18, 1.0), [small(&PLANE), small(&K2)] => |[x, k]| x.s.conv2d(x.l, k.s, k.l, &conv2d(PLANE, K2, (1, 2, 1)));
    dilated_plane: TYPES, sum(18, 1.0), [small(&PLANE), small(&K2)] => |[x, k]| x.s.conv2d(x.l, k.s, k.l, &conv2d(PLANE, K2, (2, 1, 2)));
    transposed_line: TYPES, sum(9, 1.0), [small(&LINE), small(&T1)] => |[x, k]| x.s.conv_transpose1d(x.l, k.s, k.l, &conv_transpose1d(LINE, T1, 0, (0, 1, 1)));
    stretched_line: TYPES, sum(9, 1.0), [small(&LINE), small(&T1)] => |[x, k]| x.s.conv_transpose1d(x.l, k.s, k.l, &conv_transpose1d(LINE, T1, 1, (1, 2, 1)));
    transposed_plane: TYPES, sum(27, 1.0), [small(&PLANE), small(&T2)] => |[x, k]| x.s.conv_transpose2d(x.l, k.s, k.l, &conv_transpose2d(PLANE, T2, 0, (0, 1, 1)));
    stretched_plane: TYPES, sum(27, 1.0), [small(&PLANE), small(&T2)] => |[x, k]| x.s.conv_transpose2d(x.l, k.s, k.l, &conv_transpose2d(PLANE, T2, 1, (1, 2, 1)));
}
