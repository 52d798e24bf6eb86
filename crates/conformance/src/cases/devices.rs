//! Queries of a device: name, identity, properties, attributes, limits.

use super::prelude::*;
use std::ffi::{CString, c_char, c_int};

pub(crate) const CASES: &[Case] = cases!(
    "device/handle": is_the_number, negative, one_too_many, null_output
);
pub(crate) const NAMES: &[Case] = cases!(
    "device/name": as_in_the_properties, nowhere_to_write, zero_length, cut_to_the_length, bad_device
);
pub(crate) const IDENTITY: &[Case] = cases!(
    "device/identity": uuid_is_its_own, uuid_null_output, uuid_bad_device, bus_and_back, bus_null_output,
    bus_zero_length, by_bus_null_output, by_bus_null_text, by_bus_unknown
);
pub(crate) const PROPERTIES: &[Case] = cases!(
    "device/properties": new_null_output, new_bad_device, old_null_output, old_bad_device, both_layouts_agree, wave,
    arch_is_named, limits_of_blocks, limits_of_grids, shared_memory, total_memory, total_null_output,
    total_bad_device
);
pub(crate) const ATTRIBUTES: &[Case] = cases!(
    "device/attribute": as_in_the_properties_too, unknown, null_attribute_output, of_a_bad_device
);
pub(crate) const LIMITS: &[Case] = cases!(
    "device/limit": stack_size_is_told, heap_size_is_told, what_is_set_is_told, unknown_get, unknown_set,
    null_limit_output
);
pub(crate) const PRIORITIES: &[Case] = cases!("device/priority": range, either_pointer_may_be_null);

fn text(chars: &[c_char]) -> String {
    chars.iter().map(|c| *c as u8).take_while(|c| *c != 0).map(char::from).collect()
}

fn properties(b: &Bench) -> Result<hipDeviceProp_tR0600, Failure> {
    let mut properties = hipDeviceProp_tR0600::default();
    ok!(b, hipGetDevicePropertiesR0600(&mut properties, b.device()));
    Ok(properties)
}

fn attribute(b: &Bench, attribute: hipDeviceAttribute_t) -> Result<c_int, Failure> {
    let mut value = -7;
    ok!(b, hipDeviceGetAttribute(&mut value, attribute, b.device()));
    Ok(value)
}

fn is_the_number(b: &Bench) -> Outcome {
    let mut handle = -7;
    ok!(b, hipDeviceGet(&mut handle, b.device()));
    same("the handle", handle, b.device())
}

fn negative(b: &Bench) -> Outcome {
    let mut handle = -7;
    expect!(b, hipDeviceGet(&mut handle, -1) => DEVICE);
    Ok(())
}

fn one_too_many(b: &Bench) -> Outcome {
    let (mut handle, count) = (-7, b.devices()?);
    expect!(b, hipDeviceGet(&mut handle, count) => DEVICE);
    Ok(())
}

fn null_output(b: &Bench) -> Outcome {
    expect!(b, hipDeviceGet(null_mut(), b.device()) => VALUE);
    Ok(())
}

fn as_in_the_properties(b: &Bench) -> Outcome {
    let mut name = [0x55 as c_char; 256];
    ok!(b, hipDeviceGetName(name.as_mut_ptr(), 256, b.device()));
    ensure(!text(&name).is_empty(), "the name is empty")?;
    same("the name", text(&name), text(&properties(b)?.name))
}

fn nowhere_to_write(b: &Bench) -> Outcome {
    expect!(b, hipDeviceGetName(null_mut(), 64, b.device()) => VALUE);
    Ok(())
}

fn zero_length(b: &Bench) -> Outcome {
    let mut name = [0x55 as c_char; 4];
    expect!(b, hipDeviceGetName(name.as_mut_ptr(), 0, b.device()) => VALUE);
    same("the buffer", name, [0x55; 4])
}

