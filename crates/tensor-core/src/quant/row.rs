//! A row of blocks, unpacked: the form in which all formats are dequantized and multiplied.

use super::QuantFormat;
use super::block::{Block, Unpacked, dispatch_format};

/// The numbers of a row of whole blocks, and the scales and minima of their groups: see [`Unpacked`].
#[derive(Default)]
pub(crate) struct Row {
    numbers: Vec<i8>,
    scales: Vec<f32>,
    mins: Vec<f32>,
    has_mins: bool,
    /// Numbers in a group.
    group: usize,
}

impl Row {
    /// Numbers in a group of the format.
    pub(crate) fn group_of(format: QuantFormat) -> usize {
        dispatch_format!(format, B => B::GROUP)
    }

    /// Numbers in a group.
    pub(crate) fn group(&self) -> usize {
        self.group
    }

    /// The numbers.
    pub(crate) fn numbers(&self) -> &[i8] {
        &self.numbers
    }

    /// One scale for each group.
    pub(crate) fn scales(&self) -> &[f32] {
        &self.scales
    }

    /// One minimum for each group; empty in formats without.
    pub(crate) fn mins(&self) -> &[f32] {
        if self.has_mins { &self.mins } else { &[] }
    }

    /// Unpacks the blocks of a row, in place of the row before.
    #[inline(always)]
    pub(crate) fn unpack<B: Block>(&mut self, blocks: &[u8]) {
        let (count, groups) = (blocks.len() / B::BYTES, B::LENGTH / B::GROUP);
        self.group = B::GROUP;
        self.numbers.resize(count * B::LENGTH, 0);
        self.scales.resize(count * groups, 0.0);
        self.mins.resize(count * groups, 0.0);
        self.has_mins = B::MINS;
        // Each slice is checked, which keeps the compiler from vectorising over blocks, with strides between bytes. Within
        // a block it then vectorises over neighbours.
        for (place, block) in blocks.chunks_exact(B::BYTES).enumerate() {
            let numbers = &mut self.numbers[place * B::LENGTH..][..B::LENGTH];
            let scales = &mut self.scales[place * groups..][..groups];
            let mins = &mut self.mins[place * groups..][..groups];
            B::unpack(block, Unpacked { numbers, scales, mins });
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
        for (place, ((values, numbers), scale)) in groups.enumerate() {
            let products = numbers.iter().map(|number| scale * f32::from(*number));
            match self.mins().get(place) {
                None => values.iter_mut().zip(products).for_each(|(value, product)| *value = product),
                Some(min) => {
                    values.iter_mut().zip(products).for_each(|(value, product)| *value = product - min)
                }
            }
        }
    }
}
