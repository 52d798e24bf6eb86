//! Scaled dot product attention.

use kernels_hip::args::AttentionArgs;
use kernels_hip::launch;

use crate::dtype::DType;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::layout::Layout;
use crate::plan::attention::{Attention, NAME};
use crate::shape::Shape;

/// softmax(q kᵀ · scale + mask) v of each head; 0 for a query that attends to no key. Uses one launch, and stores no
/// scores.
pub(crate) fn attention(
    q: &HipStorage,
    k: &HipStorage,
    v: &HipStorage,
    mask: Option<&HipStorage>,
    attention: &Attention,
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
    let multiprocessors = device.multiprocessors();
    let mma = match dtype {
        DType::F16 | DType::BF16 if aligned && device.uses_matrix_attention() => {
            launch::attention_mma(&arguments, dtype == DType::BF16, multiprocessors)
        }
        _ => None,
    };
    let (family, op, shape) = mma.map_or_else(
        || {
            let kind = launch::attention_kernel(queries, d);
            let op = match kind {
                launch::Attention::Tiles => "tiles",
                launch::Attention::Rows => "rows",
            };
            let work = ((batch * heads) as u64, queries, columns);
            ("attention", op, launch::attention(kind, work, dtype.size_in_bytes(), multiprocessors))
        },
        |(op, shape)| ("attention_mma", op, shape),
    );
    let function = device.kernels().get(device, Kernel { family, op, dtype, to: None })?;
    // Without a mask the kernel does not read the pointer.
    let masking = match (mask, &attention.mask) {
        (Some(mask), Some(layout)) => mask.tail(layout.offset(), NAME)?,
        _ => q.tail(0, NAME)?,
    };
    let mut target = out.tail_mut(0, NAME)?;
    let mut launch = device.stream().launch(function, config(shape));
    launch.arg(&x).arg(&y).arg(&z).arg(&masking).arg_mut(&mut target).value(&arguments);
    // SAFETY: S9: the kernel reads the layouts' elements, which lie inside their storages, and writes every row of the
    // result.
    unsafe { launch.submit() }.map_err(wrap(NAME))?;
    Ok(out)
}
