//! The choices that operations take.

/// Which elements of a matrix lie side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Those of a row: C's order.
    RowMajor,
    /// Those of a column: Fortran's and BLAS's order.
    ColMajor,
}

/// Which half of a matrix is used, its diagonal included. It is that of the matrix as the caller sees it, whatever its layout, and after
/// `t()` or `h()`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Triangle {
    /// Where the row is not greater than the column.
    Upper,
    /// Where the row is not less than the column.
    Lower,
}

/// What is on the diagonal of a triangular matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Diagonal {
    /// The elements stored there.
    Stored,
    /// Ones; what is stored there is not read.
    Unit,
}

/// On which side of a product the special matrix stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// It comes first.
    Left,
    /// It comes second.
    Right,
}

/// How exact products of `f32` are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MathMode {
    /// As `f32` is: what a new handle has.
    #[default]
    Full,
    /// The library may round the inputs of products to fewer digits, XF32 or TF32, where the device is faster then.
    Reduced,
}

/// Whether results may depend on the order in which parts of a sum happen to arrive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum AtomicsMode {
    /// No: the same call gives the same bits on the same device. What a new handle has.
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
