//! The kernels that may spill vector registers or use scratch memory: only those that `exceptions.toml` lists
//! with a reason. Spilled scalar registers are in lanes of vector registers, not in memory, and are not
//! checked.

use kernel_resources::KernelResources;
use serde::Deserialize;

const TEXT: &str = include_str!("exceptions.toml");

/// The exceptions.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exceptions {
    #[serde(default)]
    exception: Vec<Exception>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    platform: String,
    /// Empty means all.
    #[serde(default)]
    archs: Vec<String>,
    kernels: Vec<String>,
    #[serde(default)]
    vector: u64,
    #[serde(default)]
    scratch: u64,
    reason: String,
}

impl Exceptions {
    /// The exceptions of the workspace.
    pub(crate) fn load() -> Result<Self, String> {
        Self::parse(TEXT)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let fail =
            |error: &dyn std::fmt::Display| format!("xtask/src/build_kernels/exceptions.toml: {error}");
        let read: Self = toml::from_str(text).map_err(|error| fail(&error))?;
        if let Some(empty) = read.exception.iter().find(|one| one.vector + one.scratch == 0) {
            return Err(fail(&format!("{} allows nothing", empty.kernels.join(" "))));
        }
        if let Some(bare) = read.exception.iter().find(|exception| exception.reason.trim().is_empty()) {
            return Err(fail(&format!("{} has no reason", bare.kernels.join(" "))));
        }
        Ok(read)
    }

    /// What the kernel spills, as text, unless an exception allows it.
    pub(crate) fn denied(&self, platform: &str, arch: &str, kernel: &KernelResources) -> Option<String> {
        let allowed = |exception: &Exception| exception.fits(platform, arch) && exception.allows(kernel);
        if !kernel.takes_memory() || self.exception.iter().any(allowed) {
            return None;
        }
        Some(format!(
            "{}: {} vector registers spilled, {} bytes of scratch",
            kernel.kernel, kernel.vector_spills, kernel.scratch_bytes
        ))
    }

    /// The patterns that match none of these kernel names.
    pub(crate) fn without_kernel(&self, names: &[String]) -> Vec<String> {
        self.patterns(|_, pattern| !names.iter().any(|name| matches(pattern, name)))
    }

    /// The patterns for a platform that none of its kernels, given with their architectures, needs any more.
    pub(crate) fn unused(&self, platform: &str, kernels: &[(&str, &KernelResources)]) -> Vec<String> {
        self.patterns(|exception, pattern| {
            let used = |(arch, kernel): &(&str, &KernelResources)| {
                kernel.takes_memory() && exception.fits(platform, arch) && matches(pattern, &kernel.kernel)
            };
            exception.platform == platform && !kernels.iter().any(used)
        })
    }

    fn patterns(&self, wanted: impl Fn(&Exception, &str) -> bool) -> Vec<String> {
        let mut found = Vec::new();
        for exception in &self.exception {
            let some = exception.kernels.iter().filter(|pattern| wanted(exception, pattern));
            found.extend(some.map(|pattern| format!("{} {pattern}", exception.platform)));
        }
        found
    }
}

impl Exception {
    fn fits(&self, platform: &str, arch: &str) -> bool {
        let archs = &self.archs;
        self.platform == platform && (archs.is_empty() || archs.iter().any(|pattern| matches(pattern, arch)))
    }

    fn allows(&self, kernel: &KernelResources) -> bool {
        self.kernels.iter().any(|pattern| matches(pattern, &kernel.kernel))
            && kernel.vector_spills <= self.vector
            && kernel.scratch_bytes <= self.scratch
    }
}

