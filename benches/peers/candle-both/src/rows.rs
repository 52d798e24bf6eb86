//! What is timed: a call, a dtype, and the operands' shapes.

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::ops::softmax_last_dim;

/// The operands of all calls that take turns have so many bytes together, so that the cache of 50 MiB does not have them; a call
/// has at most [`COPIES`] of them.
const BYTES: usize = 256 << 20;
const COPIES: usize = 64;

#[derive(Clone, Copy, PartialEq)]
pub enum Call {
    Add,
    Softmax,
    MatMul,
    Conv2d { padding: usize, stride: usize },
}

impl Call {
    pub const ALL: [Call; 4] =
        [Call::Add, Call::Softmax, Call::MatMul, Call::Conv2d { padding: 0, stride: 1 }];

    /// Whether each element of its result is a sum of products of two operands' elements.
    pub fn is_sum(self) -> bool {
        matches!(self, Call::MatMul | Call::Conv2d { .. })
    }

    pub fn name(self) -> &'static str {
        match self {
            Call::Add => "add",
            Call::Softmax => "softmax",
            Call::MatMul => "matmul",
            Call::Conv2d { .. } => "conv2d",
        }
    }
}

pub struct Row {
    pub call: Call,
    pub dtype: DType,
    shapes: Vec<Vec<usize>>,
}

impl Row {
    pub fn shapes(&self) -> String {
        let shape = |dims: &Vec<usize>| dims.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        let shapes = self.shapes.iter().map(shape).collect::<Vec<_>>().join(" ");
        match self.call {
            Call::Conv2d { padding, stride } => format!("{shapes} p{padding} s{stride}"),
            _ => shapes,
        }
    }

    pub fn name(&self) -> String {
        format!("{}/{}/{}", self.call.name(), self.dtype.as_str(), self.shapes())
    }

    /// The operands in host memory.
    pub fn operands(&self) -> Result<Vec<Tensor>> {
        let one = |shape: &Vec<usize>| {
            let count: usize = shape.iter().product();
            let numbers: Vec<f32> =
                (0..count).map(|i| ((i * 7919 + 5) % 2003) as f32 / 1001.0 - 1.0).collect();
            Tensor::from_vec(numbers, shape.as_slice(), &Device::Cpu)?.to_dtype(self.dtype)
        };
        self.shapes.iter().map(one).collect()
    }

    /// Distinct copies of the operands on a device.
    pub fn copies(&self, host: &[Tensor], device: &Device) -> Result<Vec<Vec<Tensor>>> {
        let bytes: usize = host.iter().map(|x| x.elem_count() * self.dtype.size_in_bytes()).sum();
        let count = (BYTES / bytes).clamp(2, COPIES);
        (0..count).map(|_| host.iter().map(|x| x.to_device(device)).collect()).collect()
    }

    pub fn call(&self, operands: &[Tensor]) -> Result<Tensor> {
        match self.call {
            Call::Add => operands[0].add(&operands[1]),
            Call::Softmax => softmax_last_dim(&operands[0]),
            Call::MatMul => operands[0].matmul(&operands[1]),
            Call::Conv2d { padding, stride } => operands[0].conv2d(&operands[1], padding, stride, 1, 1),
        }
    }
}

/// Every row.
pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        let mut add = |call, shapes: &[&[usize]]| {
            rows.push(Row { call, dtype, shapes: shapes.iter().map(|shape| shape.to_vec()).collect() });
        };
        for elements in [1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 26] {
            add(Call::Add, &[&[elements], &[elements]]);
        }
        for shape in [[32, 128], [1024, 1024], [4096, 4096], [128, 128_256]] {
            add(Call::Softmax, &[&shape]);
        }
        for [m, n, k] in [[256; 3], [1024; 3], [4096; 3], [1, 4096, 4096], [512, 14336, 4096]] {
            add(Call::MatMul, &[&[m, k], &[k, n]]);
        }
        // Scores of attention: 32 heads.
        add(Call::MatMul, &[&[32, 1024, 128], &[32, 128, 1024]]);
        // candle's planes are not of bf16 everywhere; ResNet-50's layers, in f32 and f16.
        if dtype != DType::BF16 {
            let mut conv = |x: [usize; 4], kernel: [usize; 4], padding, stride| {
                add(Call::Conv2d { padding, stride }, &[&x, &kernel]);
            };
            conv([32, 3, 224, 224], [64, 3, 7, 7], 3, 2);
            conv([32, 64, 56, 56], [64, 64, 3, 3], 1, 1);
            conv([32, 256, 14, 14], [256, 256, 3, 3], 1, 1);
            conv([32, 256, 56, 56], [64, 256, 1, 1], 0, 1);
            conv([1, 512, 7, 7], [512, 512, 3, 3], 1, 1);
        }
    }
    rows
}
