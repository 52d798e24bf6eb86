//! Convolutions: every parameter, every layout, one dimension and two, forward and transposed.

use reference::{Array, Convolution, DType, Error, Outcome, convolution};
use serde_json::{Map, Value, json};
use tensor_core::{Conv1dConfig, Conv2dConfig, Tensor};

use super::shapes::BLOCKS;
use crate::case::{Case, Layout, Op, Operand};
use crate::inputs::Contents;
use crate::operation::Operation;
use crate::view::Step;

/// A convolution of the first operand with the second, plus an optional bias, the third.
#[derive(Debug)]
struct Convolve {
    one_dimension: bool,
    how: Convolution,
}

impl Operation for Convolve {
    fn name(&self) -> &'static str {
        match (self.one_dimension, self.how.transposed) {
            (true, false) => "conv1d",
            (false, false) => "conv2d",
            (true, true) => "conv_transpose1d",
            (false, true) => "conv_transpose2d",
        }
    }

    fn parameters(&self) -> String {
        let Convolution { padding, stride, dilation, groups, output_padding, .. } = self.how;
        let pair = |values: [usize; 2]| match self.one_dimension {
            true => values[1].to_string(),
            false => format!("{}x{}", values[0], values[1]),
        };
        let (padding, stride, dilation) = (pair(padding), pair(stride), pair(dilation));
        let more = pair(output_padding);
        format!("padding={padding},stride={stride},dilation={dilation},groups={groups},more={more}")
    }

    fn manifest(&self) -> Map<String, Value> {
        let Convolution { padding, stride, dilation, groups, output_padding, .. } = self.how;
        let axes = |values: [usize; 2]| json!(values[usize::from(self.one_dimension)..]);
        let mut map = Map::new();
        map.insert("padding".into(), axes(padding));
        map.insert("stride".into(), axes(stride));
        map.insert("dilation".into(), axes(dilation));
        map.insert("groups".into(), json!(groups));
        map.insert("output_padding".into(), axes(output_padding));
        map
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        let (x, kernel, bias) = (&operands[0], &operands[1], operands.get(2));
        let Convolution { transposed, padding, stride, dilation, groups, output_padding } = self.how;
        if self.one_dimension {
            let (padding, stride, dilation) = (padding[1], stride[1], dilation[1]);
            let config =
                Conv1dConfig { padding, stride, dilation, groups, output_padding: output_padding[1] };
            return match transposed {
                true => x.conv_transpose1d_with(kernel, bias, &config),
                false => x.conv1d_with(kernel, bias, &config),
            };
        }
        let config = Conv2dConfig { padding, stride, dilation, groups, output_padding };
        match transposed {
            true => x.conv_transpose2d_with(kernel, bias, &config),
            false => x.conv2d_with(kernel, bias, &config),
        }
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        convolution(arrays[0], arrays[1], arrays.get(2).copied(), self.how)
    }
}

/// A block has a tile of 128 outputs.
pub(super) fn many_blocks() -> Case {
    let dense = |shape: &[usize]| Operand::dense(DType::BF16, shape, Contents::Terms);
    case(
        (Layout::Contiguous, "many-blocks", vec![dense(&[1, 2, BLOCKS * 128]), dense(&[1, 2, 1])], plain()),
        true,
    )
}

