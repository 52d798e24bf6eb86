//! Find mode: measures the algorithms. Afterwards MIOpen's class means its fastest algorithm.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::algorithm::{Algorithm, Wanted, algorithms, choose, class, class_of, largest_workspace};
use super::problem::{Buffers, Direction, Problem};
use super::run::{Blend, Workspace, run};
use crate::convert::hip;
use crate::entry::{all_there, entries, give, there};
use crate::factor::Factor;
use crate::handle::{Session, with};
use crate::library::{In, Out};
use crate::{BAD, Outcome, UNSUPPORTED};
use hip_nvidia::library::Mark;
use hip_sys::miopen::*;
use std::ffi::c_int;

/// The caller's array for as many results as were requested.
struct Results {
    asked: c_int,
    count: *mut c_int,
    list: *mut miopenConvAlgoPerf_t,
}

/// The number of measured runs of an algorithm, after one warm-up.
const RUNS: u8 = 4;

/// Measures the algorithms that fit the workspace, and returns the fastest first. cuDNN's own search is not used: while other
/// threads work, it leaves an error behind that the next call returns (9.19, driver 580).
///
/// # Safety
/// The buffers fit the problem's tensors; the output is overwritten.
unsafe fn measure(
    session: &Session,
    problem: &Problem,
    buffers: Buffers,
    workspace: Workspace,
) -> Outcome<Vec<Algorithm>> {
    all_there(&[buffers.x.cast_const(), buffers.w, buffers.y])?;
    // SAFETY: S11: they end with this call, and the session's lock keeps a reset of its device out until then.
    let marks = unsafe { [Mark::new().map_err(hip)?, Mark::new().map_err(hip)?] };
    let (mut list, mut refused) = (Vec::new(), None);
    for algorithm in algorithms(session, problem)? {
        if algorithm.memory <= workspace.size {
            // SAFETY: S11: the caller's memory.
            match unsafe { time(session, problem, &algorithm, buffers, workspace, &marks) } {
                Ok(time) => list.push(Algorithm { time, ..algorithm }),
                Err(error) => refused = Some(error),
            }
        }
    }
    list.sort_by(|a, b| a.time.total_cmp(&b.time));
    match refused {
        Some(error) if list.is_empty() => Err(error),
        _ => Ok(list),
    }
}

/// Milliseconds of a run.
///
/// # Safety
/// As [`measure`].
unsafe fn time(
    session: &Session,
    problem: &Problem,
    algorithm: &Algorithm,
    buffers: Buffers,
    workspace: Workspace,
    [begin, end]: &[Mark; 2],
) -> Outcome<f32> {
    let (way, blend) = ((algorithm.number, algorithm.math), Blend::replace(problem));
    // SAFETY: S11: the caller's memory.
    let go = || unsafe { run(session, problem, way, blend, buffers, workspace) };
    // The first call may return an error that an earlier one left behind in the thread.
    go().or_else(|_| go())?;
    // SAFETY: S11: the session's stream is live.
    let set = |mark: &Mark| unsafe { mark.set(session.stream.cast()) }.map_err(hip);
    set(begin)?;
    for _ in 0..RUNS {
        go()?;
    }
    set(end)?;
    Ok(begin.until(end).map_err(hip)? / f32::from(RUNS))
}

/// The fastest of each class, the fastest class first, of a list that is sorted by time.
fn fastest_of_each_class(direction: Direction, algorithms: &[Algorithm]) -> Vec<(u32, Algorithm)> {
    let mut list: Vec<(u32, Algorithm)> = Vec::new();
    for algorithm in algorithms {
        let class = result_class(direction, algorithm.number);
        if !list.iter().any(|(known, _)| *known == class) {
            list.push((class, *algorithm));
        }
    }
    list
}

/// MIOpen has no FFT class for the gradient of the weights.
fn result_class(direction: Direction, number: u32) -> u32 {
    match (direction, class_of(direction, number)) {
        (Direction::BackwardWeights, class::FFT) => class::DIRECT,
        (_, class) => class,
    }
}

