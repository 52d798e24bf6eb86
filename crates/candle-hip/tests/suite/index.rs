//! Reading and writing by ids.

use candle_core::backend::BackendStorage;
use candle_core::{DType, Layout, Result};

use crate::compare::{sum, EXACT};
use crate::given::{ids, ids_and_none, values, Arrangement, Given, Made};
use crate::{cases, ALL, FLOATS, INTEGERS};

const X: [usize; 3] = [2, 4, 5];
const IDS: [usize; 3] = [2, 3, 5];

/// candle's CPU reads contiguous operands only. Its CUDA copies what `index_add` adds to, and then uses the layout of the original.
fn x() -> Given {
    values(&X).tight_for_candle()
}

fn source() -> Given {
    values(&IDS).of(|i| (i * 3 % 8) as f64 / 4.0).tight_for_candle()
}

/// What a call writes by ids: candle's CPU takes contiguous elements only.
fn target() -> Given {
    values(&X).tight_for_candle().written()
}

/// The ids of `index_select`: candle's CUDA reads them as if they were contiguous.
fn list(given: Given) -> Given {
    given.tight_for_candle()
}

/// The elements at a layout, in order.
fn at<S: BackendStorage>(storage: &S, l: &Layout) -> Result<S> {
    storage.to_dtype(l, storage.dtype())
}

