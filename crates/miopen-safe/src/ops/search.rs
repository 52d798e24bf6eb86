//! Searches for the library's solutions of a convolution.

use super::convolve::Roles;
use crate::convert;
use crate::raw::{Failure, convolution as raw};
use crate::{
    Algorithm, ConvolutionDesc, Direction, Handle, Result, Solution, SolutionStatistics, TensorDesc,
};
use hip_sys::Miopen;
use hip_sys::miopen::*;
use std::sync::Arc;
use std::sync::atomic::Ordering;

type Count = unsafe fn(
    &Miopen,
    miopenHandle_t,
    miopenTensorDescriptor_t,
    miopenTensorDescriptor_t,
    miopenConvolutionDescriptor_t,
    miopenTensorDescriptor_t,
    *mut usize,
) -> Result<(), Failure>;
type Get = unsafe fn(
    &Miopen,
    miopenHandle_t,
    miopenTensorDescriptor_t,
    miopenTensorDescriptor_t,
    miopenConvolutionDescriptor_t,
    miopenTensorDescriptor_t,
    usize,
    *mut usize,
    *mut miopenConvSolution_t,
) -> Result<(), Failure>;
type WorkspaceSize = unsafe fn(
    &Miopen,
    miopenHandle_t,
    miopenTensorDescriptor_t,
    miopenTensorDescriptor_t,
    miopenConvolutionDescriptor_t,
    miopenTensorDescriptor_t,
    u64,
    *mut usize,
) -> Result<(), Failure>;
type Compile = unsafe fn(
    &Miopen,
    miopenHandle_t,
    miopenTensorDescriptor_t,
    miopenTensorDescriptor_t,
    miopenConvolutionDescriptor_t,
    miopenTensorDescriptor_t,
    u64,
) -> Result<(), Failure>;

/// The functions of one direction, which all take their descriptors in the order of [`Roles`].
struct Functions {
    count: Count,
    get: Get,
    workspace: WorkspaceSize,
    compile: Compile,
    found_workspace: Count,
}

fn functions(direction: Direction) -> Functions {
    match direction {
        Direction::Forward => Functions {
            count: raw::convolution_forward_get_solution_count,
            get: raw::convolution_forward_get_solution,
            workspace: raw::convolution_forward_get_solution_workspace_size,
            compile: raw::convolution_forward_compile_solution,
            found_workspace: raw::convolution_forward_get_workspace_size,
        },
        Direction::BackwardData => Functions {
            count: raw::convolution_backward_data_get_solution_count,
            get: raw::convolution_backward_data_get_solution,
            workspace: raw::convolution_backward_data_get_solution_workspace_size,
            compile: raw::convolution_backward_data_compile_solution,
            found_workspace: raw::convolution_backward_data_get_workspace_size,
        },
        Direction::BackwardWeights => Functions {
            count: raw::convolution_backward_weights_get_solution_count,
            get: raw::convolution_backward_weights_get_solution,
            workspace: raw::convolution_backward_weights_get_solution_workspace_size,
            compile: raw::convolution_backward_weights_compile_solution,
            found_workspace: raw::convolution_backward_weights_get_workspace_size,
        },
    }
}

impl Handle {
    /// The library's solutions for the convolution, its first choice first, without measuring. The tensors are the
    /// input, the weights and the output, or their gradients.
    ///
    /// # Errors
    /// [`Error::Mismatch`](crate::Error::Mismatch) for shapes that do not match, or the library's error.
    #[doc(alias = "miopenConvolutionForwardGetSolutionCount")]
    #[doc(alias = "miopenConvolutionForwardGetSolution")]
    #[doc(alias = "miopenConvolutionBackwardDataGetSolution")]
    #[doc(alias = "miopenConvolutionBackwardWeightsGetSolution")]
    pub fn convolution_solutions(
        &self,
        direction: Direction,
        convolution: &ConvolutionDesc,
        x: &TensorDesc,
        w: &TensorDesc,
        y: &TensorDesc,
    ) -> Result<Vec<Solution>> {
        self.solutions_of(&Roles::new(direction, convolution, x, w, y)?)
    }

