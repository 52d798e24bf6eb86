//! Queries of pointers.

use super::prelude::*;
use hip_sys::MemoryKind;

pub(crate) const CASES: &[Case] = cases!(
    "memory/pointer": null_output, nothing, of_the_device, inside_the_device, behind_the_device, of_the_other_device,
    pinned, registered, managed, of_the_stack, freed, handle_for_other_processes
);
pub(crate) const RANGE: &[Case] = cases!(
    "memory/range": start, inside, behind, of_the_stack_too, no_outputs, base_alone, size_alone
);

struct Seen {
    kind: MemoryKind,
    raw: hipPointerAttribute_t,
}

fn attributes(b: &Bench, pointer: *const c_void) -> Result<Seen, Failure> {
    let mut raw = hipPointerAttribute_t::default();
    ok!(b, hipPointerGetAttributes(&mut raw, pointer));
    Ok(Seen { kind: MemoryKind::from_raw(raw.type_, b.platform().version()), raw })
}

/// Memory unknown to HIP is reported as unregistered, or refused before ROCm 6.
fn unregistered(b: &Bench, pointer: *const c_void) -> Outcome {
    let mut raw = hipPointerAttribute_t::default();
    if b.platform().version().major < 6 {
        expect!(b, hipPointerGetAttributes(&mut raw, pointer) => VALUE);
        return Ok(());
    }
    same("the kind", attributes(b, pointer)?.kind, MemoryKind::Unregistered)
}

fn null_output(b: &Bench) -> Outcome {
    let buffer = b.zeros::<u8>(8)?;
    expect!(b, hipPointerGetAttributes(null_mut(), buffer.pointer) => VALUE);
    Ok(())
}

fn nothing(b: &Bench) -> Outcome {
    expect!(b, hipPointerGetAttributes(&mut hipPointerAttribute_t::default(), null()) => VALUE);
    Ok(())
}

fn of_the_device(b: &Bench) -> Outcome {
    let buffer = b.zeros::<u8>(400)?;
    let seen = attributes(b, buffer.pointer)?;
    same("the kind", seen.kind, MemoryKind::Device)?;
    same("the device", seen.raw.device, b.device())?;
    same("the device's pointer", seen.raw.devicePointer, buffer.pointer)?;
    same("the host's pointer", seen.raw.hostPointer, null_mut())?;
    same("whether it is managed", seen.raw.isManaged, 0)
}

/// The query returns the given address, not the start of the allocation.
fn inside_the_device(b: &Bench) -> Outcome {
    let buffer = b.zeros::<u8>(400)?;
    let seen = attributes(b, buffer.at(399))?;
    same("the kind and pointer", (seen.kind, seen.raw.devicePointer), (MemoryKind::Device, buffer.at(399)))
}

fn behind_the_device(b: &Bench) -> Outcome {
    let buffer = b.zeros::<u8>(1 << 20)?;
    // Another allocation could begin right here, so the case only checks that it is not this one.
    let mut raw = hipPointerAttribute_t::default();
    let behind = buffer.at(1 << 20);
    let code = call!(b, hipPointerGetAttributes(&mut raw, behind));
    let (mut base, mut size) = (null_mut(), 0);
    let found = call!(b, hipMemGetAddressRange(&mut base, &mut size, behind));
    ensure(found != SUCCESS || base != buffer.pointer, "the byte behind belongs to the allocation")?;
    ensure(code == VALUE || code == SUCCESS, format!("code {code}"))
}

fn of_the_other_device(b: &Bench) -> Outcome {
    let other = b.other_device()?;
    b.set_device(other)?;
    let there = b.zeros::<u8>(8)?;
    b.set_device(b.device())?;
    let seen = attributes(b, there.pointer)?;
    same("the kind and device", (seen.kind, seen.raw.device), (MemoryKind::Device, other))
}

fn pinned(b: &Bench) -> Outcome {
    let pinned = b.pinned::<u8>(64)?;
    let seen = attributes(b, pinned.pointer)?;
    same("the kind", seen.kind, MemoryKind::Host)?;
    same("the host's pointer", seen.raw.hostPointer, pinned.pointer)
}

