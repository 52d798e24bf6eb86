//! Dense matrices in device memory.

use crate::raw::DenseDescription;
use crate::{Error, Index, Result, Scalar, convert};
use hip_safe::{DeviceSlice, DeviceSliceMut, DeviceViewMut};
use std::ffi::c_void;
use std::fmt;

/// Whether rows or columns are contiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Row by row.
    RowMajor,
    /// Column by column.
    ColumnMajor,
}

/// The sizes of a dense matrix, and how its elements lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DenseShape {
    /// Its rows.
    pub rows: usize,
    /// Its columns.
    pub cols: usize,
    /// Whether rows or columns are contiguous.
    pub layout: Layout,
    /// The distance from one row (or column) to the next, in elements.
    pub leading: usize,
}

/// A dense matrix in memory of a device: a buffer or a view.
pub struct DenseMatrix<S> {
    shape: DenseShape,
    memory: S,
}

impl DenseShape {
    /// A shape without gaps.
    pub fn new(rows: usize, cols: usize, layout: Layout) -> Self {
        let leading = if layout == Layout::RowMajor { cols } else { rows };
        Self { rows, cols, layout, leading: leading.max(1) }
    }

    /// The elements from the first to the last one.
    ///
    /// # Errors
    /// [`Error::Argument`] if rows (or columns) reach over each other, or beyond an address space.
    pub fn extent(&self) -> Result<usize> {
        let (lists, contiguous) = match self.layout {
            Layout::RowMajor => (self.rows, self.cols),
            Layout::ColumnMajor => (self.cols, self.rows),
        };
        let (what, value) = ("the leading dimension", self.leading);
        if value < contiguous.max(1) {
            let wanted = "it is at least the length of a row (or column), and at least 1";
            return Err(Error::Argument { what, value, wanted });
        }
        if lists == 0 || contiguous == 0 {
            return Ok(0);
        }
        let extent = (lists - 1).checked_mul(value).and_then(|last| last.checked_add(contiguous));
        let wanted = "the matrix has to fit an address space";
        extent.filter(|&n| n <= isize::MAX as usize / 16).ok_or(Error::Argument { what, value, wanted })
    }

    /// Fails if a size is beyond the indices of the sparse matrix of the same call: the library converts the sizes to their type.
    pub(crate) fn check_index<I: Index>(&self) -> Result<()> {
        for (what, size) in [
            ("the number of rows of a dense matrix", self.rows),
            ("the number of columns of a dense matrix", self.cols),
            ("the leading dimension of a dense matrix", self.leading),
        ] {
            if size > I::MOST {
                return Err(Error::TooLarge { what, size, index: I::NAME, most: I::MOST });
            }
        }
        Ok(())
    }

    /// Fails if there are more elements than an index can express: the library counts those that are not zero, and does not notice an overflow.
    pub(crate) fn check_elements<I: Index>(&self) -> Result<()> {
        let (what, size) =
            ("the number of elements of the dense matrix", self.rows.saturating_mul(self.cols));
        if size > I::MOST {
            return Err(Error::TooLarge { what, size, index: I::NAME, most: I::MOST });
        }
        Ok(())
    }

    pub(crate) fn describe<T: Scalar>(&self, values: *mut c_void) -> DenseDescription {
        let sizes = [self.rows, self.cols, self.leading];
        DenseDescription { sizes, values, kind: T::TYPE, order: convert::order(self.layout) }
    }
}

impl<S: DeviceSlice<Item: Scalar>> DenseMatrix<S> {
    /// A matrix of this memory.
    ///
    /// # Errors
    /// [`Error::Argument`] for a leading dimension that is too small; [`Error::Length`] for memory that is too short.
    pub fn new(memory: S, shape: DenseShape) -> Result<Self> {
        let (needed, len) = (shape.extent()?, memory.as_view().len());
        if len < needed {
            return Err(Error::Length { what: "the memory of a dense matrix", needed, len });
        }
        Ok(Self { shape, memory })
    }

    pub(crate) fn describe(&self) -> DenseDescription {
        self.shape.describe::<S::Item>(self.memory.as_view().device_ptr().cast_mut().cast())
    }
}

impl<S: DeviceSliceMut<Item: Scalar>> DenseMatrix<S> {
    /// Its memory, to change.
    pub fn memory_mut(&mut self) -> DeviceViewMut<'_, S::Item> {
        self.memory.as_view_mut()
    }

    pub(crate) fn describe_mut(&mut self) -> DenseDescription {
        let values = self.memory.as_view_mut().device_ptr_mut().cast();
        self.shape.describe::<S::Item>(values)
    }
}

impl<S> DenseMatrix<S> {
    /// Its shape.
    pub fn shape(&self) -> DenseShape {
        self.shape
    }

    /// Its memory.
    pub fn memory(&self) -> &S {
        &self.memory
    }

    /// Gives its memory back.
    pub fn into_memory(self) -> S {
        self.memory
    }
}

impl<S> fmt::Debug for DenseMatrix<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DenseMatrix {:?}", self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_counted_in_the_type_of_the_indices() {
        let shape = |rows, cols| DenseShape::new(rows, cols, Layout::RowMajor);
        shape(1 << 16, (1 << 15) - 1).check_elements::<i32>().unwrap();
        let error = shape(1 << 16, 1 << 15).check_elements::<i32>().unwrap_err();
        assert!(matches!(error, Error::TooLarge { size: 0x8000_0000, index: "i32", .. }), "{error}");
        shape(1 << 16, 1 << 15).check_elements::<i64>().unwrap();
        assert!(shape(1 << 40, 1 << 40).check_elements::<i64>().is_err());
    }
}
