//! The memory of a tensor while a call runs: strided reads and writes, converted to the type of the arithmetic.

use super::element::{Kind, Real, with_element};
use rayon::prelude::*;
use std::ops::Range;

/// Elements of one type in the memory of a call. Offsets count elements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    address: usize,
    kind: Kind,
    space: usize,
}

impl View {
    /// # Safety
    /// There is memory for `space` elements of that kind, readable, and writable if something writes through the view, whenever it is used.
    /// Nothing else writes the elements that it reads meanwhile.
    pub(crate) unsafe fn new(address: usize, kind: Kind, space: usize) -> Self {
        Self { address, kind, space }
    }

    /// The type of its elements.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// The same memory from an offset on.
    pub(crate) fn from(&self, at: usize) -> Self {
        assert!(at <= self.space);
        Self { address: self.address + at * self.kind.bytes(), space: self.space - at, ..*self }
    }

    fn check(&self, at: usize, stride: usize, count: usize) {
        let last = count.checked_sub(1).map_or(0, |steps| at + steps * stride);
        assert!(last < self.space, "an offset outside the tensor");
    }

    /// Reads evenly spaced elements.
    pub(crate) fn load<R: Real>(&self, at: usize, stride: usize, out: &mut [R]) {
        self.check(at, stride, out.len());
        with_element!(self.kind, E => {
            let start = (self.address as *const E).wrapping_add(at);
            if stride == 1 {
                // SAFETY: S2: checked above to lie in the view's memory, which its maker vouches for.
                R::widen(unsafe { std::slice::from_raw_parts(start, out.len()) }, out);
            } else {
                for (index, out) in out.iter_mut().enumerate() {
                    // SAFETY: S2: as above.
                    *out = R::of(unsafe { start.add(index * stride).read() });
                }
            }
        });
    }

    /// Writes evenly spaced elements.
    pub(crate) fn store<R: Real>(&self, at: usize, stride: usize, values: &[R]) {
        self.check(at, stride, values.len());
        with_element!(self.kind, E => {
            let start = (self.address as *mut E).wrapping_add(at);
            if stride == 1 {
                // SAFETY: S2, S12: checked above to lie in the view's memory; writers of one call write different elements.
                R::narrow(values, unsafe { std::slice::from_raw_parts_mut(start, values.len()) });
            } else {
                for (index, value) in values.iter().enumerate() {
                    // SAFETY: S2: as above.
                    unsafe { start.add(index * stride).write(value.to()) };
                }
            }
        });
    }

    /// Reads one element.
    pub(crate) fn get<R: Real>(&self, at: usize) -> R {
        let mut value = [R::default()];
        self.load(at, 1, &mut value);
        value[0]
    }

    /// Writes one element.
    pub(crate) fn set<R: Real>(&self, at: usize, value: R) {
        self.store(at, 1, &[value]);
    }

    /// Reads an unsigned number at an offset in bytes, from a view of bytes.
    pub(crate) fn number(&self, at: usize, bytes: usize) -> u64 {
        let mut number = [0; 8];
        assert!(self.kind == Kind::Int8 && at + bytes <= self.space && bytes <= 8);
        // SAFETY: S2: checked above to lie in the view's memory, which its maker vouches for.
        unsafe { (self.address as *const u8).add(at).copy_to_nonoverlapping(number.as_mut_ptr(), bytes) };
        u64::from_le_bytes(number)
    }

    /// Writes the low bytes of an unsigned number.
    pub(crate) fn set_number(&self, at: usize, bytes: usize, number: u64) {
        assert!(self.kind == Kind::Int8 && at + bytes <= self.space && bytes <= 8);
        let number = number.to_le_bytes();
        // SAFETY: S2, S12: as above; writers of one call write different elements.
        unsafe { (self.address as *mut u8).add(at).copy_from_nonoverlapping(number.as_ptr(), bytes) };
    }

    /// Writes `alpha * values + beta * old`. With a beta of 0 the old values are ignored, even NaN.
    pub(crate) fn blend(&self, at: usize, stride: usize, values: &mut [f32], [alpha, beta]: [f32; 2]) {
        if alpha != 1.0 {
            values.iter_mut().for_each(|value| *value *= alpha);
        }
        if beta != 0.0 {
            let mut old = [0.0; BLOCK];
            for (part, values) in values.chunks_mut(BLOCK).enumerate() {
                let old = &mut old[..values.len()];
                self.load(at + part * BLOCK * stride, stride, old);
                values.iter_mut().zip(old).for_each(|(value, old)| *value += beta * *old);
            }
        }
        self.store(at, stride, values);
    }
}

/// Some dimensions of a tensor, the last one innermost. Evenly spaced neighbours are merged.
#[derive(Debug, Clone)]
pub(crate) struct Dims {
    /// Length and stride of each.
    parts: Vec<(usize, usize)>,
    count: usize,
}

