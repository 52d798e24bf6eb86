//! Allocating and freeing.

use super::prelude::*;

pub(crate) const CASES: &[Case] = cases!("memory/allocate": null_place, too_much, zero_bytes);

/// There has to be a place for the pointer.
fn null_place(b: &Bench) -> Outcome {
    expect!(b, hipMalloc(null_mut(), 8) => VALUE);
    Ok(())
}

/// No device has so much.
fn too_much(b: &Bench) -> Outcome {
    let mut place = null_mut();
    expect!(b, hipMalloc(&mut place, usize::MAX) => MEMORY);
    Ok(())
}

/// Zero bytes are a null pointer and no error.
fn zero_bytes(b: &Bench) -> Outcome {
    let mut place = 0x1000 as *mut c_void;
    ok!(b, hipMalloc(&mut place, 0));
    same("the pointer", place, null_mut())
}
