//! Sparse matrices whose indices were checked.

use crate::check::{self, Order, Ordered};
use crate::parts::{Format, Parts};
use crate::raw::{Description, Kind};
use crate::{Error, Index, Result, Scalar, convert};
use hip_safe::{DeviceBuffer, DeviceSlice, DeviceSliceMut, DeviceView, DeviceViewMut, Stream, Submission};
use std::fmt;
use std::ptr::null_mut;

/// A sparse matrix in device memory, whose offsets and indices were checked. `A` holds indices and `V` numbers: [`DeviceBuffer`]s of its own, which
/// [`SparseMatrix::into_parts`] gives back, or borrowed [`DeviceView`]s.
///
/// [`Parts::upload`] makes one of the host's data, and [`SparseMatrix::new`] of memory of a device. Its indices stay as they are; its
/// numbers may be changed.
pub struct SparseMatrix<A, V> {
    parts: Parts<A, V>,
    ordered: Ordered,
}

/// A sparse matrix with memory of its own.
pub type OwnedMatrix<I, T> = SparseMatrix<DeviceBuffer<I>, DeviceBuffer<T>>;

impl<I: Index, T: Scalar> Parts<&[I], &[T]> {
    /// Checks data of the host and copies it to the stream's device.
    ///
    /// # Errors
    /// [`Error::TooLarge`], [`Error::Length`], [`Error::Argument`], [`Error::Offset`], [`Error::Index`]; [`Error::Hip`].
    pub fn upload(&self, stream: &Stream) -> Result<OwnedMatrix<I, T>> {
        let outer = self.outer;
        self.check_sizes::<I>(outer.map(<[I]>::len), self.inner.len(), self.values.len())?;
        let ordered = check::contents::<I, _, _>(self)?;
        let parts = Parts {
            rows: self.rows,
            cols: self.cols,
            format: self.format,
            outer: outer.map(|outer| stream.upload(outer)).transpose()?,
            inner: stream.upload(self.inner)?,
            values: stream.upload(self.values)?,
        };
        Ok(SparseMatrix { parts, ordered })
    }
}

impl<I: Index, A: DeviceSlice<Item = I>, V: DeviceSlice<Item: Scalar>> Parts<A, V> {
    /// Checks offsets and indices in device memory: it copies them to the host, and waits for that. Returns how the entries are ordered.
    ///
    /// # Errors
    /// As [`Parts::upload`]; [`Error::WrittenByGraph`] for indices that a graph's launches may change, or whose stream captures a graph.
    pub fn check(&self, stream: &Stream) -> Result<Order> {
        self.look(stream).map(|ordered| ordered.order)
    }

    fn check_lengths(&self) -> Result<()> {
        let (outer, inner) = (self.outer.as_ref().map(A::as_view), self.inner.as_view());
        self.check_sizes::<I>(outer.map(|outer| outer.len()), inner.len(), self.values.as_view().len())?;
        for (what, view) in [("the offsets or row indices", outer), ("the indices", Some(inner))] {
            if let Some(view) = view {
                check::not_written_by_graphs(what, view)?;
            }
        }
        Ok(())
    }

    fn look(&self, stream: &Stream) -> Result<Ordered> {
        self.check_lengths()?;
        let parts = Parts {
            rows: self.rows,
            cols: self.cols,
            format: self.format,
            outer: self.outer.as_ref().map(|outer| stream.download(&outer.as_view())).transpose()?,
            inner: stream.download(&self.inner.as_view())?,
            values: (),
        };
        check::contents::<I, _, _>(&parts)
    }
}

impl<I: Index, T: Scalar, A: DeviceSlice<Item = I>, V: DeviceSlice<Item = T>> SparseMatrix<A, V> {
    /// A matrix of memory of a device, after [`Parts::check`].
    ///
    /// # Errors
    /// As [`Parts::check`], which a caller who wants the memory back then calls first.
    pub fn new(parts: Parts<A, V>, stream: &Stream) -> Result<Self> {
        let ordered = parts.look(stream)?;
        Ok(Self { parts, ordered })
    }

    /// A matrix of memory of a device, whose contents are not looked at.
    ///
    /// # Errors
    /// Those of sizes and lengths, as [`Parts::check`].
    ///
    /// # Safety
    /// Offsets start at 0, never descend, and end at the number of stored entries; every index is inside of the matrix; in ELL an index of −1
    /// ends its row. The entries are in this order.
    pub unsafe fn new_unchecked(parts: Parts<A, V>, order: Order) -> Result<Self> {
        parts.check_lengths()?;
        Ok(Self { parts, ordered: Ordered::vouched(order) })
    }

    /// Copies it to the host, and waits for that.
    ///
    /// # Errors
    /// [`Error::Hip`].
    pub fn download(&self, stream: &Stream) -> Result<Parts<Vec<I>, Vec<T>>> {
        let Parts { rows, cols, format, outer, inner, values } = &self.parts;
        Ok(Parts {
            rows: *rows,
            cols: *cols,
            format: *format,
            outer: outer.as_ref().map(|outer| stream.download(&outer.as_view())).transpose()?,
            inner: stream.download(&inner.as_view())?,
            values: stream.download(&values.as_view())?,
        })
    }

