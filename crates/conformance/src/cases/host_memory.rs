//! Host memory known to HIP: allocated by HIP, or registered by the program.

use super::prelude::*;

pub(crate) const CASES: &[Case] = cases!(
    "memory/pinned": null_output, zero_bytes, unknown_flag, coherent_and_not, free_of_nothing, free_twice,
    free_of_the_stack, the_host_reads_and_writes_it, a_device_address, a_device_address_inside, flags_of_an_address,
    address_null_output, address_of_nothing, address_of_the_stack, survives_on_every_device
);
pub(crate) const REGISTER: &[Case] = cases!(
    "memory/register": nothing, no_bytes, unknown_register_flag, again, undo_nothing, undo_of_the_stack, undo_twice,
    undo_from_the_middle, its_device_address, copies_use_it, a_fill_uses_it
);
pub(crate) const MANAGED: &[Case] = cases!(
    "memory/managed": managed_null_output, no_managed_bytes, managed_unknown_flag, the_host_sees_a_fill,
    the_device_sees_the_host, prefetch_there_and_back, prefetch_nothing, prefetch_too_much, prefetch_to_no_device,
    advice, unknown_advice, advice_about_nothing
);

fn null_output(b: &Bench) -> Outcome {
    expect!(b, hipHostMalloc(null_mut(), 8, 0) => VALUE);
    Ok(())
}

fn zero_bytes(b: &Bench) -> Outcome {
    let mut pointer = 0x1000 as *mut c_void;
    ok!(b, hipHostMalloc(&mut pointer, 0, 0));
    same("the pointer", pointer, null_mut())
}

fn unknown_flag(b: &Bench) -> Outcome {
    let mut pointer = null_mut();
    expect!(b, hipHostMalloc(&mut pointer, 8, 0x100) => VALUE);
    Ok(())
}

fn coherent_and_not(b: &Bench) -> Outcome {
    let (mut pointer, both) = (null_mut(), hipHostMallocCoherent | hipHostMallocNonCoherent);
    expect!(b, hipHostMalloc(&mut pointer, 8, both) => VALUE);
    Ok(())
}

fn free_of_nothing(b: &Bench) -> Outcome {
    ok!(b, hipHostFree(null_mut()));
    Ok(())
}

fn free_twice(b: &Bench) -> Outcome {
    let mut pointer = null_mut();
    ok!(b, hipHostMalloc(&mut pointer, 8, 0); hipHostFree(pointer));
    expect!(b, hipHostFree(pointer) => VALUE);
    Ok(())
}

fn free_of_the_stack(b: &Bench) -> Outcome {
    let mut own = 0_u64;
    expect!(b, hipHostFree((&raw mut own).cast()) => VALUE);
    Ok(())
}

fn the_host_reads_and_writes_it(b: &Bench) -> Outcome {
    let (pinned, device) = (b.pinned::<i32>(4)?, b.zeros::<i32>(4)?);
    pinned.write(&[1, -2, 3, -4]);
    ok!(b, hipMemcpy(device.pointer, pinned.pointer, 16, H2D));
    same_all("on the device", &device.read()?, &[1, -2, 3, -4])?;
    pinned.write(&[0; 4]);
    ok!(b, hipMemcpy(pinned.pointer, device.pointer, 16, D2H));
    same_all("back here", &pinned.read(), &[1, -2, 3, -4])
}

fn a_device_address(b: &Bench) -> Outcome {
    let (pinned, mut address) = (b.pinned::<u8>(16)?, null_mut());
    ok!(b, hipHostGetDevicePointer(&mut address, pinned.pointer, 0); hipMemset(address, 7, 16));
    b.sync()?;
    same_all("the memory", &pinned.read(), &[7; 16])
}

fn a_device_address_inside(b: &Bench) -> Outcome {
    let (pinned, mut start, mut inside) = (b.pinned::<u8>(16)?, null_mut(), null_mut());
    ok!(b, hipHostGetDevicePointer(&mut start, pinned.pointer, 0));
    ok!(b, hipHostGetDevicePointer(&mut inside, pinned.pointer.wrapping_byte_add(5), 0));
    same("the distance", inside as usize - start as usize, 5)
}

fn flags_of_an_address(b: &Bench) -> Outcome {
    let (pinned, mut address) = (b.pinned::<u8>(16)?, null_mut());
    expect!(b, hipHostGetDevicePointer(&mut address, pinned.pointer, 1) => VALUE);
    Ok(())
}

fn address_null_output(b: &Bench) -> Outcome {
    let pinned = b.pinned::<u8>(16)?;
    expect!(b, hipHostGetDevicePointer(null_mut(), pinned.pointer, 0) => VALUE);
    Ok(())
}

