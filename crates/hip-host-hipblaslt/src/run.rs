//! A product as work of a stream.

use crate::elements::WIDEN_I8;
use crate::problem::{Activation, Operand, Problem};
use crate::status::{Outcome, UNSUPPORTED, VALUE, ensure, failure};
use hip_host::library::{Device, Job, Uses};
use hip_host_rocblas::sums::{self, Factor, Tile};
use hip_sys::hip::hipStream_t;

/// The addresses of a, b, c and d.
pub(crate) type Addresses = [usize; 4];

/// alpha and beta.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scalars {
    Floats(f32, f32),
    Integers(i32, i32),
}

/// Submits the product.
///
/// # Safety
/// The memory is the caller's, as the C function asks.
pub(crate) unsafe fn submit(
    device: Device,
    stream: hipStream_t,
    problem: Problem,
    at: Addresses,
    scalars: Scalars,
) -> Outcome {
    let [a, b, c, d] = at;
    let (multiplies, adds) = match scalars {
        Scalars::Floats(alpha, beta) => (alpha != 0.0, beta != 0.0),
        Scalars::Integers(alpha, beta) => (alpha != 0, beta != 0),
    };
    let needed = [(a, multiplies), (b, multiplies), (c, adds), (d, true)];
    ensure(needed.iter().all(|&(address, needed)| address != 0 || !needed), VALUE)?;
    // In place an element is read where it is written.
    ensure(c != d || !adds || problem.c == problem.d, VALUE)?;
    let mut uses = Uses::default();
    let mut name = |operand: &Operand, address, writes| {
        let reach = operand.reach().ok_or(VALUE)?;
        operand.element.uses(&mut uses, address, reach, writes).map_err(|_| VALUE)
    };
    if multiplies {
        name(&problem.a, a, false)?;
        name(&problem.b, b, false)?;
    }
    if adds && c != d {
        name(&problem.c, c, false)?;
    }
    name(&problem.d, d, true)?;
    if let Some((address, aux)) = &problem.aux {
        name(aux, *address, true)?;
    }
    if let Some((address, element)) = problem.bias {
        element.uses(&mut uses, address, problem.d.rows, false).map_err(|_| VALUE)?;
    }
    for address in problem.scales.into_iter().filter(|&address| address != 0) {
        uses.read(address as *const f32, 1).map_err(|_| VALUE)?;
    }
    let widen = [problem.a.element, problem.b.element].map(|element| element.widen());
    let work = move || {
        // SAFETY: S2, S11: the call named this memory, and found that it is aligned and that the sizes agree.
        unsafe {
            match (scalars, widen) {
                (Scalars::Floats(alpha, beta), [Some(wa), Some(wb)]) => {
                    floats(&problem, at, [wa, wb], alpha, beta);
                }
                (Scalars::Integers(alpha, beta), _) => integers(&problem, at, alpha, beta),
                _ => {}
            }
        }
    };
    let consistent = matches!(scalars, Scalars::Integers(..)) || widen.iter().all(Option::is_some);
    ensure(consistent, UNSUPPORTED)?;
    let job = Job { name: "hipblasLtMatmul", spreads: false, fits: sums::fits };
    // SAFETY: S11: the body uses what was named.
    device.while_current(|| unsafe { uses.submit(stream, job, work) }).map_err(failure)
}

/// The address of an element of a member.
fn address_of(operand: &Operand, start: usize, member: usize, row: usize, col: usize) -> *mut u8 {
    let (ld, stride) = (operand.ld as isize, operand.stride as isize);
    let index = (member as isize).wrapping_mul(stride).wrapping_add((col as isize).wrapping_mul(ld));
    let index = index.wrapping_add(row as isize).wrapping_mul(operand.element.bytes() as isize);
    (start as *mut u8).wrapping_offset(index)
}

/// The indices of a part, column by column, with their sums.
fn each<W: Copy>(tile: &Tile<'_, W>, mut act: impl FnMut(usize, usize, W)) {
    for (y, column) in tile.sums.chunks_exact(tile.rows).enumerate() {
        for (x, &sum) in column.iter().enumerate() {
            act(tile.row + x, tile.column + y, sum);
        }
    }
}

