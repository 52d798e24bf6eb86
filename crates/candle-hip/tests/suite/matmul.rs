//! Products of matrices.

use candle_core::backend::BackendStorage;
use candle_core::DType;

use crate::cases;
use crate::compare::sum;
use crate::given::values;

/// candle's CPU multiplies no others.
const TYPES: [DType; 4] = [DType::BF16, DType::F16, DType::F32, DType::F64];

fn small(dims: &[usize]) -> crate::given::Given {
    values(dims).of(|i| ((i * 7 + 3) % 11) as f64 / 8.0 - 0.5)
}

cases! {
    one_matrix: TYPES, sum(6, 1.0), [small(&[5, 6]), small(&[6, 4])] => |[a, b]| a.s.matmul(b.s, (1, 5, 4, 6), a.l, b.l);
    several: TYPES, sum(6, 1.0), [small(&[3, 5, 6]), small(&[3, 6, 4])] => |[a, b]| a.s.matmul(b.s, (3, 5, 4, 6), a.l, b.l);
    two_axes_of_matrices: TYPES, sum(6, 1.0), [small(&[2, 3, 5, 6]).tight_for_candle(), small(&[2, 3, 6, 4]).tight_for_candle()] => |[a, b]| a.s.matmul(b.s, (6, 5, 4, 6), a.l, b.l);
    one_row: TYPES, sum(9, 1.0), [small(&[1, 9]), small(&[9, 7])] => |[a, b]| a.s.matmul(b.s, (1, 1, 7, 9), a.l, b.l);
}
