//! Scaled dot product attention.

use kernels_hip::args::{AttentionArgs, FewArgs, PagedArgs};
use kernels_hip::launch;

use super::quant::{Activations, GROUP};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::hip::HipStorage;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::layout::Layout;
use crate::plan::attention::{Attention, NAME, PAGED, Paged};
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
        // SAFETY: S15: the first kernel writes all parts before the second reads them.
        let mut parts = unsafe { uninit_parts(&few, &out, NAME) }?;
        {
            let (mut target, mut work) = (out.tail_mut(0, NAME)?, parts.tail_mut(0, NAME)?);
            let mut launch = device.stream().launch(kernel("attention", "few")?, config(shape));
            launch.arg(&x).arg(&y).arg(&z).arg(&masking).arg_mut(&mut target).arg_mut(&mut work).value(&few);
            // SAFETY: S9: the kernel reads the layouts' elements, which lie inside their storages, and writes every row of
            // the result, or all parts of it.
            unsafe { launch.submit() }.map_err(wrap(NAME))?;
        }
        join(&parts, &mut out, &few, rounded, NAME)?;
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

/// The same of one query of each sequence, by keys and values in pages: see [`crate::Pages`]. Without heads,
/// sequences or columns nothing is launched.
pub(crate) fn paged_attention(
    [q, k, v]: [&HipStorage; 3],
    [table, positions]: [&HipStorage; 2],
    paged: &Paged,
) -> Result<HipStorage> {
    let (device, dtype) = (q.device(), q.dtype());
    let [batch, heads, _, columns] = paged.result();
    let count = Shape::from(paged.result()).elements(PAGED)?;
    // SAFETY: S15: the kernels write every row of every head.
    let mut out = unsafe { HipStorage::uninit(device, dtype, count, PAGED) }?;
    if out.is_empty() {
        return Ok(out);
    }
    let four = |layout: &Layout| [0, 1, 2, 3].map(|axis| layout.strides()[axis] as u64);
    let work = AttentionArgs {
        batch: batch as u64,
        heads: heads as u64,
        group: paged.group() as u64,
        queries: 1,
        // Positions are numbers of 32 bits: no query sees a later key.
        keys: (paged.keys() as u64).min(1 << 32),
        d: paged.q.dims()[3] as u64,
        dv: columns as u64,
        q: four(&paged.q),
        k: four(&paged.k),
        v: four(&paged.v),
        mask: [0; 4],
        scale: paged.scale,
        mask_kind: AttentionArgs::NO_MASK,
        causal: 0,
    };
    let (few, shape) = launch::attention_few(&work, dtype.size_in_bytes(), device.multiprocessors())
        .expect("a single query of at most as many numbers as the kernel takes");
    // SAFETY: S15: the first kernel writes all parts before the second reads them.
    let mut parts = unsafe { uninit_parts(&few, &out, PAGED) }?;
    let args = PagedArgs {
        few,
        table: [0, 1].map(|axis| paged.table.strides()[axis] as u64),
        positions: paged.positions.strides()[0] as u64,
        length: paged.pages.length as u64,
        window: paged.window as u64,
        shift: paged.rows.ilog2(),
        operation: paged.pages.number(),
        axis: paged.pages.axis as u32,
        reserved: 0,
    };
    {
        let (x, y) = (q.tail(paged.q.offset(), PAGED)?, k.tail(paged.k.offset(), PAGED)?);
        let (z, ids) = (v.tail(paged.v.offset(), PAGED)?, table.tail(paged.table.offset(), PAGED)?);
        let last = positions.tail(paged.positions.offset(), PAGED)?;
        let (mut target, mut work) = (out.tail_mut(0, PAGED)?, parts.tail_mut(0, PAGED)?);
        let kernel = Kernel { family: "attention", op: "paged", dtype, to: None };
        let function = device.kernels().get(device, kernel)?;
        device.faults().watch(device.stream(), PAGED, |fault| {
            let mut launch = device.stream().launch(function, config(shape));
            launch.arg(&x).arg(&y).arg(&z).arg(&ids).arg(&last);
            launch.arg_mut(&mut target).arg_mut(&mut work).arg_mut(fault).value(&args);
            // SAFETY: S9: the kernel reads the layouts' elements, which lie inside their storages: of k and v rows of pages
            // whose ids it checks. It writes every row of the result, or all parts of it.
            unsafe { launch.submit() }
        })?;
    }
    join(&parts, &mut out, &few, None, PAGED)?;
    Ok(out)
}

/// Memory for the parts of a result, which [`join`] adds up.
///
/// # Safety
/// As [`HipStorage::uninit`].
unsafe fn uninit_parts(few: &FewArgs, out: &HipStorage, name: &'static str) -> Result<HipStorage> {
    let AttentionArgs { batch, heads, queries, dv, .. } = few.of;
    let shape = || Shape::from([batch, heads, queries, dv].map(|length| length as usize));
    let count = few.parts().and_then(|parts| usize::try_from(parts).ok());
    let count = count.ok_or_else(|| Error::new(name, ErrorKind::Overflow { shape: shape() }))?;
    let compute = if out.dtype() == DType::F64 { DType::F64 } else { DType::F32 };
    // SAFETY: S15: the caller answers for it.
    unsafe { HipStorage::uninit(out.device(), compute, count, name) }
}

/// The result of its parts, if it has any: the kernel before wrote them all. `rounded` is given the result rounded, if it is there and
/// a kernel does both.
fn join(
    parts: &HipStorage,
    out: &mut HipStorage,
    few: &FewArgs,
    rounded: Option<&mut Option<Activations>>,
    name: &'static str,
) -> Result<()> {
    if few.splits < 2 {
        return Ok(());
    }
    let (device, dtype, count) = (out.device().clone(), out.dtype(), out.len());
    let work = parts.tail(0, name)?;
    let rows = few.of.batch * few.of.heads * few.of.queries;
    let shape = config(launch::attention_join(rows, device.multiprocessors()));
    let kernel = |op| device.kernels().get(&device, Kernel { family: "attention", op, dtype, to: None });
    let mut target = out.tail_mut(0, name)?;
    let takes = dtype == DType::F32 && few.of.dv.is_multiple_of(GROUP as u64);
    if let Some(rounded) = rounded.filter(|_| takes) {
        // SAFETY: S15: the kernel writes all bytes but those between the parts, which nothing reads.
        let activations = rounded.insert(unsafe { Activations::uninit(&device, count, name) }?);
        let (scales, sums) = (activations.scales as u64, activations.sums as u64);
        let mut bytes = activations.memory.tail_mut(0, name)?;
        let mut launch = device.stream().launch(kernel("join_rounded")?, shape);
        launch.arg(&work).arg_mut(&mut target).arg_mut(&mut bytes).value(few);
        launch.value(&scales).value(&sums);
        // SAFETY: S9: as below; it also writes a byte for each element, the scales and the sums.
        return unsafe { launch.submit() }.map_err(wrap(name));
    }
    let mut launch = device.stream().launch(kernel("join")?, shape);
    launch.arg(&work).arg_mut(&mut target).value(few);
    // SAFETY: S9: the kernel reads the parts, and writes `count` elements.
    unsafe { launch.submit() }.map_err(wrap(name))
}
