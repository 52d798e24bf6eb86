//! Kernels compiled before the first case, so that a long run keeps every core busy with them.

use std::collections::BTreeSet;

use tensor_core::DType;

use crate::case::{Case, Op};
use crate::devices::NamedDevice;

/// With fewer cases only a few kernels are needed: each is compiled when a case asks for it.
const MANY: usize = 500;

/// Compiles what many cases need on the devices. `step` is told the device, and how many units of how many are done.
///
/// # Errors
/// What [`tensor_core::Device::compile_kernels`] says of the first device that has no code.
pub fn compile(
    cases: &[Case],
    devices: &[NamedDevice],
    step: &(dyn Fn(&str, usize, usize) + Sync),
) -> Result<(), tensor_core::Error> {
    if cases.len() < MANY {
        return Ok(());
    }
    let operands = cases.iter().flat_map(|case| case.operands.iter().map(|operand| operand.dtype));
    let results = cases.iter().filter_map(|case| if let Op::Cast(to) = case.op { Some(to) } else { None });
    let names: BTreeSet<&str> = operands.chain(results).map(|dtype| dtype.name()).collect();
    let dtypes: Vec<DType> = DType::ALL.into_iter().filter(|dtype| names.contains(dtype.name())).collect();
    devices.iter().try_for_each(|named| {
        named.device.compile_kernels(&dtypes, &|done, all| step(&named.name, done, all))
    })
}
