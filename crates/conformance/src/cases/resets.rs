//! What a device reset destroys. It would also destroy other cases' objects, so these cases run in a process
//! each.

use super::prelude::*;

pub(crate) const CASES: &[Case] = cases!(
    "device/reset": ; isolated: frees_the_memory, the_device_works_on, of_an_idle_device_twice
);

fn frees_the_memory(b: &Bench) -> Outcome {
    let (mut pointer, mut before, mut after, mut total) = (null_mut(), 0, 0, 0);
    ok!(b, hipMemGetInfo(&mut before, &mut total); hipMalloc(&mut pointer, 64 << 20));
    ok!(b, hipDeviceReset(); hipMemGetInfo(&mut after, &mut total));
    same("the free bytes", after, before)?;
    expect!(b, hipFree(pointer) => VALUE);
    Ok(())
}

fn the_device_works_on(b: &Bench) -> Outcome {
    let (mut pointer, mut back) = (null_mut(), 0_u32);
    ok!(b, hipDeviceReset(); hipMalloc(&mut pointer, 4); hipMemset(pointer, 1, 4));
    ok!(b, hipMemcpy((&raw mut back).cast(), pointer, 4, D2H); hipFree(pointer));
    same("the value", back, 0x0101_0101)
}

fn of_an_idle_device_twice(b: &Bench) -> Outcome {
    ok!(b, hipDeviceReset(); hipDeviceReset(); hipDeviceSynchronize());
    Ok(())
}
