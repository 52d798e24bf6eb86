//! What kernels must not do, but for exceptions: spill, wait for memory in few waves, read it in small pieces.

use super::KernelResources;
use super::exceptions::Exceptions;
use super::memory::Memory;

/// What a kernel must not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It spills registers or has memory of its own.
    Spills,
    /// On AMD's GPUs it waits for memory in fewer than 8 waves a SIMD.
    FewWaves,
    /// On AMD's GPUs its main loop has no accesses of 16 bytes.
    Narrow,
}

/// The rules of all kernels.
pub(crate) struct Rules {
    memory: Memory,
    exceptions: Exceptions,
}

impl Fault {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Spills, Self::FewWaves, Self::Narrow];

    /// What is said of kernels that have it.
    pub(crate) fn said(self) -> &'static str {
        match self {
            Self::Spills => "spill registers or use memory of their own",
            Self::FewWaves => "wait for memory in fewer than 8 waves a SIMD",
            Self::Narrow => "have no 16-byte accesses in their main loop",
        }
    }

    fn figures(self, kernel: &KernelResources) -> String {
        match self {
            Self::Spills => format!(
                "{} vector and {} scalar registers spilled, {} bytes of scratch",
                kernel.vector_spills, kernel.scalar_spills, kernel.scratch_bytes
            ),
            Self::FewWaves => format!("{} waves a SIMD by {}", kernel.waves_per_simd, kernel.limit),
            Self::Narrow => {
                let loops = kernel.loops.clone().unwrap_or_default();
                format!(
                    "{} loads and {} stores of 16 bytes in {} loops, {} and {} of them in the innermost",
                    loops.wide_loads,
                    loops.wide_stores,
                    loops.count,
                    loops.innermost_wide_loads,
                    loops.innermost_wide_stores
                )
            }
        }
    }
}

impl Rules {
    /// Those of the workspace.
    pub(crate) fn load() -> Result<Self, String> {
        Ok(Self { memory: Memory::load()?, exceptions: Exceptions::load()? })
    }

    /// Whether the kernel has the fault, excused or not.
    pub(crate) fn has(&self, fault: Fault, platform: &str, kernel: &KernelResources) -> bool {
        match fault {
            Fault::Spills => kernel.spills(),
            Fault::FewWaves => platform == "amd" && self.memory.has_few_waves(kernel),
            Fault::Narrow => platform == "amd" && self.memory.is_narrow(kernel),
        }
    }

    /// The kernel's fault in words, if it has it and no exception lets it pass.
    pub(crate) fn denied(
        &self,
        fault: Fault,
        platform: &str,
        arch: &str,
        kernel: &KernelResources,
    ) -> Option<String> {
        let denied =
            self.has(fault, platform, kernel) && !self.exceptions.allow(fault, platform, arch, kernel);
        denied.then(|| format!("{}: {}", kernel.kernel, fault.figures(kernel)))
    }

    /// Whether the kernel's loops have to be known, and are not.
    pub(crate) fn needs_loops(&self, platform: &str, kernel: &KernelResources) -> bool {
        platform == "amd" && self.memory.needs_loops(kernel)
    }

    /// The patterns that fit no kernel among these names, by the file that has them.
    pub(crate) fn without_kernel(&self, names: &[String]) -> Vec<String> {
        let exceptions = self.exceptions.without_kernel(names);
        let excused = exceptions.into_iter().map(|pattern| format!("exceptions.toml: {pattern}"));
        let memory = self.memory.without_kernel(names);
        excused.chain(memory.into_iter().map(|pattern| format!("memory.toml: {pattern}"))).collect()
    }

    /// The names of which memory.toml says nothing.
    pub(crate) fn undecided<'a>(&self, names: &'a [String]) -> Vec<&'a str> {
        self.memory.undecided(names)
    }

    /// The exceptions for a fault on a platform that none of its kernels, each with its architecture, needs any more.
    pub(crate) fn unused(
        &self,
        fault: Fault,
        platform: &str,
        kernels: &[(String, KernelResources)],
    ) -> Vec<String> {
        let faulty = kernels.iter().filter(|(_, kernel)| self.has(fault, platform, kernel));
        let faulty: Vec<(&str, &str)> =
            faulty.map(|(arch, kernel)| (arch.as_str(), kernel.kernel.as_str())).collect();
        self.exceptions.unused(fault, platform, &faulty)
    }
}

