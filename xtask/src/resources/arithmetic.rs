//! Which kernels take longer for their own instructions than memory takes for their bytes, by what was counted of them
//! (`cargo xtask bench --instructions`): more waves would wait for the same instructions.
//!
//! A compute unit of gfx9 executes an instruction of 64 lanes in each cycle. Figures of the GPUs: AMD's data sheets of Instinct MI210 (104
//! compute units, 1.7 GHz, 1,638 GB/s) and MI300X (304, 2.1 GHz, 5,325 GB/s).

use crate::bench;
use std::collections::HashMap;

/// Counts have scalar instructions and branches in them, which other waves may execute in the same cycles: so arithmetic has to take half as
/// long again as memory.
const MARGIN: f64 = 1.5;

/// A GPU whose kernels were counted.
struct Gpu {
    arch: &'static str,
    counts: &'static str,
    compute_units: f64,
    gigahertz: f64,
    gigabytes_a_second: f64,
}

const GPUS: [Gpu; 2] = [
    Gpu {
        arch: "gfx90a",
        counts: include_str!("../../../benches/instructions/gfx90a.tsv"),
        compute_units: 104.0,
        gigahertz: 1.7,
        gigabytes_a_second: 1638.0,
    },
    Gpu {
        arch: "gfx942",
        counts: include_str!("../../../benches/instructions/gfx942.tsv"),
        compute_units: 304.0,
        gigahertz: 2.1,
        gigabytes_a_second: 5325.0,
    },
];

impl Gpu {
    /// Lane instructions in the time of a byte.
    fn balance(&self) -> f64 {
        64.0 * self.compute_units * self.gigahertz / self.gigabytes_a_second
    }
}

/// How long the instructions of kernels take, in the time that memory takes for their bytes, by architecture and kernel.
pub(crate) struct Arithmetic {
    times: HashMap<&'static str, HashMap<String, f64>>,
}

impl Arithmetic {
    /// Of the counts in the workspace.
    pub(crate) fn load() -> Result<Self, String> {
        let mut times = HashMap::new();
        for gpu in &GPUS {
            let counts = bench::instructions_per_byte(gpu.counts)
                .map_err(|error| format!("benches/instructions/{}.tsv: {error}", gpu.arch))?;
            let balance = gpu.balance();
            let counts = counts.into_iter().map(|(kernel, count)| (kernel, count / balance));
            times.insert(gpu.arch, counts.collect());
        }
        Ok(Self { times })
    }

    /// Whether the kernel is known to wait for its instructions.
    pub(crate) fn outweighs(&self, arch: &str, kernel: &str) -> bool {
        let time = self.times.get(arch).and_then(|kernels| kernels.get(kernel));
        time.is_some_and(|time| *time >= MARGIN)
    }
}

#[cfg(test)]
impl Arithmetic {
    /// Of one kernel.
    pub(crate) fn of(arch: &'static str, kernel: &str, time: f64) -> Self {
        Self { times: HashMap::from([(arch, HashMap::from([(kernel.to_string(), time)]))]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_takes_the_time_of_seven_instructions_or_eight() {
        let balances = GPUS.each_ref().map(|gpu| (gpu.arch, (gpu.balance() * 100.0).round() / 100.0));
        assert_eq!(balances, [("gfx90a", 6.91), ("gfx942", 7.67)]);
    }

    #[test]
    fn what_was_counted_decides_where_it_was() {
        let arithmetic = Arithmetic::of("gfx90a", "a_x", 1.5);
        assert!(arithmetic.outweighs("gfx90a", "a_x"));
        assert!(!arithmetic.outweighs("gfx90a", "a_y") && !arithmetic.outweighs("gfx942", "a_x"));
        assert!(!Arithmetic::of("gfx90a", "a_x", 1.49).outweighs("gfx90a", "a_x"));
    }

    #[test]
    fn the_workspaces_counts_tell_long_functions_from_copies() {
        let own = Arithmetic::load().expect("written by bench");
        for arch in ["gfx90a", "gfx942"] {
            assert!(own.outweighs(arch, "elementwise_sin_f8e4m3"), "{arch}");
            for kernel in
                ["elementwise_cast_f16_f32", "elementwise_add_f32", "reduce_sum_f32", "transpose_i16"]
            {
                assert!(!own.outweighs(arch, kernel), "{arch} {kernel}");
            }
        }
        assert!(!own.outweighs("gfx90a", "select_arange_u8"), "too few bytes");
        assert!(!own.outweighs("gfx1100", "elementwise_sin_f8e4m3"), "nobody asks: it has its waves");
    }
}
