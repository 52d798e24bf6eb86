//! Moving elements from one layout to another.

use crate::cpu::blocks::{Source, fill_blocks, update};
use crate::cpu::dispatch::dispatch;
use crate::cpu::{CpuStorage, unsupported, zeros};
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;

/// The elements of `layout`, tight and in row-major order.
pub(crate) fn copy(storage: &CpuStorage, layout: &Layout) -> Result<CpuStorage> {
    dispatch!(storage, elements: T => {
        let source = Source::<T>::new(elements, layout);
        let mut out = zeros::<T>(layout.elements(), "copy")?;
        fill_blocks(&mut out, &|start, block, gathered: &mut Vec<T>| {
            block.copy_from_slice(source.block(start, block.len(), gathered));
        });
        Ok(T::store(out))
    })
}

/// Writes the elements of `from` to those of `layout`, which has the same shape and distinct places.
pub(crate) fn copy_from(
    storage: &mut CpuStorage,
    layout: &Layout,
    source: &CpuStorage,
    from: &Layout,
) -> Result<()> {
    dispatch!(storage, elements: T => match T::stored(source) {
        Some(source) => {
            let source = Source::new(source, from);
            update(elements, layout, &|start, _, after: &mut [T], gathered: &mut Vec<T>| {
                after.copy_from_slice(source.block(start, after.len(), gathered));
            });
            Ok(())
        }
        None => Err(unsupported("copy", source)),
    })
}
