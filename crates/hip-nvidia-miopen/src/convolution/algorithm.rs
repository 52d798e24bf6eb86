//! cuDNN's algorithms: the candidates for a problem, and the choice.

use super::math::Math;
use super::problem::{Direction, Problem};
use crate::handle::Session;
use crate::library::{check, cudnn};
use crate::{BAD, Outcome, UNSUPPORTED};
use cudarc::cudnn::sys;
use std::collections::HashMap;
use std::ffi::c_int;
use std::mem::offset_of;

/// An algorithm that computes a problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Algorithm {
    /// cuDNN's number of the algorithm in the problem's direction.
    pub(super) number: u32,
    pub(super) math: Math,
    /// Milliseconds; negative if it was not measured.
    pub(super) time: f32,
    /// Bytes of workspace.
    pub(super) memory: usize,
}

/// A problem and a class of algorithms; MIOpen has fewer classes than cuDNN has algorithms.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Wanted {
    pub(super) problem: Problem,
    pub(super) class: u32,
}

/// The algorithms that were found fastest, or chosen, for a handle's problems.
pub(crate) type Choices = HashMap<Wanted, Algorithm>;

/// The largest workspace of an algorithm that is offered.
pub(super) const MOST_WORKSPACE: usize = 1 << 30;
/// The maximum number of cuDNN's answers: each algorithm in two math modes.
const ANSWERS: usize = 16;

/// cuDNN's answer, with numbers in place of enums.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Answer {
    number: u32,
    status: u32,
    time: f32,
    memory: usize,
    determinism: u32,
    math: u32,
    reserved: [c_int; 3],
}

macro_rules! same_layout {
    ($($theirs:ty),*) => {
        /// Each direction has its own answer type; all have this layout.
        const _: () = {
            $(
                assert!(size_of::<Answer>() == size_of::<$theirs>());
                assert!(offset_of!(Answer, number) == offset_of!($theirs, algo));
                assert!(offset_of!(Answer, status) == offset_of!($theirs, status));
                assert!(offset_of!(Answer, time) == offset_of!($theirs, time));
                assert!(offset_of!(Answer, memory) == offset_of!($theirs, memory));
                assert!(offset_of!(Answer, determinism) == offset_of!($theirs, determinism));
                assert!(offset_of!(Answer, math) == offset_of!($theirs, mathType));
            )*
        };
    };
}

same_layout!(
    sys::cudnnConvolutionFwdAlgoPerf_t,
    sys::cudnnConvolutionBwdDataAlgoPerf_t,
    sys::cudnnConvolutionBwdFilterAlgoPerf_t
);

/// MIOpen's classes, with the same numbers in every direction.
pub(super) mod class {
    pub(crate) const GEMM: u32 = 0;
    pub(crate) const DIRECT: u32 = 1;
    pub(crate) const FFT: u32 = 2;
    pub(crate) const WINOGRAD: u32 = 3;
    pub(crate) const IMPLICIT_GEMM: u32 = 5;
    /// Not a class of MIOpen: any algorithm that needs no workspace.
    pub(crate) const FREE: u32 = 100;
    /// Not a class of MIOpen: any algorithm that sums products, without a transform.
    pub(crate) const SUMS: u32 = 101;

    /// Whether a class uses a transform, which rounds in another way than sums of products.
    pub(crate) fn transforms(class: u32) -> bool {
        matches!(class, FFT | WINOGRAD)
    }
}

/// The class of one of cuDNN's algorithms.
pub(super) fn class_of(direction: Direction, number: u32) -> u32 {
    use class::*;
    let classes: &[u32] = match direction {
        Direction::Forward => &[IMPLICIT_GEMM, IMPLICIT_GEMM, GEMM, DIRECT, FFT, FFT, WINOGRAD, WINOGRAD],
        Direction::BackwardData => &[DIRECT, IMPLICIT_GEMM, FFT, FFT, WINOGRAD, WINOGRAD],
        Direction::BackwardWeights => &[DIRECT, IMPLICIT_GEMM, FFT, GEMM, WINOGRAD, WINOGRAD, FFT],
    };
    classes.get(number as usize).copied().unwrap_or(DIRECT)
}

