//! Immediate mode: the caller passes a solution's id.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::algorithm::{Wanted, choose, class};
use super::backend;
use super::problem::{Buffers, Direction, Problem};
use super::run::{Blend, Workspace, run};
use super::solution::{Solution, Way, all};
use crate::entry::{entries, give, there};
use crate::handle::with;
use crate::library::{In, Out};
use crate::{Outcome, UNSUPPORTED};
use hip_sys::miopen::*;

fn count(handle: miopenHandle_t, problem: &Problem) -> Outcome<usize> {
    with(handle, |session| Ok(all(session, problem)?.len()))
}

/// # Safety
/// The list has room for `room` solutions.
unsafe fn solutions(
    handle: miopenHandle_t,
    problem: &Problem,
    room: usize,
    count: *mut usize,
    list: *mut miopenConvSolution_t,
) -> Outcome {
    there(list)?;
    let found = with(handle, |session| all(session, problem))?;
    let number = found.len().min(room);
    for (index, solution) in found.into_iter().take(number).enumerate() {
        // SAFETY: S11: the caller's list has room for it.
        unsafe { list.add(index).write(solution) };
    }
    // SAFETY: S11: the caller's output pointer.
    unsafe { give(count, number) }
}

fn solution_workspace(handle: miopenHandle_t, problem: &Problem, id: u64) -> Outcome<usize> {
    let solution = Solution::of(id, problem)?;
    with(handle, |session| solution.workspace(session, problem))
}

/// Makes the backend's plan. Older algorithms compile at their first run; here it is only checked whether they would.
fn compile(handle: miopenHandle_t, problem: &Problem, id: u64) -> Outcome {
    solution_workspace(handle, problem, id).map(drop)
}

unsafe fn immediate(
    handle: miopenHandle_t,
    problem: &Problem,
    buffers: Buffers,
    workspace: Workspace,
    id: u64,
) -> Outcome {
    let solution = Solution::of(id, problem)?;
    let buffers = problem.in_problem_order(buffers);
    with(handle, |session| {
        let algorithm = match solution.way {
            Way::Algorithm(number, math) => (number, math),
            // SAFETY: S11: the caller's memory.
            Way::Backend(choice) => match unsafe {
                backend::run(session, problem, choice, buffers, workspace)
            }? {
                true => return Ok(()),
                // For memory with less alignment, the older functions may not use tensor cores, and without them they round sums.
                // So they are refused there.
                false if problem.wants_tensor_cores() => return Err(UNSUPPORTED),
                // The memory has less alignment than the backend needs.
                false => {
                    let class = if class::transforms(choice.class) { choice.class } else { class::SUMS };
                    let other = choose(session, Wanted { problem: problem.clone(), class }, workspace.size)?;
                    (other.number, other.math)
                }
            },
        };
        // SAFETY: S11: as above.
        unsafe { run(session, problem, algorithm, Blend::replace(problem), buffers, workspace) }
    })
}

type H = miopenHandle_t;
type T = miopenTensorDescriptor_t;
type C = miopenConvolutionDescriptor_t;
type List = *mut miopenConvSolution_t;

macro_rules! of_direction {
    ($($direction:ident ($a:ident, $b:ident, $c:ident) of ($x:ident, $w:ident, $y:ident):
       $count:ident, $list:ident, $size:ident, $compile:ident;)*) => {
        entries! {$(
            fn $count(handle: H, $a: T, $b: T, conv: C, $c: T, out: *mut usize) {
                let count = count(handle, &Problem::new(Direction::$direction, $x, $w, $y, conv)?)?;
                // SAFETY: S11: the caller's output pointer for the result.
                unsafe { give(out, count) }
            }

            fn $list(handle: H, $a: T, $b: T, conv: C, $c: T, room: usize, count: *mut usize, list: List) {
                let problem = Problem::new(Direction::$direction, $x, $w, $y, conv)?;
                // SAFETY: S11: the caller's output pointer and list.
                unsafe { solutions(handle, &problem, room, count, list) }
            }

            fn $size(handle: H, $a: T, $b: T, conv: C, $c: T, id: u64, out: *mut usize) {
                let problem = Problem::new(Direction::$direction, $x, $w, $y, conv)?;
                // SAFETY: S11: the caller's output pointer for the result.
                unsafe { give(out, solution_workspace(handle, &problem, id)?) }
            }

            fn $compile(handle: H, $a: T, $b: T, conv: C, $c: T, id: u64) {
                compile(handle, &Problem::new(Direction::$direction, $x, $w, $y, conv)?, id)
            }
        )*}
    };
}

