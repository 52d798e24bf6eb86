//! Kernels as nodes.

use super::update::{graph, update};
use super::*;

pub(crate) const CASES: &[Case] = cases!("graph/kernel":
    is_a_node, arguments_are_kept, packed_arguments_are_kept, add_up, update_of_arguments, update_to_another,
);

/// A launch is a kernel node.
fn is_a_node(b: &Bench) -> Outcome {
    let function = b.function("basic", "add")?;
    let (x, y, sum, stream) = (b.buffer(&[1, 2])?, b.buffer(&[10, 20])?, b.zeros::<i32>(2)?, b.stream()?);
    begin(b, stream.raw)?;
    b.launch_on(stream.raw, &function, grid(1, 64), args![&x, &y, &sum, 2_u32])?;
    let graph = end(b, stream.raw)?;
    same("the types", node_types(b, &graph)?, vec![KERNEL])?;
    same_all("before the launch", &sum.read()?, &[0, 0])?;
    run_once(b, &graph, stream.raw)?;
    same_all("after the launch", &sum.read()?, &[11, 22])
}

/// Arguments are copied when the launch is captured, so their original memory may change.
fn arguments_are_kept(b: &Bench) -> Outcome {
    let function = b.function("basic", "write_one")?;
    let (memory, stream) = (b.zeros::<i32>(1)?, b.stream()?);
    let mut arguments = [Arg::from(&memory), Arg::from(5_i32)];
    begin(b, stream.raw)?;
    b.launch_on(stream.raw, &function, grid(1, 1), &mut arguments)?;
    let graph = end(b, stream.raw)?;
    arguments[1] = Arg::from(6_i32);
    drop(arguments);
    run_once(b, &graph, stream.raw)?;
    same_all("the word", &memory.read()?, &[5])
}

/// Arguments in one buffer are copied as well.
fn packed_arguments_are_kept(b: &Bench) -> Outcome {
    let function = b.function("basic", "write_one")?;
    let (memory, stream) = (b.zeros::<i32>(1)?, b.stream()?);
    let mut words = [memory.pointer as u64, 9];
    let mut bytes = 12_usize;
    let mut extra: [*mut c_void; 5] = [
        hip_sys::HIP_LAUNCH_PARAM_BUFFER_POINTER,
        words.as_mut_ptr().cast(),
        hip_sys::HIP_LAUNCH_PARAM_BUFFER_SIZE,
        (&raw mut bytes).cast(),
        hip_sys::HIP_LAUNCH_PARAM_END,
    ];
    begin(b, stream.raw)?;
    let list = extra.as_mut_ptr();
    ok!(b, hipModuleLaunchKernel(function.raw, 1, 1, 1, 1, 1, 1, 0, stream.raw, null_mut(), list));
    let graph = end(b, stream.raw)?;
    words[1] = 10;
    same("the buffer", words[1], 10)?;
    run_once(b, &graph, stream.raw)?;
    same_all("the word", &memory.read()?, &[9])
}

/// Computes sum = sum + 3 forty times.
fn add_up(b: &Bench) -> Outcome {
    let function = b.function("basic", "add")?;
    let (sum, three, stream) = (b.zeros::<i32>(300)?, b.filled(300, 3_i32)?, b.stream()?);
    begin(b, stream.raw)?;
    for _ in 0..4 {
        b.launch_on(stream.raw, &function, grid(3, 128), args![&sum, &three, &sum, 300_u32])?;
    }
    let exec = instantiate(b, &end(b, stream.raw)?)?;
    for _ in 0..10 {
        ok!(b, hipGraphLaunch(exec.raw, stream.raw));
    }
    ok!(b, hipStreamSynchronize(stream.raw));
    same_all("the sums", &sum.read()?, &[120; 300])
}

/// The same kernel with other arguments.
fn update_of_arguments(b: &Bench) -> Outcome {
    let function = b.function("basic", "write_one")?;
    let (memory, stream) = (b.zeros::<i32>(2)?, b.stream()?);
    let launch = |index: usize, value: i32| {
        let (function, memory) = (&function, &memory);
        move |s| b.launch_on(s, function, grid(1, 1), args![memory.at(index), value])
    };
    let exec = instantiate(b, &graph(b, launch(0, 7))?)?;
    run(b, &exec, stream.raw)?;
    update(b, &exec, &graph(b, launch(1, 8))?)?;
    run(b, &exec, stream.raw)?;
    same_all("the words", &memory.read()?, &[7, 8])
}

/// Another kernel of the same device (hip-tests).
fn update_to_another(b: &Bench) -> Outcome {
    let (write, add) = (b.function("basic", "write_one")?, b.function("basic", "add")?);
    let (memory, stream) = (b.buffer(&[3, 4])?, b.stream()?);
    let first = graph(b, |s| b.launch_on(s, &write, grid(1, 1), args![&memory, 9_i32]))?;
    let second = graph(b, |s| b.launch_on(s, &add, grid(1, 2), args![&memory, &memory, &memory, 2_u32]))?;
    let exec = instantiate(b, &first)?;
    update(b, &exec, &second)?;
    run(b, &exec, stream.raw)?;
    same_all("the words", &memory.read()?, &[6, 8])
}
