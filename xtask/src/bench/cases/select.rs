//! Choosing by masks and by place, and numbers made of their places.

use super::{ELEMENTS, Measured, SHORT_ROWS, dense};
use parity::case::Operand;
use parity::inputs::Contents;
use reference::DType;
use tensor_core::{Element, F8E4M3, Tensor, bf16, f16};

pub(super) fn cases(dtype: DType) -> Vec<Measured> {
    let kernel = |op: &str| format!("select_{op}_{dtype}");
    let by_mask = |mask: DType| {
        let operands = vec![
            dense(dtype, &[ELEMENTS]),
            Operand::dense(mask, &[ELEMENTS], Contents::Below(2)),
            dense(dtype, &[ELEMENTS]),
        ];
        Measured::call(kernel(&format!("where_{mask}")), operands, |x| x[1].where_cond(&x[0], &x[2]))
    };
    let matrix = || vec![dense(dtype, &SHORT_ROWS)];
    let made = |op: &str, range: Range, count: usize| {
        Measured::call(kernel(op), vec![dense(dtype, &[count])], move |x| range.like(&x[0]))
    };
    let (range, count) = Range::longest(dtype);
    let mut cases: Vec<Measured> = [DType::U8, DType::U32, DType::I64].map(by_mask).into();
    cases.extend([
        Measured::call(kernel("flip"), matrix(), |x| x[0].flip(1)),
        Measured::call(kernel("tril"), matrix(), |x| x[0].tril(0)),
        Measured::call(kernel("triu"), matrix(), |x| x[0].triu(0)),
        made("arange", range, count),
        made("linspace", Range::Linspace, ELEMENTS),
    ]);
    cases
}

/// Numbers at equal distances, of the dtype of an operand and as many as it has.
#[derive(Debug, Clone, Copy)]
enum Range {
    /// From the first up to but without the second, by the third.
    Arange([f64; 3]),
    Linspace,
}

impl Range {
    /// As many different numbers of a dtype as are wanted, or as it has, and how many they are.
    fn longest(dtype: DType) -> (Range, usize) {
        let [start, end, step] = match dtype {
            DType::U8 => [0.0, 255.0, 1.0],
            DType::I16 => [-32768.0, 32767.0, 1.0],
            // Every float has these three exactly.
            float if float.is_float() => [-256.0, 256.0, 512.0 / ELEMENTS as f64],
            _ => [0.0, ELEMENTS as f64, 1.0],
        };
        (Range::Arange([start, end, step]), ((end - start) / step) as usize)
    }

    fn of<T: Element>(self, x: &Tensor) -> tensor_core::Result<Tensor> {
        let number = |x: f64| T::from_scalar(x.into());
        match self {
            Range::Arange([start, end, step]) => {
                Tensor::arange_step(number(start), number(end), number(step), &x.device())
            }
            Range::Linspace => Tensor::linspace(number(2.0), number(47.0), x.elements(), &x.device()),
        }
    }

    fn like(self, x: &Tensor) -> tensor_core::Result<Tensor> {
        use tensor_core::DType::{BF16, F8E4M3 as F8, F16, F32, F64, I16, I32, I64, U8, U32};
        match x.dtype() {
            U8 => self.of::<u8>(x),
            U32 => self.of::<u32>(x),
            I16 => self.of::<i16>(x),
            I32 => self.of::<i32>(x),
            I64 => self.of::<i64>(x),
            F8 => self.of::<F8E4M3>(x),
            BF16 => self.of::<bf16>(x),
            F16 => self.of::<f16>(x),
            F32 => self.of::<f32>(x),
            F64 => self.of::<f64>(x),
        }
    }
}