unsafe fn find(
    handle: miopenHandle_t,
    problem: Problem,
    buffers: Buffers,
    workspace: Workspace,
    results: Results,
) -> Outcome {
    let room = usize::try_from(results.asked).ok().filter(|n| *n > 0).ok_or(BAD)?;
    there(results.count)?;
    there(results.list)?;
    let buffers = problem.in_problem_order(buffers);
    let found = with(handle, |session| {
        // SAFETY: S11: the caller's memory.
        let measured = unsafe { measure(session, &problem, buffers, workspace) }?;
        let found = fastest_of_each_class(problem.direction, &measured);
        for (class, algorithm) in &found {
            session.choices.insert(Wanted { problem: problem.clone(), class: *class }, *algorithm);
        }
        Ok(found)
    })?;
    if found.is_empty() {
        return Err(UNSUPPORTED);
    }
    let count = found.len().min(room);
    for (index, (class, algorithm)) in found.into_iter().take(count).enumerate() {
        let result = miopenConvAlgoPerf_t {
            __bindgen_anon_1: miopenConvAlgoPerf_t__bindgen_ty_1 {
                fwd_algo: miopenConvFwdAlgorithm_t(class),
            },
            time: algorithm.time,
            memory: algorithm.memory,
        };
        // SAFETY: S11: the caller's list has room for as many as were asked for.
        unsafe { results.list.add(index).write(result) };
    }
    // SAFETY: S11: the caller's output pointer.
    unsafe { give(results.count, count as c_int) }
}

unsafe fn execute(
    handle: miopenHandle_t,
    problem: Problem,
    class: u32,
    (alpha, beta): (In, In),
    buffers: Buffers,
    memory: Out,
    size: usize,
) -> Outcome {
    let kind = problem.x.kind;
    // SAFETY: S11: the caller's factors.
    let blend = unsafe { Blend { alpha: Factor::read(alpha, kind)?, beta: Factor::read(beta, kind)? } };
    let buffers = problem.in_problem_order(buffers);
    let workspace = Workspace::new(memory, size);
    with(handle, |session| {
        let wanted = Wanted { problem: problem.clone(), class };
        let algorithm = choose(session, wanted, workspace.size)?;
        // SAFETY: S11: the caller's memory.
        unsafe { run(session, &problem, (algorithm.number, algorithm.math), blend, buffers, workspace) }
    })
}

fn workspace_size(handle: miopenHandle_t, problem: Problem) -> Outcome<usize> {
    with(handle, |session| largest_workspace(session, &problem))
}

type H = miopenHandle_t;
type T = miopenTensorDescriptor_t;
type C = miopenConvolutionDescriptor_t;
type List = *mut miopenConvAlgoPerf_t;

