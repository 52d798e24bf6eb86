//! Operations on each element.

use candle_core::backend::BackendStorage;
use candle_core::{op, DType};

use crate::compare::{Tolerance, EXACT, FORMULA, FUNCTION};
use crate::given::{positive, special, values};
use crate::{cases, ALL, FLOATS, INTEGERS};

/// candle rounds the product before it adds; tensor-core rounds once. Half a unit of the product, which is at most 10 here.
const AFFINE: Tolerance = Tolerance::of(1.0, 10.0);

/// candle's conversion of `f8e4m3` to `f64` calls itself and never ends.
const WITHOUT_F8: [DType; 9] = [
    DType::U8,
    DType::U32,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::BF16,
    DType::F16,
    DType::F32,
    DType::F64,
];

const DIMS: [usize; 3] = [2, 3, 5];
const MANY: [usize; 7] = [2, 1, 3, 2, 1, 2, 3];

cases! {
    exp: FLOATS, FUNCTION, [values(&DIMS)] => |[x]| x.s.unary_impl::<op::Exp>(x.l);
    log: FLOATS, FUNCTION, [positive(&DIMS)] => |[x]| x.s.unary_impl::<op::Log>(x.l);
    sin: FLOATS, FUNCTION, [values(&DIMS)] => |[x]| x.s.unary_impl::<op::Sin>(x.l);
    cos: FLOATS, FUNCTION, [values(&DIMS)] => |[x]| x.s.unary_impl::<op::Cos>(x.l);
    tanh: FLOATS, FUNCTION, [values(&DIMS)] => |[x]| x.s.unary_impl::<op::Tanh>(x.l);
    neg: FLOATS, EXACT, [values(&DIMS)] => |[x]| x.s.unary_impl::<op::Neg>(x.l);
    recip: FLOATS, EXACT, [positive(&DIMS)] => |[x]| x.s.unary_impl::<op::Recip>(x.l);
    sqr: FLOATS, EXACT, [values(&DIMS)] => |[x]| x.s.unary_impl::<op::Sqr>(x.l);
    sqrt: FLOATS, EXACT, [positive(&DIMS)] => |[x]| x.s.unary_impl::<op::Sqrt>(x.l);
    gelu: FLOATS, FORMULA, [values(&DIMS)] => |[x]| x.s.unary_impl::<op::Gelu>(x.l);
    gelu_erf: FLOATS, FORMULA, [values(&DIMS)] => |[x]| x.s.unary_impl::<op::GeluErf>(x.l);
    erf: FLOATS, FUNCTION, [values(&DIMS)] => |[x]| x.s.unary_impl::<op::Erf>(x.l);
    silu: FLOATS, FORMULA, [values(&DIMS)] => |[x]| x.s.unary_impl::<op::Silu>(x.l);
    abs: ALL, EXACT, [values(&DIMS)] => |[x]| x.s.unary_impl::<op::Abs>(x.l);
    ceil: ALL, EXACT, [values(&DIMS)] => |[x]| x.s.unary_impl::<op::Ceil>(x.l);
    floor: ALL, EXACT, [values(&DIMS)] => |[x]| x.s.unary_impl::<op::Floor>(x.l);
    round: ALL, EXACT, [values(&DIMS)] => |[x]| x.s.unary_impl::<op::Round>(x.l);
    relu: ALL, EXACT, [values(&DIMS)] => |[x]| x.s.unary_impl::<op::Relu>(x.l);
    sign: ALL, EXACT, [values(&DIMS)] => |[x]| x.s.unary_impl::<op::Sign>(x.l);
    abs_of_many_axes: ALL, EXACT, [values(&MANY)] => |[x]| x.s.unary_impl::<op::Abs>(x.l);
    abs_of_one_element: ALL, EXACT, [values(&[])] => |[x]| x.s.unary_impl::<op::Abs>(x.l);
    powf: FLOATS, FUNCTION, [positive(&DIMS)] => |[x]| x.s.powf(x.l, 2.5);
    elu: FLOATS, FORMULA, [values(&DIMS)] => |[x]| x.s.elu(x.l, 0.5);
    affine: FLOATS, AFFINE, [values(&DIMS)] => |[x]| x.s.affine(x.l, 1.5, -0.75);
    affine_of_integers: INTEGERS, EXACT, [values(&DIMS)] => |[x]| x.s.affine(x.l, 3.0, 2.0);
    affine_of_integers_truncates_its_arguments: INTEGERS, EXACT, [values(&DIMS)] => |[x]| x.s.affine(x.l, 1.75, 2.5);
    to_u8: ALL, EXACT, [positive(&DIMS)] => |[x]| x.s.to_dtype(x.l, DType::U8);
    to_u32: ALL, EXACT, [positive(&DIMS)] => |[x]| x.s.to_dtype(x.l, DType::U32);
    to_i16: ALL, EXACT, [values(&DIMS)] => |[x]| x.s.to_dtype(x.l, DType::I16);
    to_i32: ALL, EXACT, [values(&DIMS)] => |[x]| x.s.to_dtype(x.l, DType::I32);
    to_i64: ALL, EXACT, [values(&DIMS)] => |[x]| x.s.to_dtype(x.l, DType::I64);
    to_f8e4m3: ALL, EXACT, [values(&DIMS)] => |[x]| x.s.to_dtype(x.l, DType::F8E4M3);
    to_bf16: ALL, EXACT, [values(&DIMS)] => |[x]| x.s.to_dtype(x.l, DType::BF16);
    to_f16: ALL, EXACT, [values(&DIMS)] => |[x]| x.s.to_dtype(x.l, DType::F16);
    to_f32: ALL, EXACT, [values(&DIMS)] => |[x]| x.s.to_dtype(x.l, DType::F32);
    to_f64: WITHOUT_F8, EXACT, [values(&DIMS)] => |[x]| x.s.to_dtype(x.l, DType::F64);
    casts_truncate_and_saturate: [DType::F32, DType::F64], EXACT, [values(&DIMS).of(|i| (i as f64 - 12.5) * 1e4)] =>
        |[x]| x.s.to_dtype(x.l, DType::I16);
    casts_of_floats_to_unsigned_numbers_saturate: [DType::BF16, DType::F16, DType::F32], EXACT, [values(&DIMS).of(|i| (i as f64 - 12.5) * 40.0)] =>
        |[x]| x.s.to_dtype(x.l, DType::U8);
    casts_of_integers_wrap: INTEGERS, EXACT, [values(&DIMS).of(|i| (i as f64 - 12.5) * 2e4)] => |[x]| x.s.to_dtype(x.l, DType::I16);
    casts_of_integers_to_unsigned_numbers_wrap: INTEGERS, EXACT, [values(&DIMS)] => |[x]| x.s.to_dtype(x.l, DType::U8);
    casts_of_signed_numbers_to_u32_wrap: INTEGERS, EXACT, [values(&DIMS)] => |[x]| x.s.to_dtype(x.l, DType::U32);
    casts_of_special_numbers: [DType::BF16, DType::F16, DType::F32, DType::F64], EXACT, [special(&DIMS)] => |[x]| x.s.to_dtype(x.l, DType::I32);
    exp_of_special_numbers: FLOATS, FUNCTION, [special(&DIMS)] => |[x]| x.s.unary_impl::<op::Exp>(x.l);
    log_of_special_numbers: FLOATS, FUNCTION, [special(&DIMS)] => |[x]| x.s.unary_impl::<op::Log>(x.l);
    sin_of_special_numbers: FLOATS, FUNCTION, [special(&DIMS)] => |[x]| x.s.unary_impl::<op::Sin>(x.l);
    cos_of_special_numbers: FLOATS, FUNCTION, [special(&DIMS)] => |[x]| x.s.unary_impl::<op::Cos>(x.l);
    tanh_of_special_numbers: FLOATS, FUNCTION, [special(&DIMS)] => |[x]| x.s.unary_impl::<op::Tanh>(x.l);
    neg_of_special_numbers: FLOATS, EXACT, [special(&DIMS)] => |[x]| x.s.unary_impl::<op::Neg>(x.l);
    recip_of_special_numbers: FLOATS, EXACT, [special(&DIMS)] => |[x]| x.s.unary_impl::<op::Recip>(x.l);
    sqr_of_special_numbers: FLOATS, EXACT, [special(&DIMS)] => |[x]| x.s.unary_impl::<op::Sqr>(x.l);
    sqrt_of_special_numbers: FLOATS, EXACT, [special(&DIMS)] => |[x]| x.s.unary_impl::<op::Sqrt>(x.l);
    gelu_of_special_numbers: FLOATS, FORMULA, [special(&DIMS)] => |[x]| x.s.unary_impl::<op::Gelu>(x.l);
    gelu_erf_of_special_numbers: FLOATS, FORMULA, [special(&DIMS)] => |[x]| x.s.unary_impl::<op::GeluErf>(x.l);
    erf_of_special_numbers: FLOATS, FUNCTION, [special(&DIMS)] => |[x]| x.s.unary_impl::<op::Erf>(x.l);
    silu_of_special_numbers: FLOATS, FORMULA, [special(&DIMS)] => |[x]| x.s.unary_impl::<op::Silu>(x.l);
    abs_of_special_numbers: FLOATS, EXACT, [special(&DIMS)] => |[x]| x.s.unary_impl::<op::Abs>(x.l);
    ceil_of_special_numbers: FLOATS, EXACT, [special(&DIMS)] => |[x]| x.s.unary_impl::<op::Ceil>(x.l);
    floor_of_special_numbers: FLOATS, EXACT, [special(&DIMS)] => |[x]| x.s.unary_impl::<op::Floor>(x.l);
    round_of_special_numbers: FLOATS, EXACT, [special(&DIMS)] => |[x]| x.s.unary_impl::<op::Round>(x.l);
    sign_of_special_numbers: FLOATS, EXACT, [special(&DIMS)] => |[x]| x.s.unary_impl::<op::Sign>(x.l);
    powf_of_special_numbers: FLOATS, FUNCTION, [special(&DIMS)] => |[x]| x.s.powf(x.l, 2.5);
    elu_of_special_numbers: FLOATS, FORMULA, [special(&DIMS)] => |[x]| x.s.elu(x.l, 0.5);
    affine_of_special_numbers: FLOATS, AFFINE, [special(&DIMS)] => |[x]| x.s.affine(x.l, 1.5, -0.75);
}
