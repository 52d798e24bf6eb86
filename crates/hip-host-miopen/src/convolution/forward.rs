//! The convolution forward.

use super::geometry::{Geometry, Side, filters};
use super::matrix::{Factor, multiply};
use rayon::prelude::*;

/// Stores results; it gets the image, the output channel, the first position, and the values from there on.
pub(crate) type Finish<'a> = dyn Fn(usize, usize, usize, &mut [f32]) + Sync + 'a;

/// Convolves; `finish` gets the results.
pub(crate) fn forward(geometry: &Geometry, x: &Side, w: &Side, finish: &Finish<'_>) {
    let (terms, outputs, block) = (geometry.terms(), geometry.outputs, geometry.block());
    let filters = filters(geometry, w);
    let blocks = geometry.positions().div_ceil(block);
    let tasks = geometry.images * geometry.groups * blocks;
    let alone = tasks < rayon::current_num_threads();
    let task = |(columns, results): &mut (Vec<f32>, Vec<f32>), task: usize| {
        let (image, group) = (task / blocks / geometry.groups, task / blocks % geometry.groups);
        let first = task % blocks * block;
        let count = block.min(geometry.positions() - first);
        columns.resize(terms * block, 0.0);
        results.resize(outputs * block, 0.0);
        geometry.columns(x, (image, group), first, count, columns);
        let left = Factor { values: &filters[group * outputs * terms..], rows: terms, columns: 1 };
        let right = Factor { values: columns, rows: count, columns: 1 };
        multiply((outputs, count, terms), results, count, left, right, false, alone);
        for (channel, results) in results.chunks_mut(count).take(outputs).enumerate() {
            finish(image, group * outputs + channel, first, results);
        }
    };
    if alone {
        let mut scratch = Default::default();
        (0..tasks).for_each(|index| task(&mut scratch, index));
    } else {
        (0..tasks).into_par_iter().for_each_init(Default::default, |scratch, index| task(scratch, index));
    }
}