fn address_of_nothing(b: &Bench) -> Outcome {
    let mut address = null_mut();
    expect!(b, hipHostGetDevicePointer(&mut address, null_mut(), 0) => VALUE);
    Ok(())
}

fn address_of_the_stack(b: &Bench) -> Outcome {
    let (mut address, mut own) = (null_mut(), 0_u64);
    expect!(b, hipHostGetDevicePointer(&mut address, (&raw mut own).cast(), 0) => VALUE);
    Ok(())
}

fn survives_on_every_device(b: &Bench) -> Outcome {
    let (other, pinned) = (b.other_device()?, b.pinned::<i32>(2)?);
    pinned.write(&[8, 9]);
    b.set_device(other)?;
    let there = b.zeros::<i32>(2)?;
    ok!(b, hipMemcpy(there.pointer, pinned.pointer, 8, H2D));
    same_all("on the other device", &there.read()?, &[8, 9])
}

/// Memory pages owned by the program.
fn own() -> Vec<u8> {
    vec![3; 8192]
}

fn nothing(b: &Bench) -> Outcome {
    expect!(b, hipHostRegister(null_mut(), 8, 0) => VALUE);
    Ok(())
}

fn no_bytes(b: &Bench) -> Outcome {
    let mut own = own();
    expect!(b, hipHostRegister(own.as_mut_ptr().cast(), 0, 0) => VALUE);
    Ok(())
}

fn unknown_register_flag(b: &Bench) -> Outcome {
    let mut own = own();
    expect!(b, hipHostRegister(own.as_mut_ptr().cast(), 8192, 0x100) => VALUE);
    Ok(())
}

fn again(b: &Bench) -> Outcome {
    let mut own = own();
    let pointer = own.as_mut_ptr().cast();
    ok!(b, hipHostRegister(pointer, 8192, 0));
    let code = call!(b, hipHostRegister(pointer, 8192, 0));
    ok!(b, hipHostUnregister(pointer));
    b.expect(code, ALREADY_REGISTERED, "hipHostRegister, once more")
}

fn undo_nothing(b: &Bench) -> Outcome {
    expect!(b, hipHostUnregister(null_mut()) => VALUE);
    Ok(())
}

fn undo_of_the_stack(b: &Bench) -> Outcome {
    let mut own = 0_u64;
    expect!(b, hipHostUnregister((&raw mut own).cast()) => NOT_REGISTERED);
    Ok(())
}

fn undo_twice(b: &Bench) -> Outcome {
    let mut own = own();
    let pointer = own.as_mut_ptr().cast();
    ok!(b, hipHostRegister(pointer, 8192, 0); hipHostUnregister(pointer));
    expect!(b, hipHostUnregister(pointer) => NOT_REGISTERED);
    Ok(())
}

fn undo_from_the_middle(b: &Bench) -> Outcome {
    let mut own = own();
    let pointer = own.as_mut_ptr().cast();
    ok!(b, hipHostRegister(pointer, 8192, 0));
    let code = call!(b, hipHostUnregister(pointer.wrapping_byte_add(1)));
    ok!(b, hipHostUnregister(pointer));
    b.expect(code, NOT_REGISTERED, "hipHostUnregister, one byte in")
}

fn its_device_address(b: &Bench) -> Outcome {
    let (mut own, mut address) = (own(), null_mut());
    let pointer = own.as_mut_ptr().cast();
    ok!(b, hipHostRegister(pointer, 8192, hipHostRegisterMapped));
    ok!(b, hipHostGetDevicePointer(&mut address, pointer, 0); hipHostUnregister(pointer));
    ensure(!address.is_null(), "no address")
}

fn copies_use_it(b: &Bench) -> Outcome {
    let (mut own, device, stream) = (own(), b.filled(8192, 9_u8)?, b.stream()?);
    let pointer: *mut c_void = own.as_mut_ptr().cast();
    ok!(b, hipHostRegister(pointer, 8192, 0));
    ok!(b, hipMemcpyAsync(pointer, device.pointer, 8000, D2H, stream.raw); hipStreamSynchronize(stream.raw));
    ok!(b, hipHostUnregister(pointer));
    same("the last that was copied and the next", (own[7999], own[8000]), (9, 3))
}

fn a_fill_uses_it(b: &Bench) -> Outcome {
    let (mut own, mut address) = (own(), null_mut());
    let pointer = own.as_mut_ptr().cast();
    ok!(b, hipHostRegister(pointer, 8192, 0); hipHostGetDevicePointer(&mut address, pointer, 0));
    ok!(b, hipMemset(address, 4, 50); hipDeviceSynchronize(); hipHostUnregister(pointer));
    same("the last that was filled and the next", (own[49], own[50]), (4, 3))
}

