//! How many waves of a kernel fit on a SIMD, given its registers and shared memory.
//!
//! Sources of AMD's sizes and granules: LLVM's "User Guide for AMDGPU Backend" (compute_pgm_rsrc1 and rsrc2)
//! and llvm/lib/Target/AMDGPU/Utils/AMDGPUBaseInfo.cpp (getVGPRAllocGranule, getTotalNumVGPRs,
//! getMaxWavesPerEU), which agree with AMD's instruction set documents. Source of NVIDIA's: "CUDA C++
//! Programming Guide", technical specifications per compute capability.

use super::{Gpu, Vendor};

/// SIMDs that share the shared memory: those of a compute unit of gfx9, of a work-group processor of gfx10
/// and later, of a multiprocessor.
const SIMDS: u64 = 4;

/// The resources of a SIMD, and their allocation granules.
#[derive(Clone, Copy, Debug)]
struct Simd {
    /// Vector registers of one lane, for all waves together.
    vectors: u64,
    /// Allocation granule of vector registers.
    vector_granule: u64,
    /// Scalar registers for all waves, if they can be a limit.
    scalars: Option<u64>,
    /// The maximum number of waves.
    waves: u64,
    /// Bytes of shared memory for [`SIMDS`] SIMDs.
    shared: u64,
    /// Bytes that the system reserves for every block in addition.
    shared_of_block: u64,
}

/// Allocation granule of scalar registers.
const SCALAR_GRANULE: u64 = 16;
/// Allocation granule of shared memory.
const SHARED_GRANULE: u64 = 512;

/// The resources that a kernel uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) vector_registers: u64,
    pub(super) scalar_registers: u64,
    pub(super) shared_bytes: u64,
    pub(super) wave_size: u64,
}

/// The number of waves on a SIMD and what limits it.
pub(super) fn waves(gpu: &Gpu<'_>, takes: &Use) -> (u64, &'static str) {
    let simd = simd(gpu, takes.wave_size);
    let round_up = |n: u64, granule: u64| n.max(1).div_ceil(granule) * granule;
    // Waves of one block on one SIMD. The waves of a block start and end together.
    let of_block = (gpu.block / takes.wave_size.max(1)).div_ceil(SIMDS).max(1);
    let whole_blocks = |waves: u64| waves / of_block * of_block;
    let by_vectors = simd.vectors / round_up(takes.vector_registers, simd.vector_granule);
    let by_scalars =
        simd.scalars.map_or(u64::MAX, |file| file / round_up(takes.scalar_registers, SCALAR_GRANULE));
    let shared = match takes.shared_bytes + simd.shared_of_block {
        0 => u64::MAX / of_block,
        bytes => simd.shared / round_up(bytes, SHARED_GRANULE),
    };
    let limits = [
        (simd.waves, "hardware"),
        (whole_blocks(by_vectors), "vector registers"),
        (whole_blocks(by_scalars.min(simd.waves)), "scalar registers"),
        (shared * of_block, "shared memory"),
    ];
    limits.into_iter().min_by_key(|(waves, _)| *waves).unwrap_or((0, "nothing"))
}

fn simd(gpu: &Gpu<'_>, wave_size: u64) -> Simd {
    if gpu.vendor == Vendor::Nvidia {
        return nvidia(gpu.arch);
    }
    let gfx9 = Simd {
        vectors: 256,
        vector_granule: 4,
        scalars: Some(800),
        waves: 10,
        shared: 64 << 10,
        shared_of_block: 0,
    };
    let rdna = |vectors, vector_granule| {
        // Wave 64 needs two 32-lane registers for each register.
        let half = wave_size / 32;
        let (vectors, vector_granule) = (vectors / half, vector_granule / half);
        Simd { vectors, vector_granule, scalars: None, waves: 16, shared: 128 << 10, shared_of_block: 0 }
    };
    match gpu.arch {
        "gfx906" | "gfx908" => gfx9,
        "gfx90a" | "gfx942" => Simd { vectors: 512, vector_granule: 8, waves: 8, ..gfx9 },
        "gfx950" => Simd { vectors: 512, vector_granule: 8, waves: 8, shared: 160 << 10, ..gfx9 },
        "gfx1250" => Simd { shared: 320 << 10, ..rdna(1024, 16) },
        // The small chips of their generations.
        "gfx1030" | "gfx1102" => rdna(1024, 16),
        _ => rdna(1536, 24),
    }
}

