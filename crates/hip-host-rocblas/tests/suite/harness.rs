//! The numbers, arguments and calls of the tests.

use crate::common::{Buffer, Hip, Plain, hip};
use half::{bf16, f16};
use hip_sys::RocblasTable;
use hip_sys::hip::{hipStream_t, hipStreamNonBlocking};
use hip_sys::rocblas::*;
use num_complex::Complex64;
use std::cell::UnsafeCell;
use std::ffi::c_void;

pub(crate) type Z = Complex64;

pub(crate) const SUCCESS: rocblas_status = rocblas_status::rocblas_status_success;

/// The number of members in a batch.
pub(crate) const BATCH: usize = 3;

/// A type of rocBLAS.
pub(crate) trait Elem: Plain {
    const COMPLEX: bool;
    /// Half the distance from 1 to the next larger number.
    const EPS: f64;
    fn of(z: Z) -> Self;
    fn z(self) -> Z;
}

macro_rules! elem {
    ($t:ty, $complex:literal, $eps:expr, $of:expr, $z:expr) => {
        impl Elem for $t {
            const COMPLEX: bool = $complex;
            const EPS: f64 = $eps;
            fn of(z: Z) -> Self {
                let of: fn(Z) -> Self = $of;
                of(z)
            }
            fn z(self) -> Z {
                let z: fn(Self) -> Z = $z;
                z(self)
            }
        }
    };
}

impl Plain for rocblas_float_complex {}
impl Plain for rocblas_double_complex {}
impl Plain for rocblas_half {}
impl Plain for rocblas_bfloat16 {}
impl Plain for i8 {}

const SINGLE: f64 = f32::EPSILON as f64 / 2.0;
const DOUBLE: f64 = f64::EPSILON / 2.0;

elem!(f32, false, SINGLE, |z| z.re as f32, |x| Z::from(f64::from(x)));
elem!(f64, false, DOUBLE, |z| z.re, Z::from);
elem!(rocblas_half, false, 1.0 / 2048.0, |z| rocblas_half { data: f16::from_f64(z.re).to_bits() }, |x| {
    Z::from(f16::from_bits(x.data).to_f64())
});
elem!(
    rocblas_bfloat16,
    false,
    1.0 / 256.0,
    |z| rocblas_bfloat16 { data: bf16::from_f64(z.re).to_bits() },
    |x| Z::from(bf16::from_bits(x.data).to_f64())
);
elem!(
    rocblas_float_complex,
    true,
    SINGLE,
    |z| rocblas_float_complex { x: z.re as f32, y: z.im as f32 },
    |x| Z::new(f64::from(x.x), f64::from(x.y))
);
elem!(rocblas_double_complex, true, DOUBLE, |z| rocblas_double_complex { x: z.re, y: z.im }, |x| Z::new(
    x.x, x.y
));
elem!(i8, false, 0.0, |z| z.re as i8, |x| Z::from(f64::from(x)));
elem!(i32, false, 0.0, |z| z.re as i32, |x| Z::from(f64::from(x)));
elem!(i64, false, 0.0, |z| z.re as i64, |x| Z::from(x as f64));

/// The value rounded to that type.
pub(crate) fn rounded<T: Elem>(z: Z) -> Z {
    T::of(z).z()
}

/// Multiples of ½ (whole numbers for integer types) from −2 to 2: sums of some thousand products of two are exact in f32.
pub(crate) fn numbers<T: Elem>(count: usize, seed: u64) -> Vec<Z> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % 9) as f64 / 2.0 - 2.0
    };
    (0..count).map(|_| Z::new(next(), next())).map(rounded::<T>).collect()
}

/// The library, a handle, and a stream that the handle's calls go to.
pub(crate) struct Blas {
    pub table: RocblasTable,
    pub handle: rocblas_handle,
    pub stream: hipStream_t,
    pub hip: Hip,
}

impl Drop for Blas {
    fn drop(&mut self) {
        // SAFETY: S1, S11: the handle is this one's.
        unsafe { (self.table.rocblas_destroy_handle)(self.handle) };
        call!(self.hip, hipStreamDestroy(self.stream));
    }
}