/// A short buffer receives as much as fits, with a zero byte, and nothing is written beyond it.
fn cut_to_the_length(b: &Bench) -> Outcome {
    let (mut name, whole) = ([0x55 as c_char; 8], text(&properties(b)?.name));
    ok!(b, hipDeviceGetName(name.as_mut_ptr(), 4, b.device()));
    same("the name", text(&name[..4]), whole[..3].to_owned())?;
    same("what is behind", &name[4..], &[0x55; 4])
}

fn bad_device(b: &Bench) -> Outcome {
    let (mut name, count) = ([0; 256], b.devices()?);
    expect!(b, hipDeviceGetName(name.as_mut_ptr(), 256, count) => DEVICE);
    Ok(())
}

fn uuid(b: &Bench, device: i32) -> Result<hipUUID, Failure> {
    let mut uuid = hipUUID::default();
    ok!(b, hipDeviceGetUuid(&mut uuid, device));
    Ok(uuid)
}

fn uuid_is_its_own(b: &Bench) -> Outcome {
    let mine = uuid(b, b.device())?;
    same("the properties' UUID", properties(b)?.uuid.bytes, mine.bytes)?;
    let other = uuid(b, b.other_device()?)?;
    ensure(other.bytes != mine.bytes, "two devices have one UUID")
}

fn uuid_null_output(b: &Bench) -> Outcome {
    expect!(b, hipDeviceGetUuid(null_mut(), b.device()) => VALUE);
    Ok(())
}

fn uuid_bad_device(b: &Bench) -> Outcome {
    let (mut uuid, count) = (hipUUID::default(), b.devices()?);
    expect!(b, hipDeviceGetUuid(&mut uuid, count) => DEVICE);
    Ok(())
}

/// The PCI address identifies the same device.
fn bus_and_back(b: &Bench) -> Outcome {
    let (mut address, mut device) = ([0 as c_char; 64], -7);
    ok!(b, hipDeviceGetPCIBusId(address.as_mut_ptr(), 64, b.device()));
    let address = text(&address);
    // domain:bus:device.function, in the system's format.
    let parts: Vec<usize> = address.split([':', '.']).map(str::len).collect();
    same(&format!("digits of {address:?}"), parts.as_slice(), &[4, 2, 2, 1])?;
    let c_address = CString::new(address).expect("cut at the zero byte");
    ok!(b, hipDeviceGetByPCIBusId(&mut device, c_address.as_ptr()));
    same("the device", device, b.device())
}

fn bus_null_output(b: &Bench) -> Outcome {
    expect!(b, hipDeviceGetPCIBusId(null_mut(), 64, b.device()) => VALUE);
    Ok(())
}

fn bus_zero_length(b: &Bench) -> Outcome {
    let mut address = [0; 4];
    expect!(b, hipDeviceGetPCIBusId(address.as_mut_ptr(), 4, b.device()) => VALUE);
    Ok(())
}

fn by_bus_null_output(b: &Bench) -> Outcome {
    expect!(b, hipDeviceGetByPCIBusId(null_mut(), c"0000:00:00.0".as_ptr()) => VALUE);
    Ok(())
}

fn by_bus_null_text(b: &Bench) -> Outcome {
    let mut device = -7;
    expect!(b, hipDeviceGetByPCIBusId(&mut device, null()) => VALUE);
    Ok(())
}

fn by_bus_unknown(b: &Bench) -> Outcome {
    let mut device = -7;
    expect!(b, hipDeviceGetByPCIBusId(&mut device, c"ffff:ff:1f.7".as_ptr()) => DEVICE);
    Ok(())
}

fn new_null_output(b: &Bench) -> Outcome {
    expect!(b, hipGetDevicePropertiesR0600(null_mut(), b.device()) => VALUE);
    Ok(())
}

fn new_bad_device(b: &Bench) -> Outcome {
    let (mut properties, count) = (hipDeviceProp_tR0600::default(), b.devices()?);
    expect!(b, hipGetDevicePropertiesR0600(&mut properties, count) => DEVICE);
    expect!(b, hipGetDevicePropertiesR0600(&mut properties, -1) => DEVICE);
    Ok(())
}

