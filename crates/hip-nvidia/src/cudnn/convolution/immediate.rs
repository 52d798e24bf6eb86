//! Immediate mode: a solution is one of cuDNN's algorithms with its way to multiply.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::algorithm::{algorithms, class_of, workspace};
use super::math::Math;
use super::problem::{Buffers, Direction, Problem};
use super::run::{Blend, Workspace, run};
use crate::cudnn::entry::{entries, give, there};
use crate::cudnn::handle::with;
use crate::cudnn::library::{In, Out};
use crate::cudnn::{BAD, Outcome};
use hip_sys::miopen::*;

/// What a solution's id says: the direction that it is for in cuDNN's eyes, the algorithm's number and the way
/// to multiply.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Solution {
    direction: Direction,
    number: u32,
    math: Math,
}

/// No id is zero.
const MARK: u64 = 1 << 16;
const DIRECTIONS: [Direction; 3] = [Direction::Forward, Direction::BackwardData, Direction::BackwardWeights];

impl Solution {
    fn id(self) -> u64 {
        MARK | (self.direction as u64) << 12 | u64::from(self.number) << 4 | self.math.code()
    }

    fn from_id(id: u64) -> Outcome<Self> {
        let math = Math::from_code(id & 15).ok_or(BAD)?;
        let direction = *DIRECTIONS.get((id >> 12 & 15) as usize).ok_or(BAD)?;
        let solution = Self { direction, number: (id >> 4 & 255) as u32, math };
        if solution.id() == id { Ok(solution) } else { Err(BAD) }
    }

    /// The one of an id, if it is for such a problem.
    fn of(id: u64, problem: &Problem) -> Outcome<Self> {
        let solution = Self::from_id(id)?;
        // An id of f16 in a call on f32 would multiply in another way than it says.
        let fits = solution.direction == problem.direction && solution.math.fits(problem.x.kind);
        if fits { Ok(solution) } else { Err(BAD) }
    }
}

fn count(handle: miopenHandle_t, problem: &Problem) -> Outcome<usize> {
    with(handle, |session| Ok(algorithms(session, problem)?.len()))
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
    let direction = problem.direction;
    let found = with(handle, |session| algorithms(session, problem))?;
    let number = found.len().min(room);
    for (index, algorithm) in found.into_iter().take(number).enumerate() {
        let solution = miopenConvSolution_t {
            time: algorithm.time,
            workspace_size: algorithm.memory,
            solution_id: Solution { direction, number: algorithm.number, math: algorithm.math }.id(),
            algorithm: miopenConvAlgorithm_t(class_of(direction, algorithm.number)),
        };
        // SAFETY: S11: the caller's list has room for it.
        unsafe { list.add(index).write(solution) };
    }
    // SAFETY: S11: the caller's place.
    unsafe { give(count, number) }
}

fn solution_workspace(handle: miopenHandle_t, problem: &Problem, id: u64) -> Outcome<usize> {
    let solution = Solution::of(id, problem)?;
    with(handle, |session| workspace(session, problem, solution.number, solution.math))
}

/// cuDNN compiles what it compiles when it runs it first: this finds out whether it would.
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
    let buffers = problem.place(buffers);
    with(handle, |session| {
        let blend = Blend::replace(problem);
        // SAFETY: S11: the caller's memory.
        unsafe { run(session, problem, (solution.number, solution.math), blend, buffers, workspace) }
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
            fn $count(handle: H, $a: T, $b: T, conv: C, $c: T, place: *mut usize) {
                let count = count(handle, &Problem::new(Direction::$direction, $x, $w, $y, conv)?)?;
                // SAFETY: S11: the caller's place for the result.
                unsafe { give(place, count) }
            }

            fn $list(handle: H, $a: T, $b: T, conv: C, $c: T, room: usize, count: *mut usize, list: List) {
                let problem = Problem::new(Direction::$direction, $x, $w, $y, conv)?;
                // SAFETY: S11: the caller's place and list.
                unsafe { solutions(handle, &problem, room, count, list) }
            }

            fn $size(handle: H, $a: T, $b: T, conv: C, $c: T, id: u64, place: *mut usize) {
                let problem = Problem::new(Direction::$direction, $x, $w, $y, conv)?;
                // SAFETY: S11: the caller's place for the result.
                unsafe { give(place, solution_workspace(handle, &problem, id)?) }
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

    fn miopenGetSolverIdConvAlgorithm(id: u64, place: *mut miopenConvAlgorithm_t) {
        let solution = Solution::from_id(id)?;
        // SAFETY: S11: the caller's place for the result.
        unsafe { give(place, miopenConvAlgorithm_t(class_of(solution.direction, solution.number))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_what_it_was_made_of() {
        let solution = Solution { direction: Direction::BackwardData, number: 5, math: Math::HalfTensor };
        assert_eq!(Solution::from_id(solution.id()), Ok(solution));
        for id in [0, 1, MARK | 3 << 12, MARK | 9, MARK << 1, u64::MAX] {
            assert_eq!(Solution::from_id(id), Err(BAD), "{id:x}");
        }
    }

    #[test]
    fn a_solutions_class_is_told() {
        let id = Solution { direction: Direction::Forward, number: 6, math: Math::Single }.id();
        let mut class = miopenConvAlgorithm_t(9);
        // SAFETY: S11: a live place, then null.
        unsafe {
            assert_eq!(miopenGetSolverIdConvAlgorithm(id, &mut class).0, 0);
            assert_eq!(miopenGetSolverIdConvAlgorithm(0, &mut class), BAD);
            assert_eq!(miopenGetSolverIdConvAlgorithm(id, std::ptr::null_mut()), BAD);
        }
        assert_eq!(class, miopenConvAlgorithm_t::miopenConvolutionAlgoWinograd);
    }
}