fn registered(b: &Bench) -> Outcome {
    let mut own = vec![0_u8; 8192];
    let pointer: *mut c_void = own.as_mut_ptr().cast();
    ok!(b, hipHostRegister(pointer, 8192, 0));
    let seen = attributes(b, pointer);
    ok!(b, hipHostUnregister(pointer));
    let seen = seen?;
    same("the kind", seen.kind, MemoryKind::Host)?;
    same("the host's pointer", seen.raw.hostPointer, pointer)
}

fn managed(b: &Bench) -> Outcome {
    let mut pointer = null_mut();
    ok!(b, hipMallocManaged(&mut pointer, 64, hipMemAttachGlobal));
    let seen = attributes(b, pointer);
    ok!(b, hipFree(pointer));
    let seen = seen?;
    same("the kind", seen.kind, MemoryKind::Managed)?;
    same("whether it is managed", seen.raw.isManaged, 1)?;
    same("the pointers", (seen.raw.hostPointer, seen.raw.devicePointer), (pointer, pointer))
}

fn of_the_stack(b: &Bench) -> Outcome {
    let own = 0_u64;
    unregistered(b, (&raw const own).cast())
}

fn freed(b: &Bench) -> Outcome {
    let mut pointer = null_mut();
    ok!(b, hipHostMalloc(&mut pointer, 64, 0); hipHostFree(pointer));
    unregistered(b, pointer)
}

/// A handle that another process opens.
fn handle_for_other_processes(b: &Bench) -> Outcome {
    let (buffer, mut handle) = (b.zeros::<u8>(4096)?, hipIpcMemHandle_t::default());
    ok!(b, hipIpcGetMemHandle(&mut handle, buffer.pointer));
    ensure(handle.reserved.iter().any(|byte| *byte != 0), "the handle is empty")
}

fn start(b: &Bench) -> Outcome {
    let (buffer, mut base, mut size) = (b.zeros::<u8>(400)?, null_mut(), 0);
    ok!(b, hipMemGetAddressRange(&mut base, &mut size, buffer.pointer));
    same("the range", (base, size), (buffer.pointer, 400))
}

fn inside(b: &Bench) -> Outcome {
    let (buffer, mut base, mut size) = (b.zeros::<u8>(400)?, null_mut(), 0);
    ok!(b, hipMemGetAddressRange(&mut base, &mut size, buffer.at(399)));
    same("the range", (base, size), (buffer.pointer, 400))
}

fn behind(b: &Bench) -> Outcome {
    let (buffer, mut base, mut size) = (b.zeros::<u8>(400)?, null_mut(), 0);
    let code = call!(b, hipMemGetAddressRange(&mut base, &mut size, buffer.at(400)));
    ensure(code != SUCCESS || base != buffer.pointer, "the byte behind belongs to the allocation")
}

fn of_the_stack_too(b: &Bench) -> Outcome {
    let (mut own, mut base, mut size) = (0_u64, null_mut(), 0);
    expect!(b, hipMemGetAddressRange(&mut base, &mut size, (&raw mut own).cast()) => NOT_FOUND);
    Ok(())
}

fn no_outputs(b: &Bench) -> Outcome {
    let buffer = b.zeros::<u8>(8)?;
    expect!(b, hipMemGetAddressRange(null_mut(), null_mut(), buffer.pointer) => VALUE);
    Ok(())
}

fn base_alone(b: &Bench) -> Outcome {
    let (buffer, mut base) = (b.zeros::<u8>(8)?, null_mut());
    ok!(b, hipMemGetAddressRange(&mut base, null_mut(), buffer.at(3)));
    same("the start", base, buffer.pointer)
}

fn size_alone(b: &Bench) -> Outcome {
    let (buffer, mut size) = (b.zeros::<u8>(8)?, 0);
    ok!(b, hipMemGetAddressRange(null_mut(), &mut size, buffer.at(3)));
    same("the size", size, 8)
}