/// Layout, shape class, operands, and parameters.
type Row = (Layout, &'static str, Vec<Operand>, Convolution);

fn plain() -> Convolution {
    Convolution::default()
}

/// The same parameters on both axes.
fn how(padding: usize, stride: usize, dilation: usize, groups: usize) -> Convolution {
    Convolution { padding: [padding; 2], stride: [stride; 2], dilation: [dilation; 2], groups, ..plain() }
}

/// Parameters for the columns only.
fn line(padding: usize, stride: usize, dilation: usize, groups: usize) -> Convolution {
    Convolution { padding: [0, padding], stride: [1, stride], dilation: [1, dilation], groups, ..plain() }
}

fn transposed(how: Convolution, output_padding: [usize; 2]) -> Convolution {
    Convolution { transposed: true, output_padding, ..how }
}

/// Every parameter in two dimensions.
fn parameters2d(dtype: DType) -> Vec<Row> {
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Terms);
    let two = |x: &[usize], kernel: &[usize]| vec![dense(x), dense(kernel)];
    let three = |x: &[usize], kernel: &[usize], bias: usize| vec![dense(x), dense(kernel), dense(&[bias])];
    let skew = Convolution { padding: [2, 0], stride: [1, 3], dilation: [2, 1], ..plain() };
    let tall = Convolution { padding: [0, 1], stride: [3, 2], dilation: [1, 2], ..plain() };
    let usual = Layout::Contiguous;
    vec![
        (usual, "one", two(&[1, 1, 1, 1], &[1, 1, 1, 1]), plain()),
        (usual, "1x1", two(&[2, 7, 5, 9], &[11, 7, 1, 1]), plain()),
        (usual, "3x3", two(&[2, 5, 11, 13], &[9, 5, 3, 3]), how(1, 1, 1, 1)),
        (usual, "3x3-bias", three(&[2, 5, 11, 13], &[9, 5, 3, 3], 9), how(1, 1, 1, 1)),
        (usual, "5x5-stride", two(&[1, 3, 17, 19], &[10, 3, 5, 5]), how(2, 2, 1, 1)),
        (usual, "dilated", two(&[1, 4, 13, 15], &[9, 4, 3, 3]), how(2, 1, 2, 1)),
        (usual, "skew", three(&[1, 3, 9, 14], &[8, 3, 3, 5], 8), skew),
        (usual, "groups", three(&[2, 6, 9, 7], &[24, 2, 3, 3], 24), how(1, 1, 1, 3)),
        (usual, "tiles", two(&[2, 9, 17, 16], &[133, 9, 3, 3]), how(1, 1, 1, 1)),
        // Many channels: whole and partial tiles, whole and odd runs of outputs, with and without four adjacent filter
        // taps.
        (usual, "wide", three(&[3, 4, 12, 14], &[72, 4, 3, 3], 72), how(1, 1, 1, 1)),
        (usual, "wide-1x1", two(&[2, 33, 8, 10], &[40, 33, 1, 1]), plain()),
        (usual, "wide-7x7-stride", two(&[1, 3, 23, 30], &[64, 3, 7, 7]), how(3, 2, 1, 1)),
        (usual, "wide-groups", three(&[2, 16, 9, 8], &[68, 8, 3, 3], 68), how(1, 1, 2, 2)),
        (usual, "wide-9x9", two(&[1, 2, 17, 13], &[32, 2, 9, 9]), how(4, 1, 1, 1)),
        (
            usual,
            "wide-transposed",
            three(&[2, 12, 7, 6], &[12, 66, 4, 4], 66),
            transposed(how(1, 2, 1, 1), [1, 0]),
        ),
        (usual, "depthwise", three(&[2, 6, 11, 23], &[6, 1, 3, 3], 6), how(1, 1, 1, 6)),
        (usual, "depthwise-5x5", two(&[1, 5, 12, 37], &[5, 1, 5, 5]), how(2, 2, 1, 5)),
        (usual, "depthwise-dilated", two(&[1, 5, 12, 41], &[10, 1, 3, 3]), how(2, 1, 2, 5)),
        (usual, "transposed", two(&[2, 5, 7, 6], &[5, 9, 3, 3]), transposed(how(1, 2, 1, 1), [1, 1])),
        (
            usual,
            "transposed-bias",
            three(&[1, 8, 6, 7], &[8, 10, 4, 4], 10),
            transposed(how(1, 2, 1, 1), [0, 0]),
        ),
        (usual, "transposed-1", two(&[1, 4, 6, 7], &[4, 9, 3, 3]), transposed(how(1, 1, 2, 1), [0, 0])),
        (usual, "transposed-skew", two(&[1, 3, 5, 6], &[3, 8, 2, 3]), transposed(tall, [2, 0])),
        (
            usual,
            "transposed-groups",
            three(&[2, 6, 5, 4], &[6, 8, 3, 3], 24),
            transposed(how(0, 2, 2, 3), [1, 0]),
        ),
        (
            usual,
            "transposed-depthwise",
            two(&[1, 5, 6, 19], &[5, 1, 3, 3]),
            transposed(how(1, 2, 1, 5), [1, 1]),
        ),
        (usual, "transposed-one", two(&[1, 1, 1, 1], &[1, 1, 1, 1]), transposed(plain(), [0, 0])),
    ]
}

