//! The families of kernels as inputs of a step that compiles them ahead of time.

use super::steps::Kernels;
use kernels_hip::{Unit, families, hash_parts, units};
use std::collections::BTreeMap;

/// What the inputs' names begin with.
const PREFIX: &str = "kernels of ";

/// An input for each family: a hash of what decides about its objects, its texts, its options and its kernels' names.
pub(super) fn inputs(kernels: Kernels) -> BTreeMap<String, String> {
    let of_family = |name: &str| {
        let units = units().filter(|unit| unit.family.name == name);
        hash_parts(
            units
                .flat_map(|unit| parts(&unit, kernels))
                .map(String::into_bytes)
                .collect::<Vec<_>>()
                .iter()
                .map(Vec::as_slice),
        )
    };
    families().iter().map(|family| (format!("{PREFIX}{}", family.name), of_family(family.name))).collect()
}

fn parts(unit: &Unit, kernels: Kernels) -> Vec<String> {
    let mut parts = vec![unit.name(), unit.source_hash()];
    parts.extend([32, 64].map(|wave_size| unit.options_hash(kernels.platform, wave_size)));
    parts.extend(kernels.chips.split(',').map(|chip| unit.is_for(kernels.platform, chip).to_string()));
    parts.extend(unit.kernels());
    parts
}

/// The families to compile if these are all inputs that changed; none if something else did, and all are.
pub(super) fn changed(names: &[String]) -> Option<Vec<&str>> {
    let mut changed = Vec::new();
    for name in names {
        let family = name.strip_prefix(PREFIX)?;
        // One that is gone is not compiled.
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
