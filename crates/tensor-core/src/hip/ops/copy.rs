//! Strided copies.

use super::launch::elementwise;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::wrap;
use crate::hip::maps::parts;
use crate::layout::Layout;

/// The elements of `layout` in row-major order, tight.
pub(crate) fn copy(storage: &HipStorage, layout: &Layout) -> Result<HipStorage> {
    let tight = Layout::contiguous(layout.shape().clone(), "copy")?;
    // SAFETY: S15: the copy writes every element.
    let mut out = unsafe { HipStorage::uninit(storage.device(), storage.dtype(), tight.elements(), "copy") }?;
    copy_from(&mut out, &tight, storage, layout)?;
    Ok(out)
}

/// Writes the elements of `source` to those of `layout`, whose places are distinct. Both layouts have one shape.
pub(crate) fn copy_from(
    storage: &mut HipStorage,
    layout: &Layout,
    source: &HipStorage,
    from: &Layout,
) -> Result<()> {
    let (device, dtype) = (storage.device().clone(), storage.dtype());
    for part in parts(&[layout, from]) {
        let function = device.kernels().get(&device, elementwise("copy", dtype))?;
        let (input, mut target) =
            (source.tail(part.starts[1], "copy")?, storage.tail_mut(part.starts[0], "copy")?);
        let mut launch =
            device.stream().launch(&function, device.elementwise(part.count, dtype.size_in_bytes()));
        launch.arg(&input).arg_mut(&mut target).value(&part.copy_map());
        // SAFETY: S9: the kernel reads and writes the layouts' places, which lie inside their storages.
        unsafe { launch.submit() }.map_err(wrap("copy"))?;
    }
    Ok(())
}
