//! Errors: the operation, its arguments, the device, and what to do.

use std::fmt;
use std::path::PathBuf;

use crate::device::Device;
use crate::dtype::DType;
use crate::shape::Shape;

/// A `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An operation failed.
///
/// Reads as "operation: what is wrong, with shapes and dtypes, on device; what to do":
/// "matmul: inner dimensions differ: [2, 3] x [4, 5] on cpu".
pub struct Error(Box<Inner>);

hip_sys::debug_by_display!(Error, ErrorKind);

struct Inner {
    operation: &'static str,
    kind: ErrorKind,
    device: Option<String>,
}

impl Error {
    /// An error of `operation`, not yet bound to a device.
    pub fn new(operation: &'static str, kind: ErrorKind) -> Error {
        Error(Box::new(Inner { operation, kind, device: None }))
    }

    /// Adds the device on which the error arose. A device already named stays.
    pub fn on(mut self, device: &Device) -> Error {
        self.0.device.get_or_insert_with(|| device.to_string());
        self
    }

    /// The operation that failed, such as "matmul".
    pub fn operation(&self) -> &'static str {
        self.0.operation
    }

    /// The cause, to match on.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The device on which it arose, written as [`Device`]'s `Display` does; `None` if no device is concerned.
    pub fn device(&self) -> Option<&str> {
        self.0.device.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.operation, self.0.kind)?;
        if let Some(device) = &self.0.device {
            write!(f, " on {device}")?;
        }
        match self.0.kind.remedy() {
            Some(remedy) => write!(f, "; {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Io { source, .. } => Some(source),
            ErrorKind::Hip(source) | ErrorKind::CloneFailed(source) => Some(source),
            ErrorKind::Blas(source) => Some(source),
            ErrorKind::Dnn(source) => Some(source),
            ErrorKind::Load(source) => Some(source),
            _ => None,
        }
    }
}

