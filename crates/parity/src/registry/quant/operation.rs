//! The operations on quantized blocks, and their names.

use reference::{Array, DType, Error, Outcome, QuantFormat};
use serde_json::{Map, Value, json};
use tensor_core::{QStorage, QTensor, Tensor};

use crate::execute;
use crate::operation::Operation;

/// An operation on quantized numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// The numbers as a dtype. The operand is the blocks.
    Dequantize(DType),
    /// Operands: the blocks of a table, ids.
    Embedding,
    /// Operands: activations, the blocks of a matrix.
    Matmul,
    /// Operands: activations, ids, the blocks of the experts' matrices.
    Experts,
}

/// An operation on blocks of a format. Blocks are arrays of u8; the last axis has those of a row.
#[derive(Debug)]
pub(super) struct Quantized {
    pub(super) verb: Verb,
    pub(super) format: QuantFormat,
}

impl Quantized {
    /// The numbers in these blocks, on their device.
    fn numbers(&self, blocks: &Tensor) -> tensor_core::Result<QTensor> {
        let format = *tensor_core::QuantFormat::ALL
            .iter()
            .find(|format| format.name() == self.format.name())
            .expect("tensor-core has every format of the reference");
        let mut shape = blocks.dims().to_vec();
        if let Some(width) = shape.last_mut() {
            *width = *width / format.type_size() * format.block_size();
        }
        QTensor::new(QStorage::from_tensor(blocks.clone(), format)?, shape)
    }
}

impl Operation for Quantized {
    fn name(&self) -> &'static str {
        match self.verb {
            Verb::Dequantize(_) => "dequantize",
            Verb::Embedding => "quant_embedding",
            Verb::Matmul => "quant_matmul",
            Verb::Experts => "quant_experts",
        }
    }

    fn converts_to(&self) -> Option<DType> {
        match self.verb {
            Verb::Dequantize(to) => Some(to),
            Verb::Embedding => Some(DType::F32),
            Verb::Matmul | Verb::Experts => None,
        }
    }

    fn parameters(&self) -> String {
        self.format.to_string()
    }

    fn manifest(&self) -> Map<String, Value> {
        let parameters = json!({ "format": self.format.name(), "to": self.converts_to().map(DType::name) });
        parameters.as_object().cloned().unwrap_or_default()
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        match (self.verb, operands) {
            (Verb::Dequantize(to), [blocks]) => {
                self.numbers(blocks)?.dequantize_to(execute::dtype(to), &blocks.device())
            }
            (Verb::Embedding, [table, ids]) => self.numbers(table)?.embedding(ids),
            (Verb::Matmul, [x, w]) => self.numbers(w)?.forward(x),
            (Verb::Experts, [x, ids, w]) => self.numbers(w)?.indexed_moe_forward(x, ids),
            _ => unreachable!("cases have the operation's operands"),
        }
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        match (self.verb, arrays) {
            (Verb::Dequantize(to), [blocks]) => reference::dequantize(self.format, blocks, to),
            (Verb::Embedding, [table, ids]) => reference::quant_embedding(self.format, table, ids),
            (Verb::Matmul, [x, w]) => reference::quant_matmul(self.format, x, w),
            (Verb::Experts, [x, ids, w]) => reference::quant_experts(self.format, x, ids, w),
            _ => unreachable!("cases have the operation's operands"),
        }
    }
}

/// Classes of shape. Each format has kernels of its own, and so has each number of rows of activations.
macro_rules! classes {
    ($($format:ident $name:literal)+) => {
        /// The class of shape of a case with so many rows of activations; of other cases for 0.
        pub(super) fn class(format: QuantFormat, rows: usize, whole: bool) -> &'static str {
            match (format, rows, whole) {
                $(
                    (QuantFormat::$format, 1, false) => concat!($name, "-1"),
                    (QuantFormat::$format, 3, false) => concat!($name, "-3"),
                    (QuantFormat::$format, 8, false) => concat!($name, "-8"),
                    (QuantFormat::$format, 9, false) => concat!($name, "-9"),
                    (QuantFormat::$format, 1, true) => concat!($name, "-1-whole"),
                    (QuantFormat::$format, 3, true) => concat!($name, "-3-whole"),
                    (QuantFormat::$format, 8, true) => concat!($name, "-8-whole"),
                    (QuantFormat::$format, 9, true) => concat!($name, "-9-whole"),
                    (QuantFormat::$format, _, false) => $name,
                    (QuantFormat::$format, _, true) => concat!($name, "-whole"),
                )+
            }
        }
    };
}

classes! {
    Q4_0 "q4_0" Q4_1 "q4_1" Q5_0 "q5_0" Q5_1 "q5_1" Q8_0 "q8_0" Q2K "q2_k" Q3K "q3_k" Q4K "q4_k" Q5K "q5_k" Q6K "q6_k"
    IQ4NL "iq4_nl" IQ4XS "iq4_xs" MXFP4 "mxfp4"
}
