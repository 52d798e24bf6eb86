//! The operation graph of a convolution.

use super::descriptor::Descriptor;
use crate::convert::data_type;
use crate::convolution::{Direction, Problem};
use crate::tensor::Tensor;
use crate::{BAD, Outcome, UNSUPPORTED};
use cudarc::cudnn::sys;
use hip_sys::miopen::miopenDataType_t;
use sys::cudnnBackendAttributeName_t as Name;
use sys::cudnnBackendDescriptorType_t as Kind;

/// The graph's ids of `x`, the weights and `y`.
pub(super) const IDS: [i64; 3] = [1, 2, 3];

/// The names of an operation's attributes: `x`, the weights, `y`, the convolution, and the two factors.
struct Operation {
    kind: Kind,
    tensors: [Name; 3],
    convolution: Name,
    factors: [Name; 2],
}

const FORWARD: Operation = Operation {
    kind: Kind::CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
    tensors: [
        Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
        Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
        Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
    ],
    convolution: Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
    factors: [
        Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
        Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
    ],
};

const BACKWARD_DATA: Operation = Operation {
    kind: Kind::CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
    tensors: [
        Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
        Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
        Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
    ],
    convolution: Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
    factors: [
        Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
        Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
    ],
};

const BACKWARD_WEIGHTS: Operation = Operation {
    kind: Kind::CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
    tensors: [
        Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
        Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
        Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
    ],
    convolution: Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
    factors: [
        Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
        Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
    ],
};

/// The graph of a problem whose memory has this alignment.
pub(super) struct Graph {
    // Fields are dropped in this order: each before those that it was made of.
    pub(super) graph: Descriptor,
    _operation: Descriptor,
    _convolution: Descriptor,
    _tensors: [Descriptor; 3],
}

impl Graph {
    pub(super) fn new(handle: sys::cudnnHandle_t, problem: &Problem, alignment: usize) -> Outcome<Self> {
        let Parts { operation, convolution, tensors } = Parts::new(problem, alignment)?;
        let graph = Descriptor::new(Kind::CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)?
            .with(Name::CUDNN_ATTR_OPERATIONGRAPH_HANDLE, &[handle])?
            .with(Name::CUDNN_ATTR_OPERATIONGRAPH_OPS, &[operation.reference()])?
            .finalized()?;
        Ok(Self { graph, _operation: operation, _convolution: convolution, _tensors: tensors })
    }
}

/// The parts of a graph that need no handle.
pub(super) struct Parts {
    operation: Descriptor,
    convolution: Descriptor,
    tensors: [Descriptor; 3],
}

impl Parts {
    pub(super) fn new(problem: &Problem, alignment: usize) -> Outcome<Self> {
        let Problem { direction, x, w, y, conv } = problem;
        let kinds = [x.kind, w.kind, y.kind];
        let floats =
            [miopenDataType_t::miopenFloat, miopenDataType_t::miopenHalf, miopenDataType_t::miopenBFloat16];
        if kinds != [x.kind; 3] || !floats.contains(&x.kind) {
            return Err(UNSUPPORTED);
        }
        let [x_id, w_id, y_id] = IDS;
        let last = problem.is_channels_last();
        let make = |tensor: &Tensor, id| self::tensor(tensor, id, alignment, last);
        let tensors = [make(x, x_id)?, make(w, w_id)?, make(y, y_id)?];
        let [pads, strides, dilations] = conv.picture()?;
        // Sums have 32 bits, whatever the element type is.
        let sum = sys::cudnnDataType_t::CUDNN_DATA_FLOAT;
        let convolution = Descriptor::new(Kind::CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR)?
            .with(Name::CUDNN_ATTR_CONVOLUTION_COMP_TYPE, &[sum])?
            .with(
                Name::CUDNN_ATTR_CONVOLUTION_CONV_MODE,
                &[sys::cudnnConvolutionMode_t::CUDNN_CROSS_CORRELATION],
            )?
            .with(Name::CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, &[pads.len() as i64])?
            .with(Name::CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, &pads)?
            .with(Name::CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, &pads)?
            .with(Name::CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, &strides)?
            .with(Name::CUDNN_ATTR_CONVOLUTION_DILATIONS, &dilations)?
            .finalized()?;
        let names = match direction {
            Direction::Forward => FORWARD,
            Direction::BackwardData => BACKWARD_DATA,
            Direction::BackwardWeights => BACKWARD_WEIGHTS,
        };
        let operation = Descriptor::new(names.kind)?.with(names.convolution, &[convolution.reference()])?;
        for (name, tensor) in names.tensors.into_iter().zip(&tensors) {
            operation.set(name, &[tensor.reference()])?;
        }
        for (name, factor) in names.factors.into_iter().zip([1_f32, 0.0]) {
            operation.set(name, &[factor])?;
        }
        Ok(Self { operation: operation.finalized()?, convolution, tensors })
    }
}