fn both_layouts_agree(b: &Bench) -> Outcome {
    let (new, mut old) = (properties(b)?, hipDeviceProp_tR0000::default());
    ok!(b, hipGetDevicePropertiesR0000(&mut old, b.device()));
    same("the name", text(&old.name), text(&new.name))?;
    same("the architecture", text(&old.gcnArchName), text(&new.gcnArchName))?;
    same("the wave size", old.warpSize, new.warpSize)?;
    same("the memory", old.totalGlobalMem, new.totalGlobalMem)?;
    same("threads in a block", old.maxThreadsPerBlock, new.maxThreadsPerBlock)?;
    same("the shared memory", old.sharedMemPerBlock, new.sharedMemPerBlock)
}

fn old_null_output(b: &Bench) -> Outcome {
    expect!(b, hipGetDevicePropertiesR0000(null_mut(), b.device()) => VALUE);
    Ok(())
}

fn old_bad_device(b: &Bench) -> Outcome {
    let (mut properties, count) = (hipDeviceProp_tR0000::default(), b.devices()?);
    expect!(b, hipGetDevicePropertiesR0000(&mut properties, count) => DEVICE);
    expect!(b, hipGetDevicePropertiesR0000(&mut properties, -1) => DEVICE);
    Ok(())
}

fn wave(b: &Bench) -> Outcome {
    let wave = properties(b)?.warpSize;
    ensure([32, 64].contains(&wave), format!("waves of {wave} lanes"))?;
    same("the wave size", wave as u32, b.wave())
}

fn arch_is_named(b: &Bench) -> Outcome {
    ensure(!text(&properties(b)?.gcnArchName).is_empty(), "the architecture has no name")
}

fn limits_of_blocks(b: &Bench) -> Outcome {
    let properties = properties(b)?;
    same("threads in a block", properties.maxThreadsPerBlock, 1024)?;
    same("threads in each dimension", properties.maxThreadsDim, [1024; 3])
}

fn limits_of_grids(b: &Bench) -> Outcome {
    let [x, y, z] = properties(b)?.maxGridSize;
    same("blocks along x", x, i32::MAX)?;
    ensure(y >= 65_535 && z >= 65_535, format!("{y} blocks along y, {z} along z"))
}

fn shared_memory(b: &Bench) -> Outcome {
    same("shared memory of a block", properties(b)?.sharedMemPerBlock, 65_536)
}

fn total_memory(b: &Bench) -> Outcome {
    let mut bytes = 0;
    ok!(b, hipDeviceTotalMem(&mut bytes, b.device()));
    same("the memory", bytes, properties(b)?.totalGlobalMem)
}

fn total_null_output(b: &Bench) -> Outcome {
    expect!(b, hipDeviceTotalMem(null_mut(), b.device()) => VALUE);
    Ok(())
}

fn total_bad_device(b: &Bench) -> Outcome {
    let (mut bytes, count) = (0, b.devices()?);
    expect!(b, hipDeviceTotalMem(&mut bytes, count) => DEVICE);
    Ok(())
}

fn as_in_the_properties_too(b: &Bench) -> Outcome {
    use hipDeviceAttribute_t as A;
    let p = properties(b)?;
    for (what, asked, expected) in [
        ("wave size", A::hipDeviceAttributeWarpSize, p.warpSize),
        ("threads in a block", A::hipDeviceAttributeMaxThreadsPerBlock, p.maxThreadsPerBlock),
        ("block x", A::hipDeviceAttributeMaxBlockDimX, p.maxThreadsDim[0]),
        ("block y", A::hipDeviceAttributeMaxBlockDimY, p.maxThreadsDim[1]),
        ("block z", A::hipDeviceAttributeMaxBlockDimZ, p.maxThreadsDim[2]),
        ("grid x", A::hipDeviceAttributeMaxGridDimX, p.maxGridSize[0]),
        ("grid y", A::hipDeviceAttributeMaxGridDimY, p.maxGridSize[1]),
        ("grid z", A::hipDeviceAttributeMaxGridDimZ, p.maxGridSize[2]),
        ("shared memory", A::hipDeviceAttributeMaxSharedMemoryPerBlock, p.sharedMemPerBlock as c_int),
        ("multiprocessors", A::hipDeviceAttributeMultiprocessorCount, p.multiProcessorCount),
        ("clock", A::hipDeviceAttributeClockRate, p.clockRate),
        ("major", A::hipDeviceAttributeComputeCapabilityMajor, p.major),
        ("minor", A::hipDeviceAttributeComputeCapabilityMinor, p.minor),
        ("concurrent kernels", A::hipDeviceAttributeConcurrentKernels, p.concurrentKernels),
        ("integrated", A::hipDeviceAttributeIntegrated, p.integrated),
        ("cache", A::hipDeviceAttributeL2CacheSize, p.l2CacheSize),
    ] {
        same(what, attribute(b, asked)?, expected)?;
    }
    Ok(())
}

