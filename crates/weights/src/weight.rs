//! One weight of a model on a device.

use std::borrow::Cow;

use tensor_core::{Device, Error, ErrorKind, QTensor, Result, Shape, Tensor};

use crate::format::Format;

/// A weight on a device: a tensor, or quantized numbers as their file has them. Cloning it clones a reference.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Weight {
    /// Numbers of a dtype.
    Dense(Tensor),
    /// Blocks of quantized numbers.
    Quantized(QTensor),
}

impl Weight {
    /// How the numbers are stored.
    pub fn format(&self) -> Format {
        match self {
            Weight::Dense(tensor) => Format::Dense(tensor.dtype()),
            Weight::Quantized(tensor) => Format::Quantized(tensor.dtype()),
        }
    }

    /// The shape, outermost dimension first.
    pub fn shape(&self) -> &Shape {
        match self {
            Weight::Dense(tensor) => tensor.shape(),
            Weight::Quantized(tensor) => tensor.shape(),
        }
    }

    /// The device that it is on.
    pub fn device(&self) -> Device {
        match self {
            Weight::Dense(tensor) => tensor.device(),
            Weight::Quantized(tensor) => tensor.device(),
        }
    }

    /// The bytes that it takes in a file, and but for some padding on its device.
    pub fn byte_len(&self) -> usize {
        match self {
            Weight::Dense(tensor) => tensor.elements() * tensor.dtype().size_in_bytes(),
            Weight::Quantized(tensor) => tensor.storage_size_in_bytes(),
        }
    }

    /// The tensor, if the numbers have a dtype.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] that names the format.
    pub fn tensor(&self) -> Result<&Tensor> {
        match self {
            Weight::Dense(tensor) => Ok(tensor),
            Weight::Quantized(quantized) => {
                let what = format!(
                    "the weight {} is quantized ({}), and no tensor: dequantize it, or multiply by it",
                    quantized.shape(),
                    quantized.dtype()
                );
                Err(Error::new("weight", ErrorKind::Argument { what }).on(&self.device()))
            }
        }
    }

    /// The quantized numbers, if it has such.
    pub fn quantized(&self) -> Option<&QTensor> {
        match self {
            Weight::Dense(_) => None,
            Weight::Quantized(tensor) => Some(tensor),
        }
    }

    /// The bytes as files have them: borrowed if they are in host memory, else read from the device, which is waited for.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`], or an error of the device.
    pub fn to_bytes(&self) -> Result<Cow<'_, [u8]>> {
        match self {
            Weight::Dense(tensor) => tensor.to_bytes().map(Cow::Owned),
            Weight::Quantized(tensor) => tensor.data(),
        }
    }

    /// Names its memory in lists of live buffers.
    pub(crate) fn set_name(&self, name: &str) {
        match self {
            Weight::Dense(tensor) => tensor.set_name(name),
            Weight::Quantized(tensor) => tensor.set_name(name),
        }
    }
}

impl From<Tensor> for Weight {
    fn from(tensor: Tensor) -> Weight {
        Weight::Dense(tensor)
    }
}

impl From<QTensor> for Weight {
    fn from(tensor: QTensor) -> Weight {
        Weight::Quantized(tensor)
    }
}
