//! The solutions of immediate mode, most of them of cuDNN's backend, on problems whose sums every type holds exactly.

use crate::bench::{Bench, F16, F32, Memory, ok};
use crate::problems::*;
use hip_sys::hip::{hipError_t, hipStreamCaptureMode};
use hip_sys::miopen::*;
use std::ptr::null_mut;

fn all(bench: &Bench) -> impl Iterator<Item = Problem<'_>> {
    let kinds = [F32, F16, BF16].into_iter();
    kinds.flat_map(move |kind| {
        CASES.into_iter().flat_map(move |case| {
            [Forward, BackwardData, BackwardWeights]
                .into_iter()
                .map(move |direction| Problem::new(bench, case, kind, direction))
        })
    })
}

#[test]
fn every_solution_of_every_problem_is_exact() {
    let Some(bench) = Bench::open() else { return };
    let (mut backends, mut wrong) = (0, Vec::new());
    for problem in all(&bench) {
        let memory = problem.memory(0);
        for solution in problem.solutions() {
            assert_eq!(problem.compile(solution.solution_id), solution.workspace_size);
            let space = bench.room(solution.workspace_size.max(1));
            let at = [&memory[0], &memory[1], &memory[2]].map(Memory::at);
            let status = problem.run(at, space.at(), solution.workspace_size, solution.solution_id);
            assert_eq!(
                status.0, 0,
                "{:?} {:?} {:?} {:x}",
                problem.case, problem.kind, problem.direction, solution.solution_id
            );
            wrong.extend(problem.wrong(&memory[problem.result()], 0, &solution));
            backends += usize::from(solution.solution_id >> 17 == 1);
        }
    }
    assert!(wrong.is_empty(), "{} results:\n{}", wrong.len(), wrong.join("\n"));
    let off = std::env::var_os("HIPSTACK_CUDNN_BACKEND").is_some_and(|value| value == "0");
    assert_eq!(backends == 0, off, "{backends} solutions are the backend's");
}

#[test]
fn memory_that_begins_anywhere() {
    let Some(bench) = Bench::open() else { return };
    let (mut computed, mut refused) = (0, 0);
    for problem in all(&bench) {
        let solution = problem.solutions()[0];
        let space = bench.room(solution.workspace_size.max(1));
        let element = if problem.kind == F32 { 4 } else { 2 };
        for shift in [element, 8] {
            let memory = problem.memory(shift);
            let at = [&memory[0], &memory[1], &memory[2]].map(|memory| memory.at().wrapping_byte_add(shift));
            let status = problem.run(at, space.at(), solution.workspace_size, solution.solution_id);
            // If every algorithm needs more workspace, the call is refused, and nothing is computed wrongly.
            if status == miopenStatus_t::miopenStatusUnsupportedOp {
                println!(
                    "{:?} {:?} {:?} from byte {shift}: refused",
                    problem.case, problem.kind, problem.direction
                );
                refused += 1;
                continue;
            }
            assert_eq!(status.0, 0, "{:?} {:?} {:?}", problem.case, problem.kind, problem.direction);
            problem.check(&memory[problem.result()], shift, &solution);
            computed += 1;
        }
    }
    assert!(computed > 3 * refused, "{computed} computed, {refused} refused");
}

/// A filter of one tap that selects one of 64 channels: each element needs more bits than TF32 has.
#[test]
fn floats_are_multiplied_whole() {
    let Some(bench) = Bench::open() else { return };
    let case = Case { channels: 64, filters: 64, taps: &[1, 1], pad: 0, picture: &[8, 8], ..PLAIN };
    let problem = Problem::new(&bench, case, F32, Forward);
    let fine = |i: usize| 1.0 + (1 + i % 7) as f32 / 8192.0;
    let x: Vec<f32> = (0..2 * 64 * 64).map(fine).collect();
    let mut w = vec![0_f32; 64 * 64];
    (0..64).for_each(|filter| w[filter * 64 + 63 - filter] = 1.0);
    let (x, w, y) = (bench.put(&x), bench.put(&w), bench.room(2 * 64 * 64 * 4));
    for solution in problem.solutions() {
        if [2, 3].contains(&solution.algorithm.0) {
            continue;
        }
        let space = bench.room(solution.workspace_size.max(1));
        let at = [x.at(), w.at(), y.at()];
        assert_eq!(problem.run(at, space.at(), solution.workspace_size, solution.solution_id).0, 0);
        let expected: Vec<f32> = (0..2 * 64 * 64)
            .map(|i: usize| fine((i / 4096) * 4096 + (63 - i / 64 % 64) * 64 + i % 64))
            .collect();
        y.is(&expected);
    }
}

