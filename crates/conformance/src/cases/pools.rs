//! Stream-ordered memory, and its pools.

use super::prelude::*;

pub(crate) const CASES: &[Case] = cases!(
    "pool/allocate": null_output, no_bytes, bad_stream, used_in_its_stream, freed_in_its_stream, free_of_nothing,
    free_twice, free_on_a_bad_stream, free_by_plain_free, too_much
);
pub(crate) const POOLS: &[Case] = cases!(
    "pool/pool": of_the_device, default_null_output, default_of_no_device, destroying_the_default, destroying_nothing,
    create_null_output, create_null_properties, create_on_no_device, its_own_memory, its_memory_outlives_it,
    the_devices_choice, choice_of_no_device
);
pub(crate) const ATTRIBUTES: &[Case] = cases!(
    "pool/attribute": used, high_water, high_water_restarts, threshold, unknown_get, unknown_set, null_value, trim
);

fn null_output(b: &Bench) -> Outcome {
    expect!(b, hipMallocAsync(null_mut(), 8, NULL) => VALUE);
    Ok(())
}

fn no_bytes(b: &Bench) -> Outcome {
    let mut pointer = 0x1000 as *mut c_void;
    ok!(b, hipMallocAsync(&mut pointer, 0, NULL));
    same("the pointer", pointer, null_mut())
}

fn bad_stream(b: &Bench) -> Outcome {
    let mut pointer = null_mut();
    expect!(b, hipMallocAsync(&mut pointer, 8, 0x1234 as hipStream_t) => HANDLE);
    Ok(())
}

fn used_in_its_stream(b: &Bench) -> Outcome {
    let (s, pinned, mut pointer) = (b.stream_with(hipStreamNonBlocking)?, b.pinned::<i32>(100)?, null_mut());
    ok!(b, hipMallocAsync(&mut pointer, 400, s.raw); hipMemsetD32Async(pointer, 8, 100, s.raw));
    ok!(b, hipMemcpyAsync(pinned.pointer, pointer, 400, D2H, s.raw); hipFreeAsync(pointer, s.raw));
    ok!(b, hipStreamSynchronize(s.raw));
    same_all("the values", &pinned.read(), &[8; 100])
}

/// A free in stream order: operations queued before the free can still use the memory.
fn freed_in_its_stream(b: &Bench) -> Outcome {
    let (s, gate, pinned) = (b.stream_with(hipStreamNonBlocking)?, Gate::new(), b.pinned::<u8>(64)?);
    let (mut first, mut second) = (null_mut(), null_mut());
    ok!(b, hipMallocAsync(&mut first, 64, s.raw); hipStreamSynchronize(s.raw));
    gate.hold(b, s.raw)?;
    ok!(b, hipMemsetAsync(first, 1, 64, s.raw); hipMemcpyAsync(pinned.pointer, first, 64, D2H, s.raw));
    ok!(b, hipFreeAsync(first, s.raw));
    // An allocation of another stream gets different memory, since this memory is still in use.
    let other = b.stream_with(hipStreamNonBlocking)?;
    ok!(b, hipMallocAsync(&mut second, 64, other.raw); hipMemsetAsync(second, 2, 64, other.raw));
    ok!(b, hipStreamSynchronize(other.raw));
    gate.open();
    ok!(b, hipStreamSynchronize(s.raw); hipFreeAsync(second, other.raw); hipStreamSynchronize(other.raw));
    same_all("what the copy saw", &pinned.read(), &[1; 64])
}

fn free_of_nothing(b: &Bench) -> Outcome {
    expect!(b, hipFreeAsync(null_mut(), NULL) => VALUE);
    Ok(())
}

fn free_twice(b: &Bench) -> Outcome {
    let mut pointer = null_mut();
    ok!(b, hipMallocAsync(&mut pointer, 8, NULL); hipFreeAsync(pointer, NULL));
    expect!(b, hipFreeAsync(pointer, NULL) => VALUE);
    Ok(())
}

fn free_on_a_bad_stream(b: &Bench) -> Outcome {
    let mut pointer = null_mut();
    ok!(b, hipMallocAsync(&mut pointer, 8, NULL));
    let code = call!(b, hipFreeAsync(pointer, 0x1234 as hipStream_t));
    ok!(b, hipFreeAsync(pointer, NULL));
    b.expect(code, HANDLE, "hipFreeAsync on no stream")
}

fn free_by_plain_free(b: &Bench) -> Outcome {
    let mut pointer = null_mut();
    ok!(b, hipMallocAsync(&mut pointer, 64, NULL); hipMemsetAsync(pointer, 1, 64, NULL); hipFree(pointer));
    expect!(b, hipFree(pointer) => VALUE);
    Ok(())
}

