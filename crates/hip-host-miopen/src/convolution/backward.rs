//! The gradients of a convolution: by the data and by the filters.

use super::geometry::{Geometry, Side, filters};
use super::matrix::{Factor, multiply};
use rayon::prelude::*;

/// The results [outputs of the group, count] from position `first` on.
fn results(
    geometry: &Geometry,
    y: &Side,
    (image, group): (usize, usize),
    first: usize,
    count: usize,
    out: &mut [f32],
) {
    for (channel, out) in out.chunks_mut(count).take(geometry.outputs).enumerate() {
        y.positions.load(&y.view, y.start(image, group * geometry.outputs + channel), first, out);
    }
}

/// The gradient by the input, from the results' gradient.
pub(super) fn data(geometry: &Geometry, dy: &Side, w: &Side, dx: &Side, scales: [f32; 2]) {
    let (terms, outputs, block) = (geometry.terms(), geometry.outputs, geometry.block());
    let (filters, positions) = (filters(geometry, w), geometry.input_positions());
    let tasks = geometry.images * geometry.groups;
    let alone = tasks < rayon::current_num_threads();
    let task = |task: usize| {
        let at = (task / geometry.groups, task % geometry.groups);
        let mut image = vec![0.0; geometry.inputs * positions];
        let (mut columns, mut gradients) = (vec![0.0; terms * block], vec![0.0; outputs * block]);
        for first in (0..geometry.positions()).step_by(block) {
            let count = block.min(geometry.positions() - first);
            results(geometry, dy, at, first, count, &mut gradients);
            let left = Factor { values: &filters[at.1 * outputs * terms..], rows: 1, columns: terms };
            let right = Factor { values: &gradients, rows: count, columns: 1 };
            multiply((terms, count, outputs), &mut columns, count, left, right, false, alone);
            geometry.gather(&columns, first, count, &mut image);
        }
        for (channel, values) in image.chunks_mut(positions).enumerate() {
            let start = dx.start(at.0, at.1 * geometry.inputs + channel);
            dx.positions.blend(&dx.view, start, 0, values, scales);
        }
    };
    if alone { (0..tasks).for_each(task) } else { (0..tasks).into_par_iter().for_each(task) }
}

/// The gradient by the filters, from the results' gradient.
pub(super) fn weights(geometry: &Geometry, dy: &Side, x: &Side, dw: &Side, scales: [f32; 2]) {
    let (terms, outputs, block) = (geometry.terms(), geometry.outputs, geometry.block());
    let threads = rayon::current_num_threads();
    // Each part of the images has its own sums, which are added in order.
    let parts = threads.div_ceil(geometry.groups).min(geometry.images);
    let share = geometry.images.div_ceil(parts);
    let alone = geometry.groups * parts < threads;
    let part = |group: usize, part: usize| {
        let mut sums = vec![0.0; outputs * terms];
        let (mut columns, mut gradients) = (vec![0.0; terms * block], vec![0.0; outputs * block]);
        for image in part * share..((part + 1) * share).min(geometry.images) {
            for first in (0..geometry.positions()).step_by(block) {
                let count = block.min(geometry.positions() - first);
                geometry.columns(x, (image, group), first, count, &mut columns);
                results(geometry, dy, (image, group), first, count, &mut gradients);
                let left = Factor { values: &gradients, rows: count, columns: 1 };
                let right = Factor { values: &columns, rows: 1, columns: count };
                multiply((outputs, terms, count), &mut sums, terms, left, right, true, alone);
            }
        }
        sums
    };
    let sum = |group: usize| {
        let sums: Vec<Vec<f32>> = (0..parts).into_par_iter().map(|index| part(group, index)).collect();
        let mut sums = sums.into_iter();
        let mut total = sums.next().unwrap_or_default();
        sums.for_each(|more| total.iter_mut().zip(more).for_each(|(total, more)| *total += more));
        for (filter, values) in total.chunks_mut(terms).enumerate() {
            for (channel, values) in values.chunks_mut(terms / geometry.inputs).enumerate() {
                dw.positions.blend(&dw.view, dw.start(group * outputs + filter, channel), 0, values, scales);
            }
        }
    };
    (0..geometry.groups).into_par_iter().for_each(sum);
}
