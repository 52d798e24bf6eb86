//! A row of blocks, unpacked: the form in which all formats are dequantized.

use super::block::{Block, Unpacked};

/// The numbers of a row of whole blocks, and the scales and minima of their groups: see [`Unpacked`].
#[derive(Default)]
pub(crate) struct Row {
    numbers: Vec<i8>,
    /// One for each group, and so are `mins`, which are empty in formats without.
    scales: Vec<f32>,
    mins: Vec<f32>,
    /// Numbers in a group.
    group: usize,
}

impl Row {
    /// Unpacks the blocks of a row, in place of the row before.
    #[inline(always)]
    pub(crate) fn unpack<B: Block>(&mut self, blocks: &[u8]) {
        let (count, groups) = (blocks.len() / B::BYTES, B::LENGTH / B::GROUP);
        self.group = B::GROUP;
        self.numbers.resize(count * B::LENGTH, 0);
        self.scales.resize(count * groups, 0.0);
        self.mins.resize(if B::MINS { count * groups } else { 0 }, 0.0);
        let (mut units, mut min_units, mut scales, mut mins) = ([0.0; 4], [0.0; 4], [1; 16], [1; 16]);
        // Each slice is checked, which keeps the compiler from vectorising over blocks, with strides between bytes. Within
        // a block it then vectorises over neighbours.
        for (index, block) in blocks.chunks_exact(B::BYTES).enumerate() {
            let to = Unpacked {
                numbers: &mut self.numbers[index * B::LENGTH..][..B::LENGTH],
                units: &mut units[..B::LENGTH / B::UNIT],
                min_units: &mut min_units[..B::LENGTH / B::UNIT],
                scales: &mut scales[..groups],
                mins: &mut mins[..groups],
            };
            B::unpack(block, to);
            for (group, scale) in self.scales[index * groups..][..groups].iter_mut().enumerate() {
                *scale = units[group * B::GROUP / B::UNIT] * f32::from(scales[group]);
            }
            if B::MINS {
                for (group, min) in self.mins[index * groups..][..groups].iter_mut().enumerate() {
                    *min = min_units[group * B::GROUP / B::UNIT] * f32::from(mins[group]);
                }
            }
        }
    }

    /// Writes the values.
    #[inline(always)]
    pub(crate) fn dequantize(&self, values: &mut [f32]) {
        match self.group {
            16 => self.dequantize_groups::<16>(values),
            _ => self.dequantize_groups::<32>(values),
        }
    }

    #[inline(always)]
    fn dequantize_groups<const GROUP: usize>(&self, values: &mut [f32]) {
        let groups = values.chunks_exact_mut(GROUP).zip(self.numbers.chunks_exact(GROUP)).zip(&self.scales);
        for (index, ((values, numbers), scale)) in groups.enumerate() {
            let products = numbers.iter().map(|number| scale * f32::from(*number));
            match self.mins.get(index) {
                None => values.iter_mut().zip(products).for_each(|(value, product)| *value = product),
                Some(min) => {
                    values.iter_mut().zip(products).for_each(|(value, product)| *value = product - min)
                }
            }
        }
    }

    /// |scale · number| + |minimum| of number `index`.
    #[cfg(test)]
    pub(crate) fn size(&self, index: usize) -> f64 {
        let group = index / self.group;
        let min = self.mins.get(group).copied().unwrap_or(0.0);
        f64::from(self.scales[group] * f32::from(self.numbers[index])).abs() + f64::from(min).abs()
    }
}