fn too_much(b: &Bench) -> Outcome {
    let mut pointer = null_mut();
    expect!(b, hipMallocAsync(&mut pointer, usize::MAX / 2, NULL) => MEMORY);
    Ok(())
}

fn default_of(b: &Bench) -> Result<hipMemPool_t, Failure> {
    let mut pool = null_mut();
    ok!(b, hipDeviceGetDefaultMemPool(&mut pool, b.device()));
    Ok(pool)
}

fn properties(device: i32) -> hipMemPoolProps {
    hipMemPoolProps {
        allocType: hipMemAllocationType::hipMemAllocationTypePinned,
        location: hipMemLocation { type_: hipMemLocationType::hipMemLocationTypeDevice, id: device },
        ..Default::default()
    }
}

/// Creates a pool for a check and destroys it afterwards.
fn with_pool(b: &Bench, question: impl FnOnce(hipMemPool_t) -> Outcome) -> Outcome {
    let mut pool = null_mut();
    ok!(b, hipMemPoolCreate(&mut pool, &properties(b.device())));
    let outcome = question(pool);
    ok!(b, hipMemPoolDestroy(pool));
    outcome
}

fn get(b: &Bench, pool: hipMemPool_t, attribute: hipMemPoolAttr) -> Result<u64, Failure> {
    let mut value = 0_u64;
    ok!(b, hipMemPoolGetAttribute(pool, attribute, (&raw mut value).cast()));
    Ok(value)
}

fn of_the_device(b: &Bench) -> Outcome {
    ensure(!default_of(b)?.is_null(), "the device has no pool")
}

fn default_null_output(b: &Bench) -> Outcome {
    expect!(b, hipDeviceGetDefaultMemPool(null_mut(), b.device()) => VALUE);
    Ok(())
}

fn default_of_no_device(b: &Bench) -> Outcome {
    let (mut pool, count) = (null_mut(), b.devices()?);
    expect!(b, hipDeviceGetDefaultMemPool(&mut pool, count) => DEVICE);
    Ok(())
}

fn destroying_the_default(b: &Bench) -> Outcome {
    let pool = default_of(b)?;
    expect!(b, hipMemPoolDestroy(pool) => VALUE);
    Ok(())
}

fn destroying_nothing(b: &Bench) -> Outcome {
    expect!(b, hipMemPoolDestroy(null_mut()) => VALUE);
    Ok(())
}

fn create_null_output(b: &Bench) -> Outcome {
    expect!(b, hipMemPoolCreate(null_mut(), &properties(b.device())) => VALUE);
    Ok(())
}

fn create_null_properties(b: &Bench) -> Outcome {
    let mut pool = null_mut();
    expect!(b, hipMemPoolCreate(&mut pool, null()) => VALUE);
    Ok(())
}

fn create_on_no_device(b: &Bench) -> Outcome {
    let (mut pool, count) = (null_mut(), b.devices()?);
    expect!(b, hipMemPoolCreate(&mut pool, &properties(count)) => VALUE);
    Ok(())
}

fn its_own_memory(b: &Bench) -> Outcome {
    with_pool(b, |pool| {
        let (s, pinned, mut pointer) = (b.stream()?, b.pinned::<u8>(16)?, null_mut());
        ok!(b, hipMallocFromPoolAsync(&mut pointer, 16, pool, s.raw); hipMemsetAsync(pointer, 3, 16, s.raw));
        ok!(b, hipMemcpyAsync(pinned.pointer, pointer, 16, D2H, s.raw); hipFreeAsync(pointer, s.raw));
        ok!(b, hipStreamSynchronize(s.raw));
        same_all("the values", &pinned.read(), &[3; 16])
    })
}

fn its_memory_outlives_it(b: &Bench) -> Outcome {
    let (s, mut pointer, mut back) = (b.stream()?, null_mut(), [0_u8; 16]);
    with_pool(b, |pool| {
        ok!(b, hipMallocFromPoolAsync(&mut pointer, 16, pool, s.raw); hipMemsetAsync(pointer, 3, 16, s.raw));
        Ok(())
    })?;
    ok!(b, hipMemcpyWithStream(back.as_mut_ptr().cast(), pointer, 16, D2H, s.raw); hipFreeAsync(pointer, s.raw));
    ok!(b, hipStreamSynchronize(s.raw));
    same_all("the values", &back, &[3; 16])
}