/// 4096 products of one: a sum in 16 bits would stop at 2048, or at 256.
#[test]
fn sums_of_16_bit_elements_have_32_bits() {
    let Some(bench) = Bench::open() else { return };
    let case =
        Case { batch: 1, channels: 4096, filters: 8, taps: &[1, 1], pad: 0, picture: &[4, 4], ..PLAIN };
    for kind in [F16, BF16] {
        let problem = Problem::new(&bench, case, kind, Forward);
        let of = |count: usize| bench.put(&bits(kind, 1.0).repeat(count));
        let (x, w, y) = (of(4096 * 16), of(4096 * 8), bench.room(8 * 16 * 2));
        for solution in problem.solutions() {
            if [2, 3].contains(&solution.algorithm.0) {
                continue;
            }
            let space = bench.room(solution.workspace_size.max(1));
            let at = [x.at(), w.at(), y.at()];
            assert_eq!(problem.run(at, space.at(), solution.workspace_size, solution.solution_id).0, 0);
            y.is(&bits(kind, 4096.0).repeat(8 * 16));
        }
    }
}

/// Rows of `y` are 2048 + 1 and -2048 by turns, or 256 + 1 and -256. A pixel that two of them reach gets one for
/// each column that reaches it, unless a part of its sum was rounded: 2049 and 257 are no numbers of these types. Channels that are a
/// multiple of 8 and others, in both orders, from memory aligned to 256, to 2 and to 8 bytes.
#[test]
fn short_gradients_by_the_picture_are_rounded_once() {
    let Some(bench) = Bench::open() else { return };
    let (pixels, x_pixels) = (17 * 19, 33 * 37);
    for (channels, filters, channels_last) in
        [(9, 5, false), (16, 8, false), (9, 5, true), (16, 8, true), (64, 32, false), (64, 32, true)]
    {
        let picture = &[33, 37];
        let case = Case { batch: 1, channels, filters, picture, stride: 2, channels_last, ..PLAIN };
        for (kind, large) in [(F16, 2048.0), (BF16, 256.0)] {
            let problem = Problem::new(&bench, case, kind, BackwardData);
            let dy = (0..filters * pixels).map(|i| {
                let (filter, pixel) =
                    if channels_last { (i % filters, i / filters) } else { (i / pixels, i % pixels) };
                match (filter, pixel / 19 % 2) {
                    (0, 0) => large,
                    (0, _) => -large,
                    (1, 0) => 1.0,
                    _ => 0.0,
                }
            });
            let dy: Vec<u8> = dy.flat_map(|dy| bits(kind, dy)).collect();
            let (size, ones) = (channels * x_pixels * 2, bits(kind, 1.0).repeat(filters * channels * 9));
            for shift in [0, 2, 8] {
                let moved = |bytes: &[u8]| bench.put(&[&vec![0; shift][..], bytes].concat());
                let (x, w, y) = (bench.room(shift + size), moved(&ones), moved(&dy));
                for solution in problem.solutions() {
                    if [2, 3].contains(&solution.algorithm.0) {
                        continue;
                    }
                    let space = bench.room(solution.workspace_size.max(1));
                    let at = [x.at(), w.at(), y.at()].map(|at| at.wrapping_byte_add(shift));
                    let status = problem.run(at, space.at(), solution.workspace_size, solution.solution_id);
                    // A problem that every algorithm needs alignment for is refused.
                    if shift > 0 && status == miopenStatus_t::miopenStatusUnsupportedOp {
                        continue;
                    }
                    assert_eq!(status.0, 0);
                    let dx = x.read::<u8>(shift + size);
                    for (index, bytes) in dx[shift..].chunks(2).enumerate() {
                        let pixel = if channels_last { index / channels } else { index % x_pixels };
                        if pixel / 37 % 2 == 0 {
                            continue;
                        }
                        let columns = if pixel % 37 % 2 == 0 { 1.0 } else { 2.0 };
                        let id = solution.solution_id;
                        assert_eq!(
                            value(kind, bytes),
                            columns,
                            "{case:?} {kind:?} {id:x} from byte {shift} at {index}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_solution_of_another_problem_is_refused() {
    let Some(bench) = Bench::open() else { return };
    let problem = Problem::new(&bench, PLAIN, F32, Forward);
    let memory = problem.memory(0);
    let at = [&memory[0], &memory[1], &memory[2]].map(Memory::at);
    let first = problem.solutions()[0];
    let bad = miopenStatus_t::miopenStatusBadParm;
    // An index outside the list, another class, another direction; and too small a workspace.
    for id in [first.solution_id | 0xff0, first.solution_id ^ 7, first.solution_id ^ 1 << 12] {
        assert_eq!(problem.run(at, null_mut(), 0, id), bad, "{id:x}");
    }
    if let Some(needs) = problem.solutions().iter().find(|solution| solution.workspace_size > 0) {
        assert_eq!(problem.run(at, null_mut(), 0, needs.solution_id), bad);
    }
}

#[test]
fn a_captured_run_is_repeated_by_its_graph() {
    let Some(bench) = Bench::open() else { return };
    let (hip, ok) = (bench.hip(), hipError_t::hipSuccess);
    let mut stream = null_mut();
    // SAFETY: S1: live variables and handles, here and below.
    unsafe { assert_eq!((hip.hipStreamCreateWithFlags)(&mut stream, 1), ok) };
    ok!(bench.miopenSetStream(stream));
    // One problem that was met before, and one that is not.
    for (case, warm) in [(PLAIN, true), (Case { batch: 3, ..PLAIN }, false)] {
        for kind in [F32, F16] {
            let problem = Problem::new(&bench, case, kind, Forward);
            let (memory, space) = (problem.memory(0), bench.room(1 << 26));
            let at = [&memory[0], &memory[1], &memory[2]].map(Memory::at);
            if warm {
                let solution = problem.solutions()[0];
                assert_eq!(problem.run(at, space.at(), 1 << 26, solution.solution_id).0, 0);
                problem.check(&memory[2], 0, &solution);
            }
            let zeros = vec![0_u8; problem.case.offsets(2).len() * 2];
            let (mut graph, mut exec) = (null_mut(), null_mut());
            // SAFETY: S1: as above.
            unsafe {
                let mode = hipStreamCaptureMode::hipStreamCaptureModeThreadLocal;
                assert_eq!((hip.hipStreamBeginCapture)(stream, mode), ok);
            }
            let solution = problem.solutions()[0];
            assert!(problem.compile(solution.solution_id) <= 1 << 26);
            assert_eq!(problem.run(at, space.at(), 1 << 26, solution.solution_id).0, 0);
            // SAFETY: S1: as above.
            unsafe {
                assert_eq!((hip.hipStreamEndCapture)(stream, &mut graph), ok);
                assert_eq!((hip.hipGraphInstantiateWithFlags)(&mut exec, graph, 0), ok);
            }
            for _ in 0..3 {
                let copied = hip_sys::hip::hipMemcpyKind::hipMemcpyHostToDevice;
                // SAFETY: S1: as above, and as many bytes on both sides.
                unsafe {
                    assert_eq!(
                        (hip.hipMemcpy)(memory[2].at(), zeros.as_ptr().cast(), zeros.len(), copied),
                        ok
                    );
                    assert_eq!((hip.hipDeviceSynchronize)(), ok);
                    assert_eq!((hip.hipGraphLaunch)(exec, stream), ok);
                }
                problem.check(&memory[2], 0, &solution);
            }
            // SAFETY: S1: as above; nothing runs any more.
            unsafe {
                assert_eq!((hip.hipGraphExecDestroy)(exec), ok);
                assert_eq!((hip.hipGraphDestroy)(graph), ok);
            }
        }
    }
    ok!(bench.miopenSetStream(null_mut()));
    // SAFETY: S1: as above.
    unsafe { assert_eq!((hip.hipStreamDestroy)(stream), ok) };
}

/// Two handles on two streams, whose runs alternate on memory of each, and on other memory each time.
#[test]
fn two_streams_and_many_runs() {
    let (Some(one), Some(two)) = (Bench::open(), Bench::open()) else { return };
    let mut streams = [null_mut(); 2];
    for (bench, stream) in [&one, &two].into_iter().zip(&mut streams) {
        // SAFETY: S1: a live variable.
        unsafe { assert_eq!((bench.hip().hipStreamCreateWithFlags)(stream, 1), hipError_t::hipSuccess) };
        ok!(bench.miopenSetStream(*stream));
    }
    for kind in [F32, F16, BF16] {
        let problems =
            [Problem::new(&one, PLAIN, kind, Forward), Problem::new(&two, PLAIN, kind, BackwardData)];
        let solutions = [0, 1].map(|i| problems[i].solutions()[0]);
        let spaces = [0, 1].map(|i: usize| problems[i].bench.room(solutions[i].workspace_size.max(1)));
        let memories: Vec<_> = (0..8).map(|run| problems[run % 2].memory(0)).collect();
        for repeated in 0..16 {
            let (run, which) = (repeated % 8, repeated % 2);
            let at = [0, 1, 2].map(|i| memories[run][i].at());
            let solution = &solutions[which];
            let status =
                problems[which].run(at, spaces[which].at(), solution.workspace_size, solution.solution_id);
            assert_eq!(status.0, 0);
        }
        for (run, memory) in memories.iter().enumerate() {
            let problem = &problems[run % 2];
            problem.check(&memory[problem.result()], 0, &solutions[run % 2]);
        }
    }
    for (bench, stream) in [&one, &two].into_iter().zip(streams) {
        ok!(bench.miopenSetStream(null_mut()));
        // SAFETY: S1: a live stream that nobody uses any more.
        unsafe { assert_eq!((bench.hip().hipStreamDestroy)(stream), hipError_t::hipSuccess) };
    }
}