fn nvidia(arch: &str) -> Simd {
    let (waves, shared_kib) = match arch {
        "sm_75" => (8, 64),
        "sm_80" | "sm_87" => (16, 164),
        "sm_86" | "sm_89" | "sm_120" => (12, 100),
        _ => (16, 228),
    };
    // A multiprocessor has 64 Ki registers. A warp gets them in multiples of 256, 8 for each thread.
    Simd {
        vectors: 512,
        vector_granule: 8,
        scalars: None,
        waves,
        shared: shared_kib << 10,
        shared_of_block: 1 << 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(vendor: Vendor, arch: &str, vector_registers: u64, shared_bytes: u64) -> (u64, &'static str) {
        // AMD's chips up to gfx9 have waves of 64 lanes.
        let wave_size = if arch.starts_with("gfx9") { 64 } else { 32 };
        let takes = Use { vector_registers, scalar_registers: 40, shared_bytes, wave_size };
        waves(&Gpu { vendor, arch, block: 256 }, &takes)
    }

    /// The numbers of LLVM's getNumWavesPerEUWithNumVGPRs, or one less if whole blocks do not fill them.
    #[test]
    fn registers_limit_as_llvm_says() {
        use Vendor::Amd;
        for (arch, registers, waves) in [
            ("gfx906", 24, 10),
            ("gfx906", 25, 9),
            ("gfx908", 128, 2),
            ("gfx90a", 64, 8),
            ("gfx90a", 65, 7),
            ("gfx942", 128, 4),
            ("gfx1030", 64, 16),
            // 1024 / 80 is 12.8.
            ("gfx1030", 65, 12),
            ("gfx1100", 96, 16),
            // 1536 / 120 is 12.8; 1536 / 144 is 10.7.
            ("gfx1100", 97, 12),
            ("gfx1201", 121, 10),
            ("gfx1102", 128, 8),
            ("gfx950", 128, 4),
            ("gfx1250", 128, 8),
        ] {
            assert_eq!(of(Amd, arch, registers, 0).0, waves, "{arch} {registers}");
        }
    }

    #[test]
    fn shared_memory_and_scalars_limit_too() {
        assert_eq!(of(Vendor::Amd, "gfx90a", 32, 16 << 10), (4, "shared memory"));
        assert_eq!(of(Vendor::Amd, "gfx950", 32, 32 << 10), (5, "shared memory"));
        assert_eq!(of(Vendor::Amd, "gfx1100", 32, 32 << 10), (8, "shared memory"));
        assert_eq!(of(Vendor::Amd, "gfx1250", 32, 64 << 10), (10, "shared memory"));
        assert_eq!(of(Vendor::Amd, "gfx90a", 32, 0), (8, "hardware"));
        let gpu = Gpu { vendor: Vendor::Amd, arch: "gfx906", block: 256 };
        let takes = Use { vector_registers: 24, scalar_registers: 100, shared_bytes: 0, wave_size: 64 };
        assert_eq!(waves(&gpu, &takes), (7, "scalar registers"));
    }

    /// Numbers from NVIDIA's occupancy calculator.
    #[test]
    fn nvidias_registers_limit() {
        assert_eq!(of(Vendor::Nvidia, "sm_80", 32, 0), (16, "hardware"));
        assert_eq!(of(Vendor::Nvidia, "sm_90", 40, 0), (12, "vector registers"));
        assert_eq!(of(Vendor::Nvidia, "sm_90", 255, 0), (2, "vector registers"));
    }
}
