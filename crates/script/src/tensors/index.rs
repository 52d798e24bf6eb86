//! Indexing: `x[1]`, `x[-1]`, `x[1..3]`, `x[ids]`, and an array with one index an axis, such as `x[[(), 0..2]]`.

use std::ops::{Range, RangeInclusive};

use rhai::{Array, Dynamic};
use tensor_core::{IndexOp, Tensor, TensorIndexer};

use crate::argument::{Argument, described, is_a};
use crate::error::{Returned, failed};
use crate::operands::naming_operands;
use crate::registry::{Registry, finish};

pub(crate) fn add(registry: &mut Registry) {
    let get =
        |this: &mut Tensor, index: Dynamic| naming_operands(this, &[&index], |this| indexed(this, &index));
    registry.engine.register_indexer_get(get);
    registry.named("i").register_fn("i", get);
    registry.named("set").register_fn("set", |this: &mut Tensor, index: Dynamic, source: Dynamic| {
        naming_operands(this, &[&source], |this| {
            set(this, &index, &Tensor::take(&source, "set", "the source")?)
        })
    });
}

fn indexed(tensor: &Tensor, index: &Dynamic) -> Returned {
    let each = match is_a::<Array>(index) {
        Some(each) => each,
        None => vec![index.clone()],
    };
    let indexers = each.iter().enumerate().map(|(axis, index)| indexer(tensor, axis, index));
    let indexers = indexers.collect::<Returned<Vec<TensorIndexer>>>()?;
    finish(match indexers.as_slice() {
        [a] => tensor.i(a.clone()),
        [a, b] => tensor.i((a.clone(), b.clone())),
        [a, b, c] => tensor.i((a.clone(), b.clone(), c.clone())),
        [a, b, c, d] => tensor.i((a.clone(), b.clone(), c.clone(), d.clone())),
        _ => return Err(failed(format!("i: {} indices; expected 1 to 4", indexers.len()))),
    })
}

/// The index of an axis, counted from its end if it is negative.
fn front(tensor: &Tensor, axis: usize, index: i64) -> Returned<usize> {
    let length = tensor.dims().get(axis).copied().unwrap_or(0) as i64;
    let front = if index < 0 { index.saturating_add(length) } else { index };
    usize::try_from(front).map_err(|_| {
        let (shape, device) = (tensor.shape(), tensor.device());
        failed(format!("i: index {index} is out of range for axis {axis} of {shape} on {device}"))
    })
}

fn indexer(tensor: &Tensor, axis: usize, index: &Dynamic) -> Returned<TensorIndexer> {
    let front = |index| front(tensor, axis, index);
    if let Ok(index) = index.as_int() {
        return Ok(front(index)?.into());
    }
    if let Some(range) = is_a::<Range<i64>>(index) {
        return Ok((front(range.start)?..front(range.end)?).into());
    }
    if let Some(range) = is_a::<RangeInclusive<i64>>(index) {
        return Ok((front(*range.start())?..=front(*range.end())?).into());
    }
    if let Some(ids) = is_a::<Tensor>(index) {
        return Ok((&ids).into());
    }
    if index.is_unit() {
        return Ok((..).into());
    }
    if let Some(ids) = Vec::<u32>::of(index) {
        return Ok(ids.into());
    }
    if let Some(name) = String::of(index) {
        return Err(failed(format!("a tensor has no property {name:?}; a method is called with ()")));
    }
    Err(failed(format!("i: the index of axis {axis} is {}", described(index))))
}

/// Writes `source` to an index or a range of the first axis: in place, if no other value has the same numbers.
fn set(this: &mut Tensor, index: &Dynamic, source: &Tensor) -> Returned {
    if let Ok(position) = index.as_int() {
        let source = source.unsqueeze(0).map_err(failed)?;
        return finish(this.slice_set_(&source, 0, front(this, 0, position)?));
    }
    let Some(range) = is_a::<Range<i64>>(index) else {
        let what = described(index);
        return Err(failed(format!("set: the index is {what}; expected a whole number or a range a..b")));
    };
    let (start, end) = (front(this, 0, range.start)?, front(this, 0, range.end)?);
    if source.dims().first() != Some(&end.saturating_sub(start)) {
        let shape = source.shape();
        return Err(failed(format!("set: a source of {shape} does not fit the range {start}..{end}")));
    }
    finish(this.slice_set_(source, 0, start))
}
