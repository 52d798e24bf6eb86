//! Errors in requests to the reference.

use std::fmt;

use crate::{DType, QuantFormat};

/// An invalid request. Every message names the operation or the thing, and what would be right.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The number of bytes or values does not match the shape.
    #[error("{dtype} array of shape {shape:?} takes {expected} {unit}, got {got}")]
    Length {
        /// Element type of the array.
        dtype: DType,
        /// Requested shape.
        shape: Vec<usize>,
        /// The unit: "bytes" or "values".
        unit: &'static str,
        /// The count that the shape requires.
        expected: usize,
        /// The count given.
        got: usize,
    },
    /// The product of the dimensions does not fit in `usize`.
    #[error("the number of elements of shape {shape:?} overflows: use smaller dimensions")]
    TooLarge {
        /// The shape.
        shape: Vec<usize>,
    },
    /// Shapes that do not broadcast.
    #[error(
        "{op}: shapes {left:?} and {right:?} do not broadcast: aligned from the right, dimensions must be equal or 1"
    )]
    Broadcast {
        /// Name of the operation.
        op: &'static str,
        /// Shape of the left operand.
        left: Vec<usize>,
        /// Shape of the right operand.
        right: Vec<usize>,
    },
    /// Operands of different dtypes.
    #[error("{op}: dtypes {left} and {right} differ: cast one of them")]
    DTypes {
        /// Name of the operation.
        op: &'static str,
        /// Dtype of the left operand.
        left: DType,
        /// Dtype of the right operand.
        right: DType,
    },
    /// The operation is not defined for this dtype.
    #[error("{op} is not defined for {dtype}: cast to a floating point type first")]
    Unsupported {
        /// Name of the operation.
        op: &'static str,
        /// The dtype.
        dtype: DType,
    },
    /// An axis that is out of range, or is given twice.
    #[error("{op}: axis {axis} is out of range or named twice for shape {shape:?}")]
    Axis {
        /// Name of the operation.
        op: &'static str,
        /// The axis.
        axis: usize,
        /// The shape.
        shape: Vec<usize>,
    },
    /// A minimum or maximum of no elements.
    #[error(
        "{op} of shape {shape:?} over axes {axes:?} reduces no elements and has no value: keep at least one element"
    )]
    Nothing {
        /// Name of the operation.
        op: &'static str,
        /// The shape.
        shape: Vec<usize>,
        /// The reduced axes.
        axes: Vec<usize>,
    },
    /// Inner dimensions that differ.
    #[error("matmul: inner dimensions differ: {left:?} x {right:?}")]
    Inner {
        /// Shape of the left operand.
        left: Vec<usize>,
        /// Shape of the right operand.
        right: Vec<usize>,
    },
    /// An operand without dimensions.
    #[error("{op}: an operand has no dimensions: give it at least one")]
    Rank {
        /// Name of the operation.
        op: &'static str,
    },
    /// A view that leaves its array.
    #[error(
        "view of dimensions {dims:?}, strides {strides:?}, offset {offset} leaves an array of {len} elements"
    )]
    View {
        /// Dimensions of the view.
        dims: Vec<usize>,
        /// Strides of the view, in elements.
        strides: Vec<isize>,
        /// First element of the view.
        offset: usize,
        /// Elements of the array.
        len: usize,
    },
    /// Ids that are not integers.
    #[error("{op}: ids of {dtype}: use an integer type")]
    Ids {
        /// Name of the operation.
        op: &'static str,
        /// Type of the ids.
        dtype: DType,
    },
    /// An id that is out of range.
    #[error("{op}: index {index} is out of range for axis {axis} of length {length}")]
    OutOfRange {
        /// Name of the operation.
        op: &'static str,
        /// The id.
        index: i64,
        /// The axis.
        axis: usize,
        /// Its length.
        length: usize,
    },
    /// Shapes that do not match.
    #[error("{op}: shapes {left:?} and {right:?} do not fit together")]
    Fit {
        /// Name of the operation.
        op: &'static str,
        /// Shape of the array.
        left: Vec<usize>,
        /// Shape of the other operand.
        right: Vec<usize>,
    },
    /// An array that is no rows of whole blocks.
    #[error(
        "{op}: {dtype} of shape {shape:?} is no rows of {format} blocks: use u8, and rows of a multiple of {} bytes",
        format.type_size()
    )]
    Blocks {
        /// Name of the operation.
        op: &'static str,
        /// Format of the blocks.
        format: QuantFormat,
        /// Element type of the array.
        dtype: DType,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// Windows that do not fit the input, or channels that do not match.
    #[error("{op}: an input of shape {input:?} does not fit the kernel {kernel:?} and the windows")]
    Windows {
        /// Name of the operation.
        op: &'static str,
        /// Shape of the input.
        input: Vec<usize>,
        /// Shape of the kernel; empty if there is none.
        kernel: Vec<usize>,
    },
}

/// The same as `Display`: `main() -> Result` and `unwrap` print this.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