/// Whether the name matches the pattern, in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(start) else { return false };
    (0..=name.len()).filter_map(|i| name.get(i..)).any(|end| matches(rest, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build_kernels::target::Platform;

    /// A kernel with 16 waves, and these spills and scratch bytes.
    fn kernel(name: &str, vector_spills: u64, scratch_bytes: u64) -> KernelResources {
        KernelResources {
            kernel: name.into(),
            vector_registers: 8,
            accumulation_registers: 0,
            scalar_registers: Some(8),
            shared_bytes: 0,
            scratch_bytes,
            vector_spills,
            scalar_spills: 9,
            wave_size: 32,
            waves_per_simd: 16,
            limit: "hardware".into(),
            loops: None,
        }
    }

    #[test]
    fn the_workspaces_own_are_well_formed() {
        let own = Exceptions::load().expect("well formed");
        let denied = |kernel: KernelResources| own.denied("amd", "gfx90a", &kernel);
        assert_eq!(denied(kernel("reduce_sum_f32", 0, 0)), None);
        let spilled = denied(kernel("reduce_sum_f32", 1, 4)).expect("vector registers never");
        assert!(spilled.starts_with("reduce_sum_f32: 1 vector"), "{spilled}");
    }

    #[test]
    fn an_exception_holds_for_its_kernels_up_to_its_numbers() {
        let text = "[[exception]]\nplatform = \"amd\"\nkernels = [\"a_*_f32\"]\nvector = 3\nscratch = 12\nreason = \"why\"";
        let exceptions = Exceptions::parse(text).expect("well formed");
        let denied =
            |platform, kernel: KernelResources| exceptions.denied(platform, "gfx90a", &kernel).is_some();
        assert!(!denied("amd", kernel("a_x_f32", 3, 12)));
        assert!(denied("amd", kernel("a_x_f32", 4, 12)));
        assert!(denied("amd", kernel("a_x_f32", 3, 16)));
        assert!(denied("amd", kernel("a_x_f16", 1, 0)));
        assert!(denied("nvidia", kernel("a_x_f32", 1, 0)));
        assert!(!denied("amd", kernel("b", 0, 0)), "scalar registers take no memory");
    }

    #[test]
    fn every_exception_of_the_workspace_is_for_a_kernel_and_an_architecture_that_are_built() {
        let names: Vec<String> = kernels_hip::units().flat_map(|unit| unit.kernels()).collect();
        let own = Exceptions::load().expect("well formed");
        assert_eq!(own.without_kernel(&names), Vec::<String>::new());
        let known: Vec<_> = Platform::ALL.into_iter().flat_map(Platform::all_targets).collect();
        for pattern in own.exception.iter().flat_map(|exception| &exception.archs) {
            assert!(known.iter().any(|target| matches(pattern, &target.arch)), "{pattern}");
        }
    }

    #[test]
    fn unused_exceptions_are_named() {
        let text = "[[exception]]\nplatform = \"amd\"\nkernels = [\"a_*\", \"b\"]\nvector = 3\nreason = \"why\"\n\
                    [[exception]]\nplatform = \"nvidia\"\nkernels = [\"c\"]\nvector = 1\nreason = \"why\"";
        let exceptions = Exceptions::parse(text).expect("well formed");
        assert_eq!(exceptions.without_kernel(&["a_x".into(), "ab".into()]), ["amd b", "nvidia c"]);
        let unused = |platform, kernels: &[KernelResources]| {
            let kernels: Vec<_> = kernels.iter().map(|kernel| ("gfx90a", kernel)).collect();
            exceptions.unused(platform, &kernels)
        };
        assert_eq!(unused("amd", &[kernel("a_x", 3, 0), kernel("b", 0, 0)]), ["amd b"]);
        assert_eq!(unused("amd", &[kernel("a_x", 0, 0)]), ["amd a_*", "amd b"]);
        assert_eq!(unused("nvidia", &[kernel("c", 1, 4)]), [""; 0]);
    }

    #[test]
    fn an_exception_is_about_something() {
        let text = "[[exception]]\nplatform = \"amd\"\nkernels = [\"a\"]\nreason = \"why\"";
        assert!(Exceptions::parse(text).expect_err("about nothing").contains("a allows nothing"));
    }

    #[test]
    fn an_exception_needs_a_reason() {
        let text = "[[exception]]\nplatform = \"amd\"\nkernels = [\"a\"]\nvector = 7\nreason = \" \"";
        assert!(Exceptions::parse(text).expect_err("no reason").contains("a has no reason"));
        assert!(Exceptions::parse(&text.replace("reason", "because")).is_err());
    }

    #[test]
    fn a_star_matches_anything() {
        for (pattern, name, fits) in [
            ("a", "a", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c*", "abcd", true),
            ("a", "ab", false),
            ("b*", "ab", false),
            ("*_f3", "a_f32", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
