//! Softmax and normalisations over any groups of elements, and local response normalisation.

use super::{Sum, each, flat_index};

/// Groups the positions of elements by their key.
pub fn groups(dims: &[usize], key: impl Fn(&[usize]) -> Vec<usize>) -> Vec<Vec<usize>> {
    let mut known: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    let mut at = 0;
    each(dims, |index| {
        let key = key(index);
        match known.iter_mut().find(|(other, _)| *other == key) {
            Some((_, members)) => members.push(at),
            None => known.push((key, vec![at])),
        }
        at += 1;
    });
    known.into_iter().map(|(_, members)| members).collect()
}

/// The softmax of each group, or its logarithm. The scale is that of the relative errors of exponentials and their sum.
pub fn softmax(x: &[f64], groups: &[Vec<usize>], log: bool) -> Vec<Sum> {
    let mut y = vec![Sum::default(); x.len()];
    for members in groups {
        let greatest = members.iter().map(|&at| x[at]).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = members.iter().map(|&at| (x[at] - greatest).exp()).sum();
        for &at in members {
            let less = x[at] - greatest;
            y[at] = if log {
                let value = less - sum.ln();
                Sum { value, scale: x[at].abs() + greatest.abs() + sum.ln() + 1.0, count: members.len() }
            } else {
                let value = less.exp() / sum;
                Sum { value, scale: value * (2.0 + x[at].abs() + greatest.abs()), count: members.len() }
            };
        }
    }
    y
}

/// The gradient of a softmax's input, computed from its output.
pub fn softmax_backward(y: &[f64], dy: &[f64], groups: &[Vec<usize>], log: bool) -> Vec<Sum> {
    let mut dx = vec![Sum::default(); y.len()];
    for members in groups {
        let sum: Sum = members.iter().map(|&at| if log { dy[at] } else { dy[at] * y[at] }).collect();
        for &at in members {
            let factor = if log { y[at].exp() } else { y[at] };
            let value = if log { dy[at] - factor * sum.value } else { factor * (dy[at] - sum.value) };
            let whole = if log {
                dy[at].abs() + 3.0 * factor * sum.scale
            } else {
                factor * (dy[at].abs() + sum.scale)
            };
            dx[at] = Sum { value, scale: whole, count: sum.count };
        }
    }
    dx
}

/// Mean, variance (divided by the number of elements), and 1 / √(variance + epsilon) of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// The mean.
    pub mean: Sum,
    /// The variance.
    pub variance: Sum,
    /// The inverse standard deviation.
    pub rstd: f64,
}

/// The moments of each group.
pub fn moments(x: &[f64], groups: &[Vec<usize>], epsilon: f64) -> Vec<Moments> {
    let of = |members: &Vec<usize>| {
        let part = 1.0 / members.len() as f64;
        let mean = members.iter().map(|&at| x[at]).collect::<Sum>().times(part);
        let variance = members.iter().map(|&at| (x[at] - mean.value).powi(2)).collect::<Sum>().times(part);
        let squares = members.iter().map(|&at| x[at] * x[at]).collect::<Sum>().times(part);
        // A device may compute the variance as a difference of two means.
        let variance = Sum { scale: squares.value + mean.value * mean.value, ..variance };
        Moments { mean, variance, rstd: (variance.value + epsilon).sqrt().recip() }
    };
    groups.iter().map(of).collect()
}

/// `(x − mean) · rstd · scale + bias`, with the group's mean and rstd, and the element's scale and bias.
pub fn normalise(
    x: &[f64],
    groups: &[Vec<usize>],
    moments: &[(f64, f64)],
    affine: impl Fn(usize) -> (f64, f64),
) -> Vec<Sum> {
    let mut y = vec![Sum::default(); x.len()];
    for (members, (mean, rstd)) in groups.iter().zip(moments) {
        let typical = typical(x, members);
        for &at in members {
            let (scale, bias) = affine(at);
            let value = (x[at] - mean) * rstd * scale + bias;
            let magnitude = 4.0 * (x[at].abs() + typical) * (rstd * scale).abs() + bias.abs();
            y[at] = Sum { value, scale: magnitude, count: members.len() };
        }
    }
    y
}

/// The mean absolute value, which scales the error of a mean.
fn typical(x: &[f64], members: &[usize]) -> f64 {
    members.iter().map(|&at| x[at].abs()).sum::<f64>() / members.len() as f64
}