pub(crate) fn blas() -> Blas {
    let hip = hip();
    let table = hip_host_rocblas::library().table().clone();
    let (mut handle, stream) = (std::ptr::null_mut(), hip.stream(hipStreamNonBlocking));
    // SAFETY: S1, S11: live variables.
    unsafe {
        assert_eq!((table.rocblas_create_handle)(&mut handle), SUCCESS);
        assert_eq!((table.rocblas_set_stream)(handle, stream), SUCCESS);
    }
    Blas { table, handle, stream, hip }
}

/// Where scalars and results are: in host or device memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Host,
    Device,
}

/// The three forms of a function: plain, by addresses, strided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Plain,
    Batched,
    Strided,
}

impl Form {
    pub(crate) fn count(self) -> usize {
        if self == Self::Plain { 1 } else { BATCH }
    }
}

impl Blas {
    pub(crate) fn sync(&self) {
        ok!(self.hip, hipStreamSynchronize(self.stream));
    }

    pub(crate) fn mode(&self, mode: Mode) {
        let mode = match mode {
            Mode::Host => rocblas_pointer_mode::rocblas_pointer_mode_host,
            Mode::Device => rocblas_pointer_mode::rocblas_pointer_mode_device,
        };
        // SAFETY: S1: a live handle.
        assert_eq!(unsafe { (self.table.rocblas_set_pointer_mode)(self.handle, mode) }, SUCCESS);
    }

    /// Runs a test in each form and mode.
    pub(crate) fn each(&self, test: impl Fn(Form, Mode)) {
        for mode in [Mode::Host, Mode::Device] {
            self.mode(mode);
            for form in [Form::Plain, Form::Batched, Form::Strided] {
                test(form, mode);
            }
        }
        self.mode(Mode::Host);
    }

    /// An operand with numbers of its own.
    pub(crate) fn arg<T: Elem>(&self, len: usize, seed: u64) -> Arg<'_, T> {
        self.arg_of(len, |batch| numbers::<T>(len, seed * 10 + batch as u64))
    }

    /// An operand with those numbers.
    pub(crate) fn arg_of<T: Elem>(&self, len: usize, values: impl Fn(usize) -> Vec<Z>) -> Arg<'_, T> {
        let stride = len + 3;
        let all: Vec<Vec<Z>> = (0..BATCH).map(values).collect();
        let mut memory = vec![T::of(Z::from(1.5)); stride * BATCH];
        for (batch, values) in all.iter().enumerate() {
            for (element, value) in memory[batch * stride..].iter_mut().zip(values) {
                *element = T::of(*value);
            }
        }
        let buffer = self.hip.buffer(&memory);
        let at = |batch: usize| buffer.pointer as u64 + (batch * stride * size_of::<T>()) as u64;
        let addresses = self.hip.buffer(&(0..BATCH).map(at).collect::<Vec<u64>>());
        Arg { buffer, addresses, stride: stride as i64, values: all }
    }

    /// Scalars, or memory for results.
    pub(crate) fn values<T: Elem>(&self, mode: Mode, values: &[Z]) -> Values<'_, T> {
        let values: Vec<T> = values.iter().map(|z| T::of(*z)).collect();
        Values { device: self.hip.buffer(&values), host: UnsafeCell::new(values), mode }
    }
}

/// An operand: a batch of vectors or matrices.
pub(crate) struct Arg<'a, T> {
    buffer: Buffer<'a, T>,
    addresses: Buffer<'a, u64>,
    pub stride: i64,
    /// What they were at first.
    pub values: Vec<Vec<Z>>,
}