/// Every layout in two dimensions.
fn layouts2d(dtype: DType) -> Vec<Row> {
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Terms);
    let part = |shape: &[usize]| {
        let larger: Vec<usize> = shape.iter().map(|length| length + 2).collect();
        shape
            .iter()
            .enumerate()
            .fold(dense(&larger), |operand, (axis, &len)| operand.then(Step::Narrow { axis, start: 1, len }))
    };
    let swapped = |shape: [usize; 4]| {
        let [n, c, h, w] = shape;
        dense(&[n, c, w, h]).then(Step::Transpose(2, 3))
    };
    // Stored channels-last.
    let last = |shape: [usize; 4]| {
        let [n, c, h, w] = shape;
        dense(&[n, h, w, c]).then(Step::Permute(vec![0, 3, 1, 2]))
    };
    let repeated = |shape: &[usize], to: &[usize]| dense(shape).then(Step::Broadcast(to.to_vec()));
    let same = how(1, 1, 1, 1);
    let wide = transposed(how(1, 2, 1, 1), [0, 0]);
    vec![
        (Layout::Permuted, "3x3", vec![last([2, 5, 9, 8]), last([9, 5, 3, 3])], same),
        (Layout::Permuted, "1x1", vec![last([1, 5, 9, 8]), dense(&[9, 5, 1, 1])], plain()),
        (Layout::Permuted, "depthwise", vec![last([1, 5, 9, 21]), last([5, 1, 3, 3])], how(1, 1, 1, 5)),
        (Layout::Permuted, "transposed", vec![last([1, 5, 4, 6]), last([5, 9, 3, 3])], wide),
        (Layout::Permuted, "wide", vec![last([2, 20, 9, 8]), last([70, 20, 3, 3])], same),
        (Layout::Transposed, "3x3", vec![swapped([2, 5, 9, 8]), swapped([9, 5, 3, 3])], same),
        (Layout::Narrowed, "3x3", vec![part(&[2, 5, 9, 8]), part(&[9, 5, 3, 3]), part(&[9])], same),
        (
            Layout::Narrowed,
            "depthwise",
            vec![part(&[1, 5, 9, 21]), part(&[5, 1, 3, 3]), part(&[5])],
            how(1, 2, 1, 5),
        ),
        (
            Layout::BroadcastBatch,
            "3x3",
            vec![repeated(&[5, 9, 8], &[3, 5, 9, 8]), dense(&[9, 5, 3, 3])],
            same,
        ),
        (
            Layout::BroadcastScalar,
            "bias",
            vec![dense(&[1, 5, 9, 8]), repeated(&[1, 5, 1, 1], &[9, 5, 3, 3]), repeated(&[1], &[9])],
            same,
        ),
        (Layout::Empty, "no-images", vec![dense(&[0, 5, 9, 8]), dense(&[9, 5, 3, 3])], same),
        (Layout::Empty, "no-outputs", vec![dense(&[2, 5, 9, 8]), dense(&[0, 5, 3, 3])], same),
        (Layout::Empty, "no-channels", vec![dense(&[2, 0, 4, 3]), dense(&[9, 0, 3, 3]), dense(&[9])], same),
        (Layout::Empty, "transposed", vec![dense(&[0, 5, 9, 8]), dense(&[5, 9, 3, 3])], wide),
    ]
}

/// One dimension.
fn rows1d(dtype: DType) -> Vec<Row> {
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Terms);
    let two = |x: &[usize], kernel: &[usize]| vec![dense(x), dense(kernel)];
    let three = |x: &[usize], kernel: &[usize], bias: usize| vec![dense(x), dense(kernel), dense(&[bias])];
    let turned = |shape: [usize; 3]| {
        let [n, c, w] = shape;
        dense(&[n, w, c]).then(Step::Transpose(1, 2))
    };
    let usual = Layout::Contiguous;
    vec![
        (usual, "one", two(&[1, 1, 1], &[1, 1, 1]), plain()),
        (usual, "3", three(&[2, 7, 131], &[9, 7, 3], 9), line(1, 1, 1, 1)),
        (usual, "long", two(&[1, 40, 61], &[8, 40, 25]), line(12, 1, 1, 1)),
        // Stride, padding and dilation together, which candle's direct kernel computes wrongly.
        (usual, "stride-dilated", two(&[2, 5, 67], &[11, 5, 4]), line(3, 2, 3, 1)),
        (usual, "groups", three(&[2, 6, 53], &[27, 2, 3], 27), line(1, 1, 1, 3)),
        (usual, "depthwise", three(&[2, 7, 77], &[7, 1, 4], 7), line(3, 1, 1, 7)),
        (usual, "transposed", two(&[2, 5, 31], &[5, 9, 4]), transposed(line(1, 2, 1, 1), [0, 1])),
        (usual, "transposed-5", three(&[1, 9, 23], &[9, 8, 10], 8), transposed(line(2, 5, 1, 1), [0, 4])),
        (usual, "transposed-gaps", two(&[1, 3, 17], &[3, 8, 2]), transposed(line(0, 3, 1, 1), [0, 0])),
        (usual, "transposed-groups", two(&[1, 6, 19], &[6, 8, 3]), transposed(line(1, 2, 3, 2), [0, 2])),
        (
            usual,
            "transposed-depthwise",
            three(&[1, 6, 29], &[6, 1, 4], 6),
            transposed(line(1, 2, 1, 6), [0, 0]),
        ),
        (Layout::Transposed, "3", vec![turned([2, 7, 65]), turned([9, 7, 3])], line(1, 1, 1, 1)),
        (
            Layout::Transposed,
            "transposed",
            vec![turned([2, 7, 33]), turned([7, 9, 3])],
            transposed(line(1, 2, 1, 1), [0, 0]),
        ),
        (Layout::Empty, "no-images", two(&[0, 7, 5], &[9, 7, 3]), plain()),
        // Padding only.
        (Layout::Empty, "no-length", three(&[2, 7, 0], &[9, 7, 3], 9), line(2, 1, 1, 1)),
    ]
}

