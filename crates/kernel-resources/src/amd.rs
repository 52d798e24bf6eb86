//! The kernels of a code object, by its metadata.

use super::{Gpu, KernelResources, occupancy};
use code_object::CodeObject;

/// The kernels of a code object, in file order.
///
/// # Errors
/// The bytes are no code object, or one without metadata of kernels.
pub fn kernels(gpu: &Gpu<'_>, object: &[u8]) -> Result<Vec<KernelResources>, String> {
    let object =
        CodeObject::parse(object).map_err(|e| e.to_string())?.ok_or("it has no metadata of kernels")?;
    let kernels = object.kernels.into_iter().map(|kernel| {
        let takes = occupancy::Use {
            vector_registers: kernel.vector_registers,
            scalar_registers: kernel.scalar_registers,
            shared_bytes: kernel.shared_bytes,
            wave_size: kernel.wave_size,
        };
        let (waves_per_simd, limit) = occupancy::waves(gpu, &takes);
        KernelResources {
            kernel: kernel.name,
            vector_registers: kernel.vector_registers,
            accumulation_registers: kernel.accumulation_registers,
            scalar_registers: Some(kernel.scalar_registers),
            shared_bytes: kernel.shared_bytes,
            scratch_bytes: kernel.private_bytes,
            vector_spills: kernel.vector_spills,
            scalar_spills: kernel.scalar_spills,
            wave_size: kernel.wave_size,
            waves_per_simd,
            limit: limit.into(),
            loops: None,
        }
    });
    Ok(kernels.collect())
}
