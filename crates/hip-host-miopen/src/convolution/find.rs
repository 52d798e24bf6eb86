//! The find functions. A convolution has one solution: matrix products, without a workspace.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::call::{Given, prepare, problem};
use super::problem::{Direction, Problem};
use crate::answer::{BAD, Outcome, answer, check, give};
use crate::handle::{HANDLES, stream};
use crate::job::Job;
use hip_sys::miopen::{
    miopenConvAlgoPerf_t, miopenConvAlgorithm_t, miopenConvSolution_t, miopenConvolutionDescriptor_t,
    miopenHandle_t, miopenStatus_t, miopenTensorDescriptor_t,
};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// The only solution's number.
const SOLUTION: u64 = 1;
/// Multiply-adds per millisecond, roughly. Times are estimates, because nothing runs for them.
const SPEED: f32 = 2e7;

/// Checks that a solution's id is the one that was returned.
pub(super) fn solution(id: u64) -> Outcome {
    check(id == SOLUTION, BAD)
}

/// The estimated time in milliseconds.
fn time(problem: &Problem) -> f32 {
    problem.y.count() as f32 * (problem.w.count() / problem.w.lens[0]) as f32 / SPEED
}

/// The tensors' descriptors, without memory.
fn named(tensors: [miopenTensorDescriptor_t; 3]) -> [Given; 3] {
    tensors.map(|tensor| (tensor, null_mut()))
}

/// A convolution that can run.
fn known(
    handle: miopenHandle_t,
    direction: Direction,
    descriptor: miopenConvolutionDescriptor_t,
    tensors: [miopenTensorDescriptor_t; 3],
) -> Outcome<Problem> {
    stream(handle)?;
    let (problem, _) = problem(direction, descriptor, named(tensors))?;
    problem.geometry()?;
    Ok(problem)
}

/// # Safety
/// `count` and `results` are null or writable, with room for as many results as were requested.
unsafe fn find(
    handle: miopenHandle_t,
    direction: Direction,
    descriptor: miopenConvolutionDescriptor_t,
    given: [Given; 3],
    requested: c_int,
    count: *mut c_int,
    results: *mut miopenConvAlgoPerf_t,
) -> Outcome {
    check(given.iter().all(|(_, pointer)| !pointer.is_null()), BAD)?;
    check(!count.is_null() && !results.is_null() && requested >= 1, BAD)?;
    let (problem, pointers) = problem(direction, descriptor, given)?;
    drop(prepare(&mut Job::new(handle)?, &problem, pointers, [1.0, 0.0])?);
    // The union's first variant is an algorithm's number; in each direction 0 is GEMM.
    let result = miopenConvAlgoPerf_t { time: time(&problem), memory: 0, ..Default::default() };
    HANDLES.with(handle, |handle| handle.found.insert(problem))?;
    // SAFETY: S11: the caller's output pointers for the results.
    unsafe {
        give(results, result)?;
        give(count, 1)
    }
}

macro_rules! finds {
    ($($Name:ident: $direction:ident ($a_desc:ident, $a:ident), ($b_desc:ident, $b:ident), ($c_desc:ident, $c:ident)
        => [$x:ident $x_desc:ident, $w:ident $w_desc:ident, $y:ident $y_desc:ident];)*) => {$(
        pub(crate) unsafe extern "C" fn $Name(
            handle: miopenHandle_t,
            $a_desc: miopenTensorDescriptor_t,
            $a: *const c_void,
            $b_desc: miopenTensorDescriptor_t,
            $b: *const c_void,
            descriptor: miopenConvolutionDescriptor_t,
            $c_desc: miopenTensorDescriptor_t,
            $c: *mut c_void,
            requested: c_int,
            count: *mut c_int,
            results: *mut miopenConvAlgoPerf_t,
            _: *mut c_void,
            _: usize,
            _: bool,
        ) -> miopenStatus_t {
            let given =
                [($x_desc, $x as *mut c_void), ($w_desc, $w as *mut c_void), ($y_desc, $y as *mut c_void)];
            // SAFETY: S11: the caller's output pointers for the results.
            answer(|| unsafe {
                find(handle, Direction::$direction, descriptor, given, requested, count, results)
            })
        }
    )*};
}
finds! {
    miopenFindConvolutionForwardAlgorithm: Forward (x_desc, x), (w_desc, w), (y_desc, y)
        => [x x_desc, w w_desc, y y_desc];
    miopenFindConvolutionBackwardDataAlgorithm: Data (dy_desc, dy), (w_desc, w), (dx_desc, dx)
        => [dx dx_desc, w w_desc, dy dy_desc];
    miopenFindConvolutionBackwardWeightsAlgorithm: Weights (dy_desc, dy), (x_desc, x), (dw_desc, dw)
        => [x x_desc, dw dw_desc, dy dy_desc];
}

