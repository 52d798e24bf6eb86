//! Copies, and writing one value.

use candle_core::backend::BackendStorage;
use candle_core::scalar::Scalar;
use candle_core::{DType, Layout};

use crate::compare::EXACT;
use crate::given::values;
use crate::{cases, ALL};

const DIMS: [usize; 3] = [2, 3, 5];

const MANY: [usize; 7] = [2, 1, 3, 2, 1, 2, 3];

/// The number 1 of each dtype.
fn one<S: BackendStorage>(storage: &S) -> Scalar {
    Scalar::one(storage.dtype())
}

cases! {
    try_clone: ALL, EXACT, [values(&DIMS)] => |[x]| x.s.try_clone(x.l);
    copy_to_the_beginning: ALL, EXACT, [values(&DIMS), values(&[40]).tight()] =>
        |[x, y]| y.s.try_clone(y.l).and_then(|mut y| x.s.copy_strided_src(&mut y, 0, x.l).map(|()| y));
    copy_to_an_offset: ALL, EXACT, [values(&DIMS), values(&[40]).tight()] =>
        |[x, y]| y.s.try_clone(y.l).and_then(|mut y| x.s.copy_strided_src(&mut y, 7, x.l).map(|()| y));
    copy_over_all: ALL, EXACT, [values(&DIMS), values(&[30]).tight()] =>
        |[x, y]| y.s.try_clone(y.l).and_then(|mut y| x.s.copy_strided_src(&mut y, 0, x.l).map(|()| y));
    copy_of_nothing: ALL, EXACT, [values(&[2, 0]).tight(), values(&[3]).tight()] =>
        |[x, y]| y.s.try_clone(y.l).and_then(|mut y| x.s.copy_strided_src(&mut y, 3, x.l).map(|()| y));
    copy_of_many_axes: ALL, EXACT, [values(&MANY), values(&[80]).tight()] =>
        |[x, y]| y.s.try_clone(y.l).and_then(|mut y| x.s.copy_strided_src(&mut y, 7, x.l).map(|()| y));
    copy_of_one_element: ALL, EXACT, [values(&[]), values(&[3]).tight()] =>
        |[x, y]| y.s.try_clone(y.l).and_then(|mut y| x.s.copy_strided_src(&mut y, 1, x.l).map(|()| y));
    copy2d: ALL, EXACT, [values(&[30]).tight(), values(&[40]).tight()] =>
        |[x, y]| y.s.try_clone(y.l).and_then(|mut y| x.s.copy2d(&mut y, 3, 4, 7, 9, 2, 5).map(|()| y));
    copy2d_of_tight_rows: ALL, EXACT, [values(&[30]).tight(), values(&[40]).tight()] =>
        |[x, y]| y.s.try_clone(y.l).and_then(|mut y| x.s.copy2d(&mut y, 3, 4, 4, 4, 1, 2).map(|()| y));
    copy2d_over_its_own_rows: ALL, EXACT, [values(&[30]).tight(), values(&[40]).tight()] =>
        |[x, y]| y.s.try_clone(y.l).and_then(|mut y| x.s.copy2d(&mut y, 3, 4, 5, 2, 1, 2).map(|()| y));
    copy2d_of_nothing: ALL, EXACT, [values(&[30]).tight(), values(&[40]).tight()] =>
        |[x, y]| y.s.try_clone(y.l).and_then(|mut y| x.s.copy2d(&mut y, 0, 4, 4, 4, 1, 2).map(|()| y));
    const_set: ALL, EXACT, [values(&DIMS)] =>
        |[x]| x.s.try_clone(x.l).and_then(|mut y| y.const_set(one(x.s), x.l).map(|()| y));
    const_set_of_many_axes: ALL, EXACT, [values(&MANY)] =>
        |[x]| x.s.try_clone(x.l).and_then(|mut y| y.const_set(one(x.s), x.l).map(|()| y));
    const_set_of_nothing: ALL, EXACT, [values(&[6]).tight()] =>
        |[x]| x.s.try_clone(x.l).and_then(|mut y| y.const_set(one(x.s), &Layout::contiguous((2, 0))).map(|()| y));
    const_set_of_overlapping_windows: ALL, EXACT, [values(&[12]).tight()] =>
        |[x]| x.s.try_clone(x.l).and_then(|mut y| y.const_set(one(x.s), &Layout::new((3, 4).into(), vec![2, 1], 1)).map(|()| y));
}

#[test]
fn a_value_of_another_dtype_is_an_error() {
    for device in crate::devices() {
        let x = crate::given::Made::new(
            &values(&DIMS),
            DType::F32,
            crate::given::Arrangement::Contiguous,
            &device,
        );
        let x = x.ours();
        let mut y = x.s.try_clone(x.l).expect("a clone");
        let error = y.const_set(Scalar::one(DType::F64), x.l).unwrap_err().to_string();
        assert!(error.contains("F32") && error.contains("F64"), "{error}");
    }
}