    /// The bytes of workspace that the library reports for a solution.
    ///
    /// # Errors
    /// As [`Handle::convolution_solutions`]. A solution that was found by measuring knows its bytes itself.
    #[doc(alias = "miopenConvolutionForwardGetSolutionWorkspaceSize")]
    pub fn convolution_workspace_bytes(
        &self,
        direction: Direction,
        convolution: &ConvolutionDesc,
        x: &TensorDesc,
        w: &TensorDesc,
        y: &TensorDesc,
        solution: &Solution,
    ) -> Result<usize> {
        let roles = Roles::new(direction, convolution, x, w, y)?;
        roles.check_solution(self, solution)?;
        let Some(id) = solution.id else { return Ok(solution.workspace_bytes) };
        let [a, b, c] = roles.on(self)?;
        let desc = convolution.on(self)?;
        let ask = functions(direction).workspace;
        self.call("the workspace of a solution", |m, h| {
            // SAFETY: S1: handle and descriptors are live, and the out-pointer too.
            convert::out(|bytes| unsafe { ask(m, h, a, b, desc, c, id, bytes) })
        })
    }

    /// Statistics of the solutions that the handle remembers.
    pub fn solution_statistics(&self) -> SolutionStatistics {
        self.solutions().statistics().into()
    }

    /// Forgets the solutions of convolutions and attention, so that the next call searches again.
    pub fn forget_solutions(&self) {
        self.attentions().solutions.clear();
        self.solutions().clear();
    }

    pub(crate) fn solutions_of(&self, roles: &Roles<'_>) -> Result<Vec<Solution>> {
        let [a, b, c] = roles.on(self)?;
        let desc = roles.convolution.on(self)?;
        let Functions { count, get, .. } = functions(roles.direction);
        let found = self.call("the solutions of a convolution", |m, h| {
            // SAFETY: S1: handle and descriptors are live, and the out-pointer too.
            let total = convert::out(|total| unsafe { count(m, h, a, b, desc, c, total) })?;
            let nothing = miopenConvSolution_t {
                time: 0.0,
                workspace_size: 0,
                solution_id: 0,
                algorithm: miopenConvAlgorithm_t(0),
            };
            let mut solutions = vec![nothing; total];
            if total > 0 {
                // SAFETY: S1: as above; the array has as many elements.
                let got = convert::out(|got| unsafe {
                    get(m, h, a, b, desc, c, total, got, solutions.as_mut_ptr())
                })?;
                solutions.truncate(got);
            }
            Ok(solutions)
        })?;
        let problem = roles.problem(self);
        let solution = |found: miopenConvSolution_t| Solution {
            problem: Arc::clone(&problem),
            id: Some(found.solution_id),
            algorithm: Algorithm(found.algorithm.0),
            time: found.time,
            workspace_bytes: found.workspace_size,
            compiled: Arc::default(),
        };
        Ok(found.into_iter().map(solution).collect())
    }

    /// Compiles a solution, if the library was not asked to before.
    pub(crate) fn compile(&self, roles: &Roles<'_>, solution: &Solution) -> Result<()> {
        let Some(id) = solution.id.filter(|_| !solution.compiled.load(Ordering::Acquire)) else {
            return Ok(());
        };
        let [a, b, c] = roles.on(self)?;
        let desc = roles.convolution.on(self)?;
        let compile = functions(roles.direction).compile;
        // SAFETY: S1: handle and descriptors are live; the library gave the id for them.
        self.call("compiling a solution", |m, h| unsafe { compile(m, h, a, b, desc, c, id) })?;
        solution.compiled.store(true, Ordering::Release);
        Ok(())
    }

    /// The size of a workspace in which every solution can be measured.
    pub(crate) fn search_bytes(&self, roles: &Roles<'_>) -> Result<usize> {
        let [a, b, c] = roles.on(self)?;
        let desc = roles.convolution.on(self)?;
        let ask = functions(roles.direction).found_workspace;
        self.call("the workspace of a search", |m, h| {
            // SAFETY: S1: handle and descriptors are live, and the out-pointer too.
            convert::out(|bytes| unsafe { ask(m, h, a, b, desc, c, bytes) })
        })
    }
}