#[cfg(test)]
impl Rules {
    pub(crate) fn of(memory: &str, exceptions: &str) -> Self {
        let memory = Memory::parse(memory).expect("well formed");
        Self { memory, exceptions: Exceptions::parse(exceptions).expect("well formed") }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Loops;
    use super::super::exceptions::tests::kernel;
    use super::*;

    const MEMORY: &str = "[[kernels]]\nnames = [\"a_*\"]\nmemory = true\nwide = \"loads\"\nreason = \"why\"";
    const EXCUSED: &str = "[[exception]]\nplatform = \"amd\"\narchs = [\"gfx9*\"]\nkernels = [\"a_*\"]\nwaves = 6\nreason = \"why\"\n\
                           [[exception]]\nplatform = \"amd\"\nkernels = [\"a_x\"]\nnarrow = true\nreason = \"why\"";

    fn of(name: &str, waves_per_simd: u64, wide: u64) -> KernelResources {
        let loops =
            Some(Loops { count: 1, wide_loads: wide, innermost_wide_loads: wide, ..Loops::default() });
        KernelResources { waves_per_simd, loops, limit: "shared memory".into(), ..kernel(name, 0, 0, 0) }
    }

    #[test]
    fn few_waves_and_narrow_loops_are_named() {
        let rules = Rules::of(MEMORY, "");
        let denied = |fault, kernel: KernelResources| {
            rules.denied(fault, "amd", "gfx90a", &kernel).unwrap_or_default()
        };
        assert_eq!(denied(Fault::FewWaves, of("a_x", 7, 0)), "a_x: 7 waves a SIMD by shared memory");
        assert_eq!(denied(Fault::FewWaves, of("a_x", 8, 0)), "");
        let narrow = denied(Fault::Narrow, of("a_x", 7, 0));
        assert!(narrow.starts_with("a_x: 0 loads and 0 stores of 16 bytes in 1 loops"), "{narrow}");
        assert_eq!(denied(Fault::Narrow, of("a_x", 7, 1)), "");
        assert_eq!(rules.denied(Fault::FewWaves, "nvidia", "sm_90", &of("a_x", 7, 0)), None);
        assert_eq!(rules.denied(Fault::Narrow, "nvidia", "sm_90", &of("a_x", 7, 0)), None);
    }

    #[test]
    fn an_exception_lets_them_pass_where_it_holds() {
        let rules = Rules::of(MEMORY, EXCUSED);
        let denied =
            |fault, arch, kernel: KernelResources| rules.denied(fault, "amd", arch, &kernel).is_some();
        assert!(!denied(Fault::FewWaves, "gfx90a", of("a_x", 6, 0)));
        assert!(denied(Fault::FewWaves, "gfx90a", of("a_x", 5, 0)), "fewer than it allows");
        assert!(denied(Fault::FewWaves, "gfx1100", of("a_x", 6, 0)), "another architecture");
        assert!(!denied(Fault::Narrow, "gfx1100", of("a_x", 8, 0)));
        assert!(denied(Fault::Narrow, "gfx1100", of("a_y", 8, 0)), "that one is about waves");
        let spills = KernelResources { scalar_spills: 1, ..of("a_x", 8, 1) };
        assert!(denied(Fault::Spills, "gfx90a", spills), "neither is about spills");
    }

    #[test]
    fn what_is_not_needed_any_more_is_named() {
        let rules = Rules::of(MEMORY, EXCUSED);
        let unused =
            |fault, arch: &str, kernel: KernelResources| rules.unused(fault, "amd", &[(arch.into(), kernel)]);
        assert_eq!(unused(Fault::FewWaves, "gfx90a", of("a_x", 7, 1)), [""; 0]);
        assert_eq!(unused(Fault::FewWaves, "gfx90a", of("a_x", 8, 1)), ["amd a_*"]);
        assert_eq!(unused(Fault::FewWaves, "gfx1100", of("a_x", 7, 1)), ["amd a_*"]);
        assert_eq!(unused(Fault::Narrow, "gfx1100", of("a_x", 7, 0)), [""; 0]);
        assert_eq!(unused(Fault::Narrow, "gfx1100", of("a_x", 7, 1)), ["amd a_x"]);
        assert_eq!(unused(Fault::Spills, "gfx1100", of("a_x", 7, 1)), [""; 0]);
        let gone = rules.without_kernel(&["a_y".into()]);
        assert_eq!(gone, ["exceptions.toml: amd a_x"]);
        assert_eq!(rules.without_kernel(&["b".into()]).last().map(String::as_str), Some("memory.toml: a_*"));
    }
}
