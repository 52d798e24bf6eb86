//! Solutions of immediate mode: one of the backend's engines, or one of cuDNN's algorithms with its math mode.

use super::algorithm::{algorithms, class_of, workspace};
use super::backend::{self, Choice};
use super::math::Math;
use super::problem::{Direction, Problem};
use crate::handle::Session;
use crate::{BAD, Outcome};
use hip_sys::miopen::{miopenConvAlgorithm_t, miopenConvSolution_t};

/// The contents of a solution's id: the direction in cuDNN's terms, and the way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Solution {
    pub(super) direction: Direction,
    pub(super) way: Way,
}

/// How a problem is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Way {
    /// An algorithm's number, and its math mode.
    Algorithm(u32, Math),
    Backend(Choice),
}

/// No id is zero.
const ALGORITHM: u64 = 1 << 16;
const BACKEND: u64 = 2 << 16;
const DIRECTIONS: [Direction; 3] = [Direction::Forward, Direction::BackwardData, Direction::BackwardWeights];

impl Solution {
    pub(super) fn id(self) -> u64 {
        let (mark, number, last) = match self.way {
            Way::Algorithm(number, math) => (ALGORITHM, u64::from(number), math.code()),
            Way::Backend(choice) => (BACKEND, choice.index as u64, u64::from(choice.class)),
        };
        mark | (self.direction as u64) << 12 | number << 4 | last
    }

    pub(super) fn from_id(id: u64) -> Outcome<Self> {
        let direction = *DIRECTIONS.get((id >> 12 & 15) as usize).ok_or(BAD)?;
        let (number, last) = ((id >> 4 & 255) as u32, id & 15);
        let way = match id & !0xffff {
            ALGORITHM => Way::Algorithm(number, Math::from_code(last).ok_or(BAD)?),
            BACKEND => Way::Backend(Choice { index: number as usize, class: last as u32 }),
            _ => return Err(BAD),
        };
        let solution = Self { direction, way };
        if solution.id() == id { Ok(solution) } else { Err(BAD) }
    }

    /// The solution of an id, if the id is for such a problem.
    pub(super) fn of(id: u64, problem: &Problem) -> Outcome<Self> {
        let solution = Self::from_id(id)?;
        let fits = match solution.way {
            // An id for f16 would use another math mode on f32 than it says.
            Way::Algorithm(_, math) => math.fits(problem.x.kind),
            // A way of the backend is looked up among the problem's offers.
            Way::Backend(_) => true,
        };
        if fits && solution.direction == problem.direction { Ok(solution) } else { Err(BAD) }
    }

    /// MIOpen's class.
    pub(super) fn class(self) -> u32 {
        match self.way {
            Way::Algorithm(number, _) => class_of(self.direction, number),
            Way::Backend(choice) => choice.class,
        }
    }

    /// The workspace in bytes; afterwards the solution can run.
    pub(super) fn workspace(self, session: &mut Session, problem: &Problem) -> Outcome<usize> {
        match self.way {
            Way::Algorithm(number, math) => workspace(session.raw, problem, number, math),
            Way::Backend(choice) => backend::at_hand(session, problem, choice),
        }
    }
}

/// The solutions for a problem, the best first by cuDNN's heuristics: the backend's, which cost the host less, and the
/// algorithms too if the backend has none that sums products.
pub(super) fn all(session: &mut Session, problem: &Problem) -> Outcome<Vec<miopenConvSolution_t>> {
    let direction = problem.direction;
    let answer = |way, time, workspace_size| {
        let solution = Solution { direction, way };
        let algorithm = miopenConvAlgorithm_t(solution.class());
        miopenConvSolution_t { time, workspace_size, solution_id: solution.id(), algorithm }
    };
    let offers = backend::offers(session, problem)?;
    let sums = offers.iter().any(|(choice, _)| !super::class::transforms(choice.class));
    let mut list: Vec<_> =
        offers.into_iter().map(|(choice, memory)| answer(Way::Backend(choice), -1.0, memory)).collect();
    if !sums {
        let algorithms = match algorithms(session, problem) {
            Err(_) if !list.is_empty() => Vec::new(),
            answer => answer?,
        };
        list.extend(algorithms.iter().map(|algorithm| {
            answer(Way::Algorithm(algorithm.number, algorithm.math), algorithm.time, algorithm.memory)
        }));
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convolution::class;

    #[test]
    fn an_id_decodes_to_its_parts() {
        for way in [
            Way::Algorithm(5, Math::HalfTensor),
            Way::Backend(Choice { index: 0, class: class::IMPLICIT_GEMM }),
            Way::Backend(Choice { index: 130, class: class::WINOGRAD }),
        ] {
            for direction in DIRECTIONS {
                let solution = Solution { direction, way };
                assert_eq!(Solution::from_id(solution.id()), Ok(solution));
            }
        }
        let unknown =
            [0, 1, ALGORITHM | 3 << 12, ALGORITHM | 9, ALGORITHM | BACKEND, 4 << 16, BACKEND << 16, u64::MAX];
        for id in unknown {
            assert_eq!(Solution::from_id(id), Err(BAD), "{id:x}");
        }
    }
}
