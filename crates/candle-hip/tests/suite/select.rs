//! Choosing by a mask.

use candle_core::backend::BackendStorage;
use candle_core::DType;

use crate::compare::EXACT;
use crate::given::{flags, positive, values};
use crate::{cases, ALL};

const DIMS: [usize; 3] = [2, 3, 5];

cases! {
    by_u8: ALL, EXACT, [flags(&DIMS, DType::U8), values(&DIMS), positive(&DIMS)] => |[c, a, b]| c.s.where_cond(c.l, a.s, a.l, b.s, b.l);
    by_u32: ALL, EXACT, [flags(&DIMS, DType::U32), values(&DIMS), positive(&DIMS)] => |[c, a, b]| c.s.where_cond(c.l, a.s, a.l, b.s, b.l);
    by_i64: ALL, EXACT, [flags(&DIMS, DType::I64), values(&DIMS), positive(&DIMS)] => |[c, a, b]| c.s.where_cond(c.l, a.s, a.l, b.s, b.l);
    by_i16: ALL, EXACT, [flags(&DIMS, DType::I16), values(&DIMS), positive(&DIMS)] => |[c, a, b]| c.s.where_cond(c.l, a.s, a.l, b.s, b.l);
    by_i32: ALL, EXACT, [flags(&DIMS, DType::I32), values(&DIMS), positive(&DIMS)] => |[c, a, b]| c.s.where_cond(c.l, a.s, a.l, b.s, b.l);
}