    /// Borrows it: the same matrix, of views.
    pub fn view(&self) -> SparseMatrix<DeviceView<'_, I>, DeviceView<'_, T>> {
        let Parts { rows, cols, format, outer, inner, values } = &self.parts;
        let outer = outer.as_ref().map(A::as_view);
        let (inner, values) = (inner.as_view(), values.as_view());
        let parts = Parts { rows: *rows, cols: *cols, format: *format, outer, inner, values };
        SparseMatrix { parts, ordered: self.ordered }
    }

    /// The entries that it stores, padding included; of a matrix in blocks, the blocks.
    #[doc(alias = "rocsparse_spmat_get_nnz")]
    pub fn stored(&self) -> usize {
        self.parts.inner.as_view().len()
    }

    /// The same pattern with other numbers, such as those that [`Sddmm`](crate::Sddmm) computed.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn with_values<W: DeviceSlice<Item: Scalar>>(self, values: W) -> Result<SparseMatrix<A, W>> {
        let (needed, len) = (self.parts.values.as_view().len(), values.as_view().len());
        if needed != len {
            return Err(Error::Length { what: "the values", needed, len });
        }
        let Parts { rows, cols, format, outer, inner, .. } = self.parts;
        Ok(SparseMatrix { parts: Parts { rows, cols, format, outer, inner, values }, ordered: self.ordered })
    }
}

impl<A, V> SparseMatrix<A, V> {
    /// Its rows and columns.
    pub fn shape(&self) -> [usize; 2] {
        [self.parts.rows, self.parts.cols]
    }

    /// How its entries lie.
    #[doc(alias = "rocsparse_spmat_get_format")]
    pub fn format(&self) -> Format {
        self.parts.format
    }

    /// How its entries are ordered.
    pub fn order(&self) -> Order {
        self.ordered.order
    }

    /// Its memory, and its sizes.
    pub fn parts(&self) -> &Parts<A, V> {
        &self.parts
    }

    /// Gives its memory back.
    pub fn into_parts(self) -> Parts<A, V> {
        self.parts
    }

    pub(crate) fn ordered(&self) -> &Ordered {
        &self.ordered
    }

    /// A matrix that the library made of a checked one.
    pub(crate) fn made(parts: Parts<A, V>, ordered: Ordered) -> Self {
        Self { parts, ordered }
    }
}

impl<A, V: DeviceSliceMut> SparseMatrix<A, V> {
    /// Its numbers, to change.
    pub fn values_mut(&mut self) -> DeviceViewMut<'_, V::Item> {
        self.parts.values.as_view_mut()
    }
}

/// A matrix of any memory, as the preparation of an operation takes it.
pub(crate) trait Operand {
    fn description(&self) -> Description;
    fn read<'a>(&'a self, submission: &mut Submission<'a>);
}

impl<I: Index, T: Scalar, A: DeviceSlice<Item = I>, V: DeviceSlice<Item = T>> Operand for SparseMatrix<A, V> {
    fn description(&self) -> Description {
        let Parts { rows, cols, format, outer, inner, values } = &self.parts;
        let mut sizes = [*rows, *cols, self.stored()];
        if let Format::Bsr { block, .. } = format {
            sizes = [rows / block, cols / block, self.stored()];
        }
        Description {
            format: format.kind(),
            sizes,
            outer: outer.as_ref().map_or(null_mut(), |outer| outer.as_view().device_ptr().cast_mut().cast()),
            inner: inner.as_view().device_ptr().cast_mut().cast(),
            values: values.as_view().device_ptr().cast_mut().cast(),
            index: I::TYPE,
            kind: T::TYPE,
        }
    }

    fn read<'a>(&'a self, submission: &mut Submission<'a>) {
        let Parts { outer, inner, values, .. } = &self.parts;
        if let Some(outer) = outer {
            submission.read(outer);
        }
        submission.read(inner).read(values);
    }
}

impl Format {
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Csr => Kind::Csr,
            Self::Csc => Kind::Csc,
            Self::Coo => Kind::Coo,
            Self::Bsr { block, layout } => Kind::Bsr(block, convert::direction(layout)),
            Self::Ell { width } => Kind::Ell(width),
        }
    }

    /// Fails if an operation does not take the format.
    pub(crate) fn require(self, operation: &'static str, takes: &'static str) -> Result<()> {
        if takes.contains(&self.to_string()) {
            return Ok(());
        }
        Err(Error::Format { operation, format: self, takes })
    }
}

impl<A, V> fmt::Debug for SparseMatrix<A, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { rows, cols, format, .. } = &self.parts;
        write!(f, "SparseMatrix {format} {rows} x {cols}")
    }
}