cases! {
    gather_by_u8: ALL, EXACT, [x(), ids(&IDS, DType::U8).tight_for_candle()] => |[x, i]| x.s.gather(x.l, i.s, i.l, 1);
    gather_by_u32: ALL, EXACT, [x(), ids(&IDS, DType::U32).tight_for_candle()] => |[x, i]| x.s.gather(x.l, i.s, i.l, 1);
    gather_by_i64: ALL, EXACT, [x(), ids(&IDS, DType::I64).tight_for_candle()] => |[x, i]| x.s.gather(x.l, i.s, i.l, 1);
    gather_of_no_element: ALL, EXACT, [x(), ids_and_none(&IDS, DType::U32).tight_for_candle()] => |[x, i]| x.s.gather(x.l, i.s, i.l, 1);
    index_select: ALL, EXACT, [x(), list(ids(&[6], DType::U32))] => |[x, i]| x.s.index_select(i.s, x.l, i.l, 1);
    index_select_by_i64: ALL, EXACT, [x(), list(ids(&[6], DType::I64))] => |[x, i]| x.s.index_select(i.s, x.l, i.l, 2);
    index_select_by_u8: ALL, EXACT, [x(), list(ids(&[6], DType::U8))] => |[x, i]| x.s.index_select(i.s, x.l, i.l, 1);
    index_select_of_no_element: ALL, EXACT, [x(), list(ids_and_none(&[6], DType::U8))] => |[x, i]| x.s.index_select(i.s, x.l, i.l, 1);
    index_select_of_no_element_by_i64: ALL, EXACT, [x(), list(ids_and_none(&[6], DType::I64))] => |[x, i]| x.s.index_select(i.s, x.l, i.l, 1);
    index_add: FLOATS, sum(4, 4.0), [x(), ids(&[3], DType::U32).tight(), source()] => |[x, i, s]| x.s.index_add(x.l, i.s, i.l, s.s, s.l, 1);
    index_add_of_integers: INTEGERS, EXACT, [x(), ids(&[3], DType::I64).tight(), source()] => |[x, i, s]| x.s.index_add(x.l, i.s, i.l, s.s, s.l, 1);
    index_add_by_u8: ALL, sum(4, 4.0), [x(), ids(&[3], DType::U8).tight(), source()] => |[x, i, s]| x.s.index_add(x.l, i.s, i.l, s.s, s.l, 1);
    index_add_by_i32: ALL, sum(4, 4.0), [x(), ids(&[3], DType::I32).tight(), source()] => |[x, i, s]| x.s.index_add(x.l, i.s, i.l, s.s, s.l, 1);
    index_add_by_i16: ALL, sum(4, 4.0), [x(), ids(&[3], DType::I16).tight(), source()] => |[x, i, s]| x.s.index_add(x.l, i.s, i.l, s.s, s.l, 1);
    index_add_to_no_element_by_i16: ALL, sum(4, 4.0), [x(), ids_and_none(&[3], DType::I16).tight(), source()] => |[x, i, s]| x.s.index_add(x.l, i.s, i.l, s.s, s.l, 1);
    index_add_to_no_element_by_i32: ALL, sum(4, 4.0), [x(), ids_and_none(&[3], DType::I32).tight(), source()] => |[x, i, s]| x.s.index_add(x.l, i.s, i.l, s.s, s.l, 1);
    index_add_to_no_element: ALL, sum(4, 4.0), [x(), ids_and_none(&[3], DType::U32).tight(), source()] => |[x, i, s]| x.s.index_add(x.l, i.s, i.l, s.s, s.l, 1);
    scatter: ALL, EXACT, [target(), ids(&IDS, DType::U32).tight_for_candle(), source()] =>
        |[x, i, s]| x.s.try_clone(x.l).and_then(|mut y| y.scatter_set(x.l, i.s, i.l, s.s, s.l, 1).and_then(|()| at(&y, x.l)));
    scatter_by_u8: ALL, EXACT, [target(), ids(&IDS, DType::U8).tight_for_candle(), source()] =>
        |[x, i, s]| x.s.try_clone(x.l).and_then(|mut y| y.scatter_set(x.l, i.s, i.l, s.s, s.l, 1).and_then(|()| at(&y, x.l)));
    scatter_to_no_element: ALL, EXACT, [target(), ids_and_none(&IDS, DType::I64).tight_for_candle(), source()] =>
        |[x, i, s]| x.s.try_clone(x.l).and_then(|mut y| y.scatter_set(x.l, i.s, i.l, s.s, s.l, 1).and_then(|()| at(&y, x.l)));
    scatter_add: ALL, sum(4, 4.0), [target(), ids(&IDS, DType::U32).tight_for_candle(), source()] =>
        |[x, i, s]| x.s.try_clone(x.l).and_then(|mut y| y.scatter_add_set(x.l, i.s, i.l, s.s, s.l, 1).and_then(|()| at(&y, x.l)));
    scatter_add_by_u8: ALL, sum(4, 4.0), [target(), ids(&IDS, DType::U8).tight_for_candle(), source()] =>
        |[x, i, s]| x.s.try_clone(x.l).and_then(|mut y| y.scatter_add_set(x.l, i.s, i.l, s.s, s.l, 1).and_then(|()| at(&y, x.l)));
    scatter_add_by_i64: ALL, sum(4, 4.0), [target(), ids(&IDS, DType::I64).tight_for_candle(), source()] =>
        |[x, i, s]| x.s.try_clone(x.l).and_then(|mut y| y.scatter_add_set(x.l, i.s, i.l, s.s, s.l, 1).and_then(|()| at(&y, x.l)));
    scatter_add_by_i16: ALL, sum(4, 4.0), [target(), ids(&IDS, DType::I16).tight_for_candle(), source()] =>
        |[x, i, s]| x.s.try_clone(x.l).and_then(|mut y| y.scatter_add_set(x.l, i.s, i.l, s.s, s.l, 1).and_then(|()| at(&y, x.l)));
    scatter_add_by_i32: ALL, sum(4, 4.0), [target(), ids(&IDS, DType::I32).tight_for_candle(), source()] =>
        |[x, i, s]| x.s.try_clone(x.l).and_then(|mut y| y.scatter_add_set(x.l, i.s, i.l, s.s, s.l, 1).and_then(|()| at(&y, x.l)));
    scatter_add_to_no_element: ALL, sum(4, 4.0), [target(), ids_and_none(&IDS, DType::U32).tight_for_candle(), source()] =>
        |[x, i, s]| x.s.try_clone(x.l).and_then(|mut y| y.scatter_add_set(x.l, i.s, i.l, s.s, s.l, 1).and_then(|()| at(&y, x.l)));
}

#[test]
fn an_axis_out_of_range_is_an_error() {
    for device in crate::devices() {
        let made = |given: &Given, dtype| Made::new(given, dtype, Arrangement::Contiguous, &device);
        let (x, i) = (made(&values(&[2, 2]), DType::F32), made(&ids(&[2, 2], DType::U32), DType::U32));
        let list = made(&ids(&[2], DType::U32), DType::U32);
        let (x, i, list) = (x.ours(), i.ours(), list.ours());
        for axis in [2, usize::MAX] {
            let mut y = x.s.try_clone(x.l).expect("a clone");
            assert!(x.s.gather(x.l, i.s, i.l, axis).is_err());
            assert!(x.s.index_select(list.s, x.l, list.l, axis).is_err());
            assert!(x.s.index_add(x.l, list.s, list.l, x.s, x.l, axis).is_err());
            assert!(y.scatter_set(x.l, i.s, i.l, x.s, x.l, axis).is_err());
            assert!(y.scatter_add_set(x.l, i.s, i.l, x.s, x.l, axis).is_err());
        }
    }
}
