//! Allocating and freeing device memory, and how much there is.

use super::prelude::*;

pub(crate) const CASES: &[Case] = cases!(
    "memory/allocate": null_output, too_much, more_than_half_of_all_addresses, more_than_there_is, zero_bytes,
    aligned_to_256, allocations_are_apart, extended_null_output, extended_unknown_flag, extended_fine_grained
);
pub(crate) const FREE: &[Case] = cases!("memory/free": nothing, of_the_stack, twice, from_the_middle, waits_for_the_work, from_another_device);
pub(crate) const INFO: &[Case] = cases!(
    "memory/info": null_free, null_total, total_is_the_devices, an_allocation_shows, the_free_comes_back,
    devices_have_their_own
);

const LARGE: usize = 64 << 20;

fn null_output(b: &Bench) -> Outcome {
    expect!(b, hipMalloc(null_mut(), 8) => VALUE);
    Ok(())
}

fn too_much(b: &Bench) -> Outcome {
    let mut pointer = null_mut();
    expect!(b, hipMalloc(&mut pointer, usize::MAX) => MEMORY);
    Ok(())
}

fn more_than_half_of_all_addresses(b: &Bench) -> Outcome {
    let mut pointer = null_mut();
    expect!(b, hipMalloc(&mut pointer, usize::MAX / 2 + 1) => MEMORY);
    Ok(())
}

fn more_than_there_is(b: &Bench) -> Outcome {
    let (mut pointer, (_, total)) = (null_mut(), info(b)?);
    expect!(b, hipMalloc(&mut pointer, total + 1) => MEMORY);
    Ok(())
}

/// Zero bytes give a null pointer and no error.
fn zero_bytes(b: &Bench) -> Outcome {
    let mut pointer = 0x1000 as *mut c_void;
    ok!(b, hipMalloc(&mut pointer, 0));
    same("the pointer", pointer, null_mut())
}

fn aligned_to_256(b: &Bench) -> Outcome {
    let buffers = [1, 3, 255, 257].map(|bytes| b.zeros::<u8>(bytes));
    for buffer in buffers {
        same("the pointer's remainder", buffer?.pointer as usize % 256, 0)?;
    }
    Ok(())
}

/// A write to one allocation does not change its neighbours.
fn allocations_are_apart(b: &Bench) -> Outcome {
    let buffers =
        (0..16_u8).map(|value| b.filled(1000, value)).collect::<Result<Vec<Buffer<'_, u8>>, Failure>>()?;
    for (value, buffer) in buffers.iter().enumerate() {
        same_all("a buffer", &buffer.read()?, &[value as u8; 1000])?;
    }
    Ok(())
}

fn extended_null_output(b: &Bench) -> Outcome {
    expect!(b, hipExtMallocWithFlags(null_mut(), 8, hipDeviceMallocDefault) => VALUE);
    Ok(())
}

fn extended_unknown_flag(b: &Bench) -> Outcome {
    let mut pointer = null_mut();
    expect!(b, hipExtMallocWithFlags(&mut pointer, 8, 99) => VALUE);
    Ok(())
}

fn extended_fine_grained(b: &Bench) -> Outcome {
    let (mut pointer, mut back) = (null_mut(), 0_u32);
    ok!(b, hipExtMallocWithFlags(&mut pointer, 4, hipDeviceMallocFinegrained));
    ok!(b, hipMemset(pointer, 0x5a, 4); hipMemcpy((&raw mut back).cast(), pointer, 4, D2H); hipFree(pointer));
    same("the memory", back, 0x5a5a_5a5a)
}

fn nothing(b: &Bench) -> Outcome {
    ok!(b, hipFree(null_mut()));
    Ok(())
}

fn of_the_stack(b: &Bench) -> Outcome {
    let mut own = 0_u64;
    expect!(b, hipFree((&raw mut own).cast()) => VALUE);
    Ok(())
}

