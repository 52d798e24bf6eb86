//! The choices that operations take.

/// Which elements of a matrix are adjacent in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Those of a row: C's order.
    RowMajor,
    /// Those of a column: Fortran's and BLAS's order.
    ColMajor,
}

/// Which triangle of a matrix is used, including its diagonal. It is that of the matrix as the caller sees it, whatever its layout, and after
/// `t()` or `h()`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Triangle {
    /// The upper one: the row is not greater than the column.
    Upper,
    /// The lower one: the row is not less than the column.
    Lower,
}

/// The diagonal of a triangular matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Diagonal {
    /// The stored elements.
    Stored,
    /// Ones; the stored elements are not read.
    Unit,
}

/// The side of a product on which the special matrix is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// It is the first factor.
    Left,
    /// It is the second factor.
    Right,
}

/// The precision of products of `f32`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MathMode {
    /// Full `f32`, the setting of a new handle.
    #[default]
    Full,
    /// The library may round the inputs of products to XF32 or TF32, if the device is faster then.
    Reduced,
}

/// Whether results may depend on the order in which terms of a sum arrive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum AtomicsMode {
    /// No: the same call gives the same bits on the same device. This is the setting of a new handle.
    #[default]
    Forbidden,
    /// Yes, where that is faster.
    Allowed,
}

impl Triangle {
    pub(crate) fn flipped(self) -> Self {
        match self {
            Self::Upper => Self::Lower,
            Self::Lower => Self::Upper,
        }
    }

    pub(crate) fn flip_if(self, flip: bool) -> Self {
        if flip { self.flipped() } else { self }
    }
}

impl Side {
    pub(crate) fn flip_if(self, flip: bool) -> Self {
        match (self, flip) {
            (Self::Left, true) => Self::Right,
            (Self::Right, true) => Self::Left,
            (same, false) => same,
        }
    }
}