/// The gradients of a normalisation's input, and of the scale and bias of each group.
pub fn normalise_backward(
    x: &[f64],
    dy: &[f64],
    groups: &[Vec<usize>],
    moments: &[(f64, f64)],
    factors: &[f64],
) -> (Vec<Sum>, Vec<(Sum, Sum)>) {
    let mut dx = vec![Sum::default(); x.len()];
    let mut params = Vec::new();
    for ((members, (mean, rstd)), factor) in groups.iter().zip(moments).zip(factors) {
        let hat = |at: usize| (x[at] - mean) * rstd;
        let d_scale: Sum = members.iter().map(|&at| dy[at] * hat(at)).collect();
        let d_bias: Sum = members.iter().map(|&at| dy[at]).collect();
        // The normalised value is a difference, with the error of its terms.
        let reach = |at: usize| (x[at].abs() + typical(x, members)) * rstd;
        let d_scale =
            Sum { scale: members.iter().map(|&at| 4.0 * dy[at].abs() * reach(at)).sum(), ..d_scale };
        let count = members.len() as f64;
        for &at in members {
            let value = factor * rstd * (dy[at] - d_bias.value / count - hat(at) * d_scale.value / count);
            let whole = dy[at].abs() + d_bias.scale / count + reach(at) * d_scale.scale / count;
            dx[at] = Sum { value, scale: 4.0 * (factor * rstd).abs() * whole, count: members.len() };
        }
        params.push((d_scale, d_bias));
    }
    (dx, params)
}

/// The neighbours whose squares normalise a response, and the divisor of their sum.
struct Near<'a> {
    dims: &'a [usize],
    of: Box<Members<'a>>,
    share: f64,
}

type Members<'a> = dyn Fn(&[usize]) -> Vec<usize> + 'a;

fn around(at: usize, n: usize, len: usize) -> std::ops::Range<usize> {
    at.saturating_sub(n / 2)..(at + n / 2 + 1).min(len)
}

impl<'a> Near<'a> {
    /// A neighbourhood of `n` channels.
    fn across(dims: &'a [usize], n: usize) -> Self {
        let of = move |index: &[usize]| {
            let channels = around(index[1], n, dims[1]);
            channels.map(|channel| flat_index(dims, &[index[0], channel, index[2], index[3]])).collect()
        };
        Self { dims, of: Box::new(of), share: n as f64 }
    }

    /// A square neighbourhood of side `n` in the same channel.
    fn within(dims: &'a [usize], n: usize) -> Self {
        let of = move |index: &[usize]| {
            let row =
                |h| around(index[3], n, dims[3]).map(move |w| flat_index(dims, &[index[0], index[1], h, w]));
            around(index[2], n, dims[2]).flat_map(row).collect()
        };
        Self { dims, of: Box::new(of), share: (n * n) as f64 }
    }

    /// The base of each element's divisor, before the power.
    fn bases(&self, x: &[f64], alpha: f64, k: f64) -> Vec<f64> {
        let mut bases = Vec::new();
        each(self.dims, |index| {
            let squares: f64 = (self.of)(index).into_iter().map(|at| x[at].powi(2)).sum();
            bases.push(k + alpha / self.share * squares);
        });
        bases
    }

    fn forward(&self, x: &[f64], [alpha, beta, k]: [f64; 3]) -> Vec<Sum> {
        let count = self.share as usize;
        let response = |(x, base): (&f64, f64)| {
            let value = x * base.powf(-beta);
            Sum { value, scale: value.abs() * (4.0 + beta * (1.0 + base.ln().abs())), count }
        };
        x.iter().zip(self.bases(x, alpha, k)).map(response).collect()
    }

    /// Windows are odd, so that the neighbour relation is symmetric.
    fn backward(&self, x: &[f64], dy: &[f64], [alpha, beta, k]: [f64; 3]) -> Vec<Sum> {
        let bases = self.bases(x, alpha, k);
        let mut dx = Vec::new();
        each(self.dims, |index| {
            let own = flat_index(self.dims, index);
            let mut sum = Sum::one(dy[own] * bases[own].powf(-beta));
            for there in (self.of)(index) {
                let slope = -2.0 * alpha * beta / self.share * x[own] * bases[there].powf(-beta - 1.0);
                sum.add(dy[there] * x[there] * slope);
            }
            dx.push(Sum { scale: 8.0 * sum.scale, ..sum });
        });
        dx
    }
}

/// `x / (k + alpha / n · Σ x²)^beta` of `[n, c, h, w]` over `n` neighbouring channels, an odd number. The factors are
/// alpha, beta, k.
pub fn response_across(x: &[f64], dims: &[usize], n: usize, factors: [f64; 3]) -> Vec<Sum> {
    Near::across(dims, n).forward(x, factors)
}

/// The gradient of the input of [`response_across`].
pub fn response_across_backward(
    x: &[f64],
    dy: &[f64],
    dims: &[usize],
    n: usize,
    factors: [f64; 3],
) -> Vec<Sum> {
    Near::across(dims, n).backward(x, dy, factors)
}