macro_rules! numbers {
    ($($name:ident -> $type:ident [$($variant:ident),*];)*) => {
        $(pub(super) fn $name(number: u32) -> Outcome<sys::$type> {
            [$(sys::$type::$variant),*].into_iter().find(|algorithm| *algorithm as u32 == number).ok_or(BAD)
        })*
    };
}

numbers! {
    forward -> cudnnConvolutionFwdAlgo_t [
        CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
        CUDNN_CONVOLUTION_FWD_ALGO_GEMM, CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, CUDNN_CONVOLUTION_FWD_ALGO_FFT,
        CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING, CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD,
        CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED
    ];
    backward_data -> cudnnConvolutionBwdDataAlgo_t [
        CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT,
        CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING, CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD,
        CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED
    ];
    backward_weights -> cudnnConvolutionBwdFilterAlgo_t [
        CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1,
        CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3,
        CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED,
        CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING
    ];
}

/// The usable ones of cuDNN's answers, each once, in cuDNN's order, with the workspace that they need in the chosen
/// math mode.
fn usable(session: &Session, problem: &Problem, answers: &[Answer]) -> Outcome<Vec<Algorithm>> {
    let mut list: Vec<Algorithm> = Vec::with_capacity(answers.len());
    for answer in answers {
        let deterministic = answer.determinism == sys::cudnnDeterminism_t::CUDNN_DETERMINISTIC as u32;
        // A nondeterministic algorithm adds to the output by atomics, which round in 16 bits at each addition.
        let (number, math) = (answer.number, Math::of(problem.x.kind, answer.math)?);
        let whole = !problem.wants_tensor_cores() || math == Math::HalfTensor && problem.has_tensor_cores();
        let wanted = whole && (deterministic || !(problem.conv.is_deterministic() || problem.is_narrow()));
        if answer.status != 0
            || !wanted
            || list.iter().any(|known| (known.number, known.math) == (number, math))
        {
            continue;
        }
        match workspace(session.raw, problem, number, math) {
            Ok(memory) if memory <= MOST_WORKSPACE => {
                list.push(Algorithm { number, math, time: answer.time, memory });
            }
            _ => {}
        }
    }
    Ok(list)
}

/// The algorithms for a problem, the best first by cuDNN's heuristics. Does not touch device memory.
pub(super) fn algorithms(session: &Session, problem: &Problem) -> Outcome<Vec<Algorithm>> {
    let library = cudnn()?;
    let raw = problem.raw(Math::best(problem.x.kind)?)?;
    let mut answers = [Answer::default(); ANSWERS];
    let (most, mut count, first) = (ANSWERS as c_int, 0, answers.as_mut_ptr());
    // SAFETY: S1, S14: live descriptors, and room for so many answers, whose layout was compared.
    check(unsafe {
        match problem.direction {
            Direction::Forward => (library.cudnnGetConvolutionForwardAlgorithm_v7)(
                session.raw,
                raw.x,
                raw.w,
                raw.conv,
                raw.y,
                most,
                &mut count,
                first.cast(),
            ),
            Direction::BackwardData => (library.cudnnGetConvolutionBackwardDataAlgorithm_v7)(
                session.raw,
                raw.w,
                raw.y,
                raw.conv,
                raw.x,
                most,
                &mut count,
                first.cast(),
            ),
            Direction::BackwardWeights => (library.cudnnGetConvolutionBackwardFilterAlgorithm_v7)(
                session.raw,
                raw.x,
                raw.y,
                raw.conv,
                raw.w,
                most,
                &mut count,
                first.cast(),
            ),
        }
    })?;
    let list = usable(session, problem, &answers[..usize::try_from(count).unwrap_or(0).min(ANSWERS)])?;
    if list.is_empty() { Err(UNSUPPORTED) } else { Ok(list) }
}

/// A workspace that is large enough for every algorithm that is offered.
pub(super) fn largest_workspace(session: &Session, problem: &Problem) -> Outcome<usize> {
    Ok(algorithms(session, problem)?.iter().map(|algorithm| algorithm.memory).max().unwrap_or(0))
}

