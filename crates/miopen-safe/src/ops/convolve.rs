//! Convolutions in their three directions.

use crate::convert::{self, host};
use crate::raw::{Failure, convolution as raw};
use crate::solutions::Problem;
use crate::tensor::has_dims;
use crate::work::{Scratch, Work};
use crate::{
    Algorithm, Blend, ConvolutionDesc, Direction, Element, Error, Handle, Result, SearchMode, Solution,
    Tensor, TensorDesc, TensorMut,
};
use hip_sys::miopen::*;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The maximum number of solutions that a search returns.
const FOUND: usize = 16;

/// How a convolution is computed.
#[derive(Debug, Clone, Default)]
pub struct ConvolutionOptions {
    /// How a solution is chosen if the handle remembers none.
    pub search: SearchMode,
    /// How the result is combined with the old output. Immediate mode only replaces it; MIOpen's other mode may refuse, too.
    pub blend: Blend,
    /// Whether a search tries more than the library's defaults, which takes long.
    pub exhaustive: bool,
    /// Use this solution, instead of the handle's choice. It must be one that this handle returned for the same problem.
    pub solution: Option<Solution>,
}

/// The three tensors of a convolution: the two inputs, in the order of the C functions, and the
/// result.
pub(crate) struct Roles<'a> {
    pub(crate) direction: Direction,
    pub(crate) convolution: &'a ConvolutionDesc,
    first: &'a TensorDesc,
    second: &'a TensorDesc,
    result: &'a TensorDesc,
}

impl<'a> Roles<'a> {
    /// The shapes of the input, the weights and the output, or of their gradients.
    pub(crate) fn new(
        direction: Direction,
        convolution: &'a ConvolutionDesc,
        x: &'a TensorDesc,
        w: &'a TensorDesc,
        y: &'a TensorDesc,
    ) -> Result<Self> {
        let dims = convolution.convolution().output_dims(x.dims(), w.dims())?;
        has_dims("the shape of a convolution's output", &dims, y)?;
        let (first, second, result) = match direction {
            Direction::Forward => (w, x, y),
            Direction::BackwardData => (y, w, x),
            Direction::BackwardWeights => (y, x, w),
        };
        Ok(Self { direction, convolution, first, second, result })
    }

    /// The descriptors, for calls with this handle.
    pub(crate) fn on(&self, handle: &Handle) -> Result<[miopenTensorDescriptor_t; 3]> {
        Ok([self.first.on(handle)?, self.second.on(handle)?, self.result.on(handle)?])
    }

    pub(crate) fn problem(&self, handle: &Handle) -> Arc<Problem> {
        Arc::new(Problem {
            direction: self.direction,
            handle: handle.id(),
            first: Arc::clone(self.first.layout()),
            second: Arc::clone(self.second.layout()),
            result: Arc::clone(self.result.layout()),
            convolution: Arc::clone(self.convolution.shared()),
        })
    }

    /// Refuses a solution of another problem.
    pub(crate) fn check_solution(&self, handle: &Handle, solution: &Solution) -> Result<()> {
        let problem = self.problem(handle);
        if *solution.problem == *problem {
            return Ok(());
        }
        Err(Error::mismatch("the problem that a solution is for", problem, &solution.problem))
    }
}

impl Handle {
    /// `y ← w ∗ x`: `x` is `[n, c, …]`, `w` `[k, c / groups, …]`, `y` `[n, k, …]` with the lengths of
    /// [`Convolution::output_dims`](crate::Convolution::output_dims).
    ///
    /// The handle remembers the solution for this problem; the workspace comes from the device's pool.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for shapes that do not match; [`Error::Unsupported`]; the error of memory, stream or library.
    #[doc(alias = "miopenConvolutionForwardImmediate")]
    #[doc(alias = "miopenConvolutionForward")]
    #[doc(alias = "miopenFindConvolutionForwardAlgorithm")]
    pub fn convolution_forward<T: Element>(
        &self,
        convolution: &ConvolutionDesc,
        x: &Tensor<'_, T>,
        w: &Tensor<'_, T>,
        y: &mut TensorMut<'_, T>,
        options: ConvolutionOptions,
    ) -> Result<()> {
        let roles = Roles::new(Direction::Forward, convolution, x.desc(), w.desc(), y.desc())?;
        self.convolve(&roles, w, x, y, options)
    }

    /// The gradient `dx` of the input, from the output's gradient `dy` and the weights. Shapes as in
    /// [`Handle::convolution_forward`].
    ///
    /// # Errors
    /// As [`Handle::convolution_forward`].
    #[doc(alias = "miopenConvolutionBackwardDataImmediate")]
    #[doc(alias = "miopenConvolutionBackwardData")]
    #[doc(alias = "miopenFindConvolutionBackwardDataAlgorithm")]
    pub fn convolution_backward_data<T: Element>(
        &self,
        convolution: &ConvolutionDesc,
        dy: &Tensor<'_, T>,
        w: &Tensor<'_, T>,
        dx: &mut TensorMut<'_, T>,
        options: ConvolutionOptions,
    ) -> Result<()> {
        let roles = Roles::new(Direction::BackwardData, convolution, dx.desc(), w.desc(), dy.desc())?;
        self.convolve(&roles, dy, w, dx, options)
    }

