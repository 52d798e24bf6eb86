//! Solutions: finding the only one, and running it.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::options::OPTIONS;
use super::problem::{DRAWS, FACTORS, PROBLEMS, Problem, Shape};
use super::{backward, forward};
use crate::answer::{BAD, NO_SOLVER, Outcome, VALUE, answer, check, give, offer};
use crate::dropout::{keeps, share};
use crate::handle::stream;
use crate::job::Job;
use crate::registry::Registry;
use crate::tensor::{Kind, View};
use hip_sys::miopen::miopenTensorArgumentId_t as Id;
use hip_sys::miopen::{
    miopenFindOptions_t, miopenHandle_t, miopenProblem_t, miopenSolution_t, miopenStatus_t,
    miopenTensorArgument_t,
};
use std::ffi::c_void;

/// Multiply-adds per millisecond, roughly. Times are estimates, because a search runs nothing.
const SPEED: f32 = 2e7;

/// A problem that can be computed.
#[derive(Debug, Clone)]
struct Solution {
    problem: Problem,
    shape: Shape,
}

static SOLUTIONS: Registry<Solution> = Registry::new(0x81);

/// A call in preparation: the given tensors, and the memory that the call uses.
pub(super) struct Call<'a> {
    job: Job,
    tensors: &'a [miopenTensorArgument_t],
    pub(super) shape: Shape,
}

impl Call<'_> {
    /// # Errors
    /// InvalidValue if it was not given.
    fn pointer(&self, id: Id) -> Outcome<*mut c_void> {
        self.tensors.iter().find(|tensor| tensor.id == id).map(|tensor| tensor.buffer).ok_or(VALUE)
    }

    /// Declares that so many floats are read.
    pub(super) fn read(&mut self, id: Id, count: usize) -> Outcome<View> {
        let pointer = self.pointer(id)?;
        self.job.read_view(pointer, Kind::Float, count)
    }

    /// Declares that so many floats are written.
    pub(super) fn write(&mut self, id: Id, count: usize) -> Outcome<View> {
        let pointer = self.pointer(id)?;
        self.job.write_view(pointer, Kind::Float, count)
    }

    /// Declares one float for each tensor.
    pub(super) fn ones<const N: usize>(&mut self, ids: [Id; N], writes: bool) -> Outcome<[View; N]> {
        let views = ids.map(|id| if writes { self.write(id, 1) } else { self.read(id, 1) });
        let views = views.into_iter().collect::<Outcome<Vec<_>>>()?;
        views.try_into().map_err(|_| BAD)
    }

    /// The scalars that both directions read.
    pub(super) fn numbers(&mut self) -> Outcome<Numbers> {
        let floats = self.ones(FACTORS, false)?;
        let [seed, offset] = DRAWS.map(|id| {
            let pointer = self.pointer(id)?;
            self.job.read_view(pointer, Kind::Int8, 8)
        });
        Ok(Numbers { floats, draws: [seed?, offset?] })
    }

    pub(super) fn submit(self, body: impl Fn() + Send + Sync + 'static) -> Outcome {
        self.job.submit("miopenRunSolution", body)
    }
}

/// The scalars of both directions, in the memory of a call.
pub(super) struct Numbers {
    floats: [View; 6],
    draws: [View; 2],
}

/// Their values, when the call runs.
pub(super) struct Factors {
    descale_q: f64,
    descale_k: f64,
    pub(super) descale_v: f64,
    pub(super) descale_s: f64,
    pub(super) scale_s: f64,
    rate: f32,
    seed: u64,
    offset: u64,
}

impl Numbers {
    pub(super) fn get(&self) -> Factors {
        let [descale_q, descale_k, descale_v, descale_s, scale_s, rate] = self.floats.each_ref().map(one);
        let [seed, offset] = self.draws.each_ref().map(|draw| draw.number(0, 8));
        Factors { descale_q, descale_k, descale_v, descale_s, scale_s, rate: rate as f32, seed, offset }
    }
}

impl Factors {
    /// Of Q and of K.
    pub(super) fn descales(&self) -> [f64; 2] {
        [self.descale_q, self.descale_k]
    }

    /// The probability of dropout.
    pub(super) fn dropped(&self) -> f64 {
        self.rate.into()
    }

    /// The factor of dropout for a probability: 0, or the scale of kept elements.
    pub(super) fn kept(&self, index: usize) -> f64 {
        if self.rate <= 0.0 {
            1.0
        } else if keeps(self.seed, self.offset, index, self.rate) {
            share(self.rate).into()
        } else {
            0.0
        }
    }
}

/// The value of a view with one element.
pub(super) fn one(view: &View) -> f64 {
    view.get(0)
}

pub(super) fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

pub(crate) unsafe extern "C" fn miopenFindSolutions(
    handle: miopenHandle_t,
    problem: miopenProblem_t,
    options: miopenFindOptions_t,
    solutions: *mut miopenSolution_t,
    count: *mut usize,
    most: usize,
) -> miopenStatus_t {
    answer(|| {
        stream(handle)?;
        if !options.is_null() {
            OPTIONS.get(options)?;
        }
        let problem = PROBLEMS.get(problem)?;
        check(!solutions.is_null(), BAD)?;
        let shape = problem.shape()?.filter(|_| most > 0);
        if let Some(shape) = shape {
            // SAFETY: S11: the caller's array, with space for as many as it asked for.
            unsafe { SOLUTIONS.create(solutions, Solution { problem, shape }) }?;
        }
        // SAFETY: S11: the caller's output pointer for the count.
        unsafe { offer(count, usize::from(shape.is_some())) };
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn miopenGetSolutionWorkspaceSize(
    solution: miopenSolution_t,
    size: *mut usize,
) -> miopenStatus_t {
    answer(|| {
        SOLUTIONS.with(solution, |_| ())?;
        // SAFETY: S11: the caller's output pointer for the size.
        unsafe { give(size, 0) }
    })
}

pub(crate) unsafe extern "C" fn miopenGetSolutionTime(
    solution: miopenSolution_t,
    time: *mut f32,
) -> miopenStatus_t {
    answer(|| {
        let Shape { heads, length, width } = SOLUTIONS.with(solution, |solution| solution.shape)?;
        let products = 2.0 * heads as f32 * (length as f32).powi(2) * width as f32;
        // SAFETY: S11: the caller's output pointer for the time.
        unsafe { give(time, products / SPEED) }
    })
}

pub(crate) unsafe extern "C" fn miopenRunSolution(
    handle: miopenHandle_t,
    solution: miopenSolution_t,
    count: usize,
    tensors: *const miopenTensorArgument_t,
    _: *mut c_void,
    _: usize,
) -> miopenStatus_t {
    answer(|| {
        let Solution { problem, shape } = SOLUTIONS.get(solution)?;
        check(!tensors.is_null() && count > 0, VALUE)?;
        // SAFETY: S11: not null, and the C contract makes it that long.
        let tensors = unsafe { std::slice::from_raw_parts(tensors, count) };
        let added = [Id::miopenTensorMhaBias, Id::miopenTensorMhaMask];
        check(!tensors.iter().any(|tensor| added.contains(&tensor.id)), NO_SOLVER)?;
        let call = Call { job: Job::new(handle)?, tensors, shape };
        if problem.is_backward()? {
            backward::submit(call, problem.scale)
        } else {
            forward::submit(call, problem.scale)
        }
    })
}

pub(crate) unsafe extern "C" fn miopenDestroySolution(solution: miopenSolution_t) -> miopenStatus_t {
    answer(|| SOLUTIONS.destroy(solution))
}