/// The workspace of one algorithm.
pub(super) fn workspace(
    handle: sys::cudnnHandle_t,
    problem: &Problem,
    number: u32,
    math: Math,
) -> Outcome<usize> {
    let library = cudnn()?;
    let raw = problem.raw(math)?;
    let mut size = 0;
    // SAFETY: S1: live descriptors and a live variable.
    check(unsafe {
        match problem.direction {
            Direction::Forward => (library.cudnnGetConvolutionForwardWorkspaceSize)(
                handle,
                raw.x,
                raw.w,
                raw.conv,
                raw.y,
                forward(number)?,
                &mut size,
            ),
            Direction::BackwardData => (library.cudnnGetConvolutionBackwardDataWorkspaceSize)(
                handle,
                raw.w,
                raw.y,
                raw.conv,
                raw.x,
                backward_data(number)?,
                &mut size,
            ),
            Direction::BackwardWeights => (library.cudnnGetConvolutionBackwardFilterWorkspaceSize)(
                handle,
                raw.x,
                raw.y,
                raw.conv,
                raw.w,
                backward_weights(number)?,
                &mut size,
            ),
        }
    })?;
    Ok(size)
}

/// The workspaces of the algorithms that use a transform and need one.
pub(super) fn transforms_workspaces(handle: sys::cudnnHandle_t, problem: &Problem) -> Vec<usize> {
    let transforms = (0..8).filter(|number| class::transforms(class_of(problem.direction, *number)));
    let ways = (0..4).filter_map(|way| Math::of(problem.x.kind, way).ok());
    let all = transforms.flat_map(|number| ways.clone().map(move |math| (number, math)));
    all.filter_map(|(number, math)| workspace(handle, problem, number, math).ok())
        .filter(|memory| *memory > 0)
        .collect()
}

/// The algorithm for a class and a workspace of this size: the one that was found, else the best by cuDNN's heuristics
/// among those that fit,
/// of the same class if there is one.
pub(super) fn choose(session: &mut Session, wanted: Wanted, size: usize) -> Outcome<Algorithm> {
    if let Some(found) = session.choices.get(&wanted).filter(|found| found.memory <= size) {
        return Ok(*found);
    }
    let direction = wanted.problem.direction;
    let mut fitting = algorithms(session, &wanted.problem)?;
    fitting.retain(|algorithm| algorithm.memory <= size);
    let sums = wanted.class == class::SUMS;
    let mut of_class = fitting.iter().filter(|algorithm| {
        let class = class_of(direction, algorithm.number);
        class == wanted.class || sums && !class::transforms(class)
    });
    if let Some(chosen) = of_class.next().copied() {
        // A found algorithm that needs a larger workspace is kept for calls that have one.
        session.choices.entry(wanted).or_insert(chosen);
        return Ok(chosen);
    }
    // An algorithm of another class is chosen for this workspace only. Transforms are chosen only for callers
    // that allow them.
    let asked = class::transforms(wanted.class) || wanted.class == class::FREE;
    let other = fitting.iter().find(|other| asked || !class::transforms(class_of(direction, other.number)));
    if sums { Err(UNSUPPORTED) } else { other.copied().ok_or(BAD) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_cudnns() {
        for number in 0..8 {
            assert_eq!(forward(number).unwrap() as u32, number);
        }
        for number in 0..6 {
            assert_eq!(backward_data(number).unwrap() as u32, number);
        }
        for number in 0..7 {
            assert_eq!(backward_weights(number).unwrap() as u32, number);
        }
        assert_eq!(forward(8), Err(BAD));
        assert_eq!(backward_data(6), Err(BAD));
        assert_eq!(backward_weights(7), Err(BAD));
    }

    #[test]
    fn every_algorithm_has_a_class_of_miopen() {
        use hip_sys::miopen::miopenConvAlgorithm_t as M;
        assert_eq!(class::GEMM, M::miopenConvolutionAlgoGEMM.0);
        assert_eq!(class::DIRECT, M::miopenConvolutionAlgoDirect.0);
        assert_eq!(class::FFT, M::miopenConvolutionAlgoFFT.0);
        assert_eq!(class::WINOGRAD, M::miopenConvolutionAlgoWinograd.0);
        assert_eq!(class::IMPLICIT_GEMM, M::miopenConvolutionAlgoImplicitGEMM.0);
        assert_eq!(class_of(Direction::Forward, 6), class::WINOGRAD);
        assert_eq!(class_of(Direction::BackwardData, 3), class::FFT);
        assert_eq!(class_of(Direction::BackwardWeights, 1), class::IMPLICIT_GEMM);
    }
}