fn managed_null_output(b: &Bench) -> Outcome {
    expect!(b, hipMallocManaged(null_mut(), 8, hipMemAttachGlobal) => VALUE);
    Ok(())
}

fn no_managed_bytes(b: &Bench) -> Outcome {
    let mut pointer = null_mut();
    expect!(b, hipMallocManaged(&mut pointer, 0, hipMemAttachGlobal) => VALUE);
    Ok(())
}

fn managed_unknown_flag(b: &Bench) -> Outcome {
    let mut pointer = null_mut();
    expect!(b, hipMallocManaged(&mut pointer, 8, 9) => VALUE);
    Ok(())
}

/// Allocates 4096 bytes of managed memory for a check, and frees them afterwards.
fn with_managed(b: &Bench, question: impl FnOnce(*mut c_void) -> Outcome) -> Outcome {
    let mut pointer = null_mut();
    ok!(b, hipMallocManaged(&mut pointer, 4096, hipMemAttachGlobal));
    let outcome = question(pointer);
    ok!(b, hipFree(pointer));
    outcome
}

fn the_host_sees_a_fill(b: &Bench) -> Outcome {
    with_managed(b, |pointer| {
        ok!(b, hipMemset(pointer, 1, 4096); hipDeviceSynchronize());
        // SAFETY: S2: managed memory of 4096 bytes; the device is idle.
        same("the memory", unsafe { pointer.cast::<[u8; 4096]>().read() } == [1; 4096], true)
    })
}

fn the_device_sees_the_host(b: &Bench) -> Outcome {
    let device = b.zeros::<u8>(4096)?;
    with_managed(b, |pointer| {
        // SAFETY: S2: managed memory of 4096 bytes; the device is idle.
        unsafe { pointer.cast::<[u8; 4096]>().write([6; 4096]) };
        ok!(b, hipMemcpy(device.pointer, pointer, 4096, ANY));
        same_all("the copy", &device.read()?, &[6; 4096])
    })
}

/// −1 is the host.
fn prefetch_there_and_back(b: &Bench) -> Outcome {
    with_managed(b, |pointer| {
        ok!(b, hipMemset(pointer, 2, 4096); hipMemPrefetchAsync(pointer, 4096, b.device(), NULL));
        ok!(b, hipMemPrefetchAsync(pointer, 4096, -1, NULL); hipDeviceSynchronize());
        // SAFETY: S2: managed memory of 4096 bytes; the device is idle.
        same("the memory", unsafe { pointer.cast::<[u8; 4096]>().read() } == [2; 4096], true)
    })
}

fn prefetch_nothing(b: &Bench) -> Outcome {
    expect!(b, hipMemPrefetchAsync(null(), 8, b.device(), NULL) => VALUE);
    with_managed(b, |pointer| {
        expect!(b, hipMemPrefetchAsync(pointer, 0, b.device(), NULL) => VALUE);
        Ok(())
    })
}

fn prefetch_too_much(b: &Bench) -> Outcome {
    with_managed(b, |pointer| {
        expect!(b, hipMemPrefetchAsync(pointer, 4097, b.device(), NULL) => VALUE);
        Ok(())
    })
}

fn prefetch_to_no_device(b: &Bench) -> Outcome {
    let count = b.devices()?;
    with_managed(b, |pointer| {
        expect!(b, hipMemPrefetchAsync(pointer, 4096, count, NULL) => DEVICE);
        Ok(())
    })
}

fn advice(b: &Bench) -> Outcome {
    use hipMemoryAdvise as A;
    with_managed(b, |pointer| {
        for advice in
            [A::hipMemAdviseSetReadMostly, A::hipMemAdviseUnsetReadMostly, A::hipMemAdviseSetAccessedBy]
        {
            ok!(b, hipMemAdvise(pointer, 4096, advice, b.device()));
        }
        Ok(())
    })
}

fn unknown_advice(b: &Bench) -> Outcome {
    with_managed(b, |pointer| {
        expect!(b, hipMemAdvise(pointer, 4096, hipMemoryAdvise(77), b.device()) => VALUE);
        Ok(())
    })
}

fn advice_about_nothing(b: &Bench) -> Outcome {
    let advice = hipMemoryAdvise::hipMemAdviseSetReadMostly;
    expect!(b, hipMemAdvise(null(), 8, advice, b.device()) => VALUE);
    with_managed(b, |pointer| {
        expect!(b, hipMemAdvise(pointer, 0, advice, b.device()) => VALUE);
        Ok(())
    })
}