impl<T: Elem> Arg<'_, T> {
    pub(crate) fn p(&self) -> *mut T {
        self.buffer.pointer.cast()
    }

    pub(crate) fn any(&self) -> *mut c_void {
        self.buffer.pointer
    }

    pub(crate) fn a<P>(&self) -> *const P {
        self.addresses.pointer.cast()
    }

    /// What they are now.
    pub(crate) fn now(&self) -> Vec<Vec<Z>> {
        let memory: Vec<Z> = self.buffer.read().into_iter().map(Elem::z).collect();
        let parts = memory.chunks(self.stride as usize);
        parts.zip(&self.values).map(|(part, values)| part[..values.len()].to_vec()).collect()
    }

    /// Checks that each member of the call has its expected values and that the others are unchanged.
    pub(crate) fn check(&self, form: Form, wanted: impl Fn(usize) -> Vec<Z>) {
        for (batch, now) in self.now().into_iter().enumerate() {
            let wanted = if batch < form.count() { wanted(batch) } else { self.values[batch].clone() };
            let wanted: Vec<Z> = wanted.into_iter().map(rounded::<T>).collect();
            assert_eq!(now, wanted, "{form:?}, number {batch}");
        }
    }
}

/// Scalars or results, in the host's memory and in the device's.
pub(crate) struct Values<'a, T> {
    device: Buffer<'a, T>,
    host: UnsafeCell<Vec<T>>,
    mode: Mode,
}

impl<T: Elem> Values<'_, T> {
    pub(crate) fn p(&self) -> *mut T {
        match self.mode {
            // SAFETY: S11: nobody else uses the values while the call does.
            Mode::Host => unsafe { (*self.host.get()).as_mut_ptr() },
            Mode::Device => self.device.pointer.cast(),
        }
    }

    pub(crate) fn any(&self) -> *mut c_void {
        self.p().cast()
    }

    pub(crate) fn get(&self) -> Vec<Z> {
        let values = match self.mode {
            // SAFETY: S11: the calls have ended.
            Mode::Host => unsafe { (*self.host.get()).clone() },
            Mode::Device => self.device.read(),
        };
        values.into_iter().map(Elem::z).collect()
    }
}

/// Calls the function of a form. `(e)` is an argument, `[x step]` an operand, `[x as type, step]` an untyped operand, `{x}` an operand
/// without a step, `batch` the batch count.
macro_rules! run {
    ($b:expr, $form:expr, $p:ident $ba:ident $s:ident: $($rest:tt)*) => {
        run!(@ $b, $form, $p $ba $s {} {} {} $($rest)*)
    };
    (@ $b:expr, $form:expr, $p:ident $ba:ident $s:ident {$($pp:tt)*} {$($bb:tt)*} {$($ss:tt)*} [$x:ident $step:expr] $($rest:tt)*) => {
        run!(@ $b, $form, $p $ba $s {$($pp)* $x.p(), $step,} {$($bb)* $x.a(), $step,} {$($ss)* $x.p(), $step, $x.stride,} $($rest)*)
    };
    (@ $b:expr, $form:expr, $p:ident $ba:ident $s:ident {$($pp:tt)*} {$($bb:tt)*} {$($ss:tt)*} [$x:ident as $t:expr, $step:expr] $($rest:tt)*) => {
        run!(@ $b, $form, $p $ba $s {$($pp)* $x.any(), $t, $step,}
            {$($bb)* $x.a::<std::ffi::c_void>().cast_mut(), $t, $step,} {$($ss)* $x.any(), $t, $step, $x.stride,} $($rest)*)
    };
    (@ $b:expr, $form:expr, $p:ident $ba:ident $s:ident {$($pp:tt)*} {$($bb:tt)*} {$($ss:tt)*} {$x:ident} $($rest:tt)*) => {
        run!(@ $b, $form, $p $ba $s {$($pp)* $x.p(),} {$($bb)* $x.a(),} {$($ss)* $x.p(), $x.stride,} $($rest)*)
    };
    (@ $b:expr, $form:expr, $p:ident $ba:ident $s:ident {$($pp:tt)*} {$($bb:tt)*} {$($ss:tt)*} ($e:expr) $($rest:tt)*) => {
        run!(@ $b, $form, $p $ba $s {$($pp)* $e,} {$($bb)* $e,} {$($ss)* $e,} $($rest)*)
    };
    (@ $b:expr, $form:expr, $p:ident $ba:ident $s:ident {$($pp:tt)*} {$($bb:tt)*} {$($ss:tt)*} batch $($rest:tt)*) => {
        run!(@ $b, $form, $p $ba $s {$($pp)*} {$($bb)* crate::harness::BATCH as _,} {$($ss)* crate::harness::BATCH as _,} $($rest)*)
    };
    (@ $b:expr, $form:expr, $p:ident $ba:ident $s:ident {$($pp:tt)*} {$($bb:tt)*} {$($ss:tt)*}) => {{
        // SAFETY: S1, S11: live operands of the sizes that the test gives.
        let status = unsafe {
            match $form {
                crate::harness::Form::Plain => ($b.table.$p)($b.handle, $($pp)*),
                crate::harness::Form::Batched => ($b.table.$ba)($b.handle, $($bb)*),
                crate::harness::Form::Strided => ($b.table.$s)($b.handle, $($ss)*),
            }
        };
        assert_eq!(status, crate::harness::SUCCESS, concat!(stringify!($p), " {:?}"), $form);
        $b.sync();
    }};
}

