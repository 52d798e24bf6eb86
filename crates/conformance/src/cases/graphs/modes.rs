//! Which calls are allowed during a capture depends on its mode, and on that of the calling thread.

use super::*;

pub(crate) const CASES: &[Case] = cases!("graph/modes":
    allocate, free, host_memory, registration, managed_memory, relaxed_allows_all, another_thread_and_a_global_capture,
    another_thread_and_a_local_capture, another_thread_and_a_relaxed_capture, local_thread_beside_a_global_capture,
    relaxed_thread_beside_a_global_capture, relaxed_thread_beside_its_own_capture, wait_for_another_stream,
    wait_for_another_stream_elsewhere, wait_for_an_outside_event, exchange_gives_the_former, exchange_refuses_bad_modes,
    a_new_thread_is_global, queries_of_the_device_are_allowed,
);

/// Checks that the call is refused and invalidates the capture.
#[track_caller]
fn refused(
    b: &Bench,
    mode: hipStreamCaptureMode,
    what: &str,
    call: impl Fn(&Bench) -> Result<u32, Failure>,
) -> Outcome {
    let stream = b.stream()?;
    ok!(b, hipStreamBeginCapture(stream.raw, mode));
    b.expect(call(b)?, CAPTURE_UNSUPPORTED, &format!("{what} in mode {}", mode.0))?;
    end_spoilt(b, stream.raw)
}

/// Checks that the call succeeds and the capture stays valid.
#[track_caller]
fn allowed(
    b: &Bench,
    mode: hipStreamCaptureMode,
    what: &str,
    call: impl Fn(&Bench) -> Result<u32, Failure>,
) -> Outcome {
    let stream = b.stream()?;
    ok!(b, hipStreamBeginCapture(stream.raw, mode));
    b.expect(call(b)?, SUCCESS, &format!("{what} in mode {}", mode.0))?;
    drop(end(b, stream.raw)?);
    Ok(())
}

fn malloc(b: &Bench) -> Result<u32, Failure> {
    let mut pointer = null_mut();
    let code = call!(b, hipMalloc(&mut pointer, 16));
    if code == SUCCESS {
        // A relaxed thread may free as well.
        let mut mode = RELAXED;
        ok!(b, hipThreadExchangeStreamCaptureMode(&mut mode); hipFree(pointer));
        ok!(b, hipThreadExchangeStreamCaptureMode(&mut mode));
    }
    Ok(code)
}

/// hipMalloc in global and in thread-local mode (hip-tests).
fn allocate(b: &Bench) -> Outcome {
    refused(b, GLOBAL, "hipMalloc", malloc)?;
    refused(b, THREAD_LOCAL, "hipMalloc", malloc)
}

/// hipFree (clr); afterwards the memory still exists.
fn free(b: &Bench) -> Outcome {
    let memory = b.buffer(&[3])?;
    for mode in [GLOBAL, THREAD_LOCAL] {
        refused(b, mode, "hipFree", |b| Ok(call!(b, hipFree(memory.pointer))))?;
    }
    same_all("the memory", &memory.read()?, &[3])
}

/// hipHostMalloc and hipHostFree (clr).
fn host_memory(b: &Bench) -> Outcome {
    let memory = b.pinned::<i32>(1)?;
    for mode in [GLOBAL, THREAD_LOCAL] {
        refused(b, mode, "hipHostMalloc", |b| {
            let mut pointer = null_mut();
            Ok(call!(b, hipHostMalloc(&mut pointer, 16, 0)))
        })?;
        refused(b, mode, "hipHostFree", |b| Ok(call!(b, hipHostFree(memory.pointer))))?;
    }
    same("the memory", memory.get(0), 0)
}

