//! The loops of kernels, and how wide they access memory.

use super::KernelResources;
use super::disassembly::{Function, innermost};
use serde::{Deserialize, Serialize};

/// The loops of a kernel, and their memory accesses of 16 bytes per lane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loops {
    /// Number of loops.
    pub count: u64,
    /// Loads in any loop.
    pub wide_loads: u64,
    /// Stores in any loop.
    pub wide_stores: u64,
    /// Loads in innermost loops.
    pub innermost_wide_loads: u64,
    /// Stores in innermost loops.
    pub innermost_wide_stores: u64,
}

/// Gives kernels the loops of the functions with their names.
pub fn add_loops(kernels: &mut [KernelResources], functions: &[Function]) {
    for function in functions {
        if let Some(kernel) = kernels.iter_mut().find(|kernel| kernel.kernel == function.name) {
            kernel.loops = Some(loops(function));
        }
    }
}

fn loops(function: &Function) -> Loops {
    let all = function.loops();
    let inner = innermost(&all);
    let count = |loops: &[(u64, u64)], wanted: fn(&str) -> bool| {
        let inside = |at: u64| loops.iter().any(|(first, last)| (*first..=*last).contains(&at));
        function.instructions.iter().filter(|i| wanted(&i.name) && inside(i.at)).count() as u64
    };
    Loops {
        count: all.len() as u64,
        wide_loads: count(&all, is_wide_load),
        wide_stores: count(&all, is_wide_store),
        innermost_wide_loads: count(&inner, is_wide_load),
        innermost_wide_stores: count(&inner, is_wide_store),
    }
}

fn is_wide_load(name: &str) -> bool {
    is_wide(name, "_load_", "LD")
}

fn is_wide_store(name: &str) -> bool {
    is_wide(name, "_store_", "ST")
}

/// An access of 16 bytes to the GPU's memory, as opposed to shared memory or scratch.
fn is_wide(name: &str, amd: &str, nvidia: &str) -> bool {
    let memory = ["global", "flat", "buffer"].iter().any(|kind| {
        name.strip_prefix(kind)
            .and_then(|rest| rest.strip_prefix(amd))
            .is_some_and(|width| width.starts_with("dwordx4") || width.starts_with("b128"))
    });
    let parts: Vec<&str> = name.split('.').collect();
    let global = parts[0].strip_prefix(nvidia).is_some_and(|rest| rest == "G" || rest.is_empty());
    memory || (global && parts.contains(&"128"))
}

#[cfg(test)]
mod tests {
    use super::super::Instruction;
    use super::*;

    #[test]
    fn only_sixteen_bytes_of_memory_are_wide() {
        for load in [
            "global_load_dwordx4",
            "global_load_b128",
            "flat_load_dwordx4",
            "buffer_load_b128",
            "LDG.E.128",
            "LDG.E.128.CONSTANT",
            "LD.E.128",
        ] {
            assert!(is_wide_load(load) && !is_wide_store(load), "{load}");
        }
        for store in ["global_store_dwordx4", "buffer_store_b128", "STG.E.128", "ST.E.128"] {
            assert!(is_wide_store(store) && !is_wide_load(store), "{store}");
        }
        for other in [
            "global_load_dwordx2",
            "s_load_dwordx4",
            "ds_load_b128",
            "scratch_load_b128",
            "LDS.128",
            "LDC.128",
            "LDG.E.64",
            "LDL.128",
        ] {
            assert!(!is_wide_load(other) && !is_wide_store(other), "{other}");
        }
    }

    #[test]
    fn accesses_count_where_they_are_repeated() {
        let at = |at, name: &str, target| Instruction { at, name: name.into(), target };
        let instructions = vec![
            at(0, "global_load_dwordx4", None),
            at(8, "global_load_b128", None),
            at(16, "global_store_b128", None),
            at(24, "s_cbranch_scc1", Some(16)),
            at(32, "s_branch", Some(8)),
            at(40, "global_store_dwordx4", None),
        ];
        let found = loops(&Function { name: "f".into(), instructions });
        let wanted = Loops {
            count: 2,
            wide_loads: 1,
            wide_stores: 1,
            innermost_wide_loads: 0,
            innermost_wide_stores: 1,
        };
        assert_eq!(found, wanted);
    }
}
