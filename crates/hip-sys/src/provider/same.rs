//! Whose memory and streams a table works on.

use crate::HipTable;

/// Whether both tables have the same memory and the same streams: whether they allocate and create streams by the same functions.
pub fn same_hip(a: &HipTable, b: &HipTable) -> bool {
    let functions = |hip: &HipTable| {
        [
            hip.hipMalloc as usize,
            hip.hipMallocAsync as usize,
            hip.hipStreamCreateWithFlags as usize,
            hip.hipRuntimeGetVersion as usize,
        ]
    };
    functions(a) == functions(b)
}
