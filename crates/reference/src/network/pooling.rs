//! Pooling over any number of dimensions, forward and backward.

use super::{Sum, each, flat_index};

/// Pooling windows, per spatial dimension.
#[derive(Debug, Clone)]
pub struct Windows {
    /// Lengths.
    pub window: Vec<usize>,
    /// Padding on either side.
    pub padding: Vec<usize>,
    /// Step from one window to the next.
    pub stride: Vec<usize>,
}

/// The pooling operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// The maximum, the first of several.
    Max,
    /// The mean of the elements inside the input.
    Average,
    /// The mean, counting padding as zeros. Windows reach into the padding at most.
    AverageInclusive,
}

/// The output `[n, c, …]` of lengths `yd` for an input of lengths `xd`.
pub fn forward(x: &[f64], xd: &[usize], yd: &[usize], windows: &Windows, how: How) -> Vec<Sum> {
    let mut y = Vec::new();
    each(yd, |index| {
        let inside = inside(xd, index, windows);
        y.push(match how {
            How::Max => Sum::one(x[greatest(x, &inside)]),
            _ => inside.iter().map(|&at| x[at]).collect::<Sum>().times(1.0 / divisor(&inside, windows, how)),
        });
    });
    y
}

/// The input's gradient.
pub fn backward(x: &[f64], xd: &[usize], dy: &[f64], yd: &[usize], windows: &Windows, how: How) -> Vec<Sum> {
    let mut dx = vec![Sum::default(); x.len()];
    each(yd, |index| {
        let inside = inside(xd, index, windows);
        let given = dy[flat_index(yd, index)];
        match how {
            How::Max => dx[greatest(x, &inside)].add(given),
            _ => inside.iter().for_each(|&at| dx[at].add(given / divisor(&inside, windows, how))),
        }
    });
    dx
}

fn divisor(inside: &[usize], windows: &Windows, how: How) -> f64 {
    let all: usize = windows.window.iter().product();
    if how == How::AverageInclusive { all as f64 } else { inside.len() as f64 }
}

fn greatest(x: &[f64], inputs: &[usize]) -> usize {
    let mut best = inputs[0];
    for &at in inputs {
        if x[at] > x[best] {
            best = at;
        }
    }
    best
}

/// The positions of a window inside the input.
fn inside(xd: &[usize], index: &[usize], windows: &Windows) -> Vec<usize> {
    let mut inputs = Vec::new();
    each(&windows.window, |tap| {
        let mut input = index[..2].to_vec();
        for axis in 0..windows.window.len() {
            let reached = index[axis + 2] * windows.stride[axis] + tap[axis];
            match reached.checked_sub(windows.padding[axis]) {
                Some(at) if at < xd[axis + 2] => input.push(at),
                _ => return,
            }
        }
        inputs.push(flat_index(xd, &input));
    });
    inputs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_dimension_by_hand() {
        let windows = Windows { window: vec![3], padding: vec![1], stride: vec![2] };
        let (x, xd, yd) = ([1.0, 5.0, 2.0, 8.0], [1, 1, 4], [1, 1, 2]);
        let run = |how| forward(&x, &xd, &yd, &windows, how).iter().map(|sum| sum.value).collect::<Vec<_>>();
        assert_eq!(run(How::Max), [5.0, 8.0]);
        assert_eq!(run(How::Average), [3.0, 5.0]);
        assert_eq!(run(How::AverageInclusive), [2.0, 5.0]);
        let back = |how| {
            let dx = backward(&x, &xd, &[6.0, 12.0], &yd, &windows, how);
            dx.iter().map(|sum| sum.value).collect::<Vec<_>>()
        };
        assert_eq!(back(How::Max), [0.0, 6.0, 0.0, 12.0]);
        assert_eq!(back(How::Average), [3.0, 7.0, 4.0, 4.0]);
        assert_eq!(back(How::AverageInclusive), [2.0, 6.0, 4.0, 4.0]);
    }
}