macro_rules! queries {
    ($($direction:ident ($a:ident, $b:ident, $c:ident) => [$x:ident, $w:ident, $y:ident]:
        $Size:ident, $Count:ident, $Get:ident, $SolutionSize:ident, $Compile:ident;)*) => {$(
        pub(crate) unsafe extern "C" fn $Size(
            handle: miopenHandle_t,
            $a: miopenTensorDescriptor_t,
            $b: miopenTensorDescriptor_t,
            descriptor: miopenConvolutionDescriptor_t,
            $c: miopenTensorDescriptor_t,
            size: *mut usize,
        ) -> miopenStatus_t {
            answer(|| {
                known(handle, Direction::$direction, descriptor, [$x, $w, $y])?;
                // SAFETY: S11: the caller's output pointer for the size.
                unsafe { give(size, 0) }
            })
        }

        pub(crate) unsafe extern "C" fn $Count(
            handle: miopenHandle_t,
            $a: miopenTensorDescriptor_t,
            $b: miopenTensorDescriptor_t,
            descriptor: miopenConvolutionDescriptor_t,
            $c: miopenTensorDescriptor_t,
            count: *mut usize,
        ) -> miopenStatus_t {
            answer(|| {
                known(handle, Direction::$direction, descriptor, [$x, $w, $y])?;
                // SAFETY: S11: the caller's output pointer for the count.
                unsafe { give(count, 1) }
            })
        }

        pub(crate) unsafe extern "C" fn $Get(
            handle: miopenHandle_t,
            $a: miopenTensorDescriptor_t,
            $b: miopenTensorDescriptor_t,
            descriptor: miopenConvolutionDescriptor_t,
            $c: miopenTensorDescriptor_t,
            most: usize,
            count: *mut usize,
            solutions: *mut miopenConvSolution_t,
        ) -> miopenStatus_t {
            answer(|| {
                let problem = known(handle, Direction::$direction, descriptor, [$x, $w, $y])?;
                // SAFETY: S11: the caller's arrays, with space for as many as it asked for.
                unsafe {
                    if most > 0 {
                        give(solutions, described(&problem))?;
                    }
                    give(count, most.min(1))
                }
            })
        }

        pub(crate) unsafe extern "C" fn $SolutionSize(
            handle: miopenHandle_t,
            $a: miopenTensorDescriptor_t,
            $b: miopenTensorDescriptor_t,
            descriptor: miopenConvolutionDescriptor_t,
            $c: miopenTensorDescriptor_t,
            id: u64,
            size: *mut usize,
        ) -> miopenStatus_t {
            answer(|| {
                known(handle, Direction::$direction, descriptor, [$x, $w, $y])?;
                solution(id)?;
                // SAFETY: S11: the caller's output pointer for the size.
                unsafe { give(size, 0) }
            })
        }

        pub(crate) unsafe extern "C" fn $Compile(
            handle: miopenHandle_t,
            $a: miopenTensorDescriptor_t,
            $b: miopenTensorDescriptor_t,
            descriptor: miopenConvolutionDescriptor_t,
            $c: miopenTensorDescriptor_t,
            id: u64,
        ) -> miopenStatus_t {
            answer(|| {
                known(handle, Direction::$direction, descriptor, [$x, $w, $y])?;
                solution(id)
            })
        }
    )*};
}
queries! {
    Forward (w, x, y) => [x, w, y]:
        miopenConvolutionForwardGetWorkSpaceSize, miopenConvolutionForwardGetSolutionCount,
        miopenConvolutionForwardGetSolution, miopenConvolutionForwardGetSolutionWorkspaceSize,
        miopenConvolutionForwardCompileSolution;
    Data (dy, w, dx) => [dx, w, dy]:
        miopenConvolutionBackwardDataGetWorkSpaceSize, miopenConvolutionBackwardDataGetSolutionCount,
        miopenConvolutionBackwardDataGetSolution, miopenConvolutionBackwardDataGetSolutionWorkspaceSize,
        miopenConvolutionBackwardDataCompileSolution;
    Weights (dy, x, dw) => [x, dw, dy]:
        miopenConvolutionBackwardWeightsGetWorkSpaceSize, miopenConvolutionBackwardWeightsGetSolutionCount,
        miopenConvolutionBackwardWeightsGetSolution, miopenConvolutionBackwardWeightsGetSolutionWorkspaceSize,
        miopenConvolutionBackwardWeightsCompileSolution;
}

fn described(problem: &Problem) -> miopenConvSolution_t {
    miopenConvSolution_t {
        time: time(problem),
        workspace_size: 0,
        solution_id: SOLUTION,
        algorithm: miopenConvAlgorithm_t::miopenConvolutionAlgoGEMM,
    }
}

pub(crate) unsafe extern "C" fn miopenGetSolverIdConvAlgorithm(
    id: u64,
    out: *mut miopenConvAlgorithm_t,
) -> miopenStatus_t {
    answer(|| {
        solution(id)?;
        // SAFETY: S11: the caller's output pointer for the algorithm.
        unsafe { give(out, miopenConvAlgorithm_t::miopenConvolutionAlgoGEMM) }
    })
}
