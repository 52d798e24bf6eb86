//! The faults that are planted, all of which occur in real kernels.

use reference::round::{decode_float, max_value};
use reference::{Array, DType, Expected, Judge, ReduceOp, Value};

use super::Bench;
use crate::case::Op;
use crate::evaluate;
use crate::inputs::Contents;

/// A kind of fault.
pub(super) struct Fault {
    /// Its name in reports.
    pub(super) name: &'static str,
    /// The result with the fault, or `None` if it cannot be planted in this case.
    pub(super) plant: fn(&Bench<'_>) -> Option<Vec<u8>>,
}

/// All of them.
pub(super) const FAULTS: &[Fault] = &[
    Fault { name: "twice the tolerance", plant: twice_the_tolerance },
    Fault { name: "NaN dropped", plant: nan_dropped },
    Fault { name: "NaN invented", plant: nan_invented },
    Fault { name: "infinity saturated", plant: infinity_saturated },
    Fault { name: "sign of zero lost", plant: zero_sign },
    Fault { name: "element not written", plant: not_written },
    Fault { name: "read one element too far", plant: read_too_far },
    Fault { name: "another page of the table", plant: another_page },
    Fault { name: "last index instead of first", plant: last_index },
    Fault { name: "inputs cut to TF32", plant: tf32 },
    Fault { name: "accumulated in 16 bits", plant: narrow_accumulator },
    Fault { name: "summed one after the other", plant: sequential_sum },
];

impl Bench<'_> {
    fn dtype(&self) -> DType {
        self.outcome.dtype()
    }

    /// Replaces the first element, cyclically from the middle on, for which `choose` returns new bits.
    fn replace(&self, choose: impl Fn(&Expected) -> Option<u64>) -> Option<Vec<u8>> {
        let len = self.outcome.len();
        (0..len).map(|i| (i + len / 2) % len).find_map(|index| {
            let bits = choose(&self.outcome.at(index))?;
            Some(self.with(index, bits))
        })
    }

    /// The result with one element replaced.
    fn with(&self, index: usize, bits: u64) -> Vec<u8> {
        let size = self.dtype().size();
        let mut result = self.result.to_vec();
        result[index * size..][..size].copy_from_slice(&bits.to_le_bytes()[..size]);
        result
    }
}

/// One element with twice the allowed error, or off by one step of the dtype if nothing is allowed.
fn twice_the_tolerance(bench: &Bench<'_>) -> Option<Vec<u8>> {
    let dtype = bench.dtype();
    bench.replace(|expected| {
        if dtype.is_int() {
            return Some(expected.bits ^ 1);
        }
        if !decode_float(dtype, expected.bits).is_finite() || expected.overflow {
            return None;
        }
        if bench.rule == Judge::Exact {
            return Some(expected.bits ^ 1).filter(|bits| decode_float(dtype, *bits).is_finite());
        }
        let allowed = bench.rule.tolerance(dtype, expected);
        // f8e4m3 saturates: its results are compared with the clamped value.
        let value = expected.value.hi.clamp(-max_value(dtype), max_value(dtype));
        // Towards zero if moving away from it would overflow.
        let away = value + (2.0 * allowed).copysign(value);
        let spoiled =
            if away.abs() < max_value(dtype) { away } else { value - (2.0 * allowed).copysign(value) };
        Some(dtype.encode(Value::Float(spoiled)))
    })
}

/// A NaN replaced by 0.
fn nan_dropped(bench: &Bench<'_>) -> Option<Vec<u8>> {
    let dtype = bench.dtype();
    bench.replace(|expected| (dtype.is_nan(expected.bits) && !expected.overflow).then_some(0))
}

/// A number replaced by NaN.
fn nan_invented(bench: &Bench<'_>) -> Option<Vec<u8>> {
    let dtype = bench.dtype();
    let usable = |expected: &Expected| dtype.is_float() && !dtype.is_nan(expected.bits) && !expected.overflow;
    bench.replace(|expected| usable(expected).then(|| dtype.encode(Value::Float(f64::NAN))))
}

/// An infinity replaced by the largest number.
fn infinity_saturated(bench: &Bench<'_>) -> Option<Vec<u8>> {
    let dtype = bench.dtype();
    bench.replace(|expected| {
        let infinite = dtype.is_float() && expected.value.hi.is_infinite() && dtype != DType::F8E4M3;
        (infinite && !expected.overflow)
            .then(|| dtype.encode(Value::Float(max_value(dtype).copysign(expected.value.hi))))
    })
}

/// A zero with the wrong sign, if equal bits are required.
fn zero_sign(bench: &Bench<'_>) -> Option<Vec<u8>> {
    let dtype = bench.dtype();
    if dtype.is_int() || bench.rule != Judge::Exact {
        return None;
    }
    let sign = 1u64 << (dtype.bits() - 1);
    bench.replace(|expected| (expected.bits & !sign == 0).then_some(expected.bits ^ sign))
}

/// An element that was not written: all bits set.
fn not_written(bench: &Bench<'_>) -> Option<Vec<u8>> {
    let dtype = bench.dtype();
    let garbage = u64::MAX >> (64 - dtype.bits());
    let same = |expected: &Expected| {
        expected.bits == garbage || dtype.is_nan(expected.bits) && dtype.is_nan(garbage)
    };
    bench.replace(|expected| (!same(expected) && !expected.overflow).then_some(garbage))
}

