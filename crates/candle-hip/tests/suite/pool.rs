//! Pools and enlargement.

use candle_core::backend::BackendStorage;
use candle_core::DType;

use crate::compare::{sum, Tolerance, EXACT};
use crate::given::values;
use crate::{cases, ALL, FLOATS, INTEGERS};

/// candle's conversion of `f8e4m3` to `f64` calls itself and never ends.
const WITHOUT_F8: [DType; 4] = [DType::BF16, DType::F16, DType::F32, DType::F64];

const LINE: [usize; 3] = [2, 3, 5];
const PLANE: [usize; 4] = [2, 3, 6, 5];

/// Three products of four numbers up to 5: candle computes them in `f64`, tensor-core in `f32` and rounds once.
const MIXED: Tolerance = Tolerance::of(3.0, 5.0);

cases! {
    avg: FLOATS, sum(6, 5.0), [values(&PLANE)] => |[x]| x.s.avg_pool2d(x.l, (3, 2), (3, 2));
    avg_in_steps: FLOATS, sum(4, 5.0), [values(&PLANE)] => |[x]| x.s.avg_pool2d(x.l, (2, 2), (1, 3));
    max: ALL, EXACT, [values(&PLANE)] => |[x]| x.s.max_pool2d(x.l, (3, 2), (3, 2));
    max_in_steps: ALL, EXACT, [values(&PLANE)] => |[x]| x.s.max_pool2d(x.l, (2, 2), (1, 3));
    nearest1d: ALL, EXACT, [values(&LINE)] => |[x]| x.s.upsample_nearest1d(x.l, 13);
    nearest1d_smaller: ALL, EXACT, [values(&LINE)] => |[x]| x.s.upsample_nearest1d(x.l, 3);
    nearest2d: ALL, EXACT, [values(&PLANE)] => |[x]| x.s.upsample_nearest2d(x.l, 9, 10);
    bilinear: WITHOUT_F8, MIXED, [values(&PLANE)] => |[x]| x.s.upsample_bilinear2d(x.l, 9, 10, false, None, None);
    bilinear_of_corners: WITHOUT_F8, MIXED, [values(&PLANE)] => |[x]| x.s.upsample_bilinear2d(x.l, 9, 7, true, None, None);
    bilinear_by_lengths: WITHOUT_F8, MIXED, [values(&PLANE)] => |[x]| x.s.upsample_bilinear2d(x.l, 12, 10, false, Some(2.0), Some(2.0));
    bilinear_of_integers: INTEGERS, EXACT, [values(&PLANE)] => |[x]| x.s.upsample_bilinear2d(x.l, 9, 10, false, None, None);
    bilinear_of_corners_of_integers: INTEGERS, EXACT, [values(&PLANE)] => |[x]| x.s.upsample_bilinear2d(x.l, 9, 7, true, None, None);
    bilinear_by_factors_of_integers: INTEGERS, EXACT, [values(&PLANE)] => |[x]| x.s.upsample_bilinear2d(x.l, 15, 13, false, Some(2.6), Some(2.7));
    bilinear_by_factors: WITHOUT_F8, MIXED, [values(&PLANE)] => |[x]| x.s.upsample_bilinear2d(x.l, 15, 13, false, Some(2.6), Some(2.7));
    // candle's CPU returns the whole storage here, whatever the layout.
    bilinear_of_the_same_size: ALL, EXACT, [values(&PLANE).tight()] => |[x]| x.s.upsample_bilinear2d(x.l, 6, 5, false, None, None);
}
