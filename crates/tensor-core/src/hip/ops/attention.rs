//! Scaled dot product attention.

use kernels_hip::args::AttentionArgs;
use kernels_hip::launch;

use super::quant::{Activations, GROUP};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::hip::HipStorage;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::layout::Layout;
use crate::plan::attention::{Attention, NAME};
use crate::shape::Shape;

/// softmax(q kᵀ · scale + mask) v of each head; 0 for a query that attends to no key. Stores no scores. Uses one launch;
/// for few queries and many keys two, with some sums for each block of keys in between. `rounded` is given the result rounded, if it
/// is there and a kernel does both.
pub(crate) fn attention(
    q: &HipStorage,
    k: &HipStorage,
    v: &HipStorage,
    mask: Option<&HipStorage>,
    attention: &Attention,
    rounded: Option<&mut Option<Activations>>,
) -> Result<HipStorage> {
    let (device, dtype) = (q.device(), q.dtype());
    let [batch, heads, queries, columns] = attention.result();
    let count = Shape::from(attention.result()).elements(NAME)?;
    // SAFETY: S15: the kernel writes every row of every head.
    let mut out = unsafe { HipStorage::uninit(device, dtype, count, NAME) }?;
    if out.is_empty() {
        return Ok(out);
    }
    let four = |layout: &Layout| [0, 1, 2, 3].map(|axis| layout.strides()[axis] as u64);
    let (queries, d, columns) = (queries as u64, attention.q.dims()[3] as u64, columns as u64);
    let arguments = AttentionArgs {
        batch: batch as u64,
        heads: heads as u64,
        group: attention.group() as u64,
        queries,
        keys: attention.k.dims()[2] as u64,
        d,
        dv: columns,
        q: four(&attention.q),
        k: four(&attention.k),
        v: four(&attention.v),
        mask: attention.mask.as_ref().map_or([0; 4], four),
        scale: attention.scale,
        mask_kind: match mask.map(HipStorage::dtype) {
            None => AttentionArgs::NO_MASK,
            Some(DType::U8) => AttentionArgs::TRUTH_MASK,
            Some(_) => AttentionArgs::ADDED_MASK,
        },
        causal: attention.causal.into(),
    };
    let (x, y) = (q.tail(attention.q.offset(), NAME)?, k.tail(attention.k.offset(), NAME)?);
    let z = v.tail(attention.v.offset(), NAME)?;
    let aligned = [&x, &y, &z].iter().all(|view| view.device_ptr().addr().is_multiple_of(16));
    let (multiprocessors, size) = (device.multiprocessors(), dtype.size_in_bytes());
    let mma = match dtype {
        DType::F16 | DType::BF16 if aligned && device.uses_matrix_attention() => {
            launch::attention_mma(&arguments, dtype == DType::BF16, multiprocessors)
        }
        _ => None,
    };
    // Without a mask the kernel does not read the pointer.
    let masking = match (mask, &attention.mask) {
        (Some(mask), Some(layout)) => mask.tail(layout.offset(), NAME)?,
        _ => q.tail(0, NAME)?,
    };
    let kernel = |family, op| device.kernels().get(device, Kernel { family, op, dtype, to: None });
    if let Some((few, shape)) =
        mma.is_none().then(|| launch::attention_few(&arguments, size, multiprocessors)).flatten()
    {
        let parts = few.parts().and_then(|parts| usize::try_from(parts).ok());
        let parts = parts
            .ok_or_else(|| Error::new(NAME, ErrorKind::Overflow { shape: attention.result().into() }))?;
        let compute = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
        // SAFETY: S15: the first kernel writes all parts before the second reads them.
        let mut parts = unsafe { HipStorage::uninit(device, compute, parts, NAME) }?;
        {
            let (mut target, mut work) = (out.tail_mut(0, NAME)?, parts.tail_mut(0, NAME)?);
            let mut launch = device.stream().launch(kernel("attention", "few")?, config(shape));
            launch.arg(&x).arg(&y).arg(&z).arg(&masking).arg_mut(&mut target).arg_mut(&mut work).value(&few);
            // SAFETY: S9: the kernel reads the layouts' elements, which lie inside their storages, and writes every row of
            // the result, or all parts of it.
            unsafe { launch.submit() }.map_err(wrap(NAME))?;
        }
        if few.splits > 1 {
            let (work, mut target) = (parts.tail(0, NAME)?, out.tail_mut(0, NAME)?);
            let rows = batch * heads * queries as usize;
            let shape = launch::attention_join(rows as u64, multiprocessors);
            let takes = dtype == DType::F32 && columns.is_multiple_of(GROUP as u64);
            if let Some(rounded) = rounded.filter(|_| takes) {
                // SAFETY: S15: the kernel writes all bytes but those between the parts, which nothing reads.
                let activations = rounded.insert(unsafe { Activations::uninit(device, count, NAME) }?);
                let (scales, sums) = (activations.scales as u64, activations.sums as u64);
                let mut bytes = activations.memory.tail_mut(0, NAME)?;
                let function = kernel("attention", "join_rounded")?;
                let mut launch = device.stream().launch(function, config(shape));
                launch.arg(&work).arg_mut(&mut target).arg_mut(&mut bytes).value(&few);
                launch.value(&scales).value(&sums);
                // SAFETY: S9: as below; it also writes a byte for each element, the scales and the sums.
                unsafe { launch.submit() }.map_err(wrap(NAME))?;
            } else {
                let mut launch = device.stream().launch(kernel("attention", "join")?, config(shape));
                launch.arg(&work).arg_mut(&mut target).value(&few);
                // SAFETY: S9: the kernel reads the parts, and writes `count` elements.
                unsafe { launch.submit() }.map_err(wrap(NAME))?;
            }
        }
        return Ok(out);
    }
    let (family, op, shape) = mma.map_or_else(
        || {
            let work = ((batch * heads) as u64, queries, columns);
            ("attention", "tiles", launch::attention_tiles(work, size, multiprocessors))
        },
        |(op, shape)| ("attention_mma", op, shape),
    );
    let mut target = out.tail_mut(0, NAME)?;
    let mut launch = device.stream().launch(kernel(family, op)?, config(shape));
    launch.arg(&x).arg(&y).arg(&z).arg(&masking).arg_mut(&mut target).value(&arguments);
    // SAFETY: S9: the kernel reads the layouts' elements, which lie inside their storages, and writes every row of the
    // result.
    unsafe { launch.submit() }.map_err(wrap(NAME))?;
    Ok(out)
}