/// hipHostRegister and hipHostUnregister (clr).
fn registration(b: &Bench) -> Outcome {
    let words = vec![0_u64; 1024];
    let pointer = words.as_ptr().cast_mut().cast::<c_void>();
    for mode in [GLOBAL, THREAD_LOCAL] {
        refused(b, mode, "hipHostRegister", |b| Ok(call!(b, hipHostRegister(pointer, 8192, 0))))?;
    }
    ok!(b, hipHostRegister(pointer, 8192, 0));
    for mode in [GLOBAL, THREAD_LOCAL] {
        refused(b, mode, "hipHostUnregister", |b| Ok(call!(b, hipHostUnregister(pointer))))?;
    }
    ok!(b, hipHostUnregister(pointer));
    Ok(())
}

/// hipMallocManaged (clr).
fn managed_memory(b: &Bench) -> Outcome {
    for mode in [GLOBAL, THREAD_LOCAL] {
        refused(b, mode, "hipMallocManaged", |b| {
            let mut pointer = null_mut();
            Ok(call!(b, hipMallocManaged(&mut pointer, 16, hipMemAttachGlobal)))
        })?;
    }
    Ok(())
}

/// All of these are allowed during a relaxed capture (hip-tests).
fn relaxed_allows_all(b: &Bench) -> Outcome {
    allowed(b, RELAXED, "hipMalloc and others", |b| {
        let (mut device, mut host) = (null_mut(), null_mut());
        ok!(b,
            hipMalloc(&mut device, 16); hipFree(device);
            hipHostMalloc(&mut host, 16, 0); hipHostFree(host);
        );
        Ok(SUCCESS)
    })
}

/// Other threads too invalidate a capture in global mode (hip-tests).
fn another_thread_and_a_global_capture(b: &Bench) -> Outcome {
    refused(b, GLOBAL, "hipMalloc on another thread", |b| b.elsewhere(malloc))
}

/// They do not invalidate one in thread-local mode (hip-tests).
fn another_thread_and_a_local_capture(b: &Bench) -> Outcome {
    allowed(b, THREAD_LOCAL, "hipMalloc on another thread", |b| b.elsewhere(malloc))
}

/// They do not invalidate one in relaxed mode (hip-tests).
fn another_thread_and_a_relaxed_capture(b: &Bench) -> Outcome {
    allowed(b, RELAXED, "hipMalloc on another thread", |b| b.elsewhere(malloc))
}

/// A thread in thread-local mode affects only its own captures (HIP's definition of the mode).
fn local_thread_beside_a_global_capture(b: &Bench) -> Outcome {
    allowed(b, GLOBAL, "hipMalloc on a local thread", |b| {
        b.elsewhere(|b| {
            let mut mode = THREAD_LOCAL;
            ok!(b, hipThreadExchangeStreamCaptureMode(&mut mode));
            malloc(b)
        })
    })
}

/// A thread in relaxed mode affects no capture.
fn relaxed_thread_beside_a_global_capture(b: &Bench) -> Outcome {
    allowed(b, GLOBAL, "hipMalloc on a relaxed thread", |b| {
        b.elsewhere(|b| {
            let mut mode = RELAXED;
            ok!(b, hipThreadExchangeStreamCaptureMode(&mut mode));
            malloc(b)
        })
    })
}

/// It does not even affect its own; an allocator that has to grow during a capture uses this.
fn relaxed_thread_beside_its_own_capture(b: &Bench) -> Outcome {
    let mut mode = RELAXED;
    for capture in [GLOBAL, THREAD_LOCAL] {
        allowed(b, capture, "hipMalloc on a relaxed thread", |b| {
            let mut mode = RELAXED;
            ok!(b, hipThreadExchangeStreamCaptureMode(&mut mode));
            let code = malloc(b)?;
            ok!(b, hipThreadExchangeStreamCaptureMode(&mut mode));
            Ok(code)
        })?;
    }
    ok!(b, hipThreadExchangeStreamCaptureMode(&mut mode));
    same("the mode in between", mode, GLOBAL)
}

