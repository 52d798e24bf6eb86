//! Two devices: access to each other's memory, and copies between them.

use super::prelude::*;

pub(crate) const CASES: &[Case] = cases!(
    "peer/access": a_device_reaches_the_other, a_device_is_not_its_own_peer, null_output, of_no_device, with_flags,
    to_itself, to_no_device, twice, off_while_off, off_twice, attribute, attribute_of_one_device
);
pub(crate) const COPIES: &[Case] = cases!(
    "peer/copy": there, back, chosen_by_the_pointers, of_the_blocking_kind, to_a_missing_device, nothing_to_nowhere
);

fn a_device_reaches_the_other(b: &Bench) -> Outcome {
    let (other, mut can) = (b.other_device()?, -7);
    ok!(b, hipDeviceCanAccessPeer(&mut can, b.device(), other));
    same("the answer", can, 1)
}

fn a_device_is_not_its_own_peer(b: &Bench) -> Outcome {
    let mut can = -7;
    ok!(b, hipDeviceCanAccessPeer(&mut can, b.device(), b.device()));
    same("the answer", can, 0)
}

fn null_output(b: &Bench) -> Outcome {
    let other = b.other_device()?;
    expect!(b, hipDeviceCanAccessPeer(null_mut(), b.device(), other) => VALUE);
    Ok(())
}

fn of_no_device(b: &Bench) -> Outcome {
    let (mut can, count) = (-7, b.devices()?);
    expect!(b, hipDeviceCanAccessPeer(&mut can, count, b.device()) => DEVICE);
    expect!(b, hipDeviceCanAccessPeer(&mut can, b.device(), -1) => DEVICE);
    Ok(())
}

fn with_flags(b: &Bench) -> Outcome {
    let other = b.other_device()?;
    expect!(b, hipDeviceEnablePeerAccess(other, 1) => VALUE);
    Ok(())
}

fn to_itself(b: &Bench) -> Outcome {
    b.other_device()?;
    expect!(b, hipDeviceEnablePeerAccess(b.device(), 0) => DEVICE);
    Ok(())
}

fn to_no_device(b: &Bench) -> Outcome {
    let count = b.devices()?;
    expect!(b, hipDeviceEnablePeerAccess(count, 0) => DEVICE; hipDeviceDisablePeerAccess(-1) => DEVICE);
    Ok(())
}

fn twice(b: &Bench) -> Outcome {
    let other = b.other_device()?;
    ok!(b, hipDeviceEnablePeerAccess(other, 0));
    let code = call!(b, hipDeviceEnablePeerAccess(other, 0));
    ok!(b, hipDeviceDisablePeerAccess(other));
    b.expect(code, PEER_ON, "hipDeviceEnablePeerAccess, once more")
}

fn off_while_off(b: &Bench) -> Outcome {
    let other = b.other_device()?;
    expect!(b, hipDeviceDisablePeerAccess(other) => PEER_OFF);
    Ok(())
}

fn off_twice(b: &Bench) -> Outcome {
    let other = b.other_device()?;
    ok!(b, hipDeviceEnablePeerAccess(other, 0); hipDeviceDisablePeerAccess(other));
    expect!(b, hipDeviceDisablePeerAccess(other) => PEER_OFF);
    Ok(())
}

fn attribute(b: &Bench) -> Outcome {
    let (other, mut value) = (b.other_device()?, -7);
    let supported = hipDeviceP2PAttr::hipDevP2PAttrAccessSupported;
    ok!(b, hipDeviceGetP2PAttribute(&mut value, supported, b.device(), other));
    same("whether access is supported", value, 1)
}

fn attribute_of_one_device(b: &Bench) -> Outcome {
    let (mut value, supported) = (-7, hipDeviceP2PAttr::hipDevP2PAttrAccessSupported);
    expect!(b, hipDeviceGetP2PAttribute(&mut value, supported, b.device(), b.device()) => DEVICE);
    Ok(())
}

/// Memory that was allocated on the other device.
fn far<'b>(b: &'b Bench, values: &[i32]) -> Result<(i32, Buffer<'b, i32>), Failure> {
    let other = b.other_device()?;
    b.set_device(other)?;
    let buffer = b.buffer(values)?;
    b.set_device(b.device())?;
    Ok((other, buffer))
}

fn there(b: &Bench) -> Outcome {
    let ((other, far), near, s) = (far(b, &[0, 0, 0])?, b.buffer(&[5, 6, 7])?, b.stream()?);
    ok!(b, hipMemcpyPeerAsync(far.pointer, other, near.pointer, b.device(), 12, s.raw));
    ok!(b, hipStreamSynchronize(s.raw));
    same_all("the far memory", &far.read()?, &[5, 6, 7])
}

fn back(b: &Bench) -> Outcome {
    let ((other, far), near, s) = (far(b, &[7, 8, 9])?, b.buffer(&[0, 0, 0])?, b.stream()?);
    ok!(b, hipMemcpyPeerAsync(near.pointer, b.device(), far.pointer, other, 12, s.raw));
    ok!(b, hipStreamSynchronize(s.raw));
    same_all("the near memory", &near.read()?, &[7, 8, 9])
}

fn chosen_by_the_pointers(b: &Bench) -> Outcome {
    let ((_, far), near) = (far(b, &[1, 2, 3])?, b.buffer(&[0, 0, 0])?);
    ok!(b, hipMemcpy(near.pointer, far.pointer, 12, ANY));
    same_all("the near memory", &near.read()?, &[1, 2, 3])
}

fn of_the_blocking_kind(b: &Bench) -> Outcome {
    let ((_, far), near) = (far(b, &[0, 0, 0])?, b.buffer(&[3, 2, 1])?);
    ok!(b, hipMemcpy(far.pointer, near.pointer, 12, D2D));
    same_all("the far memory", &far.read()?, &[3, 2, 1])
}

fn to_a_missing_device(b: &Bench) -> Outcome {
    let (count, near) = (b.devices()?, b.zeros::<i32>(3)?);
    expect!(b, hipMemcpyPeerAsync(near.pointer, count, near.pointer, b.device(), 4, NULL) => DEVICE);
    expect!(b, hipMemcpyPeerAsync(near.pointer, b.device(), near.pointer, -1, 4, NULL) => DEVICE);
    Ok(())
}

fn nothing_to_nowhere(b: &Bench) -> Outcome {
    let (_, far) = far(b, &[4])?;
    expect!(b, hipMemcpyPeerAsync(null_mut(), b.device(), far.pointer, b.other_device()?, 4, NULL) => VALUE);
    same_all("the far memory", &far.read()?, &[4])
}