of_direction! {
    Forward (w, x, y) of (x, w, y):
        miopenConvolutionForwardGetSolutionCount, miopenConvolutionForwardGetSolution,
        miopenConvolutionForwardGetSolutionWorkspaceSize, miopenConvolutionForwardCompileSolution;
    BackwardData (y, w, x) of (x, w, y):
        miopenConvolutionBackwardDataGetSolutionCount, miopenConvolutionBackwardDataGetSolution,
        miopenConvolutionBackwardDataGetSolutionWorkspaceSize, miopenConvolutionBackwardDataCompileSolution;
    BackwardWeights (y, x, w) of (x, w, y):
        miopenConvolutionBackwardWeightsGetSolutionCount, miopenConvolutionBackwardWeightsGetSolution,
        miopenConvolutionBackwardWeightsGetSolutionWorkspaceSize, miopenConvolutionBackwardWeightsCompileSolution;
}

entries! {
    fn miopenConvolutionForwardImmediate(
        handle: H, wd: T, w: In, xd: T, x: In, conv: C, yd: T, y: Out, memory: Out, size: usize, id: u64,
    ) {
        let problem = Problem::new(Direction::Forward, xd, wd, yd, conv)?;
        let buffers = Buffers { x: x.cast_mut(), w: w.cast_mut(), y };
        // SAFETY: S11: the caller's memory.
        unsafe { immediate(handle, &problem, buffers, Workspace::new(memory, size), id) }
    }

    fn miopenConvolutionBackwardDataImmediate(
        handle: H, yd: T, y: In, wd: T, w: In, conv: C, xd: T, x: Out, memory: Out, size: usize, id: u64,
    ) {
        let problem = Problem::new(Direction::BackwardData, xd, wd, yd, conv)?;
        let buffers = Buffers { x, w: w.cast_mut(), y: y.cast_mut() };
        // SAFETY: S11: as above.
        unsafe { immediate(handle, &problem, buffers, Workspace::new(memory, size), id) }
    }

    fn miopenConvolutionBackwardWeightsImmediate(
        handle: H, yd: T, y: In, xd: T, x: In, conv: C, wd: T, w: Out, memory: Out, size: usize, id: u64,
    ) {
        let problem = Problem::new(Direction::BackwardWeights, xd, wd, yd, conv)?;
        let buffers = Buffers { x: x.cast_mut(), w, y: y.cast_mut() };
        // SAFETY: S11: as above.
        unsafe { immediate(handle, &problem, buffers, Workspace::new(memory, size), id) }
    }

    fn miopenGetSolverIdConvAlgorithm(id: u64, out: *mut miopenConvAlgorithm_t) {
        let class = miopenConvAlgorithm_t(Solution::from_id(id)?.class());
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, class) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BAD;
    use crate::convolution::math::Math;

    #[test]
    fn a_solution_reports_its_class() {
        let winograd = miopenConvAlgorithm_t::miopenConvolutionAlgoWinograd;
        let choice = backend::Choice { index: 3, class: winograd.0 };
        for way in [Way::Algorithm(6, Math::Single), Way::Backend(choice)] {
            let id = Solution { direction: Direction::Forward, way }.id();
            let mut class = miopenConvAlgorithm_t(9);
            // SAFETY: S11: a live variable, then null.
            unsafe {
                assert_eq!(miopenGetSolverIdConvAlgorithm(id, &mut class).0, 0);
                assert_eq!(miopenGetSolverIdConvAlgorithm(0, &mut class), BAD);
                assert_eq!(miopenGetSolverIdConvAlgorithm(id, std::ptr::null_mut()), BAD);
            }
            assert_eq!(class, winograd);
        }
    }
}
