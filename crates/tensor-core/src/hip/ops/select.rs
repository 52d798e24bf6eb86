//! Selecting elements by a mask or by position.

use kernels_hip::MAX_RANK;
use kernels_hip::args::{FlipMap, TriangleMap, WhereMap};

use super::copy;
use crate::dtype::DType;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::wrap;
use crate::hip::kernels::Kernel;
use crate::hip::maps::{Part, eight, parts};
use crate::layout::Layout;
use crate::plan::flip::flip_dims;

fn select(op: &'static str, dtype: DType) -> Kernel {
    Kernel { family: "select", op, dtype, to: None }
}

/// The element of `on_true` where the mask is not zero, else that of `on_false`. All layouts have the same shape.
pub(crate) fn where_cond(
    (mask, layout): (&HipStorage, &Layout),
    (on_true, a): (&HipStorage, &Layout),
    (on_false, b): (&HipStorage, &Layout),
) -> Result<HipStorage> {
    const OP: &str = "where_cond";
    let (device, dtype) = (on_true.device(), on_true.dtype());
    let kernel = match mask.dtype() {
        DType::U8 => "where_u8",
        DType::U32 => "where_u32",
        _ => "where_i64",
    };
    let bytes = dtype.size_in_bytes().max(mask.dtype().size_in_bytes());
    // SAFETY: S15: the parts cover every element, and the kernel writes each.
    let mut out = unsafe { HipStorage::uninit(device, dtype, layout.elements(), OP) }?;
    for part in parts(&[layout, a, b]) {
        let function = device.kernels().get(device, select(kernel, dtype))?;
        let masks = mask.tail(part.starts[0], OP)?;
        let (x, y) = (on_true.tail(part.starts[1], OP)?, on_false.tail(part.starts[2], OP)?);
        let mut target = out.tail_mut(part.first, OP)?;
        let map = where_map(&part);
        let config = device.walk(map.is_flat(), part.count, (bytes, bytes));
        let mut launch = device.stream().launch(function, config);
        launch.arg(&masks).arg(&x).arg(&y).arg_mut(&mut target).value(&map);
        // SAFETY: S9: the kernel reads the layouts' elements, which lie inside the storages, and writes `count`
        // elements.
        unsafe { launch.submit() }.map_err(wrap(OP))?;
    }
    Ok(out)
}

fn where_map(part: &Part) -> WhereMap {
    let rank = part.rank();
    let (dims, strides) = (part.dims(), [0, 1, 2].map(|layout| part.strides(layout)));
    let mut flags = 0;
    for (input, strides) in strides.iter().enumerate() {
        if is_tight(&dims[..rank as usize], strides) {
            flags |= WhereMap::MASK_TIGHT << input;
        } else if strides.iter().all(|stride| *stride == 0) {
            flags |= WhereMap::MASK_SCALAR << input;
        }
    }
    let [mask, a, b] = strides;
    WhereMap { count: part.count as u64, rank, flags, dims, mask, a, b }
}

/// Whether the elements are contiguous in traversal order.
fn is_tight(dims: &[u64], strides: &[u64]) -> bool {
    let mut expected = 1;
    dims.iter().zip(strides).rev().all(|(&length, &stride)| {
        let tight = stride == expected;
        expected *= length;
        tight
    })
}

