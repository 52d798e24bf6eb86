//! Random numbers, in blocks. The head of `kernels-hip/families/random.hip` says how element i is computed.

use half::{bf16, f16};

use crate::cpu::chunks::{BLOCK, new_chunks};
use crate::cpu::dispatch::{dispatch_dtype, dispatch_float};
use crate::cpu::number::Number;
use crate::cpu::operands::Source;
use crate::cpu::philox::Draw;
use crate::cpu::{CpuStorage, unsupported};
use crate::dtype::DType;
use crate::element::Element;
use crate::element::sealed::Stored;
use crate::error::{Error, ErrorKind, Result};
use crate::float8::F8E4M3;
use crate::layout::Layout;
use crate::scalar::Scalar;

mod transforms;

use transforms::Random;

/// The cost of a Philox word and its conversion, in units of [`crate::cpu::chunks`].
const WORK: usize = 32;

/// Evaluates the body with `$T` bound to a float type (or to an integer type). Other dtypes are an error of
/// `$operation`.
macro_rules! with_types {
    ($dtype:expr, $operation:expr, $T:ident in $(($variant:ident, $type:ty))+ => $body:expr) => {
        match $dtype {
            $(DType::$variant => {
                type $T = $type;
                $body
            })+
            dtype => Err(wrong_dtype($operation, dtype)),
        }
    };
}
macro_rules! with_float {
    ($dtype:expr, $operation:expr, $T:ident => $body:expr) => {
        with_types!($dtype, $operation, $T in (F8E4M3, F8E4M3) (BF16, bf16) (F16, f16) (F32, f32) (F64, f64) => $body)
    };
}
macro_rules! with_integer {
    ($dtype:expr, $operation:expr, $T:ident => $body:expr) => {
        with_types!($dtype, $operation, $T in (U8, u8) (U32, u32) (I16, i16) (I32, i32) (I64, i64) => $body)
    };
}

/// `count` numbers uniformly distributed over `low..high`: low + u · (high − low), fused and rounded. Results that
/// would round to `high` become `below`, the next number below it.
pub(crate) fn uniform(
    dtype: DType,
    count: usize,
    draw: Draw,
    [low, high, below]: [Scalar; 3],
) -> Result<CpuStorage> {
    with_float!(dtype, "uniform", T => {
        let [low, end, below] = [low, high, below].map(T::from_scalar);
        let least = low.to_compute();
        let width = end.to_compute() - least;
        let write = |words: &[u32], y: &mut [Compute<T>]| {
            Random::units(words, y);
            y.iter_mut().for_each(|y| *y = y.mul_add(width, least));
        };
        let clip = |block: &mut [T]| block.iter_mut().filter(|x| **x >= end).for_each(|x| *x = below);
        floats::<T>(count, "uniform", draw, &write, &clip).map(T::store)
    })
}

/// `count` normally distributed numbers: mean + deviation · z, fused and rounded.
pub(crate) fn normal(
    dtype: DType,
    count: usize,
    draw: Draw,
    [mean, deviation]: [Scalar; 2],
) -> Result<CpuStorage> {
    with_float!(dtype, "normal", T => {
        let [mean, deviation] = [mean, deviation].map(|scalar| T::from_scalar(scalar).to_compute());
        let write = |words: &[u32], y: &mut [Compute<T>]| {
            Random::normals(words, y);
            y.iter_mut().for_each(|y| *y = y.mul_add(deviation, mean));
        };
        floats::<T>(count, "normal", draw, &write, &|_| ()).map(T::store)
    })
}

/// `count` integers from `low` on: the high half of a 64-bit word times `span`.
pub(crate) fn randint(dtype: DType, count: usize, draw: Draw, low: i64, span: u64) -> Result<CpuStorage> {
    with_integer!(dtype, "randint", T => {
        new_chunks(count, (BLOCK, WORK), "randint", &|start, block, (words, long): &mut (Vec<u32>, Vec<u64>)| {
            long.resize(block.len(), 0);
            draw.long_words(start as u64 / 2, words, long);
            for (x, word) in block.iter_mut().zip(long) {
                let above = (u128::from(*word) * u128::from(span)) >> 64;
                *x = low.wrapping_add(above as i64) as T;
            }
        })
        .map(T::store)
    })
}

/// `count` elements: 1 where the random word is below `threshold`, else 0.
pub(crate) fn bernoulli(dtype: DType, count: usize, draw: Draw, threshold: u64) -> Result<CpuStorage> {
    dispatch_dtype!(dtype, T => {
        let [zero, one] = [0, 1].map(|number| T::from_scalar(Scalar::Int(number)));
        new_chunks(count, (BLOCK, WORK), "bernoulli", &|start, block, words: &mut Vec<u32>| {
            words.resize(block.len().next_multiple_of(4), 0);
            draw.words(start as u64 / 4, words);
            for (x, word) in block.iter_mut().zip(words) {
                *x = if u64::from(*word) < threshold { one } else { zero };
            }
        })
        .map(T::store)
    })
}

/// The elements of `layout`: 0 where the random word is below `threshold`, else the element times `scale`.
pub(crate) fn dropout(
    storage: &CpuStorage,
    layout: &Layout,
    draw: Draw,
    threshold: u64,
    scale: f64,
) -> Result<CpuStorage> {
    dispatch_float!(storage, elements: T => {
        let source = Source::<T>::new(elements, layout);
        let scale = scale as Compute<T>;
        new_chunks(layout.elements(), (BLOCK, WORK), "dropout", &|start, block, scratch: &mut DropoutScratch<T>| {
            let (gathered, words, wide, result) = scratch;
            words.resize(block.len().next_multiple_of(4), 0);
            draw.words(start as u64 / 4, words);
            let x = T::widen(source.block(start, block.len(), gathered), wide);
            T::narrow(block, result, |y| {
                for ((y, x), word) in y.iter_mut().zip(x).zip(&*words) {
                    *y = if u64::from(*word) < threshold { 0.0 } else { x * scale };
                }
            });
        })
        .map(T::store)
    }, else Err(unsupported("dropout", storage)))
}

/// Gathered elements, words, compute values, and results.
type DropoutScratch<T> = (Vec<T>, Vec<u32>, Vec<Compute<T>>, Vec<Compute<T>>);

type Compute<T> = <T as Number>::Compute;
/// Converts random words to elements.
type Write<'a, C> = dyn Fn(&[u32], &mut [C]) + Sync + 'a;

/// Elements that `write` computes from words, rounded to the dtype, and then changed by `clip`.
fn floats<T: Number<Compute: Random>>(
    count: usize,
    operation: &'static str,
    draw: Draw,
    write: &Write<'_, T::Compute>,
    clip: &(dyn Fn(&mut [T]) + Sync),
) -> Result<Vec<T>> {
    // Blocks begin at multiples of four.
    new_chunks(
        count,
        (BLOCK, WORK),
        operation,
        &|start, block, (words, result): &mut (Vec<u32>, Vec<T::Compute>)| {
            let each = T::Compute::WORDS;
            words.resize((each * block.len()).next_multiple_of(4), 0);
            draw.words((each * start / 4) as u64, words);
            T::narrow(block, result, |y| write(words, y));
            clip(block);
        },
    )
}

fn wrong_dtype(operation: &'static str, dtype: DType) -> Error {
    let kind = ErrorKind::UnsupportedDType { dtype, shape: ().into(), remedy: "take another dtype" };
    Error::new(operation, kind)
}