/// A column-major matrix's element.
pub(crate) fn at(matrix: &[Z], leading: usize, row: usize, column: usize) -> Z {
    matrix[column * leading + row]
}

/// op(a)'s element.
pub(crate) fn op_at(op: rocblas_operation, a: &[Z], leading: usize, row: usize, column: usize) -> Z {
    match op {
        rocblas_operation::rocblas_operation_none => at(a, leading, row, column),
        rocblas_operation::rocblas_operation_transpose => at(a, leading, column, row),
        _ => at(a, leading, column, row).conj(),
    }
}

pub(crate) const OPS: [rocblas_operation; 3] = [
    rocblas_operation::rocblas_operation_none,
    rocblas_operation::rocblas_operation_transpose,
    rocblas_operation::rocblas_operation_conjugate_transpose,
];
pub(crate) const FILLS: [rocblas_fill; 2] =
    [rocblas_fill::rocblas_fill_upper, rocblas_fill::rocblas_fill_lower];
pub(crate) const SIDES: [rocblas_side; 2] =
    [rocblas_side::rocblas_side_left, rocblas_side::rocblas_side_right];
pub(crate) const DIAGONALS: [rocblas_diagonal; 2] =
    [rocblas_diagonal::rocblas_diagonal_unit, rocblas_diagonal::rocblas_diagonal_non_unit];

/// Whether the element lies in the triangle, the diagonal with it.
pub(crate) fn inside(fill: rocblas_fill, row: usize, column: usize) -> bool {
    if fill == rocblas_fill::rocblas_fill_lower { row >= column } else { row <= column }
}

/// The triangle's element.
pub(crate) fn triangle_at(
    fill: rocblas_fill,
    diagonal: rocblas_diagonal,
    a: &[Z],
    leading: usize,
    row: usize,
    column: usize,
) -> Z {
    if row == column && diagonal == rocblas_diagonal::rocblas_diagonal_unit {
        Z::from(1.0)
    } else if inside(fill, row, column) {
        at(a, leading, row, column)
    } else {
        Z::from(0.0)
    }
}

/// The index of a vector's element in memory.
pub(crate) fn index_of(n: usize, step: i32, index: usize) -> usize {
    let back = if step < 0 { n - 1 - index } else { index };
    back * step.unsigned_abs() as usize
}

/// A vector's elements, in order.
pub(crate) fn vector(values: &[Z], n: usize, step: i32) -> Vec<Z> {
    (0..n).map(|index| values[index_of(n, step, index)]).collect()
}

/// The memory with a vector's elements replaced.
pub(crate) fn put(values: &[Z], step: i32, elements: &[Z]) -> Vec<Z> {
    let mut values = values.to_vec();
    for (index, element) in elements.iter().enumerate() {
        values[index_of(elements.len(), step, index)] = *element;
    }
    values
}

/// The memory with those elements of a matrix replaced that have a new value.
pub(crate) fn put_matrix(
    values: &[Z],
    leading: usize,
    (rows, columns): (usize, usize),
    element: impl Fn(usize, usize) -> Option<Z>,
) -> Vec<Z> {
    let mut values = values.to_vec();
    for column in 0..columns {
        for row in 0..rows {
            if let Some(new) = element(row, column) {
                values[column * leading + row] = new;
            }
        }
    }
    values
}
