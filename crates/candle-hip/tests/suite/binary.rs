//! Operations on two elements, and comparisons.

use candle_core::backend::BackendStorage;
use candle_core::op::{self, CmpOp};

use crate::compare::EXACT;
use crate::given::{positive, special, values};
use crate::{cases, ALL, FLOATS};

const DIMS: [usize; 3] = [2, 3, 5];
const MANY: [usize; 7] = [2, 1, 3, 2, 1, 2, 3];

cases! {
    add: ALL, EXACT, [values(&DIMS), positive(&DIMS)] => |[a, b]| a.s.binary_impl::<op::Add>(b.s, a.l, b.l);
    sub: ALL, EXACT, [positive(&DIMS).of(|i| 9.0 + (i % 7) as f64), positive(&DIMS)] => |[a, b]| a.s.binary_impl::<op::Sub>(b.s, a.l, b.l);
    mul: ALL, EXACT, [values(&DIMS).of(|i| (i % 5) as f64 / 4.0), positive(&DIMS)] => |[a, b]| a.s.binary_impl::<op::Mul>(b.s, a.l, b.l);
    div: ALL, EXACT, [values(&DIMS), positive(&DIMS)] => |[a, b]| a.s.binary_impl::<op::Div>(b.s, a.l, b.l);
    minimum: ALL, EXACT, [values(&DIMS), positive(&DIMS)] => |[a, b]| a.s.binary_impl::<op::Minimum>(b.s, a.l, b.l);
    maximum: ALL, EXACT, [values(&DIMS), positive(&DIMS)] => |[a, b]| a.s.binary_impl::<op::Maximum>(b.s, a.l, b.l);
    add_of_many_axes: ALL, EXACT, [values(&MANY), positive(&MANY).tight()] => |[a, b]| a.s.binary_impl::<op::Add>(b.s, a.l, b.l);
    one_strided: ALL, EXACT, [values(&DIMS), positive(&DIMS).tight()] => |[a, b]| a.s.binary_impl::<op::Add>(b.s, a.l, b.l);
    eq: ALL, EXACT, [values(&DIMS), values(&DIMS).of(|i| (i % 3) as f64)] => |[a, b]| a.s.cmp(CmpOp::Eq, b.s, a.l, b.l);
    ne: ALL, EXACT, [values(&DIMS), values(&DIMS).of(|i| (i % 3) as f64)] => |[a, b]| a.s.cmp(CmpOp::Ne, b.s, a.l, b.l);
    lt: ALL, EXACT, [values(&DIMS), values(&DIMS).of(|i| (i % 3) as f64)] => |[a, b]| a.s.cmp(CmpOp::Lt, b.s, a.l, b.l);
    le: ALL, EXACT, [values(&DIMS), values(&DIMS).of(|i| (i % 3) as f64)] => |[a, b]| a.s.cmp(CmpOp::Le, b.s, a.l, b.l);
    gt: ALL, EXACT, [values(&DIMS), values(&DIMS).of(|i| (i % 3) as f64)] => |[a, b]| a.s.cmp(CmpOp::Gt, b.s, a.l, b.l);
    ge: ALL, EXACT, [values(&DIMS), values(&DIMS).of(|i| (i % 3) as f64)] => |[a, b]| a.s.cmp(CmpOp::Ge, b.s, a.l, b.l);
    nothing: ALL, EXACT, [values(&[2, 0, 3]), values(&[2, 0, 3])] => |[a, b]| a.s.binary_impl::<op::Add>(b.s, a.l, b.l);
    eq_of_special_numbers: FLOATS, EXACT, [special(&DIMS), special(&DIMS).of(|i| [f64::NAN, 0.5, f64::INFINITY, -0.0][i % 4])] => |[a, b]| a.s.cmp(CmpOp::Eq, b.s, a.l, b.l);
    ne_of_special_numbers: FLOATS, EXACT, [special(&DIMS), special(&DIMS).of(|i| [f64::NAN, 0.5, f64::INFINITY, -0.0][i % 4])] => |[a, b]| a.s.cmp(CmpOp::Ne, b.s, a.l, b.l);
    lt_of_special_numbers: FLOATS, EXACT, [special(&DIMS), special(&DIMS).of(|i| [f64::NAN, 0.5, f64::INFINITY, -0.0][i % 4])] => |[a, b]| a.s.cmp(CmpOp::Lt, b.s, a.l, b.l);
    le_of_special_numbers: FLOATS, EXACT, [special(&DIMS), special(&DIMS).of(|i| [f64::NAN, 0.5, f64::INFINITY, -0.0][i % 4])] => |[a, b]| a.s.cmp(CmpOp::Le, b.s, a.l, b.l);
    gt_of_special_numbers: FLOATS, EXACT, [special(&DIMS), special(&DIMS).of(|i| [f64::NAN, 0.5, f64::INFINITY, -0.0][i % 4])] => |[a, b]| a.s.cmp(CmpOp::Gt, b.s, a.l, b.l);
    ge_of_special_numbers: FLOATS, EXACT, [special(&DIMS), special(&DIMS).of(|i| [f64::NAN, 0.5, f64::INFINITY, -0.0][i % 4])] => |[a, b]| a.s.cmp(CmpOp::Ge, b.s, a.l, b.l);
    add_of_special_numbers: FLOATS, EXACT, [special(&DIMS), special(&DIMS).of(|i| [f64::NAN, 0.5, f64::INFINITY, -0.0][i % 4])] => |[a, b]| a.s.binary_impl::<op::Add>(b.s, a.l, b.l);
    sub_of_special_numbers: FLOATS, EXACT, [special(&DIMS), special(&DIMS).of(|i| [f64::NAN, 0.5, f64::INFINITY, -0.0][i % 4])] => |[a, b]| a.s.binary_impl::<op::Sub>(b.s, a.l, b.l);
    mul_of_special_numbers: FLOATS, EXACT, [special(&DIMS), special(&DIMS).of(|i| [f64::NAN, 0.5, f64::INFINITY, -0.0][i % 4])] => |[a, b]| a.s.binary_impl::<op::Mul>(b.s, a.l, b.l);
    div_of_special_numbers: FLOATS, EXACT, [special(&DIMS), special(&DIMS).of(|i| [f64::NAN, 0.5, f64::INFINITY, -0.0][i % 4])] => |[a, b]| a.s.binary_impl::<op::Div>(b.s, a.l, b.l);
}
