//! Parses what ptxas reports about the kernels that it compiles, with the option `-v`.

use super::{Gpu, KernelResources, occupancy};

/// Lanes of a warp.
const WARP: u64 = 32;
/// Bytes of a register.
const REGISTER: u64 = 4;

/// The kernels that the output of a compilation names, in its order.
///
/// # Errors
/// A figure is missing or is no number.
pub fn kernels(gpu: &Gpu<'_>, said: &str) -> Result<Vec<KernelResources>, String> {
    let mut kernels = Vec::<KernelResources>::new();
    // The function that the next properties belong to: a kernel, or a function that it calls.
    let mut function = "";
    for line in said.lines() {
        if let Some(name) = between(line, "Compiling entry function '", "'") {
            kernels.push(empty(name));
        } else if let Some((_, name)) = line.split_once("Function properties for ") {
            function = name.trim();
        } else if let Some(kernel) = kernels.last_mut() {
            if line.contains("bytes stack frame") {
                let number = |what| before(line, what).ok_or(format!("ptxas says no {what} of {function}"));
                kernel.scratch_bytes += number(" bytes stack frame")?;
                kernel.vector_spills += number(" bytes spill stores")?.div_ceil(REGISTER);
            } else if line.contains(": Used ") {
                kernel.vector_registers =
                    before(line, " registers").ok_or("ptxas says no number of registers")?;
                kernel.shared_bytes = before(line, " bytes smem").unwrap_or(0);
            }
        }
    }
    for kernel in &mut kernels {
        let takes = occupancy::Use {
            vector_registers: kernel.vector_registers,
            scalar_registers: 0,
            shared_bytes: kernel.shared_bytes,
            wave_size: WARP,
        };
        let (waves, limit) = occupancy::waves(gpu, &takes);
        kernel.waves_per_simd = waves;
        kernel.limit = limit.into();
    }
    Ok(kernels)
}

fn empty(name: &str) -> KernelResources {
    KernelResources {
        kernel: name.into(),
        vector_registers: 0,
        accumulation_registers: 0,
        scalar_registers: None,
        shared_bytes: 0,
        scratch_bytes: 0,
        vector_spills: 0,
        scalar_spills: 0,
        wave_size: WARP,
        waves_per_simd: 0,
        limit: String::new(),
        loops: None,
    }
}

fn between<'a>(line: &'a str, start: &str, end: &str) -> Option<&'a str> {
    line.split_once(start)?.1.split(end).next()
}

/// The number before a word.
fn before(line: &str, word: &str) -> Option<u64> {
    line.split_once(word)?.0.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::Vendor;
    use super::*;

    const SM_90: Gpu<'_> = Gpu { vendor: Vendor::Nvidia, arch: "sm_90", block: 256 };

    const SAID: &str = "ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'sin_f32' for 'sm_90'
ptxas info    : Function properties for sin_f32
    32 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 128 bytes smem, 400 bytes cmem[0]
ptxas info    : Compile time = 3.802 ms
ptxas info    : Compiling entry function 'neg_f32' for 'sm_90'
ptxas info    : Function properties for neg_f32
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
";

    #[test]
    fn every_kernel_has_its_own_figures() {
        let kernels = kernels(&SM_90, SAID).expect("well formed");
        let sin = KernelResources {
            vector_registers: 40,
            shared_bytes: 128,
            scratch_bytes: 32,
            vector_spills: 2,
            waves_per_simd: 12,
            limit: "vector registers".into(),
            ..empty("sin_f32")
        };
        let neg = KernelResources {
            vector_registers: 8,
            waves_per_simd: 16,
            limit: "hardware".into(),
            ..empty("neg_f32")
        };
        assert_eq!(kernels, [sin, neg]);
    }

    #[test]
    fn unreadable_resource_output_is_an_error() {
        let said = SAID.replace("40 registers", "few registers");
        assert!(kernels(&SM_90, &said).expect_err("no number").contains("registers"));
    }
}
