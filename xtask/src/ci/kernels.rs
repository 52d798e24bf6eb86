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

/// The families to compile, if no other input changed. `None` means that all families must be compiled.
pub(super) fn changed(names: &[String]) -> Option<Vec<&str>> {
    let mut changed = Vec::new();
    for name in names {
        let family = name.strip_prefix(PREFIX)?;
        // A family that was removed is not compiled.
        if families().iter().any(|known| known.name == family) {
            changed.push(family);
        }
    }
    (!changed.is_empty()).then_some(changed)
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
    fn only_changed_families_are_compiled_if_nothing_else_changed() {
        let changed_of = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            changed(&names).map(|families| families.join(","))
        };
        assert_eq!(changed_of(&["kernels of norm", "kernels of reduce"]), Some("norm,reduce".into()));
        assert_eq!(changed_of(&["kernels of norm", "kernels of what_was"]), Some("norm".into()));
        assert_eq!(changed_of(&["kernels of norm", "rustc"]), None);
        assert_eq!(changed_of(&["kernels of what_was"]), None);
        assert_eq!(changed_of(&[]), None);
    }
}
