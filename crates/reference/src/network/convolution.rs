//! Convolutions over any number of dimensions: forward, backward data and backward weights.

use super::{Sum, each, flat_index};

/// Parameters of a convolution, per spatial dimension.
#[derive(Debug, Clone)]
pub struct Walk {
    /// Zeros added on either side.
    pub padding: Vec<usize>,
    /// Step from one window to the next.
    pub stride: Vec<usize>,
    /// Distance between neighbouring weights.
    pub dilation: Vec<usize>,
    /// Groups of channels.
    pub groups: usize,
    /// Whether the convolution is transposed: inputs add to windows of the output.
    pub transposed: bool,
}

/// Lengths of input, weights and output: `[n, c, …]`, `[k, c / groups, …]` (transposed `[c, k / groups, …]`),
/// `[n, k, …]`.
#[derive(Debug, Clone, Copy)]
pub struct Shapes<'a> {
    /// Of the input.
    pub x: &'a [usize],
    /// Of the weights.
    pub w: &'a [usize],
    /// Of the output.
    pub y: &'a [usize],
}

/// The output.
pub fn forward(x: &[f64], w: &[f64], shapes: Shapes<'_>, walk: &Walk) -> Vec<Sum> {
    let mut y = vec![Sum::default(); shapes.y.iter().product()];
    products(shapes, walk, |ix, iw, iy| y[iy].add(x[ix] * w[iw]));
    y
}

/// The input's gradient.
pub fn backward_data(dy: &[f64], w: &[f64], shapes: Shapes<'_>, walk: &Walk) -> Vec<Sum> {
    let mut dx = vec![Sum::default(); shapes.x.iter().product()];
    products(shapes, walk, |ix, iw, iy| dx[ix].add(dy[iy] * w[iw]));
    dx
}

/// The weights' gradient.
pub fn backward_weights(dy: &[f64], x: &[f64], shapes: Shapes<'_>, walk: &Walk) -> Vec<Sum> {
    let mut dw = vec![Sum::default(); shapes.w.iter().product()];
    products(shapes, walk, |ix, iw, iy| dw[iw].add(dy[iy] * x[ix]));
    dw
}

/// Calls `visit` with the positions of every product in the input, in the weights and in the output.
fn products(shapes: Shapes<'_>, walk: &Walk, mut visit: impl FnMut(usize, usize, usize)) {
    if walk.transposed {
        // The transposed convolution of x to y has the products of the plain one of y to x.
        let Shapes { x, w, y } = shapes;
        plain_products(Shapes { x: y, w, y: x }, walk, |ix, iw, iy| visit(iy, iw, ix));
    } else {
        plain_products(shapes, walk, visit);
    }
}

fn plain_products(shapes: Shapes<'_>, walk: &Walk, mut visit: impl FnMut(usize, usize, usize)) {
    let Shapes { x: xd, w: wd, y: yd } = shapes;
    let (inside, per_group) = (wd[1], yd[1] / walk.groups);
    each(yd, |y| {
        each(&wd[1..], |tap| {
            let mut input = vec![y[0], y[1] / per_group * inside + tap[0]];
            for axis in 0..walk.stride.len() {
                let reached = y[axis + 2] * walk.stride[axis] + tap[axis + 1] * walk.dilation[axis];
                match reached.checked_sub(walk.padding[axis]) {
                    Some(at) if at < xd[axis + 2] => input.push(at),
                    _ => return,
                }
            }
            let weight = flat_index(wd, &[&[y[1]], tap].concat());
            visit(flat_index(xd, &input), weight, flat_index(yd, y));
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(padding: usize, stride: usize, transposed: bool) -> Walk {
        Walk { padding: vec![padding], stride: vec![stride], dilation: vec![1], groups: 1, transposed }
    }

    fn values(sums: Vec<Sum>) -> Vec<f64> {
        sums.into_iter().map(|sum| sum.value).collect()
    }

    #[test]
    fn one_dimension_by_hand() {
        let shapes = Shapes { x: &[1, 1, 4], w: &[1, 1, 3], y: &[1, 1, 4] };
        let (x, w) = ([1.0, 2.0, 3.0, 4.0], [1.0, 10.0, 100.0]);
        let plain = walk(1, 1, false);
        // y₀ = 10·1 + 100·2, y₁ = 1 + 20 + 300, …
        assert_eq!(values(forward(&x, &w, shapes, &plain)), [210.0, 321.0, 432.0, 43.0]);
        let dy = [1.0, 0.0, 0.0, 2.0];
        // dx: y₀ uses x₀ with 10 and x₁ with 100; y₃ uses x₂ with 1 and x₃ with 10.
        assert_eq!(values(backward_data(&dy, &w, shapes, &plain)), [10.0, 100.0, 2.0, 20.0]);
        // dw₀ = 2·x₂, dw₁ = x₀ + 2·x₃, dw₂ = x₁.
        assert_eq!(values(backward_weights(&dy, &x, shapes, &plain)), [6.0, 9.0, 2.0]);
    }

    #[test]
    fn transposed_and_groups_by_hand() {
        let shapes = Shapes { x: &[1, 1, 2], w: &[1, 1, 3], y: &[1, 1, 5] };
        let y = forward(&[1.0, 2.0], &[1.0, 10.0, 100.0], shapes, &walk(0, 2, true));
        assert_eq!(values(y), [1.0, 10.0, 102.0, 20.0, 200.0]);
        let depthwise = Walk { groups: 2, ..walk(0, 1, false) };
        let shapes = Shapes { x: &[1, 2, 2], w: &[2, 1, 1], y: &[1, 2, 2] };
        let y = forward(&[1.0, 2.0, 3.0, 4.0], &[10.0, 100.0], shapes, &depthwise);
        assert_eq!(values(y), [10.0, 20.0, 300.0, 400.0]);
    }
}