/// hipMallocAsync allocates from the pool set for the device, and from the default pool once that is set
/// again.
fn the_devices_choice(b: &Bench) -> Outcome {
    let attribute = hipMemPoolAttr::hipMemPoolAttrUsedMemCurrent;
    with_pool(b, |pool| {
        let (before, mut pointer) = (get(b, pool, attribute)?, null_mut());
        ok!(b, hipDeviceSetMemPool(b.device(), pool); hipMallocAsync(&mut pointer, 4096, NULL));
        let after = get(b, pool, attribute)?;
        ok!(b, hipFreeAsync(pointer, NULL); hipDeviceSetMemPool(b.device(), default_of(b)?); hipDeviceSynchronize());
        ensure(after >= before + 4096, format!("{before} bytes used before, {after} after 4096"))
    })
}

fn choice_of_no_device(b: &Bench) -> Outcome {
    let (pool, count) = (default_of(b)?, b.devices()?);
    expect!(b, hipDeviceSetMemPool(count, pool) => DEVICE);
    Ok(())
}

fn used(b: &Bench) -> Outcome {
    let attribute = hipMemPoolAttr::hipMemPoolAttrUsedMemCurrent;
    with_pool(b, |pool| {
        let (s, mut x, mut y) = (b.stream()?, null_mut(), null_mut());
        ok!(b, hipMallocFromPoolAsync(&mut x, 1 << 20, pool, s.raw));
        ok!(b, hipMallocFromPoolAsync(&mut y, 2 << 20, pool, s.raw); hipStreamSynchronize(s.raw));
        let both = get(b, pool, attribute)?;
        ok!(b, hipFreeAsync(x, s.raw); hipStreamSynchronize(s.raw));
        let one = get(b, pool, attribute)?;
        ok!(b, hipFreeAsync(y, s.raw); hipStreamSynchronize(s.raw));
        same("used with both, one, none", (both, one, get(b, pool, attribute)?), (3 << 20, 2 << 20, 0))
    })
}

fn high_water(b: &Bench) -> Outcome {
    with_pool(b, |pool| {
        let (s, mut pointer) = (b.stream()?, null_mut());
        ok!(b, hipMallocFromPoolAsync(&mut pointer, 1 << 20, pool, s.raw); hipFreeAsync(pointer, s.raw));
        ok!(b, hipStreamSynchronize(s.raw));
        same("the most that was used", get(b, pool, hipMemPoolAttr::hipMemPoolAttrUsedMemHigh)?, 1 << 20)
    })
}

fn high_water_restarts(b: &Bench) -> Outcome {
    let (high, mut zero) = (hipMemPoolAttr::hipMemPoolAttrUsedMemHigh, 0_u64);
    with_pool(b, |pool| {
        let (s, mut pointer) = (b.stream()?, null_mut());
        ok!(b, hipMallocFromPoolAsync(&mut pointer, 1 << 20, pool, s.raw); hipFreeAsync(pointer, s.raw));
        ok!(b, hipStreamSynchronize(s.raw); hipMemPoolSetAttribute(pool, high, (&raw mut zero).cast()));
        same("the most that was used", get(b, pool, high)?, 0)
    })
}

fn threshold(b: &Bench) -> Outcome {
    let (attribute, mut value) = (hipMemPoolAttr::hipMemPoolAttrReleaseThreshold, 12_345_678_901_u64);
    with_pool(b, |pool| {
        same("the threshold at first", get(b, pool, attribute)?, 0)?;
        ok!(b, hipMemPoolSetAttribute(pool, attribute, (&raw mut value).cast()));
        same("the threshold", get(b, pool, attribute)?, 12_345_678_901)
    })
}

fn unknown_get(b: &Bench) -> Outcome {
    let (pool, mut value) = (default_of(b)?, 0_u64);
    expect!(b, hipMemPoolGetAttribute(pool, hipMemPoolAttr(77), (&raw mut value).cast()) => VALUE);
    Ok(())
}

fn unknown_set(b: &Bench) -> Outcome {
    let (pool, mut value) = (default_of(b)?, 0_u64);
    expect!(b, hipMemPoolSetAttribute(pool, hipMemPoolAttr(77), (&raw mut value).cast()) => VALUE);
    Ok(())
}

fn null_value(b: &Bench) -> Outcome {
    let (pool, attribute) = (default_of(b)?, hipMemPoolAttr::hipMemPoolAttrReleaseThreshold);
    expect!(b,
        hipMemPoolGetAttribute(pool, attribute, null_mut()) => VALUE;
        hipMemPoolSetAttribute(pool, attribute, null_mut()) => VALUE;
    );
    Ok(())
}

fn trim(b: &Bench) -> Outcome {
    let pool = default_of(b)?;
    ok!(b, hipMemPoolTrimTo(pool, 0));
    expect!(b, hipMemPoolTrimTo(null_mut(), 0) => VALUE);
    Ok(())
}