    /// The gradient `dw` of the weights, from the output's gradient `dy` and the input. Shapes as in
    /// [`Handle::convolution_forward`].
    ///
    /// # Errors
    /// As [`Handle::convolution_forward`].
    #[doc(alias = "miopenConvolutionBackwardWeightsImmediate")]
    #[doc(alias = "miopenConvolutionBackwardWeights")]
    #[doc(alias = "miopenFindConvolutionBackwardWeightsAlgorithm")]
    pub fn convolution_backward_weights<T: Element>(
        &self,
        convolution: &ConvolutionDesc,
        dy: &Tensor<'_, T>,
        x: &Tensor<'_, T>,
        dw: &mut TensorMut<'_, T>,
        options: ConvolutionOptions,
    ) -> Result<()> {
        let roles = Roles::new(Direction::BackwardWeights, convolution, x.desc(), dw.desc(), dy.desc())?;
        self.convolve(&roles, dy, x, dw, options)
    }

    /// Chooses a solution and runs it.
    fn convolve<T: Element>(
        &self,
        roles: &Roles<'_>,
        first: &Tensor<'_, T>,
        second: &Tensor<'_, T>,
        result: &mut TensorMut<'_, T>,
        options: ConvolutionOptions,
    ) -> Result<()> {
        let solution = match options.solution {
            Some(ref solution) => {
                roles.check_solution(self, solution)?;
                self.compile(roles, solution)?;
                solution.clone()
            }
            None => self.choose(roles, first, second, result, &options)?,
        };
        match solution.id {
            Some(_) if options.blend != Blend::SET => Err(Error::invalid(
                "the blend of a convolution",
                options.blend,
                "immediate mode only sets its output: ask for SearchMode::Find",
            )),
            Some(id) => self.run_immediate(roles, first, second, result, id, solution.workspace_bytes),
            None => self.run_found(roles, first, second, result, &solution, options.blend),
        }
    }

    fn choose<T: Element>(
        &self,
        roles: &Roles<'_>,
        first: &Tensor<'_, T>,
        second: &Tensor<'_, T>,
        result: &mut TensorMut<'_, T>,
        options: &ConvolutionOptions,
    ) -> Result<Solution> {
        let key = (options.search, roles.problem(self));
        if let Some(known) = self.solutions().get(&key) {
            return Ok(known);
        }
        let chosen = match options.search {
            SearchMode::Immediate => {
                let found = self.solutions_of(roles)?;
                let first = found.into_iter().next().ok_or_else(|| no_solution(roles.direction))?;
                self.compile(roles, &first)?;
                first
            }
            SearchMode::Find => {
                let found = self.search(roles, first, second, result, options)?;
                found.into_iter().next().ok_or_else(|| no_solution(roles.direction))?
            }
        };
        self.solutions().put(key, chosen.clone());
        Ok(chosen)
    }

    fn run_immediate<T: Element>(
        &self,
        roles: &Roles<'_>,
        first: &Tensor<'_, T>,
        second: &Tensor<'_, T>,
        result: &mut TensorMut<'_, T>,
        id: u64,
        bytes: usize,
    ) -> Result<()> {
        let [a_desc, b_desc, c_desc] = roles.on(self)?;
        let desc = roles.convolution.on(self)?;
        let mut scratch = Scratch::new(self, bytes)?;
        let run = match roles.direction {
            Direction::Forward => raw::convolution_forward_immediate,
            Direction::BackwardData => raw::convolution_backward_data_immediate,
            Direction::BackwardWeights => raw::convolution_backward_weights_immediate,
        };
        let mut work = Work::new(self, "a convolution");
        let (a, b, c) = (work.read(first), work.read(second), work.write(result));
        let space = work.scratch(&mut scratch);
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named; the workspace has the bytes asked for.
        work.run(|m, h| unsafe { run(m, h, a_desc, a, b_desc, b, desc, c_desc, c, space, bytes, id) })
    }

