//! The families of kernels as inputs of a step that compiles them ahead of time.

use super::files::Files;
use super::steps::Kernels;
use kernels_hip::{FAMILIES, HEADER_FOLDERS, HEADERS, Unit, families, hash_parts, units};
use std::collections::BTreeMap;

/// The prefix of these inputs' names.
const PREFIX: &str = "kernels of ";

/// An input for each family: a hash of its sources, options and kernel names, which together decide its objects.
pub(super) fn inputs(kernels: Kernels) -> BTreeMap<String, String> {
    let of_family = |name: &str| {
        let units = units().filter(|unit| unit.family.name == name);
        let parts: Vec<String> = units.flat_map(|unit| parts(&unit, kernels)).collect();
        hash_parts(parts.iter().map(String::as_bytes))
    };
    families().iter().map(|family| (format!("{PREFIX}{}", family.name), of_family(family.name))).collect()
}

/// Fails if a kernel source in the tree was edited since this program was built: [`inputs`] hashes the built-in sources.
pub(super) fn same_texts(files: &Files) -> Result<(), String> {
    let headers = HEADER_FOLDERS
        .iter()
        .flat_map(|folder| HEADERS.iter().map(move |(name, text)| (format!("{folder}/{name}"), *text)));
    let sources = families().iter().map(|family| (format!("{FAMILIES}/{}", family.file), family.source));
    for (name, text) in sources.chain(headers) {
        let path = format!("kernels-hip/{name}");
        // A header is in only one of the folders.
        if files.has(&path) && files.text(&path) != text {
            return Err(format!("ci: {path} has changed since this program was built: run it once more"));
        }
    }
    Ok(())
}

fn parts(unit: &Unit, kernels: Kernels) -> Vec<String> {
    let mut parts = vec![unit.name(), unit.source_hash()];
    parts.extend([32, 64].map(|wave_size| unit.options_hash(kernels.platform, wave_size)));
    parts.extend(kernels.chips.split(',').map(|chip| unit.is_for(kernels.platform, chip).to_string()));
    parts.extend(unit.kernels());
    parts
}

/// Inputs that only start the compilers: what the compilers get is in the families' hashes. hip-host is one, because the
/// same command compiles for the host.
const STARTERS: [&str; 9] = [
    ".cargo/config.toml",
    "Cargo.lock and Cargo.toml",
    "crate hip-host",
    "rustc",
    "xtask/Cargo.toml",
    "xtask/src/lib.rs",
    "xtask/src/main.rs",
    "xtask/src/table.rs",
    "xtask/src/workspace.rs",
];

/// A family that compiles in seconds. It shows that the command still works.
const SAMPLE: &str = "rope";

/// The families to compile, if only families changed, or what starts the compilers. `None` means that all families must be
/// compiled.
pub(super) fn changed(names: &[String]) -> Option<Vec<&str>> {
    let mut changed = Vec::new();
    let mut started_otherwise = false;
    for name in names {
        match name.strip_prefix(PREFIX) {
            // A family that was removed is not compiled.
            Some(family) if families().iter().any(|known| known.name == family) => changed.push(family),
            Some(_) => {}
            None if STARTERS.contains(&name.as_str()) => started_otherwise = true,
            None => return None,
        }
    }
    if started_otherwise && changed.is_empty() {
        changed.push(SAMPLE);
    }
    (!changed.is_empty()).then_some(changed)
}

/// The number of units in these families, or in all.
pub(super) fn count(families: Option<&[&str]>) -> usize {
    units().filter(|unit| families.is_none_or(|names| names.contains(&unit.family.name))).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNELS: Kernels = Kernels { platform: "amd", chips: "gfx942,gfx1100" };

    #[test]
    fn each_family_is_an_input() {
        let all = inputs(KERNELS);
        assert_eq!(all.len(), families().len());
        let reduce = &all["kernels of reduce"];
        assert_ne!(reduce, &all["kernels of norm"]);
        assert_ne!(reduce, &inputs(Kernels { platform: "nvidia", chips: "sm_90" })["kernels of reduce"]);
        // As many chips, so that the number of parts is the same.
        let without_matrix_units = inputs(Kernels { chips: "gfx1100,gfx1100", ..KERNELS });
        assert_eq!(reduce, &without_matrix_units["kernels of reduce"]);
        assert_ne!(all["kernels of attention_mma"], without_matrix_units["kernels of attention_mma"]);
    }

    #[test]
    fn changed_families_are_compiled_alone_unless_the_compilers_or_their_options_changed() {
        let changed_of = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            changed(&names).map(|families| families.join(","))
        };
        assert_eq!(changed_of(&["kernels of norm", "kernels of reduce"]), Some("norm,reduce".into()));
        assert_eq!(changed_of(&["kernels of norm", "kernels of what_was"]), Some("norm".into()));
        assert_eq!(changed_of(&["kernels of norm", "rustc"]), Some("norm".into()));
        assert_eq!(changed_of(&["crate hip-host", "xtask/src/main.rs"]), Some(SAMPLE.into()));
        for other in ["AMD's compiler", "definition", "xtask/src/build_kernels", "crate kernel-resources"] {
            assert_eq!(changed_of(&["kernels of norm", other]), None, "{other}");
        }
        assert_eq!(changed_of(&["kernels of what_was"]), None);
        assert_eq!(changed_of(&[]), None);
        assert!(families().iter().any(|family| family.name == SAMPLE));
    }
}
