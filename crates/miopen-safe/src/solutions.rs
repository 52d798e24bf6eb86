//! Ways to compute a convolution, and those that a handle remembers.

use crate::Convolution;
use crate::layout::Layout;
use crate::memo::Memo;
use hip_sys::miopen::miopenConvAlgorithm_t;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How the library computes a convolution: an answer of the library for one problem, to one handle: what is compiled for it
/// is the handle's.
#[derive(Debug, Clone)]
pub struct Solution {
    pub(crate) problem: Arc<Problem>,
    pub(crate) id: Option<u64>,
    pub(crate) algorithm: Algorithm,
    pub(crate) time: f32,
    pub(crate) workspace_bytes: usize,
    /// Whether it can run at once.
    pub(crate) compiled: Arc<AtomicBool>,
}

impl Solution {
    /// The number that immediate mode runs it by; none for one that was found by measuring, which runs by its algorithm.
    pub fn id(&self) -> Option<u64> {
        self.id
    }

    /// The family that it belongs to.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Milliseconds that it took or is expected to take; less than 0 where the library does not know.
    pub fn time(&self) -> f32 {
        self.time
    }

    /// Bytes of workspace that it needs.
    pub fn workspace_bytes(&self) -> usize {
        self.workspace_bytes
    }
}

/// A family of solutions, by C's number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Algorithm(pub u32);

impl Algorithm {
    /// A product of matrices.
    pub const GEMM: Self = Self(miopenConvAlgorithm_t::miopenConvolutionAlgoGEMM.0);
    /// Straight from the definition.
    pub const DIRECT: Self = Self(miopenConvAlgorithm_t::miopenConvolutionAlgoDirect.0);
    /// Fast Fourier transforms.
    pub const FFT: Self = Self(miopenConvAlgorithm_t::miopenConvolutionAlgoFFT.0);
    /// Winograd's transforms.
    pub const WINOGRAD: Self = Self(miopenConvAlgorithm_t::miopenConvolutionAlgoWinograd.0);
    /// A product of matrices that are never written out.
    pub const IMPLICIT_GEMM: Self = Self(miopenConvAlgorithm_t::miopenConvolutionAlgoImplicitGEMM.0);
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::GEMM => f.write_str("GEMM"),
            Self::DIRECT => f.write_str("DIRECT"),
            Self::FFT => f.write_str("FFT"),
            Self::WINOGRAD => f.write_str("WINOGRAD"),
            Self::IMPLICIT_GEMM => f.write_str("IMPLICIT_GEMM"),
            Self(number) => write!(f, "algorithm {number}"),
        }
    }
}

/// How a convolution's solution is chosen when its handle remembers none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SearchMode {
    /// What the library recommends: nothing is measured.
    #[default]
    Immediate,
    /// All that can do it run once, and the fastest is taken. The call waits, and cannot be part of a graph.
    Find,
}

/// What a convolution computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The output, from input and weights.
    Forward,
    /// The input's gradient, from the output's and the weights.
    BackwardData,
    /// The weights' gradient, from the output's and the input.
    BackwardWeights,
}

/// How often a handle's memory of solutions had one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SolutionStatistics {
    /// Calls whose solution was known.
    pub hits: u64,
    /// Calls that asked the library.
    pub misses: u64,
    /// Solutions that are remembered.
    pub remembered: usize,
}

/// All that a choice depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Problem {
    pub(crate) direction: Direction,
    /// The handle's number, and so its device: what is compiled belongs to it.
    pub(crate) handle: u64,
    pub(crate) first: Arc<Layout>,
    pub(crate) second: Arc<Layout>,
    pub(crate) result: Arc<Layout>,
    pub(crate) convolution: Arc<Convolution>,
}

/// What a handle remembers.
pub(crate) type Solutions = Memo<(SearchMode, Arc<Problem>), Solution>;