/// Waiting for a stream outside the capture is as unsafe as allocating (hip-tests).
fn wait_for_another_stream(b: &Bench) -> Outcome {
    let other = b.stream()?;
    for mode in [GLOBAL, THREAD_LOCAL] {
        refused(b, mode, "synchronize another", |b| Ok(call!(b, hipStreamSynchronize(other.raw))))?;
        refused(b, mode, "query another", |b| Ok(call!(b, hipStreamQuery(other.raw))))?;
    }
    allowed(b, RELAXED, "synchronize another", |b| Ok(call!(b, hipStreamSynchronize(other.raw))))?;
    allowed(b, RELAXED, "query another", |b| Ok(call!(b, hipStreamQuery(other.raw))))
}

/// On another thread this affects only a capture in global mode (hip-tests).
fn wait_for_another_stream_elsewhere(b: &Bench) -> Outcome {
    let synchronize = |b: &Bench| {
        b.elsewhere(|b| {
            let stream = b.stream()?;
            Ok(call!(b, hipStreamSynchronize(stream.raw)))
        })
    };
    refused(b, GLOBAL, "synchronize on another thread", synchronize)?;
    allowed(b, THREAD_LOCAL, "synchronize on another thread", synchronize)?;
    allowed(b, RELAXED, "synchronize on another thread", synchronize)
}

/// Waiting for an event outside the capture is as unsafe (clr).
fn wait_for_an_outside_event(b: &Bench) -> Outcome {
    let (stream, event) = (b.stream()?, b.event()?);
    ok!(b, hipEventRecord(event.raw, stream.raw); hipStreamSynchronize(stream.raw));
    for mode in [GLOBAL, THREAD_LOCAL] {
        refused(b, mode, "hipEventSynchronize", |b| Ok(call!(b, hipEventSynchronize(event.raw))))?;
    }
    allowed(b, RELAXED, "hipEventSynchronize", |b| Ok(call!(b, hipEventSynchronize(event.raw))))
}

/// The mode belongs to the thread, and the previous one is returned.
fn exchange_gives_the_former(b: &Bench) -> Outcome {
    let mut mode = RELAXED;
    let mut seen = Vec::new();
    for next in [THREAD_LOCAL, GLOBAL, GLOBAL] {
        ok!(b, hipThreadExchangeStreamCaptureMode(&mut mode));
        seen.push(std::mem::replace(&mut mode, next));
    }
    ok!(b, hipThreadExchangeStreamCaptureMode(&mut mode));
    same("the former modes", seen, vec![GLOBAL, RELAXED, THREAD_LOCAL])?;
    same("the last", mode, GLOBAL)
}

/// Null, and a number that is not a mode (hip-tests).
fn exchange_refuses_bad_modes(b: &Bench) -> Outcome {
    expect!(b, hipThreadExchangeStreamCaptureMode(null_mut()) => VALUE);
    for number in [3, i32::MAX as u32, u32::MAX] {
        let mut mode = hipStreamCaptureMode(number);
        expect!(b, hipThreadExchangeStreamCaptureMode(&mut mode) => VALUE);
        same("the mode", mode.0, number)?;
    }
    Ok(())
}

/// A new thread has the global mode, whatever other threads chose.
fn a_new_thread_is_global(b: &Bench) -> Outcome {
    let mut mode = RELAXED;
    ok!(b, hipThreadExchangeStreamCaptureMode(&mut mode));
    let there = b.elsewhere(|b| {
        let mut mode = RELAXED;
        ok!(b, hipThreadExchangeStreamCaptureMode(&mut mode));
        Ok(mode)
    })?;
    same("the new thread's mode", there, GLOBAL)?;
    ok!(b, hipThreadExchangeStreamCaptureMode(&mut mode));
    Ok(())
}

/// Pure queries are allowed in every mode.
fn queries_of_the_device_are_allowed(b: &Bench) -> Outcome {
    for mode in MODES {
        allowed(b, mode, "questions", |b| {
            let (mut device, mut free, mut total) = (-1, 0, 0);
            ok!(b, hipGetDevice(&mut device); hipMemGetInfo(&mut free, &mut total));
            same("the device", device, b.device())?;
            Ok(SUCCESS)
        })?;
    }
    Ok(())
}
