//! rotg: the rotation that makes b zero.

use super::super::c::forms::forms;
use super::super::check::{Outcome, POINTER, ensure};
use super::super::handle::{Call, begin, status};
use super::super::operand::{Operand, Plan};
use super::super::scalar::{Element, Field, Int, Real};
use hip_sys::rocblas::{rocblas_handle, rocblas_status};

forms! { "rotg", "" [T: Element<Value: Field>, R: Element<Value = <T::Value as Field>::Part>] [T::Value]
rotg([a: one T, stride_a], [b: one T, stride_b], [c: one R, stride_c], [s: one T, stride_s], batch) }

unsafe fn rotg<T: Field>(call: Call, a: Operand, b: Operand, c: Operand, s: Operand, batch: i64) -> Outcome {
    if batch <= 0 {
        return Ok(());
    }
    ensure([a, b, c, s].iter().all(|operand| !operand.is_null()), POINTER)?;
    let batch = batch as usize;
    let mut plan = Plan::new(call, batch);
    if plan.on_host() {
        return plan.now(|| {
            for index in 0..batch {
                // SAFETY: S11: the C function's contract: the host's memory, and the host's addresses.
                unsafe { rotate::<T>(a.at(index), b.at(index), c.at(index), s.at(index)) };
            }
        });
    }
    let (a, b) = (plan.write::<T>(a, 1)?, plan.write::<T>(b, 1)?);
    let (c, s) = (plan.write::<T::Part>(c, 1)?, plan.write::<T>(s, 1)?);
    // SAFETY: S2: named above.
    let body = move |index| unsafe { rotate::<T>(a.at(index), b.at(index), c.at(index), s.at(index)) };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(100.0, body) }
}

/// # Safety
/// The pointers are live, and nobody else uses the numbers.
unsafe fn rotate<T: Field>(a: *mut T, b: *mut T, c: *mut T::Part, s: *mut T) {
    // SAFETY: S2: the caller vouches for the pointers.
    unsafe {
        let (old_a, old_b) = (a.read(), b.read());
        let made = if is_complex::<T>() { complex(old_a, old_b) } else { real(old_a, old_b) };
        a.write(made.a);
        b.write(made.b);
        c.write(made.c);
        s.write(made.s);
    }
}

fn is_complex<T: Field>() -> bool {
    size_of::<T>() != size_of::<<T as Field>::Part>()
}

struct Rotation<T: Field> {
    a: T,
    b: T,
    c: <T as Field>::Part,
    s: T,
}

/// b receives the value from which c and s can be computed again.
fn real<T: Field>(a: T, b: T) -> Rotation<T> {
    let one = <T::Part as Field>::ONE;
    let zero = <T::Part as Field>::ZERO;
    let (x, y) = (a.real(), b.real());
    let length = x.hypot(y);
    if length == zero {
        return Rotation { a: T::ZERO, b: T::ZERO, c: one, s: T::ZERO };
    }
    let larger = if x.abs() > y.abs() { x } else { y };
    let r = length.copysign(larger);
    let (c, s) = (x.over(r), y.over(r));
    let z = if x.abs() > y.abs() {
        s
    } else if c != zero {
        one.over(c)
    } else {
        one
    };
    Rotation { a: T::of_real(r), b: T::of_real(z), c, s: T::of_real(s) }
}

/// b is unchanged.
fn complex<T: Field>(a: T, b: T) -> Rotation<T> {
    let size = |z: T| z.real().hypot(z.imaginary());
    let (long_a, long_b) = (size(a), size(b));
    if long_a == <T::Part as Field>::ZERO {
        return Rotation { a: b, b, c: <T::Part as Field>::ZERO, s: T::ONE };
    }
    let norm = long_a.hypot(long_b);
    let direction = a.over(T::of_real(long_a));
    let s = direction * b.conj();
    Rotation { a: direction * T::of_real(norm), b, c: long_a.over(norm), s: s.over(T::of_real(norm)) }
}
