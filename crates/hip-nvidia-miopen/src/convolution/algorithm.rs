//! cuDNN's algorithms: which there are for a problem, and which was chosen.

use super::math::Math;
use super::problem::{Direction, Problem};
use crate::handle::Session;
use crate::library::{check, cudnn};
use crate::{BAD, Outcome, UNSUPPORTED};
use cudarc::cudnn::sys;
use std::collections::HashMap;
use std::ffi::c_int;
use std::mem::offset_of;

/// An algorithm that does a problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Algorithm {
    /// cuDNN's number in the problem's direction.
    pub(super) number: u32,
    pub(super) math: Math,
    /// Milliseconds; negative if nobody measured.
    pub(super) time: f32,
    /// Bytes of workspace.
    pub(super) memory: usize,
}

/// A problem with a class of algorithms, of which MIOpen has fewer than cuDNN.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Wanted {
    pub(super) problem: Problem,
    pub(super) class: u32,
}

/// The algorithms that were found best, or taken, for what a handle was given.
pub(crate) type Choices = HashMap<Wanted, Algorithm>;

/// An algorithm that needs more workspace than this is not offered.
pub(super) const MOST_WORKSPACE: usize = 1 << 30;
/// So many answers at most: each algorithm in two ways.
const ANSWERS: usize = 16;

/// cuDNN's answer, with numbers where it has enums.
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
        /// In each direction the answer has its own type and this layout.
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
    /// None of MIOpen's: whatever runs without a workspace.
    pub(crate) const FREE: u32 = 100;
    /// None of MIOpen's: whatever adds up products, and nothing else.
    pub(crate) const SUMS: u32 = 101;

    /// Whether a class transforms what it multiplies, which rounds otherwise than sums of products.
    pub(crate) fn transforms(class: u32) -> bool {
        matches!(class, FFT | WINOGRAD)
    }
}

/// The class that one of cuDNN's algorithms counts as.
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

/// Those of cuDNN's answers that can be used, each once, in cuDNN's order, with the workspace that they need as
/// they are run.
fn usable(session: &Session, problem: &Problem, answers: &[Answer]) -> Outcome<Vec<Algorithm>> {
    let mut list: Vec<Algorithm> = Vec::with_capacity(answers.len());
    for answer in answers {
        let deterministic = answer.determinism == sys::cudnnDeterminism_t::CUDNN_DETERMINISTIC as u32;
        // What is not deterministic adds its sums up in the output by atomic operations: in 16 bits each of them rounds.
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

/// The algorithms for a problem, the best first as far as cuDNN can tell without trying. Touches no device memory.
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

/// The workspace that lets every algorithm run that is offered.
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
    // SAFETY: S1: live descriptors and a live place.
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

/// The workspaces of the algorithms that transform, of those that need some.
pub(super) fn transforms_workspaces(handle: sys::cudnnHandle_t, problem: &Problem) -> Vec<usize> {
    let transforms = (0..8).filter(|number| class::transforms(class_of(problem.direction, *number)));
    let ways = (0..4).filter_map(|way| Math::of(problem.x.kind, way).ok());
    let all = transforms.flat_map(|number| ways.clone().map(move |math| (number, math)));
    all.filter_map(|(number, math)| workspace(handle, problem, number, math).ok())
        .filter(|memory| *memory > 0)
        .collect()
}

/// The algorithm for a class and a workspace of this size: the one that was found, else what cuDNN thinks best
/// among those that fit,
/// of the class if there is one.
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
        // One that was found and needs more than this stays for a larger workspace.
        session.choices.entry(wanted).or_insert(chosen);
        return Ok(chosen);
    }
    // One of another class is for this workspace alone: with a larger one there may be one of the class. Transforms are for those who
    // asked for some.
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