impl Dims {
    pub(crate) fn new(lens: &[usize], strides: &[usize]) -> Self {
        let mut parts: Vec<(usize, usize)> = Vec::with_capacity(lens.len());
        for (&len, &stride) in lens.iter().zip(strides).filter(|(len, _)| **len != 1) {
            match parts.last_mut() {
                Some(outer) if outer.1 == stride * len => *outer = (outer.0 * len, stride),
                _ => parts.push((len, stride)),
            }
        }
        Self { parts, count: lens.iter().product() }
    }

    /// The number of positions.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The offset of a position.
    pub(crate) fn offset_of(&self, index: usize) -> usize {
        let mut offset = 0;
        self.runs(index, 1, |start, _, _| offset = start);
        offset
    }

    /// Visits `count` positions from `first` on in evenly spaced runs: offset, stride, and the run's range within the `count`.
    pub(crate) fn runs(&self, first: usize, count: usize, mut run: impl FnMut(usize, usize, Range<usize>)) {
        assert!(first + count <= self.count);
        let Some((&(inner, stride), outer)) = self.parts.split_last() else {
            if count > 0 {
                run(0, 1, 0..count);
            }
            return;
        };
        let mut done = 0;
        while done < count {
            let (mut row, column) = ((first + done) / inner, (first + done) % inner);
            let mut offset = column * stride;
            for (len, stride) in outer.iter().rev() {
                offset += row % len * stride;
                row /= len;
            }
            let some = (inner - column).min(count - done);
            run(offset, stride, done..done + some);
            done += some;
        }
    }

    /// Reads the positions from `first` on, relative to `base`.
    pub(crate) fn load<R: Real>(&self, view: &View, base: usize, first: usize, out: &mut [R]) {
        self.runs(first, out.len(), |offset, stride, which| {
            view.load(base + offset, stride, &mut out[which])
        });
    }

    /// Writes the positions from `first` on, relative to `base`.
    pub(crate) fn store<R: Real>(&self, view: &View, base: usize, first: usize, values: &[R]) {
        self.runs(first, values.len(), |offset, stride, which| {
            view.store(base + offset, stride, &values[which])
        });
    }

    /// As [`View::blend`], at the positions from `first` on, relative to `base`.
    pub(crate) fn blend(&self, view: &View, base: usize, first: usize, values: &mut [f32], scales: [f32; 2]) {
        self.runs(first, values.len(), |offset, stride, which| {
            view.blend(base + offset, stride, &mut values[which], scales);
        });
    }
}

/// A whole tensor in the memory of a call.
#[derive(Debug, Clone)]
pub(crate) struct Array {
    pub(crate) view: View,
    pub(crate) dims: Dims,
}

impl Array {
    /// The number of elements.
    pub(crate) fn count(&self) -> usize {
        self.dims.count()
    }

    /// Reads the elements from `first` on, in row-major order.
    pub(crate) fn load<R: Real>(&self, first: usize, out: &mut [R]) {
        self.dims.load(&self.view, 0, first, out);
    }

    /// Writes the elements from `first` on.
    pub(crate) fn store<R: Real>(&self, first: usize, values: &[R]) {
        self.dims.store(&self.view, 0, first, values);
    }

    /// All elements.
    pub(crate) fn read<R: Real>(&self) -> Vec<R> {
        let mut out = vec![R::default(); self.count()];
        self.load(0, &mut out);
        out
    }
}

/// The number of elements that are processed at once.
pub(crate) const BLOCK: usize = 1024;
/// With fewer blocks than this, several threads do not pay.
const FEW: usize = 16;

/// Processes `count` elements block by block; the function gets a block's first element and its length.
pub(crate) fn blocks(count: usize, work: impl Fn(usize, usize) + Sync) {
    let blocks = count.div_ceil(BLOCK);
    let block = |index: usize| work(index * BLOCK, BLOCK.min(count - index * BLOCK));
    if blocks < FEW { (0..blocks).for_each(block) } else { (0..blocks).into_par_iter().for_each(block) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evenly_spaced_dimensions_are_merged() {
        assert_eq!(Dims::new(&[2, 3, 4], &[12, 4, 1]).parts, [(24, 1)]);
        assert_eq!(Dims::new(&[2, 1, 4], &[8, 99, 2]).parts, [(8, 2)]);
        let dims = Dims::new(&[2, 3, 4], &[20, 4, 1]);
        assert_eq!((dims.count(), dims.offset_of(13), dims.offset_of(23)), (24, 21, 31));
        assert_eq!(dims.parts, [(2, 20), (12, 1)]);
        let mut runs = Vec::new();
        dims.runs(10, 5, |offset, stride, which| runs.push((offset, stride, which)));
        assert_eq!(runs, [(10, 1, 0..2), (20, 1, 2..5)]);
    }

    #[test]
    fn dimensions_without_a_stride_repeat() {
        let memory = [1.0_f32, 2.0];
        // SAFETY: S2: the array outlives the view.
        let view = unsafe { View::new(memory.as_ptr() as usize, Kind::Float, 2) };
        let mut out = [0.0_f32; 6];
        Dims::new(&[2, 3], &[1, 0]).load(&view, 0, 0, &mut out);
        assert_eq!(out, [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
    }
}
