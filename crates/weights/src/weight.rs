//! One weight of a model on a device.

use tensor_core::{Device, Error, ErrorKind, Result, Shape, Tensor};

use crate::format::Format;
use crate::ggml::QuantFormat;

/// A weight on a device: a tensor, or quantized numbers as their file has them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Weight {
    /// Numbers of a dtype.
    Dense(Tensor),
    /// Blocks of quantized numbers.
    Quantized(Packed),
}

/// Quantized numbers on a device, in blocks along the last dimension. Cloning it clones a reference.
#[derive(Debug, Clone)]
pub struct Packed {
    format: QuantFormat,
    shape: Shape,
    bytes: Tensor,
}

impl Weight {
    /// How the numbers are stored.
    pub fn format(&self) -> Format {
        match self {
            Weight::Dense(tensor) => Format::Dense(tensor.dtype()),
            Weight::Quantized(packed) => Format::Quantized(packed.format),
        }
    }

    /// The shape, outermost dimension first.
    pub fn shape(&self) -> &Shape {
        match self {
            Weight::Dense(tensor) => tensor.shape(),
            Weight::Quantized(packed) => &packed.shape,
        }
    }

    /// The device that it is on.
    pub fn device(&self) -> Device {
        self.memory().device()
    }

    /// The bytes that it takes on its device.
    pub fn byte_len(&self) -> usize {
        let memory = self.memory();
        memory.elements() * memory.dtype().size_in_bytes()
    }

    /// The tensor, if the numbers have a dtype.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] that names the format.
    pub fn tensor(&self) -> Result<&Tensor> {
        match self {
            Weight::Dense(tensor) => Ok(tensor),
            Weight::Quantized(packed) => {
                let what =
                    format!("the weight {} is quantized ({}), and no tensor", packed.shape, packed.format);
                Err(Error::new("weight", ErrorKind::Argument { what }).on(&self.device()))
            }
        }
    }

    /// The quantized numbers, if it has such.
    pub fn quantized(&self) -> Option<&Packed> {
        match self {
            Weight::Dense(_) => None,
            Weight::Quantized(packed) => Some(packed),
        }
    }

    /// The bytes as files have them. Waits for the device.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`], or an error of the device.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.memory().to_bytes()
    }

    /// Names its memory in lists of live buffers.
    pub(crate) fn set_name(&self, name: &str) {
        self.memory().set_name(name);
    }

    /// The tensor whose memory this is.
    fn memory(&self) -> &Tensor {
        match self {
            Weight::Dense(tensor) => tensor,
            Weight::Quantized(packed) => &packed.bytes,
        }
    }
}

impl Packed {
    /// Numbers whose blocks are `bytes`, as many as the shape has.
    pub(crate) fn new(format: QuantFormat, shape: Shape, bytes: Tensor) -> Packed {
        Packed { format, shape, bytes }
    }

    /// The format.
    pub fn format(&self) -> QuantFormat {
        self.format
    }

    /// The shape, outermost dimension first.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The blocks, as a `u8` tensor of rank 1.
    pub fn bytes(&self) -> &Tensor {
        &self.bytes
    }
}

impl From<Tensor> for Weight {
    fn from(tensor: Tensor) -> Weight {
        Weight::Dense(tensor)
    }
}

impl From<Packed> for Weight {
    fn from(packed: Packed) -> Weight {
        Weight::Quantized(packed)
    }
}