/// The result if every element of the first array is read one position too far, or of the second if the first does not matter.
fn read_too_far(bench: &Bench<'_>) -> Option<Vec<u8>> {
    let usable = matches!(bench.case.operands[0].contents, Contents::Mixed | Contents::Angles)
        || matches!(bench.case.op, Op::Reduce { .. } | Op::Matmul) && !bench.case.exact;
    if !usable || matches!(bench.case.op, Op::Fill(_) | Op::ConstSet(_) | Op::CopyInto) {
        return None;
    }
    let shifted = |index: usize| {
        let mut inputs = bench.inputs.to_vec();
        inputs.get_mut(index)?.rotate_left(bench.case.operands[index].dtype.size());
        recomputed(bench, &evaluate::arrays(bench.case, &inputs).ok()?)
    };
    let first = shifted(0)?;
    if first == bench.outcome.to_bytes() { shifted(1).or(Some(first)) } else { Some(first) }
}

/// The result by pages of which each is the next one in the table, unless that gives the same.
fn another_page(bench: &Bench<'_>) -> Option<Vec<u8>> {
    if bench.case.op.name() != "paged_attention" {
        return None;
    }
    let mut inputs = bench.inputs.to_vec();
    inputs.get_mut(3)?.rotate_left(DType::U32.size());
    let found = recomputed(bench, &evaluate::arrays(bench.case, &inputs).ok()?)?;
    (found != bench.outcome.to_bytes()).then_some(found)
}

/// The operation's result for other operands.
fn recomputed(bench: &Bench<'_>, arrays: &[Array]) -> Option<Vec<u8>> {
    let arrays: Vec<&Array> = arrays.iter().collect();
    Some(evaluate::outcome(bench.case, &arrays).ok()?.to_bytes())
}

/// argmin and argmax that return the last of equals, for one row.
fn last_index(bench: &Bench<'_>) -> Option<Vec<u8>> {
    let Op::Reduce { op: op @ (ReduceOp::ArgMin | ReduceOp::ArgMax), axes, keep } = &bench.case.op else {
        return None;
    };
    let (&[rows, columns], [1]) = (bench.arrays[0].shape(), axes.as_slice()) else { return None };
    let backwards = bench.arrays[0].strided(columns - 1, &[rows, columns], &[columns as isize, -1]).ok()?;
    let last = reference::reduce(*op, &backwards, axes, *keep).ok()?;
    (0..rows).find_map(|row| {
        let position = (columns - 1) as u64 - last.at(row).bits;
        (position != bench.outcome.at(row).bits).then(|| bench.with(row, position))
    })
}

/// A product of f32 matrices whose entries are truncated to ten fraction bits.
fn tf32(bench: &Bench<'_>) -> Option<Vec<u8>> {
    if bench.case.op != Op::Matmul || !bench.case.exact || bench.dtype() != DType::F32 {
        return None;
    }
    let cut = |array: &Array| {
        let bits = (0..array.len()).map(|i| f32::from_bits(array.bits(i) as u32 & !0x1fff).into());
        Array::from_f64(DType::F32, array.shape(), &bits.collect::<Vec<f64>>())
    };
    recomputed(bench, &bench.arrays.iter().map(|array| cut(array)).collect::<Result<Vec<_>, _>>().ok()?)
}

/// Sums of f16 and bf16 rounded to 16 bits after every term.
fn narrow_accumulator(bench: &Bench<'_>) -> Option<Vec<u8>> {
    let dtype = bench.dtype();
    if !bench.case.exact || !matches!(dtype, DType::F16 | DType::BF16) {
        return None;
    }
    let number = |array: &Array, index: usize| match array.get(index) {
        Value::Float(x) => x,
        Value::Int(i) => i as f64,
    };
    let rounded = |x: f64| decode_float(dtype, dtype.encode(Value::Float(x)));
    let sum =
        |length: usize, term: &dyn Fn(usize) -> f64| (0..length).fold(0.0, |sum, i| rounded(sum + term(i)));
    let mut result = Vec::new();
    match (&bench.case.op, bench.arrays) {
        (Op::Matmul, [a, b]) => {
            let (&[m, k], &[_, n]) = (a.shape(), b.shape()) else { return None };
            for index in 0..m * n {
                let term = |i: usize| number(a, index / n * k + i) * number(b, i * n + index % n);
                dtype.write(dtype.encode(Value::Float(sum(k, &term))), &mut result);
            }
        }
        (Op::Reduce { op: ReduceOp::Sum, axes, .. }, [a]) if axes.as_slice() == [1] => {
            let &[rows, columns] = a.shape() else { return None };
            for row in 0..rows {
                let total = sum(columns, &|i| number(a, row * columns + i));
                dtype.write(dtype.encode(Value::Float(total)), &mut result);
            }
        }
        _ => return None,
    }
    Some(result)
}

/// 2^25 ones added sequentially in f32 give 2^24.
fn sequential_sum(bench: &Bench<'_>) -> Option<Vec<u8>> {
    let ones = bench.case.operands[0].contents == Contents::Ones;
    (ones && bench.outcome.len() == 1 && bench.dtype() == DType::F32)
        .then(|| bench.with(0, u64::from(16_777_216f32.to_bits())))
}
