//! Random numbers. The head of `kernels-hip/families/random.hip` says how element i is computed.

use hip_safe::Launch;
use kernels_hip::args::RandomArgs;

use super::launch::{made, push};
use crate::cpu::philox::Draw;
use crate::dtype::DType;
use crate::error::Result;
use crate::hip::device::wrap;
use crate::hip::kernels::Kernel;
use crate::hip::maps::parts;
use crate::hip::{HipDevice, HipStorage};
use crate::layout::Layout;
use crate::scalar::Scalar;

/// `count` numbers uniformly distributed over `low..high`: low + u · (high − low), fused and rounded. Results that
/// would round to `high` become `below`, the next number below it.
pub(crate) fn uniform(
    device: &HipDevice,
    dtype: DType,
    count: usize,
    draw: Draw,
    scalars: [Scalar; 3],
) -> Result<HipStorage> {
    generate(device, dtype, count, draw, "uniform", &|launch| push(launch, dtype, &scalars))
}

/// `count` normally distributed numbers: mean + deviation · z, fused and rounded.
pub(crate) fn normal(
    device: &HipDevice,
    dtype: DType,
    count: usize,
    draw: Draw,
    scalars: [Scalar; 2],
) -> Result<HipStorage> {
    generate(device, dtype, count, draw, "normal", &|launch| push(launch, dtype, &scalars))
}

/// `count` integers from `low` on: the high half of a 64-bit word times `span`.
pub(crate) fn randint(
    device: &HipDevice,
    dtype: DType,
    count: usize,
    draw: Draw,
    low: i64,
    span: u64,
) -> Result<HipStorage> {
    generate(device, dtype, count, draw, "randint", &|launch| {
        launch.value(&low).value(&span);
    })
}

/// `count` elements: 1 where the random word is below `threshold`, else 0.
pub(crate) fn bernoulli(
    device: &HipDevice,
    dtype: DType,
    count: usize,
    draw: Draw,
    threshold: u64,
) -> Result<HipStorage> {
    generate(device, dtype, count, draw, "bernoulli", &|launch| {
        launch.value(&threshold);
    })
}

/// The elements of `layout`: 0 where the random word is below `threshold`, else the element times `scale`.
pub(crate) fn dropout(
    storage: &HipStorage,
    layout: &Layout,
    draw: Draw,
    threshold: u64,
    scale: f64,
) -> Result<HipStorage> {
    let (device, dtype, op) = (storage.device(), storage.dtype(), "dropout");
    // SAFETY: S15: the parts cover every element of the layout, and the kernels write each.
    let mut out = unsafe { HipStorage::uninit(device, dtype, layout.elements(), op) }?;
    for part in parts(&[layout]) {
        let function = device.kernels().get(device, random(op, dtype))?;
        let (source, mut target) = (storage.tail(part.starts[0], op)?, out.tail_mut(part.first, op)?);
        let mut launch = device.stream().launch(function, device.elementwise(part.count, FOUR_EACH));
        launch.arg(&source).arg_mut(&mut target).value(&part.map1());
        launch.value(&args(part.first, part.count, draw)).value(&threshold).value(&scale);
        // SAFETY: S9: the kernel reads the layout's elements, which lie inside the storage, and writes `count`
        // elements.
        unsafe { launch.submit() }.map_err(wrap(op))?;
    }
    Ok(out)
}

/// Launches are sized as for four-byte elements: a thread makes four of them, from one block of words.
const FOUR_EACH: usize = 4;

fn random(op: &'static str, dtype: DType) -> Kernel {
    Kernel { family: "random", op, dtype, to: None }
}

fn args(first: usize, count: usize, draw: Draw) -> RandomArgs {
    RandomArgs { count: count as u64, first: first as u64, seed: draw.seed, stream: draw.stream }
}

/// `count` elements of a kernel that takes only numbers.
fn generate(
    device: &HipDevice,
    dtype: DType,
    count: usize,
    draw: Draw,
    op: &'static str,
    scalars: &dyn Fn(&mut Launch<'_>),
) -> Result<HipStorage> {
    made(device, random(op, dtype), (count, FOUR_EACH), &|launch| {
        launch.value(&args(0, count, draw));
        scalars(launch);
    })
}
