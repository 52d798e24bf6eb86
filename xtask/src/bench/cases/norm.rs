//! Normalisations with weights and, where they have any, biases.

use super::{Measured, ROWS, SHORT_ROWS, dense};
use parity::case::Operand;
use parity::inputs::Contents;
use reference::DType;

/// Images whose groups have as many elements as the rows: items, channels, places.
const LONG_GROUPS: [usize; 3] = [8, 64, 512];
const SHORT_GROUPS: [usize; 3] = [64, 64, 64];
const GROUPS: usize = 8;
const EPS: f64 = 1e-5;

pub(super) fn cases(dtype: DType) -> Vec<Measured> {
    if !dtype.is_float() {
        return Vec::new();
    }
    let kernel = |kind: &str| format!("norm_{kind}_{dtype}");
    let with = |shape: &[usize], channels: usize| {
        vec![dense(dtype, shape), dense(dtype, &[channels]), dense(dtype, &[channels])]
    };
    let layer = |kind: &str, shape: [usize; 2]| {
        Measured::call(kernel(kind), with(&shape, shape[1]), |x| x[0].layer_norm(&x[1], &x[2], EPS))
    };
    let rms = |kind: &str, shape: [usize; 2]| {
        let operands = vec![dense(dtype, &shape), dense(dtype, &[shape[1]])];
        Measured::call(kernel(kind), operands, |x| x[0].rms_norm(&x[1], EPS))
    };
    let group = |kind: &str, shape: [usize; 3]| {
        let operands = with(&shape, shape[1]);
        Measured::call(kernel(kind), operands, |x| x[0].group_norm(GROUPS, &x[1], &x[2], EPS))
    };
    let mut channels = with(&LONG_GROUPS, LONG_GROUPS[1]);
    // A mean and a variance for each channel, too.
    channels.push(dense(dtype, &[LONG_GROUPS[1]]));
    channels.push(Operand::dense(dtype, &[LONG_GROUPS[1]], Contents::Ones));
    vec![
        layer("layer", ROWS),
        layer("layer_short", SHORT_ROWS),
        rms("rms", ROWS),
        rms("rms_short", SHORT_ROWS),
        group("group", LONG_GROUPS),
        group("group_short", SHORT_GROUPS),
        Measured::call(kernel("batch"), channels, |x| x[0].batch_norm(&x[3], &x[4], &x[1], &x[2], EPS)),
    ]
}
