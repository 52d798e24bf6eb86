//! Operands with elements of one's own, from memory or from a file.

use std::path::Path;
use std::sync::Arc;

use reference::{Array, DType};

use crate::Error;
use crate::case::Operand;
use crate::inputs::Contents;
use crate::tensors::{ElementType, Stored, TensorFiles};

impl Operand {
    /// A dense operand with these elements: little-endian and row-major. The seed does not matter for it.
    ///
    /// Cases whose operands differ in nothing else have the same id: tell them apart by
    /// [`Case::with_origin`](crate::Case::with_origin).
    ///
    /// # Errors
    /// [`reference::Error::Length`] if the shape takes another number of bytes.
    pub fn given(
        dtype: DType,
        shape: &[usize],
        bytes: impl Into<Arc<[u8]>>,
    ) -> Result<Operand, reference::Error> {
        let bytes = bytes.into();
        Array::from_bytes(dtype, shape, &bytes)?;
        Ok(Operand { given: Some(bytes), ..Operand::dense(dtype, shape, Contents::Given) })
    }

    /// A dense operand with the elements of a tensor in a `.npy`, `.npz` or `.safetensors` file, or in a folder of such
    /// files. `name` may be left out if there is only one.
    ///
    /// # Errors
    /// [`Error::Tensors`] if the file cannot be read, there is no such tensor, or its dtype is none of [`DType::ALL`].
    pub fn from_file(path: impl AsRef<Path>, name: Option<&str>) -> Result<Operand, Error> {
        let path = path.as_ref();
        let wrong = |what: String| Error::Tensors { path: path.to_path_buf(), what };
        let mut files = TensorFiles::open(path)?;
        let name = match name {
            Some(name) => name.to_owned(),
            None => files.only_name().map(str::to_owned).ok_or_else(|| {
                wrong(format!("it has {} tensors: name one of them", files.names().count()))
            })?,
        };
        let Stored { element, shape, bytes } = files.load(&name).map_err(wrong)?;
        match element {
            ElementType::Known(dtype) => {
                Operand::given(dtype, &shape, bytes).map_err(|error| wrong(error.to_string()))
            }
            ElementType::Other(element) => {
                Err(wrong(format!("tensor {name:?} is of {element}, which no operation is judged on")))
            }
        }
    }
}