/// # Safety
/// All memory of the problem is live and nobody else uses what is written.
unsafe fn floats(
    problem: &Problem,
    [a, b, c, d]: Addresses,
    [wa, wb]: [sums::Widen<f32>; 2],
    alpha: f32,
    beta: f32,
) {
    let [sa, sb, sc, sd] = problem.scales.map(|at| match at {
        0 => 1.0,
        // SAFETY: S2: the caller vouches for the factors.
        at => unsafe { (at as *const f32).read() },
    });
    let (scaled, kept) = (alpha * sa * sb, beta * sc);
    let (m, n) = (problem.d.rows, problem.d.cols);
    let size = (m, n, if alpha == 0.0 { 0 } else { problem.k });
    for member in 0..problem.batch {
        let factor = |operand: &Operand, start, transposed, widen| {
            let first = address_of(operand, start, member, 0, 0);
            Factor::new(first, operand.element.bytes(), operand.ld, transposed, widen)
        };
        let (left, right) = (
            factor(&problem.a, a, problem.transposed[0], wa),
            factor(&problem.b, b, problem.transposed[1], wb),
        );
        let finish = |tile: &Tile<'_, f32>| {
            each(tile, |row, col, sum| {
                // SAFETY: S2, S12: the caller vouches for the memory; the parts are disjoint.
                unsafe {
                    let mut value = if alpha == 0.0 { 0.0 } else { scaled * sum };
                    if beta != 0.0 {
                        value += kept * problem.c.element.read(address_of(&problem.c, c, member, row, col));
                    }
                    if let Some((start, element)) = problem.bias {
                        value += element.read((start as *const u8).wrapping_add(row * element.bytes()));
                    }
                    if let Some((start, aux)) = &problem.aux {
                        aux.element.store(address_of(aux, *start, member, row, col), value);
                    }
                    let value = apply(problem.activation, value) * sd;
                    problem.d.element.store(address_of(&problem.d, d, member, row, col), value);
                }
            });
        };
        // SAFETY: S2: the caller vouches for the factors.
        unsafe { sums::of_f32(size, &left, &right, &finish) };
    }
}

/// # Safety
/// As [`floats`].
unsafe fn integers(problem: &Problem, [a, b, c, d]: Addresses, alpha: i32, beta: i32) {
    let (m, n) = (problem.d.rows, problem.d.cols);
    let size = (m, n, if alpha == 0 { 0 } else { problem.k });
    for member in 0..problem.batch {
        let factor = |operand: &Operand, start, transposed| {
            Factor::new(address_of(operand, start, member, 0, 0), 1, operand.ld, transposed, WIDEN_I8)
        };
        let (left, right) =
            (factor(&problem.a, a, problem.transposed[0]), factor(&problem.b, b, problem.transposed[1]));
        let finish = |tile: &Tile<'_, f64>| {
            each(tile, |row, col, sum| {
                // Sums of bytes are exact; beyond 32 bits they wrap, as on a GPU.
                let mut value = alpha.wrapping_mul(sum as i64 as i32);
                // SAFETY: S2, S12: the caller vouches for the memory; the parts are disjoint.
                unsafe {
                    if beta != 0 {
                        let old = address_of(&problem.c, c, member, row, col).cast::<i32>().read();
                        value = value.wrapping_add(beta.wrapping_mul(old));
                    }
                    address_of(&problem.d, d, member, row, col).cast::<i32>().write(value);
                }
            });
        };
        // SAFETY: S2: the caller vouches for the factors.
        unsafe { sums::of_f64(size, &left, &right, &finish) };
    }
}

/// GELU is the form with tanh, as the library's; computed in f64 and rounded once. A NaN stays one.
fn apply(activation: Activation, value: f32) -> f32 {
    match activation {
        Activation::None => value,
        Activation::Relu if value < 0.0 => 0.0,
        Activation::Relu => value,
        Activation::Gelu => {
            let x = f64::from(value);
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
            (0.5 * x * (1.0 + inner.tanh())) as f32
        }
    }
}
