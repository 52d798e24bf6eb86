//! Host threads: their own state, and what they share.

use super::prelude::*;

pub(crate) const CASES: &[Case] = cases!(
    "thread/own": device_0_at_first, no_error_at_first, a_choice_is_the_threads_own, streams_of_two_threads_overlap
);
pub(crate) const SHARED: &[Case] = cases!(
    "thread/shared": memory_is_freed_elsewhere, a_stream_is_used_elsewhere, an_event_is_awaited_elsewhere,
    a_function_is_launched_elsewhere, a_module_is_used_elsewhere
);
pub(crate) const MANY: &[Case] = cases!(
    "thread/many": allocate_at_once, fill_at_once, launch_at_once, wait_at_once, one_stream_for_all
);

const PER_THREAD: hipStream_t = 2 as hipStream_t;

fn current(b: &Bench) -> Result<i32, Failure> {
    let mut device = -7;
    ok!(b, hipGetDevice(&mut device));
    Ok(device)
}

fn device_0_at_first(b: &Bench) -> Outcome {
    let last = b.devices()? - 1;
    b.set_device(last)?;
    same("the other thread's device", b.elsewhere(current)?, 0)?;
    same("this thread's device", current(b)?, last)
}

fn no_error_at_first(b: &Bench) -> Outcome {
    expect!(b, hipSetDevice(-1) => DEVICE);
    same("the other thread's error", b.elsewhere(|b| Ok(b.peek()))?, SUCCESS)
}

fn a_choice_is_the_threads_own(b: &Bench) -> Outcome {
    let other = b.other_device()?;
    let there = b.elsewhere(|b| {
        b.set_device(other)?;
        current(b)
    })?;
    same("the other thread's device, and this one's", (there, current(b)?), (other, b.device()))
}

/// Handle 2 means a different stream on each thread.
fn streams_of_two_threads_overlap(b: &Bench) -> Outcome {
    let (gate, pinned) = (Gate::new(), b.pinned::<i32>(1)?);
    gate.hold(b, PER_THREAD)?;
    let pointer = pinned.pointer as usize;
    b.elsewhere(|b| {
        b.set_device(b.device())?;
        ok!(b, hipMemsetD32Async(pointer as *mut c_void, 3, 1, PER_THREAD); hipStreamSynchronize(PER_THREAD));
        Ok(())
    })?;
    same("the value, and streams through the gate", (pinned.get(0), gate.passed()), (3, 0))
}

fn memory_is_freed_elsewhere(b: &Bench) -> Outcome {
    let mut pointer = null_mut();
    ok!(b, hipMalloc(&mut pointer, 64));
    let address = pointer as usize;
    b.elsewhere(|b| {
        ok!(b, hipFree(address as *mut c_void));
        Ok(())
    })?;
    expect!(b, hipFree(pointer) => VALUE);
    Ok(())
}

fn a_stream_is_used_elsewhere(b: &Bench) -> Outcome {
    let (stream, buffer) = (b.stream()?, b.zeros::<i32>(4)?);
    let (raw, pointer) = (stream.raw as usize, buffer.pointer as usize);
    b.elsewhere(|b| {
        ok!(b, hipMemsetD32Async(pointer as *mut c_void, 9, 4, raw as hipStream_t));
        Ok(())
    })?;
    ok!(b, hipStreamSynchronize(stream.raw));
    same_all("the buffer", &buffer.read()?, &[9; 4])
}

fn an_event_is_awaited_elsewhere(b: &Bench) -> Outcome {
    let (stream, event, gate, pinned) = (b.stream()?, b.event()?, Gate::new(), b.pinned::<i32>(1)?);
    gate.hold(b, stream.raw)?;
    ok!(b, hipMemsetD32Async(pinned.pointer, 2, 1, stream.raw); hipEventRecord(event.raw, stream.raw));
    let raw = event.raw as usize;
    gate.open();
    b.elsewhere(|b| {
        ok!(b, hipEventSynchronize(raw as hipEvent_t));
        Ok(())
    })?;
    same("the value", pinned.get(0), 2)
}

fn a_function_is_launched_elsewhere(b: &Bench) -> Outcome {
    let (write, buffer) = (b.function("basic", "write_one")?, b.zeros::<i32>(1)?);
    let (raw, pointer) = (write.raw as usize, buffer.pointer as usize);
    b.elsewhere(|b| {
        b.set_device(b.device())?;
        let [mut pointer, mut value] = [Arg::from(pointer), Arg::from(31)];
        let mut list = [pointer.address(), value.address()];
        let (f, list, none) = (raw as hipFunction_t, list.as_mut_ptr(), null_mut());
        ok!(b, hipModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, list, none); hipDeviceSynchronize());
        Ok(())
    })?;
    same_all("the buffer", &buffer.read()?, &[31])
}

