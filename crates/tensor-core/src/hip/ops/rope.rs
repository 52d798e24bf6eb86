//! Rotary position embeddings.

use kernels_hip::args::{RopeArgs, RopeWriteArgs};

use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::wrap;
use crate::hip::kernels::Kernel;
use crate::layout::Layout;
use crate::plan::index::Indexed;
use crate::plan::rope::Rope;

/// Rotates the pairs of `rope`: (x, y) becomes (x cos − y sin, x sin + y cos).
pub(crate) fn rope(x: &HipStorage, cos: &HipStorage, sin: &HipStorage, rope: &Rope) -> Result<HipStorage> {
    let (device, dtype, name) = (x.device(), x.dtype(), rope.name);
    let count = rope.x.elements();
    // SAFETY: S15: the kernel writes every number of every pair, and d is even.
    let mut out = unsafe { HipStorage::uninit(device, dtype, count, name) }?;
    if count == 0 {
        return Ok(out);
    }
    let function = device.kernels().get(device, Kernel { family: "rope", op: "", dtype, to: None })?;
    let (input, cosines) = (x.tail(rope.x.offset(), name)?, cos.tail(rope.cos.offset(), name)?);
    let sines = sin.tail(rope.sin.offset(), name)?;
    let mut result = out.tail_mut(0, name)?;
    let mut launch = device.stream().launch(function, device.elementwise(count / 2, 16));
    launch.arg(&input).arg(&cosines).arg(&sines).arg_mut(&mut result).value(&arguments(rope));
    // SAFETY: S9: the kernel reads the layouts' elements, which lie inside their storages, and writes `count` elements.
    unsafe { launch.submit() }.map_err(wrap(name))?;
    Ok(out)
}

/// The same for two tensors by the same angles.
pub(crate) fn rope_pair(
    [x, y]: [&HipStorage; 2],
    cos: &HipStorage,
    sin: &HipStorage,
    [of_x, of_y]: [&Rope; 2],
) -> Result<(HipStorage, HipStorage)> {
    let (device, dtype, name) = (x.device(), x.dtype(), of_x.name);
    let counts = [of_x, of_y].map(|rope| rope.x.elements());
    if counts.contains(&0) {
        return Ok((rope(x, cos, sin, of_x)?, rope(y, cos, sin, of_y)?));
    }
    // SAFETY: S15: the kernel writes every number of every pair, and d is even.
    let mut x_out = unsafe { HipStorage::uninit(device, dtype, counts[0], name) }?;
    // SAFETY: S15: as above.
    let mut y_out = unsafe { HipStorage::uninit(device, dtype, counts[1], name) }?;
    let function = device.kernels().get(device, Kernel { family: "rope", op: "pair", dtype, to: None })?;
    let (first, second) = (x.tail(of_x.x.offset(), name)?, y.tail(of_y.x.offset(), name)?);
    let (cosines, sines) = (cos.tail(of_x.cos.offset(), name)?, sin.tail(of_x.sin.offset(), name)?);
    let (mut first_out, mut second_out) = (x_out.tail_mut(0, name)?, y_out.tail_mut(0, name)?);
    let pairs = counts[0] / 2 + counts[1] / 2;
    let mut launch = device.stream().launch(function, device.elementwise(pairs, 16));
    launch.arg(&first).arg(&second).arg(&cosines).arg(&sines);
    launch.arg_mut(&mut first_out).arg_mut(&mut second_out);
    launch.value(&arguments(of_x)).value(&arguments(of_y));
    // SAFETY: S9: the kernel reads the layouts' elements, which lie inside their storages, and writes as many numbers to
    // each output as its input has. The angles of both have the same offsets.
    unsafe { launch.submit() }.map_err(wrap(name))?;
    Ok((x_out, y_out))
}

