//! Reductions.

use super::{Sum, each, flat_index};

/// The operation of a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Their sum.
    Add,
    /// Their product.
    Mul,
    /// The minimum.
    Min,
    /// The maximum.
    Max,
    /// The maximum absolute value.
    AMax,
    /// Their mean.
    Average,
    /// The sum of absolute values.
    Norm1,
    /// The root of the sum of squares.
    Norm2,
}

/// Reduces `a` of lengths `ad` to lengths `cd`, where each is the length of `a` or 1. Each result comes with the index
/// of the chosen element in its group, the first of several.
pub fn reduce(op: Op, a: &[f64], ad: &[usize], cd: &[usize]) -> Vec<(Sum, usize)> {
    let whole: Vec<usize> = ad.iter().zip(cd).map(|(a, c)| if c == a { 1 } else { *a }).collect();
    let mut results = Vec::new();
    each(cd, |index| {
        let mut terms = Vec::new();
        each(&whole, |inner| {
            let at: Vec<usize> = index.iter().zip(inner).map(|(outer, inner)| outer + inner).collect();
            terms.push(a[flat_index(ad, &at)]);
        });
        results.push(one(op, &terms));
    });
    results
}

fn one(op: Op, terms: &[f64]) -> (Sum, usize) {
    let all = || terms.iter().copied();
    let chosen = |key: fn(f64) -> f64| {
        let mut best = 0;
        for (at, term) in terms.iter().enumerate() {
            if key(*term) > key(terms[best]) {
                best = at;
            }
        }
        best
    };
    match op {
        Op::Add => (all().collect(), 0),
        Op::Average => (all().collect::<Sum>().times(1.0 / terms.len() as f64), 0),
        Op::Norm1 => (all().map(f64::abs).collect(), 0),
        Op::Norm2 => {
            let squares: Sum = all().map(|x| x * x).collect();
            (Sum { value: squares.value.sqrt(), scale: squares.value.sqrt(), ..squares }, 0)
        }
        Op::Mul => {
            let product: f64 = all().product();
            // Each factor adds a rounding.
            (Sum { value: product, scale: product.abs() * terms.len() as f64, count: terms.len() }, 0)
        }
        Op::Min => {
            let at = chosen(|x| -x);
            (Sum::one(terms[at]), at)
        }
        Op::Max => {
            let at = chosen(|x| x);
            (Sum::one(terms[at]), at)
        }
        Op::AMax => {
            let at = chosen(f64::abs);
            (Sum::one(terms[at].abs()), at)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_by_hand() {
        let a = [3.0, -4.0, 1.0, 2.0, 0.5, -8.0];
        let run = |op| {
            reduce(op, &a, &[2, 3], &[2, 1]).iter().map(|(sum, at)| (sum.value, *at)).collect::<Vec<_>>()
        };
        assert_eq!(run(Op::Add), [(0.0, 0), (-5.5, 0)]);
        assert_eq!(run(Op::Mul), [(-12.0, 0), (-8.0, 0)]);
        assert_eq!(run(Op::Min), [(-4.0, 1), (-8.0, 2)]);
        assert_eq!(run(Op::Max), [(3.0, 0), (2.0, 0)]);
        assert_eq!(run(Op::AMax), [(4.0, 1), (8.0, 2)]);
        assert_eq!(run(Op::Norm1), [(8.0, 0), (10.5, 0)]);
        assert_eq!(run(Op::Average)[1].0, -5.5 / 3.0);
        assert_eq!(run(Op::Norm2)[0].0, 26.0_f64.sqrt());
        let across = reduce(Op::Max, &a, &[2, 3], &[1, 3]);
        assert_eq!(
            across.iter().map(|(sum, at)| (sum.value, *at)).collect::<Vec<_>>(),
            [(3.0, 0), (0.5, 1), (1.0, 0)]
        );
    }
}