fn unknown(b: &Bench) -> Outcome {
    let mut value = -7;
    expect!(b, hipDeviceGetAttribute(&mut value, hipDeviceAttribute_t(77_777), b.device()) => VALUE);
    Ok(())
}

fn null_attribute_output(b: &Bench) -> Outcome {
    let warp = hipDeviceAttribute_t::hipDeviceAttributeWarpSize;
    expect!(b, hipDeviceGetAttribute(null_mut(), warp, b.device()) => VALUE);
    Ok(())
}

fn of_a_bad_device(b: &Bench) -> Outcome {
    let (warp, mut value, count) = (hipDeviceAttribute_t::hipDeviceAttributeWarpSize, -7, b.devices()?);
    expect!(b, hipDeviceGetAttribute(&mut value, warp, count) => DEVICE);
    expect!(b, hipDeviceGetAttribute(&mut value, warp, -1) => DEVICE);
    Ok(())
}

fn stack_size_is_told(b: &Bench) -> Outcome {
    let mut bytes = 0;
    ok!(b, hipDeviceGetLimit(&mut bytes, hipLimit_t::hipLimitStackSize));
    ensure(bytes > 0, "no stack")
}

fn heap_size_is_told(b: &Bench) -> Outcome {
    let mut bytes = 0;
    ok!(b, hipDeviceGetLimit(&mut bytes, hipLimit_t::hipLimitMallocHeapSize));
    ensure(bytes > 0, "no heap")
}

fn what_is_set_is_told(b: &Bench) -> Outcome {
    let (limit, mut before, mut after) = (hipLimit_t::hipLimitStackSize, 0, 0);
    ok!(b, hipDeviceGetLimit(&mut before, limit));
    ok!(b, hipDeviceSetLimit(limit, 4096); hipDeviceGetLimit(&mut after, limit));
    ok!(b, hipDeviceSetLimit(limit, before));
    same("the stack", after, 4096)
}

fn unknown_get(b: &Bench) -> Outcome {
    let mut value = 0;
    expect!(b, hipDeviceGetLimit(&mut value, hipLimit_t(u32::MAX)) => LIMIT);
    Ok(())
}

fn unknown_set(b: &Bench) -> Outcome {
    expect!(b, hipDeviceSetLimit(hipLimit_t(u32::MAX), 1) => LIMIT);
    Ok(())
}

fn null_limit_output(b: &Bench) -> Outcome {
    expect!(b, hipDeviceGetLimit(null_mut(), hipLimit_t::hipLimitStackSize) => VALUE);
    Ok(())
}

/// Smaller is more urgent.
fn range(b: &Bench) -> Outcome {
    let (mut least, mut greatest) = (0, 0);
    ok!(b, hipDeviceGetStreamPriorityRange(&mut least, &mut greatest));
    ensure(greatest <= 0 && least >= 0 && greatest < least, format!("from {least} to {greatest}"))
}

fn either_pointer_may_be_null(b: &Bench) -> Outcome {
    let (mut least, mut greatest) = (77, 77);
    ok!(b, hipDeviceGetStreamPriorityRange(&mut least, null_mut()));
    ok!(b, hipDeviceGetStreamPriorityRange(null_mut(), &mut greatest));
    ok!(b, hipDeviceGetStreamPriorityRange(null_mut(), null_mut()));
    ensure(least != 77 && greatest != 77, "a result was not written")
}
