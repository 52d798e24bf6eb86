//! Reductions.

use candle_core::backend::BackendStorage;
use candle_core::op::ReduceOp;
use candle_core::{DType, Error};

use crate::compare::{sum, EXACT};
use crate::given::{values, Arrangement, Made};
use crate::{cases, ALL, FLOATS, INTEGERS};

const DIMS: [usize; 3] = [3, 4, 7];

cases! {
    sum_of_the_last_axis: FLOATS, sum(7, 5.0), [values(&DIMS)] => |[x]| x.s.reduce_op(ReduceOp::Sum, x.l, &[2]);
    sum_of_the_first_axis: FLOATS, sum(3, 5.0), [values(&DIMS)] => |[x]| x.s.reduce_op(ReduceOp::Sum, x.l, &[0]);
    sum_of_scattered_axes: FLOATS, sum(21, 5.0), [values(&DIMS)] => |[x]| x.s.reduce_op(ReduceOp::Sum, x.l, &[0, 2]);
    sum_of_all: FLOATS, sum(84, 5.0), [values(&DIMS)] => |[x]| x.s.reduce_op(ReduceOp::Sum, x.l, &[0, 1, 2]);
    sum_of_integers: INTEGERS, EXACT, [values(&DIMS).of(|i| (i % 3) as f64 / 4.0)] => |[x]| x.s.reduce_op(ReduceOp::Sum, x.l, &[1, 2]);
    sum_of_nothing: ALL, EXACT, [values(&[3, 0])] => |[x]| x.s.reduce_op(ReduceOp::Sum, x.l, &[1]);
    min: ALL, EXACT, [values(&DIMS)] => |[x]| x.s.reduce_op(ReduceOp::Min, x.l, &[2]);
    max: ALL, EXACT, [values(&DIMS)] => |[x]| x.s.reduce_op(ReduceOp::Max, x.l, &[1]);
    argmin: ALL, EXACT, [values(&DIMS)] => |[x]| x.s.reduce_op(ReduceOp::ArgMin, x.l, &[0]);
    argmax: ALL, EXACT, [values(&DIMS)] => |[x]| x.s.reduce_op(ReduceOp::ArgMax, x.l, &[2]);
    argmax_of_equal_elements: ALL, EXACT, [values(&DIMS).of(|i| (i % 2) as f64)] => |[x]| x.s.reduce_op(ReduceOp::ArgMax, x.l, &[2]);
}

#[test]
fn the_largest_of_nothing_is_candles_error() {
    for device in crate::devices() {
        let x = Made::new(&values(&[0, 3]), DType::F32, Arrangement::Contiguous, &device);
        let x = x.ours();
        // The result of the second is empty too: candle's CPU and CUDA do not look.
        for axis in [0, 1] {
            let error = crate::root(x.s.reduce_op(ReduceOp::Max, x.l, &[axis]).unwrap_err());
            assert!(matches!(error, Error::EmptyTensor { op: "reduce" }), "{error}");
        }
    }
}
