//! Chips whose matrix units the kernels support.

/// AMD chips with the instructions of `platform/mma_amd.hpp`.
const AMD: [&str; 2] = ["gfx942", "gfx950"];

/// First NVIDIA compute capability with the instructions of `platform/mma_nvidia.hpp`.
const FIRST_OF_NVIDIA: u32 = 80;

/// Whether the architecture `arch` of a platform (`amd`, `nvidia` or `host`) has matrix units that `platform/mma.hpp` supports.
///
/// Feature suffixes of an AMD architecture, as in `gfx942:sramecc+:xnack-`, are ignored. The host emulates NVIDIA's units in C++. An
/// unknown chip counts as one without matrix units, because the other kernels run on every chip. `HAS_MMA` in `platform/gpu.hpp` has the
/// same rule for the compilers.
pub fn has_matrix_units(platform: &str, arch: &str) -> bool {
    match platform {
        "host" => true,
        "amd" => AMD.contains(&arch.split(':').next().unwrap_or_default()),
        // Letters may follow, as in sm_90a.
        "nvidia" => arch.strip_prefix("sm_").is_some_and(|rest| {
            let digits = rest.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
            digits.parse::<u32>().is_ok_and(|number| number >= FIRST_OF_NVIDIA)
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_with_matrix_units_are_recognised() {
        for (platform, arch) in [
            ("amd", "gfx942"),
            ("amd", "gfx942:sramecc+:xnack-"),
            ("amd", "gfx950"),
            ("nvidia", "sm_80"),
            ("nvidia", "sm_90a"),
            ("nvidia", "sm_120"),
            ("host", "host"),
            ("host", "host-w64"),
        ] {
            assert!(has_matrix_units(platform, arch), "{platform} {arch}");
        }
        for (platform, arch) in [
            ("amd", "gfx90a"),
            ("amd", "gfx1100"),
            ("amd", "gfx1250"),
            ("amd", "gfx9420"),
            ("amd", ""),
            ("nvidia", "sm_75"),
            ("nvidia", "sm_"),
            ("nvidia", "90"),
            ("other", "gfx942"),
        ] {
            assert!(!has_matrix_units(platform, arch), "{platform} {arch}");
        }
    }

    #[test]
    fn only_units_for_matrix_units_are_left_out() {
        let unit = |family, dtype| crate::unit(family, dtype).expect("it ships");
        for (family, dtype) in
            [("attention_mma", "f16"), ("conv_mma", "bf16"), ("conv_split", "f32"), ("quant_mma", "f16")]
        {
            assert!(
                unit(family, dtype).is_for("amd", "gfx950") && !unit(family, dtype).is_for("amd", "gfx1250")
            );
        }
        let (left, all) = (crate::units().filter(|unit| unit.is_for("amd", "gfx1100")), crate::units());
        assert_eq!(left.count() + 7, all.count());
    }
}