fn a_module_is_used_elsewhere(b: &Bench) -> Outcome {
    let module = b.module("basic")?;
    let raw = module.raw as usize;
    let found = b.elsewhere(|b| {
        let mut function = null_mut();
        ok!(b, hipModuleGetFunction(&mut function, raw as hipModule_t, c"add".as_ptr()));
        Ok(function as usize)
    })?;
    ensure(found != 0, "no function")
}

/// Runs the work on several threads at once, with the number of each.
fn on_threads(b: &Bench, threads: i32, work: impl Fn(&Bench, i32) -> Outcome + Sync) -> Outcome {
    let (work, start) = (&work, std::sync::Barrier::new(threads as usize));
    let start = &start;
    std::thread::scope(|scope| {
        let spawn = |number| {
            let there = b.twin();
            scope.spawn(move || {
                let bench = there();
                bench.set_device(bench.device())?;
                start.wait();
                work(&bench, number)
            })
        };
        let handles: Vec<_> = (0..threads).map(spawn).collect();
        handles
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| Err(Failure::wrong("a thread panicked"))))
    })
}

fn allocate_at_once(b: &Bench) -> Outcome {
    on_threads(b, 8, |b, number| {
        for round in 0..50 {
            let buffer = b.filled(1 + (round as usize * 37) % 500, number)?;
            ensure(buffer.read()?.iter().all(|value| *value == number), "another thread's value")?;
        }
        Ok(())
    })
}

fn fill_at_once(b: &Bench) -> Outcome {
    on_threads(b, 4, |b, number| {
        let (stream, pinned) = (b.stream_with(hipStreamNonBlocking)?, b.pinned::<i32>(1)?);
        for round in 0..100 {
            let value = 1000 * number + round;
            ok!(b, hipMemsetD32Async(pinned.pointer, value, 1, stream.raw); hipStreamSynchronize(stream.raw));
            same("the value", pinned.get(0), value)?;
        }
        Ok(())
    })
}

fn launch_at_once(b: &Bench) -> Outcome {
    let counter = b.zeros::<u32>(1)?;
    let address = counter.pointer as usize;
    on_threads(b, 4, |b, number| {
        let count = b.function("basic", "count")?;
        let stream = if number < 2 { NULL } else { PER_THREAD };
        for _ in 0..25 {
            b.launch_on(stream, &count, grid(10, 4), args![address])?;
        }
        ok!(b, hipStreamSynchronize(stream));
        Ok(())
    })?;
    b.sync()?;
    same_all("threads that ran", &counter.read()?, &[4 * 25 * 40])
}

/// Every way of waiting sees the results of the work.
fn wait_at_once(b: &Bench) -> Outcome {
    let shared = b.stream()?;
    let shared_raw = shared.raw as usize;
    on_threads(b, 4, |b, number| {
        let (own, pinned) = (b.stream_with(hipStreamNonBlocking)?, b.pinned::<i32>(1)?);
        let streams = [NULL, PER_THREAD, own.raw, shared_raw as hipStream_t];
        for round in 0..120 {
            let stream = streams[(round + number) as usize % 4];
            ok!(b, hipMemsetD32Async(pinned.pointer, round + 1, 1, stream));
            match round % 3 {
                0 => ok!(b, hipStreamSynchronize(stream)),
                1 => ok!(b, hipDeviceSynchronize()),
                _ => {
                    let event = b.event()?;
                    ok!(b, hipEventRecord(event.raw, stream); hipEventSynchronize(event.raw));
                }
            }
            same("the value", pinned.get(0), round + 1)?;
        }
        Ok(())
    })
}

fn one_stream_for_all(b: &Bench) -> Outcome {
    let (stream, buffer) = (b.stream()?, b.zeros::<i32>(8)?);
    let (raw, pointer) = (stream.raw as usize, buffer.pointer as usize);
    on_threads(b, 8, |b, number| {
        let at = (pointer + 4 * number as usize) as *mut c_void;
        for value in 1..=50 {
            ok!(b, hipMemsetD32Async(at, 100 * number + value, 1, raw as hipStream_t));
        }
        Ok(())
    })?;
    ok!(b, hipStreamSynchronize(stream.raw));
    same_all("each thread's last", &buffer.read()?, &[50, 150, 250, 350, 450, 550, 650, 750])
}
