//! Which kernels wait for memory, and what AMD's GPUs need of those: `memory.toml` says it of each.

use super::exceptions::matches;
use super::{KernelResources, Loops};
use serde::Deserialize;

const TEXT: &str = include_str!("memory.toml");

/// Fewer waves than this on a SIMD are too few to hide the time that memory takes.
pub(crate) const FEW_WAVES: u64 = 8;

/// The table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Memory {
    kernels: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    names: Vec<String>,
    memory: bool,
    wide: Option<Wide>,
    #[serde(default)]
    within: Within,
    reason: String,
}

/// What has to be of 16 bytes.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Wide {
    Loads,
    Stores,
    Either,
}

/// Where it has to stand.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Within {
    #[default]
    Innermost,
    Loops,
}

impl Memory {
    /// That of the workspace.
    pub(crate) fn load() -> Result<Self, String> {
        Self::parse(TEXT)
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let fail = |error: &dyn std::fmt::Display| format!("xtask/src/resources/memory.toml: {error}");
        let read: Self = toml::from_str(text).map_err(|error| fail(&error))?;
        for entry in &read.kernels {
            let names = entry.names.join(" ");
            if entry.reason.trim().is_empty() {
                return Err(fail(&format!("{names} has no reason")));
            }
            if entry.wide.is_some() && !entry.memory {
                return Err(fail(&format!("{names} has `wide`, and memory is not what it waits for")));
            }
        }
        Ok(read)
    }

    /// Whether it has fewer waves than hide the time of memory, and waits for memory by this table.
    pub(crate) fn has_few_waves(&self, kernel: &KernelResources) -> bool {
        kernel.waves_per_simd < FEW_WAVES && self.entry(&kernel.kernel).is_some_and(|entry| entry.memory)
    }

    /// Whether its loops are known, and read or write less than 16 bytes at once where they must not.
    pub(crate) fn is_narrow(&self, kernel: &KernelResources) -> bool {
        let Some((wide, within)) = self.wide(&kernel.kernel) else { return false };
        kernel.loops.as_ref().is_some_and(|loops| !is_met(wide, within, loops))
    }

    /// Whether its loops have to be known, and are not.
    pub(crate) fn needs_loops(&self, kernel: &KernelResources) -> bool {
        kernel.loops.is_none() && self.wide(&kernel.kernel).is_some()
    }

    /// The patterns that fit no kernel among these names.
    pub(crate) fn without_kernel(&self, names: &[String]) -> Vec<String> {
        let patterns = self.kernels.iter().flat_map(|entry| &entry.names);
        patterns.filter(|pattern| !names.iter().any(|name| matches(pattern, name))).cloned().collect()
    }

    /// The names that no pattern fits.
    pub(crate) fn undecided<'a>(&self, names: &'a [String]) -> Vec<&'a str> {
        names.iter().map(String::as_str).filter(|name| self.entry(name).is_none()).collect()
    }

    fn wide(&self, name: &str) -> Option<(Wide, Within)> {
        let entry = self.entry(name)?;
        Some((entry.wide?, entry.within))
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.kernels.iter().find(|entry| entry.names.iter().any(|pattern| matches(pattern, name)))
    }
}

fn is_met(wide: Wide, within: Within, loops: &Loops) -> bool {
    let (loads, stores) = match within {
        Within::Innermost => (loops.innermost_wide_loads, loops.innermost_wide_stores),
        Within::Loops => (loops.wide_loads, loops.wide_stores),
    };
    match wide {
        Wide::Loads => loads > 0,
        Wide::Stores => stores > 0,
        Wide::Either => loads + stores > 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::exceptions::tests::kernel;
    use super::*;

    const THREE: &str = "[[kernels]]\nnames = [\"a_fill\"]\nmemory = true\nwide = \"stores\"\nreason = \"why\"\n\
                         [[kernels]]\nnames = [\"a_*\"]\nmemory = true\nwide = \"loads\"\nreason = \"why\"\n\
                         [[kernels]]\nnames = [\"b_*\"]\nmemory = false\nreason = \"why\"";

    fn of(name: &str, waves_per_simd: u64, loops: Option<Loops>) -> KernelResources {
        KernelResources { waves_per_simd, loops, ..kernel(name, 0, 0, 0) }
    }

    fn loops(wide_loads: u64, innermost_wide_loads: u64, innermost_wide_stores: u64) -> Option<Loops> {
        let wide_stores = innermost_wide_stores;
        Some(Loops { count: 2, wide_loads, wide_stores, innermost_wide_loads, innermost_wide_stores })
    }

    #[test]
    fn seven_waves_are_few_where_memory_is_waited_for() {
        let memory = Memory::parse(THREE).expect("well formed");
        let few = |name, waves| memory.has_few_waves(&of(name, waves, None));
        assert_eq!([few("a_x", 7), few("a_x", 8), few("a_fill", 7)], [true, false, true]);
        assert_eq!([few("b_x", 7), few("c_x", 7)], [false, false]);
    }

    #[test]
    fn the_main_loop_has_to_be_wide() {
        let memory = Memory::parse(THREE).expect("well formed");
        let narrow = |name, loops| memory.is_narrow(&of(name, 8, loops));
        assert!(narrow("a_x", loops(1, 0, 1)), "outside the innermost loop");
        assert!(!narrow("a_x", loops(1, 1, 0)));
        assert!(narrow("a_fill", loops(1, 1, 0)) && !narrow("a_fill", loops(0, 0, 1)));
        assert!(!narrow("b_x", loops(0, 0, 0)) && !narrow("c_x", loops(0, 0, 0)));
        let needs = |name, loops| memory.needs_loops(&of(name, 8, loops));
        assert!(!narrow("a_x", None) && needs("a_x", None) && !needs("b_x", None));
        assert!(!needs("a_x", loops(0, 0, 0)));
    }

    #[test]
    fn an_entry_may_ask_for_any_loop_or_either_side() {
        let text = THREE.replacen("\"stores\"", "\"either\"", 1).replacen(
            "\"loads\"",
            "\"loads\"\nwithin = \"loops\"",
            1,
        );
        let memory = Memory::parse(&text).expect("well formed");
        let narrow = |name, loops| memory.is_narrow(&of(name, 8, loops));
        assert!(!narrow("a_x", loops(1, 0, 0)) && narrow("a_x", loops(0, 0, 1)));
        assert!(!narrow("a_fill", loops(1, 1, 0)) && !narrow("a_fill", loops(0, 0, 1)));
        assert!(narrow("a_fill", loops(1, 0, 0)));
    }

    #[test]
    fn a_mistaken_table_is_an_error() {
        let error = |from, to| Memory::parse(&THREE.replacen(from, to, 1)).expect_err("mistaken");
        assert!(error("\"why\"", "\" \"").contains("a_fill has no reason"));
        assert!(error("memory = true", "memory = false").contains("a_fill has `wide`"));
        assert!(error("\"stores\"", "\"store\"").contains("memory.toml"));
    }

    #[test]
    fn the_workspaces_own_fits_the_kernels_that_ship() {
        let names: Vec<String> = kernels_hip::units().flat_map(|unit| unit.kernels()).collect();
        let own = Memory::load().expect("well formed");
        assert_eq!(own.without_kernel(&names), Vec::<String>::new());
        assert_eq!(own.undecided(&names), Vec::<String>::new());
        let memory = Memory::parse(THREE).expect("well formed");
        assert_eq!(memory.without_kernel(&["a_fill".into()]), ["b_*"]);
        assert_eq!(memory.undecided(&["a_fill".into(), "c_x".into()]), ["c_x"]);
    }
}