fn twice(b: &Bench) -> Outcome {
    let mut pointer = null_mut();
    ok!(b, hipMalloc(&mut pointer, 64); hipFree(pointer));
    expect!(b, hipFree(pointer) => VALUE);
    Ok(())
}

fn from_the_middle(b: &Bench) -> Outcome {
    let buffer = b.zeros::<u8>(64)?;
    expect!(b, hipFree(buffer.at(1)) => VALUE);
    same_all("the buffer", &buffer.read()?, &[0; 64])
}

/// hipFree returns after the work that uses the memory has ended.
fn waits_for_the_work(b: &Bench) -> Outcome {
    let (stream, gate, mut pointer) = (b.stream_with(hipStreamNonBlocking)?, Gate::new(), null_mut());
    ok!(b, hipMalloc(&mut pointer, 64));
    gate.hold(b, stream.raw)?;
    ok!(b, hipMemsetAsync(pointer, 1, 64, stream.raw));
    let (hip, address) = (b.hip().clone(), pointer as usize);
    // The free runs on another thread: it has to wait, while this thread opens the gate.
    let free = std::thread::spawn(move || {
        // SAFETY: S4: the case's own allocation, freed once.
        unsafe { (hip.hipFree)(address as *mut c_void) }.0
    });
    soon("the stream at the gate", || gate.arrived() == 1)?;
    gate.open();
    let code = free.join().map_err(|_| Failure::wrong("the free panicked"))?;
    b.expect(code, SUCCESS, "hipFree")?;
    same("streams through the gate", gate.passed(), 1)
}

/// The current device need not be the memory's device.
fn from_another_device(b: &Bench) -> Outcome {
    let (other, mut pointer) = (b.other_device()?, null_mut());
    ok!(b, hipMalloc(&mut pointer, 64));
    b.set_device(other)?;
    ok!(b, hipFree(pointer));
    expect!(b, hipFree(pointer) => VALUE);
    Ok(())
}

/// Free and total bytes of the current device.
fn info(b: &Bench) -> Result<(usize, usize), Failure> {
    let (mut free, mut total) = (0, 0);
    ok!(b, hipMemGetInfo(&mut free, &mut total));
    Ok((free, total))
}

fn null_free(b: &Bench) -> Outcome {
    let mut total = 0;
    expect!(b, hipMemGetInfo(null_mut(), &mut total) => VALUE);
    Ok(())
}

fn null_total(b: &Bench) -> Outcome {
    let mut free = 0;
    expect!(b, hipMemGetInfo(&mut free, null_mut()) => VALUE);
    Ok(())
}

fn total_is_the_devices(b: &Bench) -> Outcome {
    let ((free, total), mut bytes) = (info(b)?, 0);
    ok!(b, hipDeviceTotalMem(&mut bytes, b.device()));
    same("the total", total, bytes)?;
    ensure(free <= total, format!("{free} of {total} bytes are free"))
}

fn an_allocation_shows(b: &Bench) -> Outcome {
    let (before, mut pointer) = (info(b)?.0, null_mut());
    ok!(b, hipMalloc(&mut pointer, LARGE));
    let after = info(b)?.0;
    ok!(b, hipFree(pointer));
    ensure(before - after >= LARGE, format!("{before} bytes free before, {after} after 64 MiB"))
}

fn the_free_comes_back(b: &Bench) -> Outcome {
    let (before, mut pointer) = (info(b)?.0, null_mut());
    ok!(b, hipMalloc(&mut pointer, LARGE); hipFree(pointer));
    same("the free bytes", info(b)?.0, before)
}

fn devices_have_their_own(b: &Bench) -> Outcome {
    let (other, mut pointer) = (b.other_device()?, null_mut());
    b.set_device(other)?;
    let before = info(b)?.0;
    b.set_device(b.device())?;
    ok!(b, hipMalloc(&mut pointer, LARGE));
    b.set_device(other)?;
    let after = info(b)?.0;
    ok!(b, hipFree(pointer));
    same("the other's free bytes", after, before)
}
