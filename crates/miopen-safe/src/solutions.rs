//! Ways to compute a convolution, and those that a handle remembers.

use crate::Convolution;
use crate::layout::Layout;
use hip_safe::{Memo, MemoStatistics};
use hip_sys::miopen::miopenConvAlgorithm_t;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// One of the library's ways to compute a convolution, for one problem and one handle: compiled code belongs
/// to the handle.
#[derive(Debug, Clone)]
pub struct Solution {
    pub(crate) problem: Arc<Problem>,
    pub(crate) id: Option<u64>,
    pub(crate) algorithm: Algorithm,
    pub(crate) time: f32,
    pub(crate) workspace_bytes: usize,
    /// Whether it is compiled.
    pub(crate) compiled: Arc<AtomicBool>,
}

impl Solution {
    /// Its id in immediate mode. `None` if it was found by measuring; then it runs by its algorithm.
    pub fn id(&self) -> Option<u64> {
        self.id
    }

    /// Its algorithm family.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The measured or expected time in milliseconds; negative if the library does not know it.
    pub fn time(&self) -> f32 {
        self.time
    }

    /// The bytes of workspace that it needs.
    pub fn workspace_bytes(&self) -> usize {
        self.workspace_bytes
    }
}

/// A family of solutions, by C's number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Algorithm(pub u32);

impl Algorithm {
    /// A matrix product.
    pub const GEMM: Self = Self(miopenConvAlgorithm_t::miopenConvolutionAlgoGEMM.0);
    /// Directly by the definition.
    pub const DIRECT: Self = Self(miopenConvAlgorithm_t::miopenConvolutionAlgoDirect.0);
    /// FFT.
    pub const FFT: Self = Self(miopenConvAlgorithm_t::miopenConvolutionAlgoFFT.0);
    /// Winograd's transform.
    pub const WINOGRAD: Self = Self(miopenConvAlgorithm_t::miopenConvolutionAlgoWinograd.0);
    /// A matrix product with matrices that are never stored (implicit GEMM).
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
    /// The library's recommendation, without measuring.
    #[default]
    Immediate,
    /// Each solution runs once, and the fastest is chosen. The call waits, and cannot be part of a graph.
    Find,
}

/// The direction of a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The output, from input and weights.
    Forward,
    /// The input's gradient, from the output's and the weights.
    BackwardData,
    /// The weights' gradient, from the output's and the input.
    BackwardWeights,
}

/// Statistics of the solutions that a handle remembers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SolutionStatistics {
    /// Calls that found a solution.
    pub hits: u64,
    /// Calls that searched a solution.
    pub misses: u64,
    /// The number of remembered solutions.
    pub remembered: usize,
}

impl From<MemoStatistics> for SolutionStatistics {
    fn from(MemoStatistics { hits, misses, remembered, .. }: MemoStatistics) -> Self {
        Self { hits, misses, remembered }
    }
}

/// The properties that a choice depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Problem {
    pub(crate) direction: Direction,
    /// The handle's number, which determines the device: compiled code belongs to the handle.
    pub(crate) handle: u64,
    pub(crate) first: Arc<Layout>,
    pub(crate) second: Arc<Layout>,
    pub(crate) result: Arc<Layout>,
    pub(crate) convolution: Arc<Convolution>,
}

/// The most solutions that a handle remembers.
pub(crate) const MOST_SOLUTIONS: usize = 4096;

/// The solutions that a handle remembers.
pub(crate) type Solutions = Memo<(SearchMode, Arc<Problem>), Solution>;
