//! Modules.

use super::prelude::*;

pub(crate) const CASES: &[Case] = cases!("module/handle": unload_null);
pub(crate) const CODE: &[Case] = cases!("module/code": absent_function);

/// A null module cannot be unloaded.
fn unload_null(b: &Bench) -> Outcome {
    expect!(b, hipModuleUnload(null_mut()) => HANDLE);
    Ok(())
}

/// A function that the module has not.
fn absent_function(b: &Bench) -> Outcome {
    let (module, mut function) = (b.module("basic")?, null_mut());
    expect!(b, hipModuleGetFunction(&mut function, module.raw, c"no_such_kernel".as_ptr()) => NOT_FOUND);
    Ok(())
}