/// The elements in reverse order along `axes`.
pub(crate) fn flip(storage: &HipStorage, layout: &Layout, axes: &[usize]) -> Result<HipStorage> {
    const OP: &str = "flip";
    let (device, dtype, count) = (storage.device(), storage.dtype(), layout.elements());
    if count == 0 {
        return HipStorage::zeros(device, dtype, 0, OP);
    }
    let dims = flip_dims(layout, axes);
    if dims.len() > MAX_RANK {
        // More dimensions than the kernel takes. Contiguous dimensions merge, so that flipping three axes at a time
        // leaves at most seven.
        let tight = Layout::contiguous(layout.shape().clone(), OP)?;
        if !layout.is_contiguous() {
            return flip(&copy::copy(storage, layout)?, &tight, axes);
        }
        let (now, later) = axes.split_at(axes.len().min(3));
        return flip(&flip(storage, layout, now)?, &tight, later);
    }
    let mut start = 0;
    let mut strides = [0; MAX_RANK];
    for (slot, &(length, stride, backwards)) in strides.iter_mut().zip(&dims) {
        if backwards {
            start += (length - 1) as u64 * stride as u64;
        }
        *slot = if backwards { (stride as u64).wrapping_neg() } else { stride as u64 };
    }
    let lengths: Vec<usize> = dims.iter().map(|dim| dim.0).collect();
    let map = FlipMap {
        count: count as u64,
        start,
        rank: dims.len() as u32,
        reserved: 0,
        dims: eight(&lengths),
        strides,
    };
    let function = device.kernels().get(device, select(OP, dtype))?;
    // SAFETY: S15: the kernel writes every element.
    let mut out = unsafe { HipStorage::uninit(device, dtype, count, OP) }?;
    {
        let (source, mut target) = (storage.tail(layout.offset(), OP)?, out.tail_mut(0, OP)?);
        let mut launch = device.stream().launch(function, device.elementwise(count, dtype.size_in_bytes()));
        launch.arg(&source).arg_mut(&mut target).value(&map);
        // SAFETY: S9: in either direction, the kernel reads the layout's elements, which lie inside the storage; the
        // kernel writes `count` elements.
        unsafe { launch.submit() }.map_err(wrap(OP))?;
    }
    Ok(out)
}

/// Keeps the elements whose column − row is at most (`upper`: at least) `diagonal`, and sets the others to 0.
pub(crate) fn triangle(
    storage: &HipStorage,
    layout: &Layout,
    diagonal: i64,
    upper: bool,
) -> Result<HipStorage> {
    let op = if upper { "triu" } else { "tril" };
    let (device, dtype) = (storage.device(), storage.dtype());
    let (rows, columns) = (layout.dims()[layout.rank() - 2], layout.dims()[layout.rank() - 1]);
    // SAFETY: S15: the parts cover every element, and the kernel writes each.
    let mut out = unsafe { HipStorage::uninit(device, dtype, layout.elements(), op) }?;
    for part in parts(&[layout]) {
        let function = device.kernels().get(device, select(op, dtype))?;
        let walk = part.map1();
        let map = TriangleMap {
            count: part.count as u64,
            first: part.first as u64,
            rows: rows as u64,
            columns: columns as u64,
            diagonal,
            rank: walk.rank,
            contiguous: walk.contiguous,
            dims: walk.dims,
            strides: walk.a,
        };
        let (source, mut target) = (storage.tail(part.starts[0], op)?, out.tail_mut(part.first, op)?);
        let mut launch =
            device.stream().launch(function, device.elementwise(part.count, dtype.size_in_bytes()));
        launch.arg(&source).arg_mut(&mut target).value(&map);
        // SAFETY: S9: the kernel reads the layout's elements, which lie inside the storage, and writes `count`
        // elements.
        unsafe { launch.submit() }.map_err(wrap(op))?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_input_is_tight_or_one_element_or_strided() {
        let full = Layout::contiguous([4, 5], "test").unwrap();
        let row = Layout::contiguous(5, "test").unwrap().expand(full.shape(), "test").unwrap();
        let one = Layout::contiguous(1, "test").unwrap().expand(full.shape(), "test").unwrap();
        let flags = |layouts: [&Layout; 3]| where_map(&parts(&layouts).next().unwrap()).flags;
        assert_eq!(flags([&full, &full, &one]), 1 | 2 | 32);
        assert_eq!(flags([&one, &full, &full]), 8 | 2 | 4);
        assert_eq!(flags([&full, &row, &one]), 1 | 32);
    }
}
