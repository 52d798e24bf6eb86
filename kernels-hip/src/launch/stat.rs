//! Launches of the family `stat`.

use super::{LaunchShape, SHORT, shape};
use crate::MAX_BLOCK;

/// For `stat_*`: the shape, and whether an output is computed by a single thread instead of a block. `kept_stride` is the stride of the
/// innermost kept dimension after collapsing, `None` if there is none.
///
/// Single threads are faster for short outputs, and if neighbouring outputs read neighbouring elements and there are enough of them to fill
/// the device.
pub fn stat(
    outputs: u64,
    length: u64,
    kept_stride: Option<u64>,
    multiprocessors: u32,
) -> (LaunchShape, bool) {
    let many = outputs >= 64 * u64::from(multiprocessors.max(1));
    let alone = length <= SHORT || (many && kept_stride == Some(1));
    let block = match (alone, length) {
        (true, _) | (_, ..=2048) => 64,
        (_, 2049..=8192) => 128,
        _ => MAX_BLOCK,
    };
    let blocks = if alone { outputs.div_ceil(block.into()) } else { outputs };
    (shape(blocks, block, multiprocessors), alone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_neighbouring_outputs_have_a_thread_each() {
        assert_eq!(stat(10, 32, None, 2), (LaunchShape { grid: 1, block: 64 }, true));
        assert_eq!(stat(10, 33, Some(1), 2), (LaunchShape { grid: 10, block: 64 }, false));
        assert_eq!(stat(128, 1000, Some(1), 2), (LaunchShape { grid: 2, block: 64 }, true));
        assert_eq!(stat(128, 1 << 20, Some(1000), 2), (LaunchShape { grid: 64, block: 256 }, false));
    }
}