fn case((layout, shape, operands, how): Row, one_dimension: bool) -> Case {
    Case::new(Op::named(Convolve { one_dimension, how }), operands, layout, shape)
}

/// Every parameter and layout, on every float.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_float()) {
        cases.extend(parameters2d(dtype).into_iter().map(|row| case(row, false)));
        cases.extend(layouts2d(dtype).into_iter().map(|row| case(row, false)));
        cases.extend(rows1d(dtype).into_iter().map(|row| case(row, true)));
        // NaN and infinities of the input reach exactly the outputs that use them.
        let special = |shape: &[usize]| Operand::dense(dtype, shape, Contents::SpecialTerms);
        let dense = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Terms);
        for (shape, kernel, how) in [
            ("special", [9, 5, 3, 3], how(1, 1, 1, 1)),
            ("special-wide", [70, 5, 3, 3], how(1, 1, 1, 1)),
            ("special-depthwise", [5, 1, 3, 3], how(1, 1, 1, 5)),
            ("special-transposed", [5, 9, 3, 3], transposed(how(1, 2, 1, 1), [0, 0])),
        ] {
            let operands = vec![special(&[2, 5, 17, 19]), dense(&kernel)];
            cases.push(case((Layout::Contiguous, shape, operands, how), false));
        }
    }
    // More outputs, and more tiles, than the host has threads and blocks per launch.
    let whole = |shape: &[usize]| Operand::dense(DType::F32, shape, Contents::Whole(3));
    let many = |kernel: &[usize], to: &[usize]| {
        vec![whole(&[1, to[1], 1, 1]).then(Step::Broadcast(to.to_vec())), whole(kernel)]
    };
    for (shape, operands) in [
        ("many-outputs", many(&[1, 1, 1, 1], &[1, 1, 1031, 517])),
        ("many-tiles", many(&[9, 2, 1, 1], &[1, 2, 96, 100])),
    ] {
        cases.push(case((Layout::BroadcastScalar, shape, operands, plain()), false).exactly());
    }
    cases
}

/// Integers whose sums are exact in every order. Entries of 13 bits lose bits in TF32, long sums in 16-bit
/// accumulators.
pub(super) fn exact_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (dtype, large, small) in
        [(DType::BF16, 7, 1), (DType::F16, 8, 1), (DType::F32, 13, 3), (DType::F64, 40, 3)]
    {
        let whole = |shape: &[usize], bits| Operand::dense(dtype, shape, Contents::Whole(bits));
        let wide = transposed(how(1, 2, 1, 1), [1, 1]);
        for (shape, x, kernel, how) in [
            ("whole-input", whole(&[2, 27, 9, 8], large), whole(&[9, 27, 3, 3], small), how(1, 1, 1, 1)),
            ("whole-kernel", whole(&[2, 27, 9, 8], small), whole(&[9, 27, 3, 3], large), how(1, 1, 1, 1)),
            ("whole-wide", whole(&[2, 27, 9, 8], large), whole(&[67, 27, 3, 3], small), how(1, 1, 1, 1)),
            ("whole-depthwise", whole(&[2, 5, 9, 21], large), whole(&[5, 1, 3, 3], small), how(1, 1, 1, 5)),
            ("whole-transposed", whole(&[2, 27, 9, 8], large), whole(&[27, 9, 3, 3], small), wide),
        ] {
            cases.push(case((Layout::Contiguous, shape, vec![x, kernel], how), false).exactly());
        }
    }
    cases
}