/// As [`response_across`], over a square of side `n` in the same channel. The sum is divided by the square's area.
pub fn response_within(x: &[f64], dims: &[usize], n: usize, factors: [f64; 3]) -> Vec<Sum> {
    Near::within(dims, n).forward(x, factors)
}

/// The gradient of the input of [`response_within`].
pub fn response_within_backward(
    x: &[f64],
    dy: &[f64],
    dims: &[usize],
    n: usize,
    factors: [f64; 3],
) -> Vec<Sum> {
    Near::within(dims, n).backward(x, dy, factors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} and {b}");
    }

    #[test]
    fn softmax_by_hand() {
        let both = [vec![0, 1]];
        let y = softmax(&[0.0, 3.0_f64.ln()], &both, false);
        close(y[0].value, 0.25);
        close(y[1].value, 0.75);
        close(softmax(&[0.0, 3.0_f64.ln()], &both, true)[0].value, 0.25_f64.ln());
        // dx = y (dy − Σ y dy) with Σ = 0.25 · 4 + 0.75 · 8 = 7.
        let dx = softmax_backward(&[0.25, 0.75], &[4.0, 8.0], &both, false);
        close(dx[0].value, -0.75);
        close(dx[1].value, 0.75);
        let dx = softmax_backward(&[0.25_f64.ln(), 0.75_f64.ln()], &[4.0, 8.0], &both, true);
        close(dx[0].value, 1.0);
        close(dx[1].value, -1.0);
    }

    #[test]
    fn moments_and_gradients_by_hand() {
        let x = [1.0, 3.0, 10.0, 10.0];
        let groups = groups(&[2, 2], |index| vec![index[0]]);
        assert_eq!(groups, [vec![0, 1], vec![2, 3]]);
        let found = moments(&x, &groups, 3.0);
        close(found[0].mean.value, 2.0);
        close(found[0].variance.value, 1.0);
        close(found[0].rstd, 0.5);
        let plain: Vec<_> = found.iter().map(|m| (m.mean.value, m.rstd)).collect();
        let y = normalise(&x, &groups, &plain, |_| (4.0, 1.0));
        close(y[0].value, -1.0);
        close(y[1].value, 3.0);
        close(y[2].value, 1.0);
        // ŷ = ∓0.5, Σ dy = 3, Σ dy·ŷ = 0.5: dx = 2 · 0.5 · (dy − 1.5 − ŷ · 0.25).
        let (dx, params) = normalise_backward(&x, &[1.0, 2.0, 0.0, 0.0], &groups, &plain, &[2.0, 2.0]);
        close(params[0].0.value, 0.5);
        close(params[0].1.value, 3.0);
        close(dx[0].value, -0.375);
        close(dx[1].value, 0.375);
    }

    #[test]
    fn responses_by_hand() {
        let y = response_across(&[1.0, 2.0, 3.0], &[1, 3, 1, 1], 3, [3.0, 1.0, 1.0]);
        close(y[0].value, 1.0 / 6.0);
        close(y[1].value, 2.0 / 15.0);
        close(y[2].value, 3.0 / 14.0);
        // One channel: y = x / (1 + 3 x²), dy/dx = (1 − 3 x²) / (1 + 3 x²)².
        let dx = response_across_backward(&[2.0], &[5.0], &[1, 1, 1, 1], 1, [3.0, 1.0, 1.0]);
        close(dx[0].value, 5.0 * (1.0 - 12.0) / 169.0);
        // Two channels: the second's output falls as the first grows, by −2 x₀ x₁ (alpha / n) / base².
        let dx = response_across_backward(&[1.0, 2.0], &[0.0, 1.0], &[1, 2, 1, 1], 3, [3.0, 1.0, 1.0]);
        close(dx[0].value, -2.0 * 2.0 / 36.0);
        // A square of 3 in a plane of 2 by 3, with alpha divided by 9. The corner has the neighbours 1, 2, 4, 5.
        let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let y = response_within(&x, &[1, 1, 2, 3], 3, [9.0, 1.0, 1.0]);
        close(y[0].value, 1.0 / 47.0);
        close(y[1].value, 2.0 / 92.0);
        // Elements of another channel are not neighbours.
        let y = response_within(&x, &[1, 2, 1, 3], 3, [9.0, 1.0, 1.0]);
        close(y[0].value, 1.0 / 6.0);
        close(y[5].value, 6.0 / 62.0);
        // The corner's output falls as its neighbour grows, by −2 x₀ x₁ / base².
        let dx =
            response_within_backward(&x, &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], &[1, 1, 2, 3], 3, [9.0, 1.0, 1.0]);
        close(dx[1].value, -2.0 * 2.0 / 47.0_f64.powi(2));
        close(dx[0].value, 1.0 / 47.0 - 2.0 / 47.0_f64.powi(2));
        close(dx[2].value, 0.0);
    }
}