/// The cause of an error: wrong arguments, missing memory, or a damaged file.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The left matrix's column count differs from the right one's row count.
    #[error("inner dimensions differ: {lhs} x {rhs}")]
    InnerDimensions {
        /// Shape of the left operand.
        lhs: Shape,
        /// Shape of the right operand.
        rhs: Shape,
    },
    /// Two shapes have no common broadcast shape.
    #[error("shapes do not broadcast: {lhs} and {rhs}")]
    Broadcast {
        /// Shape of the left operand.
        lhs: Shape,
        /// Shape of the right operand.
        rhs: Shape,
    },
    /// A tensor cannot be expanded to a shape.
    #[error("{from} does not broadcast to {to}")]
    Expand {
        /// Shape of the tensor.
        from: Shape,
        /// Shape asked for.
        to: Shape,
    },
    /// A tensor has too few or too many dimensions.
    #[error("{shape} has rank {}, expected {expected}", shape.rank())]
    Rank {
        /// Shape of the tensor.
        shape: Shape,
        /// The rank needed, in words.
        expected: &'static str,
    },
    /// The dtypes of two operands differ.
    #[error("dtypes differ: {lhs} and {rhs}")]
    DTypeMismatch {
        /// Dtype of the left operand.
        lhs: DType,
        /// Dtype of the right operand.
        rhs: DType,
    },
    /// A tensor's dtype is not the one asked for.
    #[error("the tensor is {got}, not {wanted}")]
    WrongDType {
        /// Dtype of the tensor.
        got: DType,
        /// Dtype asked for.
        wanted: DType,
    },
    /// The operation is not defined for this dtype.
    #[error("{dtype} is not supported (shape {shape})")]
    UnsupportedDType {
        /// Dtype of the tensor.
        dtype: DType,
        /// Shape of the tensor.
        shape: Shape,
        /// What to do instead.
        remedy: &'static str,
    },
    /// A name that is not a dtype's.
    #[error("{name:?} is none of u8 u32 i16 i32 i64 f8e4m3 bf16 f16 f32 f64")]
    UnknownDType {
        /// The text given.
        name: String,
    },
    /// The operands are on two devices.
    #[error("operands lie on two devices, {lhs} and {rhs}{}", if *opened_twice { OPENED_TWICE } else { "" })]
    DeviceMismatch {
        /// Device of the left operand; with its stream, if it was opened twice.
        lhs: String,
        /// Device of the right operand, in the same way.
        rhs: String,
        /// Whether both are the same device, opened twice. Each opening creates a stream, and tensors of two streams do
        /// not mix.
        opened_twice: bool,
    },
    /// An axis that the tensor does not have.
    #[error("axis {axis} is out of range for {shape}")]
    Axis {
        /// The axis given; negative ones count from the end.
        axis: i64,
        /// Shape of the tensor.
        shape: Shape,
    },
    /// An axis given twice.
    #[error("axis {axis} is given twice for {shape}")]
    RepeatedAxis {
        /// The axis.
        axis: usize,
        /// Shape of the tensor.
        shape: Shape,
    },
    /// A permutation that does not name every axis.
    #[error("{got} axes given to permute {shape}")]
    Permutation {
        /// How many axes were given.
        got: usize,
        /// Shape of the tensor.
        shape: Shape,
    },
    /// An index past the end of an axis.
    #[error("index {index} is out of range for axis {axis} of {shape}")]
    Index {
        /// The index.
        index: usize,
        /// The axis.
        axis: usize,
        /// Shape of the tensor.
        shape: Shape,
    },
    /// A range past the end of an axis.
    #[error("range of {length} from {start} is out of range for axis {axis} of {shape}")]
    Range {
        /// First index of the range.
        start: usize,
        /// Length of the range.
        length: usize,
        /// The axis.
        axis: usize,
        /// Shape of the tensor.
        shape: Shape,
    },
    /// An axis to squeeze that is longer than one.
    #[error("axis {axis} of {shape} is longer than 1")]
    Squeeze {
        /// The axis.
        axis: usize,
        /// Shape of the tensor.
        shape: Shape,
    },
    /// Two shapes with different element counts.
    #[error("{from} has {} elements, {to} has {}", from.count_text(), to.count_text())]
    ElementCount {
        /// Shape of the tensor.
        from: Shape,
        /// Shape asked for.
        to: Shape,
    },
    /// A strided tensor that cannot be viewed with the new shape.
    #[error("{from} with strides {strides:?} cannot be viewed as {to} without a copy")]
    View {
        /// Shape of the tensor.
        from: Shape,
        /// Its strides in elements.
        strides: Vec<usize>,
        /// Shape asked for.
        to: Shape,
    },
    /// The length of the data does not match the shape.
    #[error("{got} {unit} given for {shape}, which needs {}", expected)]
    DataLength {
        /// Elements or bytes given.
        got: usize,
        /// Elements or bytes the shape needs.
        expected: usize,
        /// "elements" or "bytes".
        unit: &'static str,
        /// Shape asked for.
        shape: Shape,
    },
    /// Nested arrays whose rows have different lengths.
    #[error("rows of different lengths: {first} and {other}")]
    Ragged {
        /// Shape of the first row.
        first: Shape,
        /// Shape of a later row.
        other: Shape,
    },
    /// The count of elements or bytes does not fit the address space.
    #[error("{shape} is too large: its size does not fit the 64-bit address space")]
    Overflow {
        /// Shape asked for.
        shape: Shape,
    },
    /// A layout that reaches past its storage.
    #[error("a layout of {shape} reaches past the end of its storage of {length} elements")]
    OutOfStorage {
        /// Shape of the layout.
        shape: Shape,
        /// Elements of the storage.
        length: usize,
    },
    /// The system gave no host memory.
    #[error("out of memory: {bytes} bytes asked for")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: usize,
    },
    /// An empty reduction by an operation that has no identity.
    #[error(
        "nothing to reduce: {shape} is empty along axes {axes:?}, and the operation has no value for no elements"
    )]
    EmptyReduction {
        /// Shape of the tensor.
        shape: Shape,
        /// The axes reduced.
        axes: Vec<usize>,
    },
    /// The reduced axes have more elements than a `u32` position can count.
    #[error("{length} elements to search in {shape}, but positions are u32")]
    TooLongForPosition {
        /// Shape of the tensor.
        shape: Shape,
        /// Elements along the reduced axes.
        length: usize,
    },
    /// An invalid argument.
    #[error("{what}")]
    Argument {
        /// What is wrong, with the values.
        what: String,
    },
    /// An error of the HIP device or of hip-safe.
    #[error("{0}")]
    Hip(hip_safe::Error),
    /// The tensor is a clone of one that a graph writes. Such a clone is a copy, and making that copy failed.
    #[error("the tensor is a clone of one that a graph writes, and copying it failed: {0}")]
    CloneFailed(hip_safe::Error),
    /// An error of the device's BLAS library or of rocblas-safe.
    #[error("{0}")]
    Blas(rocblas_safe::Error),
    /// An error of the device's network library or of miopen-safe.
    #[error("{0}")]
    Dnn(miopen_safe::Error),
    /// No code object of a kernel for a device.
    #[error("{what}")]
    Code {
        /// What was looked for, and how to build it.
        what: String,
    },
    /// The platform's library does not load.
    #[error("{0}")]
    Load(hip_sys::LoadError),
    /// A name that is not a device's.
    #[error("{name:?} is none of cpu {platforms}{}", meant.as_ref().map_or_else(String::new, |meant| format!(": {meant}")))]
    UnknownDevice {
        /// The text given.
        name: String,
        /// The devices that could be named.
        platforms: String,
        /// What to write instead, or which feature is missing, if it can be guessed.
        meant: Option<String>,
    },
    /// A call to the system about a file failed.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A damaged file, or one of another format.
    #[error("{path}: {what}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// An id of an indexing operation is negative or past the end of the axis. On HIP devices the next read of a
    /// tensor, or the next `synchronize`, returns it.
    #[error("index {index} is out of range for axis {axis} of length {length}")]
    IdOutOfRange {
        /// The id.
        index: i64,
        /// The axis that the ids index.
        axis: usize,
        /// Its length.
        length: usize,
    },
}

