//! Compiles kernels before the first case, so that long runs use every core for it.

use std::collections::BTreeSet;

use tensor_core::DType;

use crate::case::{Case, Op};
use crate::devices::NamedDevice;

/// Fewer cases need only a few kernels, which are compiled when a case uses them.
const MANY: usize = 500;

/// Compiles the kernels of many cases on the devices. `step` gets the device, the number of units done and the number
/// of all.
///
/// # Errors
/// That of [`tensor_core::Device::compile_kernels`] for the first device without code.
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