    fn run_found<T: Element>(
        &self,
        roles: &Roles<'_>,
        first: &Tensor<'_, T>,
        second: &Tensor<'_, T>,
        result: &mut TensorMut<'_, T>,
        solution: &Solution,
        blend: Blend,
    ) -> Result<()> {
        let [a_desc, b_desc, c_desc] = roles.on(self)?;
        let desc = roles.convolution.on(self)?;
        let bytes = solution.workspace_bytes;
        let mut scratch = Scratch::new(self, bytes)?;
        let mut work = Work::new(self, "a convolution");
        let (a, b, c) = (work.read(first), work.read(second), work.write(result));
        let space = work.scratch(&mut scratch);
        let (alpha, beta) = (host(&blend.alpha), host(&blend.beta));
        let algorithm = solution.algorithm.0;
        let direction = roles.direction;
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named; the workspace has the bytes asked for.
        work.run(|m, h| unsafe {
            match direction {
                // Weights and input are exchanged here, compared with the functions of immediate mode.
                Direction::Forward => raw::convolution_forward(
                    m,
                    h,
                    alpha,
                    b_desc,
                    b,
                    a_desc,
                    a,
                    desc,
                    miopenConvFwdAlgorithm_t(algorithm),
                    beta,
                    c_desc,
                    c,
                    space,
                    bytes,
                ),
                Direction::BackwardData => raw::convolution_backward_data(
                    m,
                    h,
                    alpha,
                    a_desc,
                    a,
                    b_desc,
                    b,
                    desc,
                    miopenConvBwdDataAlgorithm_t(algorithm),
                    beta,
                    c_desc,
                    c,
                    space,
                    bytes,
                ),
                Direction::BackwardWeights => raw::convolution_backward_weights(
                    m,
                    h,
                    alpha,
                    a_desc,
                    a,
                    b_desc,
                    b,
                    desc,
                    miopenConvBwdWeightsAlgorithm_t(algorithm),
                    beta,
                    c_desc,
                    c,
                    space,
                    bytes,
                ),
            }
        })
    }

    /// Measures the possible solutions, and returns the fastest first. The old output is kept if the caller needs it.
    fn search<T: Element>(
        &self,
        roles: &Roles<'_>,
        first: &Tensor<'_, T>,
        second: &Tensor<'_, T>,
        result: &mut TensorMut<'_, T>,
        options: &ConvolutionOptions,
    ) -> Result<Vec<Solution>> {
        let [a_desc, b_desc, c_desc] = roles.on(self)?;
        let desc = roles.convolution.on(self)?;
        let bytes = self.search_bytes(roles)?;
        let mut scratch = Scratch::new(self, bytes)?;
        let keeps = options.blend.beta != 0.0;
        let mut other = Scratch::new(self, if keeps { result.desc().span() * size_of::<T>() } else { 0 })?;
        let mut work = Work::new(self, "a search for a convolution")
            .waits("search before the capture: the handle remembers what it finds");
        let (a, b) = (work.read(first), work.read(second));
        let c = if keeps { work.scratch(&mut other) } else { work.write(result) };
        let space = work.scratch(&mut scratch);
        let exhaustive = options.exhaustive;
        let direction = roles.direction;
        let capacity = convert::int("the number of solutions", FOUND)?;
        let found = work.run(|m, h| {
            let mut list = [nothing(); FOUND];
            let results = list.as_mut_ptr();
            // SAFETY: S1, S2: as in a run; the array has room for as many as are asked for.
            let got: c_int = convert::out(|got| unsafe {
                match direction {
                    Direction::Forward => raw::find_convolution_forward_algorithm(
                        m, h, b_desc, b, a_desc, a, desc, c_desc, c, capacity, got, results, space, bytes,
                        exhaustive,
                    ),
                    Direction::BackwardData => raw::find_convolution_backward_data_algorithm(
                        m, h, a_desc, a, b_desc, b, desc, c_desc, c, capacity, got, results, space, bytes,
                        exhaustive,
                    ),
                    Direction::BackwardWeights => raw::find_convolution_backward_weights_algorithm(
                        m, h, a_desc, a, b_desc, b, desc, c_desc, c, capacity, got, results, space, bytes,
                        exhaustive,
                    ),
                }
            })?;
            let got = usize::try_from(got).unwrap_or(0).min(FOUND);
            Ok::<_, Failure>(list[..got].to_vec())
        })?;
        let problem = roles.problem(self);
        Ok(found.iter().map(|perf| solution(&problem, perf)).collect())
    }
}

fn nothing() -> miopenConvAlgoPerf_t {
    let fwd_algo = miopenConvFwdAlgorithm_t(0);
    miopenConvAlgoPerf_t {
        __bindgen_anon_1: miopenConvAlgoPerf_t__bindgen_ty_1 { fwd_algo },
        time: 0.0,
        memory: 0,
    }
}

fn solution(problem: &Arc<Problem>, perf: &miopenConvAlgoPerf_t) -> Solution {
    // SAFETY: S14: each of the union's members is one unsigned number, and it was initialised.
    let algorithm = Algorithm(unsafe { perf.__bindgen_anon_1.fwd_algo }.0);
    let problem = Arc::clone(problem);
    let compiled = Arc::new(AtomicBool::new(true));
    Solution { problem, id: None, algorithm, time: perf.time, workspace_bytes: perf.memory, compiled }
}

fn no_solution(direction: Direction) -> Error {
    let call = match direction {
        Direction::Forward => "miopenConvolutionForwardGetSolution",
        Direction::BackwardData => "miopenConvolutionBackwardDataGetSolution",
        Direction::BackwardWeights => "miopenConvolutionBackwardWeightsGetSolution",
    };
    let reason = "it knows no solution for this problem".to_owned();
    Error::Unsupported { call, doing: "a convolution", reason }
}
