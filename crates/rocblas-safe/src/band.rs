//! Band matrices in device memory.

use crate::flag::Flag;
use crate::storage::{self, Storage, cut};
use crate::{Element, Error, Layout, Result};
use hip_safe::DeviceView;

/// A band matrix of `rows` x `cols`, for reading: the diagonal, `kl` diagonals below it and `ku` above it are stored. Or a batch of them.
///
/// - Column-major, as in BLAS: the columns are `ld` elements apart; the element at (i, j) is at `j ld + ku + i - j`.
/// - Row-major: the rows are `ld` elements apart; the element at (i, j) is at `i ld + kl + j - i`.
///
/// Memory between these elements, outside the matrix, is not read.
#[derive(Debug, Clone)]
pub struct BandMatrix<'a, T> {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) kl: usize,
    pub(crate) ku: usize,
    pub(crate) ld: usize,
    pub(crate) flag: Flag,
    pub(crate) storage: Storage<DeviceView<'a, T>>,
}

impl<'a, T: Element> BandMatrix<'a, T> {
    /// A matrix in a view. Without `ld`, the leading dimension is the smallest one, `kl + ku + 1`.
    ///
    /// # Errors
    /// [`Error::LeadingDimension`] if `ld` is less than that; [`Error::Span`] if the view is too short.
    pub fn new(
        view: DeviceView<'a, T>,
        (rows, cols): (usize, usize),
        (kl, ku): (usize, usize),
        layout: Layout,
        ld: Option<usize>,
    ) -> Result<Self> {
        let mut band = Self::strided(view, (rows, cols), (kl, ku), layout, ld, (1, 0))?;
        if let Storage::Strided { view, .. } = band.storage {
            band.storage = Storage::One(view);
        }
        Ok(band)
    }

    /// `count` matrices with a distance of `stride` elements; 0 means that all of them are the same.
    ///
    /// # Errors
    /// As [`BandMatrix::new`].
    pub fn strided(
        view: DeviceView<'a, T>,
        (rows, cols): (usize, usize),
        (kl, ku): (usize, usize),
        layout: Layout,
        ld: Option<usize>,
        (count, stride): (usize, usize),
    ) -> Result<Self> {
        let too_large = Error::SizeOverflow { what: "band matrix" };
        let least = kl.checked_add(ku).and_then(|sum| sum.checked_add(1)).ok_or(too_large.clone())?;
        let ld = ld.unwrap_or(least);
        if ld < least {
            let (layout, step) = ("band", "diagonal");
            return Err(Error::LeadingDimension { layout, rows, cols, ld, least, step });
        }
        if [rows, cols, ld].iter().any(|&size| i64::try_from(size).is_err()) {
            return Err(too_large);
        }
        let by_rows = layout == Layout::RowMajor;
        let flag = Flag::NONE.t_if(by_rows);
        // A row-major band matrix is the transposed column-major one.
        let (rows, cols, kl, ku) = if by_rows { (cols, rows, ku, kl) } else { (rows, cols, kl, ku) };
        let used = if rows == 0 { 0 } else { least };
        let needed = storage::span("band matrix", &[(used, 1), (cols, ld), (count, stride)])?;
        let storage = Storage::Strided { view: cut("band matrix", view, needed)?, stride, count };
        Ok(Self { rows, cols, kl, ku, ld, flag, storage })
    }

    /// Matrices at arbitrary addresses: calls get an array of the addresses. They have one size, number of diagonals, layout and leading dimension.
    ///
    /// # Errors
    /// [`Error::Uneven`] if they differ, or are batches themselves.
    pub fn from_matrices(matrices: impl IntoIterator<Item = Self>) -> Result<Self> {
        let mut matrices = matrices.into_iter();
        let Some(mut first) = matrices.next() else {
            return Err(Error::Uneven { index: 0, what: "presence: there is none" });
        };
        let mut views = Vec::new();
        let like = first.shape();
        for (index, matrix) in std::iter::once(first.clone()).chain(matrices).enumerate() {
            if matrix.shape() != like {
                return Err(Error::Uneven { index, what: "size, diagonals, layout or leading dimension" });
            }
            match matrix.storage {
                Storage::One(view) => views.push(view),
                _ => return Err(Error::Uneven { index, what: "number: it is a batch itself" }),
            }
        }
        first.storage = Storage::Many(views);
        Ok(first)
    }

    fn shape(&self) -> ([usize; 5], Flag) {
        ([self.rows, self.cols, self.kl, self.ku, self.ld], self.flag)
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        if self.flag.transposed { self.cols } else { self.rows }
    }

    /// How many columns it has.
    pub fn cols(&self) -> usize {
        if self.flag.transposed { self.rows } else { self.cols }
    }

    /// The transposed matrix.
    #[must_use]
    pub fn t(self) -> Self {
        Self { flag: self.flag.t(), ..self }
    }

    /// The conjugate transposed matrix; of real numbers, the transposed one.
    #[must_use]
    pub fn h(self) -> Self {
        Self { flag: self.flag.t().conj(T::COMPLEX), ..self }
    }
}