/// Explains why the two devices have the same name.
const OPENED_TWICE: &str = ": it was opened twice, and each time it got a stream of its own";

impl ErrorKind {
    /// The error for operands on different devices.
    pub(crate) fn two_devices(lhs: &Device, rhs: &Device) -> ErrorKind {
        let names = [lhs, rhs].map(Device::to_string);
        let opened_twice = names[0] == names[1];
        let with_stream = |device: &Device| match device.as_hip() {
            Some(hip) if opened_twice => format!("{device} with {}", hip.stream()),
            _ => device.to_string(),
        };
        ErrorKind::DeviceMismatch { lhs: with_stream(lhs), rhs: with_stream(rhs), opened_twice }
    }

    /// General advice for this kind of error, if there is any.
    fn remedy(&self) -> Option<&'static str> {
        match self {
            ErrorKind::DTypeMismatch { .. } => Some("cast one of them with to_dtype"),
            ErrorKind::WrongDType { .. } => Some("cast it with to_dtype"),
            ErrorKind::DeviceMismatch { opened_twice: true, .. } => Some(
                "clone the device in place of opening it again, or move one of the operands with to_device",
            ),
            ErrorKind::DeviceMismatch { .. } => Some("move one of them with to_device"),
            ErrorKind::UnsupportedDType { remedy, .. } => Some(remedy),
            ErrorKind::CloneFailed(_) => Some("use copy, which answers that error itself"),
            ErrorKind::View { .. } => Some("use reshape, which copies where it must"),
            _ => None,
        }
    }
}

/// Something on a device, or a device.
pub(crate) trait At {
    /// The device.
    fn at(&self) -> Device;
}

impl At for Device {
    fn at(&self) -> Device {
        self.clone()
    }
}

#[cold]
#[inline(never)]
fn put_on(error: Error, device: &impl At) -> Error {
    error.on(&device.at())
}

/// Adds the device to an error that is returned.
pub(crate) trait On<T> {
    /// See [`Error::on`]. Only the error path asks for the device.
    fn on(self, device: &impl At) -> Result<T>;
}

impl<T> On<T> for Result<T> {
    #[inline]
    fn on(self, device: &impl At) -> Result<T> {
        self.map_err(|error| put_on(error, device))
    }
}