fn tensor(tensor: &Tensor, id: i64, alignment: usize, channels_last: bool) -> Outcome<Descriptor> {
    let (dims, strides) = tensor.picture(channels_last)?;
    Descriptor::new(Kind::CUDNN_BACKEND_TENSOR_DESCRIPTOR)?
        .with(Name::CUDNN_ATTR_TENSOR_UNIQUE_ID, &[id])?
        .with(Name::CUDNN_ATTR_TENSOR_DATA_TYPE, &[data_type(tensor.kind)?])?
        .with(Name::CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, &[i64::try_from(alignment).map_err(|_| BAD)?])?
        .with(Name::CUDNN_ATTR_TENSOR_DIMENSIONS, &dims)?
        .with(Name::CUDNN_ATTR_TENSOR_STRIDES, &strides)?
        .finalized()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;
    use crate::convolution::Convolution;
    use crate::library::open;
    use std::sync::Arc;

    const HALF: miopenDataType_t = miopenDataType_t::miopenHalf;

    fn problem(direction: Direction, kind: miopenDataType_t, y: &[usize]) -> Problem {
        let tensor = |dims: &[usize]| Arc::new(Tensor::new(kind, dims, None).unwrap());
        let conv = Arc::new(Convolution::sample(&[1, 0], &[2, 1], &[1, 2], 2));
        Problem::from_parts(direction, tensor(&[3, 4, 9, 8]), tensor(&[6, 2, 3, 3]), tensor(y), conv)
    }

    /// Uses the real library, which needs the driver but no device: runs if `HIPSTACK_CUDNN` names its file and the driver's
    /// library is there.
    #[test]
    fn an_operation_arrives_with_its_tensors() {
        if std::env::var_os("HIPSTACK_CUDNN").is_none() {
            return;
        }
        open().expect("the library that HIPSTACK_CUDNN names");
        let first = Parts::new(&problem(Direction::Forward, HALF, &[3, 6, 5, 4]), 16);
        if first.err() == Some(Status::miopenStatusNotInitialized) {
            return println!("skipped: the driver's library is not there");
        }
        for direction in [Direction::Forward, Direction::BackwardData, Direction::BackwardWeights] {
            for alignment in [2, 16] {
                let parts = Parts::new(&problem(direction, HALF, &[3, 6, 5, 4]), alignment).unwrap();
                for (tensor, dims) in parts.tensors.iter().zip([[3, 4, 9, 8], [6, 2, 3, 3], [3, 6, 5, 4]]) {
                    let mut read = [0_i64; 8];
                    let count = tensor.read(Name::CUDNN_ATTR_TENSOR_DIMENSIONS, &mut read).unwrap();
                    assert_eq!(read[..count], dims);
                    let mut bytes = [0_i64];
                    tensor.read(Name::CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, &mut bytes).unwrap();
                    assert_eq!(bytes, [alignment as i64]);
                }
                for (name, expected) in [
                    (Name::CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, [1, 0]),
                    (Name::CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, [2, 1]),
                    (Name::CUDNN_ATTR_CONVOLUTION_DILATIONS, [1, 2]),
                ] {
                    let mut read = [0_i64; 2];
                    assert_eq!(parts.convolution.read(name, &mut read), Ok(2));
                    assert_eq!(read, expected);
                }
            }
        }
        // Memory that is not aligned to the type's size, lengths that do not match, and other types.
        assert!(Parts::new(&problem(Direction::Forward, HALF, &[3, 6, 5, 4]), 1).is_err());
        assert!(Parts::new(&problem(Direction::Forward, HALF, &[3, 6, 6, 4]), 16).is_err());
        let double = problem(Direction::Forward, miopenDataType_t::miopenDouble, &[3, 6, 5, 4]);
        assert_eq!(Parts::new(&double, 16).err(), Some(UNSUPPORTED));
    }
}