entries! {
    fn miopenConvolutionForwardGetWorkSpaceSize(handle: H, w: T, x: T, conv: C, y: T, out: *mut usize) {
        let size = workspace_size(handle, Problem::new(Direction::Forward, x, w, y, conv)?)?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, size) }
    }

    fn miopenConvolutionBackwardDataGetWorkSpaceSize(handle: H, y: T, w: T, conv: C, x: T, out: *mut usize) {
        let size = workspace_size(handle, Problem::new(Direction::BackwardData, x, w, y, conv)?)?;
        // SAFETY: S11: as above.
        unsafe { give(out, size) }
    }

    fn miopenConvolutionBackwardWeightsGetWorkSpaceSize(handle: H, y: T, x: T, conv: C, w: T, out: *mut usize) {
        let size = workspace_size(handle, Problem::new(Direction::BackwardWeights, x, w, y, conv)?)?;
        // SAFETY: S11: as above.
        unsafe { give(out, size) }
    }

    fn miopenFindConvolutionForwardAlgorithm(
        handle: H, xd: T, x: In, wd: T, w: In, conv: C, yd: T, y: Out, asked: c_int, count: *mut c_int, list: List,
        memory: Out, size: usize, _exhaustive: bool,
    ) {
        let problem = Problem::new(Direction::Forward, xd, wd, yd, conv)?;
        let buffers = Buffers { x: x.cast_mut(), w: w.cast_mut(), y };
        // SAFETY: S11: the caller's memory and output pointers.
        unsafe { find(handle, problem, buffers, Workspace::new(memory, size), Results { asked, count, list }) }
    }

    fn miopenFindConvolutionBackwardDataAlgorithm(
        handle: H, yd: T, y: In, wd: T, w: In, conv: C, xd: T, x: Out, asked: c_int, count: *mut c_int, list: List,
        memory: Out, size: usize, _exhaustive: bool,
    ) {
        let problem = Problem::new(Direction::BackwardData, xd, wd, yd, conv)?;
        let buffers = Buffers { x, w: w.cast_mut(), y: y.cast_mut() };
        // SAFETY: S11: as above.
        unsafe { find(handle, problem, buffers, Workspace::new(memory, size), Results { asked, count, list }) }
    }

    fn miopenFindConvolutionBackwardWeightsAlgorithm(
        handle: H, yd: T, y: In, xd: T, x: In, conv: C, wd: T, w: Out, asked: c_int, count: *mut c_int, list: List,
        memory: Out, size: usize, _exhaustive: bool,
    ) {
        let problem = Problem::new(Direction::BackwardWeights, xd, wd, yd, conv)?;
        let buffers = Buffers { x: x.cast_mut(), w, y: y.cast_mut() };
        // SAFETY: S11: as above.
        unsafe { find(handle, problem, buffers, Workspace::new(memory, size), Results { asked, count, list }) }
    }

    fn miopenConvolutionForward(
        handle: H, alpha: In, xd: T, x: In, wd: T, w: In, conv: C, algorithm: miopenConvFwdAlgorithm_t, beta: In,
        yd: T, y: Out, memory: Out, size: usize,
    ) {
        let problem = Problem::new(Direction::Forward, xd, wd, yd, conv)?;
        let buffers = Buffers { x: x.cast_mut(), w: w.cast_mut(), y };
        // SAFETY: S11: the caller's memory and factors.
        unsafe { execute(handle, problem, algorithm.0, (alpha, beta), buffers, memory, size) }
    }

    fn miopenConvolutionBackwardData(
        handle: H, alpha: In, yd: T, y: In, wd: T, w: In, conv: C, algorithm: miopenConvBwdDataAlgorithm_t, beta: In,
        xd: T, x: Out, memory: Out, size: usize,
    ) {
        let problem = Problem::new(Direction::BackwardData, xd, wd, yd, conv)?;
        let buffers = Buffers { x, w: w.cast_mut(), y: y.cast_mut() };
        // SAFETY: S11: as above.
        unsafe { execute(handle, problem, algorithm.0, (alpha, beta), buffers, memory, size) }
    }

    fn miopenConvolutionBackwardWeights(
        handle: H, alpha: In, yd: T, y: In, xd: T, x: In, conv: C, algorithm: miopenConvBwdWeightsAlgorithm_t,
        beta: In, wd: T, w: Out, memory: Out, size: usize,
    ) {
        let problem = Problem::new(Direction::BackwardWeights, xd, wd, yd, conv)?;
        let buffers = Buffers { x: x.cast_mut(), w, y: y.cast_mut() };
        // SAFETY: S11: as above.
        unsafe { execute(handle, problem, algorithm.0, (alpha, beta), buffers, memory, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::math::Math;
    use super::*;

    #[test]
    fn a_class_stands_for_its_fastest_algorithm() {
        let measured = |number, time| Algorithm { number, math: Math::Single, time, memory: 0 };
        let sorted =
            [measured(7, 0.1), measured(1, 0.2), measured(6, 0.3), measured(0, 0.4), measured(4, 0.5)];
        let classes: Vec<_> = fastest_of_each_class(Direction::Forward, &sorted)
            .into_iter()
            .map(|(class, algorithm)| (class, algorithm.number))
            .collect();
        assert_eq!(classes, [(class::WINOGRAD, 7), (class::IMPLICIT_GEMM, 1), (class::FFT, 4)]);
        assert_eq!(result_class(Direction::BackwardWeights, 6), class::DIRECT);
    }
}