/// The same, where the result of the second tensor and a third one are written to rows of caches, by `u32` ids. All have one time. The
/// ids are those of the axis.
pub(crate) fn rope_write(
    [(query, _), (key, _), (value, of_value)]: [(&HipStorage, &Layout); 3],
    [cos, sin]: [&HipStorage; 2],
    [of_query, of_key]: &[Rope; 2],
    [(keys, keys_at), (values, values_at)]: [(&mut HipStorage, usize); 2],
    (rows, rows_at): (&HipStorage, usize),
    axis: &Indexed,
) -> Result<HipStorage> {
    let (device, dtype, name) = (query.device(), query.dtype(), of_query.name);
    let counts = [of_query, of_key].map(|rope| rope.x.elements());
    // SAFETY: S15: the kernel writes every number of every pair, and d is even.
    let mut out = unsafe { HipStorage::uninit(device, dtype, counts[0], name) }?;
    let function = device.kernels().get(device, Kernel { family: "rope", op: "write", dtype, to: None })?;
    let (first, second) = (query.tail(of_query.x.offset(), name)?, key.tail(of_key.x.offset(), name)?);
    let third = value.tail(of_value.offset(), name)?;
    let (cosines, sines) = (cos.tail(of_query.cos.offset(), name)?, sin.tail(of_query.sin.offset(), name)?);
    let ids = rows.tail(rows_at, name)?;
    let mut turned = out.tail_mut(0, name)?;
    let (mut keys, mut values) = (keys.tail_mut(keys_at, name)?, values.tail_mut(values_at, name)?);
    let write = RopeWriteArgs {
        length: axis.length as u64,
        v: [0, 1, 3].map(|axis| of_value.strides()[axis] as u64),
        operation: axis.number(),
        axis: axis.axis as u32,
    };
    let shape = device.elementwise(counts[0] / 2 + counts[1], 16);
    device.faults().watch(device.stream(), axis.operation, |fault| {
        let mut launch = device.stream().launch(function, shape);
        launch.arg(&first).arg(&second).arg(&third).arg(&cosines).arg(&sines).arg(&ids);
        launch.arg_mut(&mut turned).arg_mut(&mut keys).arg_mut(&mut values).arg_mut(fault);
        launch.value(&arguments(of_query)).value(&arguments(of_key)).value(&write);
        // SAFETY: S9: the kernel reads the layouts' elements, which lie inside their storages, and an id for each batch; it writes
        // as many numbers as the first input has, and rows of the caches, which are contiguous, by ids that it checks.
        // No two threads write a number: of equal ids it takes the last.
        unsafe { launch.submit() }
    })?;
    Ok(out)
}

/// The kernels' arguments.
fn arguments(rope: &Rope) -> RopeArgs {
    let &[batch, heads, times, d] = rope.x.dims() else { unreachable!("the tensor has four dimensions") };
    // Distance between neighbouring pairs, and within a pair. Neighbouring numbers are `stride` apart.
    let steps = |stride: usize| match rope.interleaved {
        true => (2 * stride as u64, stride as u64),
        false => (stride as u64, (d / 2 * stride) as u64),
    };
    let tight = |first: usize, second: usize| [first * second * d, second * d, d].map(|stride| stride as u64);
    let target = if rope.time_first {
        let [batch, time, head] = tight(times, heads);
        [batch, head, time]
    } else {
        tight(heads, times)
    };
    let three = |layout: &Layout| [0, 1, 2].map(|axis| layout.strides()[axis] as u64);
    let (x_step, x_pair) = steps(rope.x.strides()[3]);
    let (out_step, out_pair) = steps(1);
    RopeArgs {
        batch: batch as u64,
        heads: heads as u64,
        times: times as u64,
        pairs: d as u64 / 2,
        x: three(&rope.x),
        x_step,
        x_pair,
        out: target,
        out_step,
        out_pair,
        cos: three(&rope.cos),
        sin: three(&rope.sin),
        time_first: rope.time_first.into(),
    }
}
