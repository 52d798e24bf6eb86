//! Names that look like a misspelt one, for messages.

use strsim::levenshtein;

/// At most this many are suggested.
const SUGGESTIONS: usize = 3;

/// Those of `names` that are a few edits away from `wanted`, nearest first.
pub(crate) fn near_names<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let limit = wanted.chars().count() / 3 + 1;
    // Instances of one template, and what lies in a namespace, differ in more than that.
    let distance_to = |name| levenshtein(wanted, name).min(levenshtein(bare(wanted), bare(name)));
    let mut near: Vec<_> = names.map(|name| (distance_to(name), name)).filter(|(d, _)| *d <= limit).collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(SUGGESTIONS).map(|(_, name)| name.to_string()).collect()
}

/// A name without namespaces and template arguments: `scale` of `n::scale<float>`.
pub(crate) fn bare(name: &str) -> &str {
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first() {
        let names = ["reduce_sum_f32", "elementwise_add_f64", "elementwise_add_f32"];
        let near = near_names("elementwise_ad_f32", names.into_iter());
        assert_eq!(near, ["elementwise_add_f32", "elementwise_add_f64"]);
        assert!(near_names("x", names.into_iter()).is_empty());
        let near = near_names("scale", ["n::scale<float>", "scales", "other<scale>"].into_iter());
        assert_eq!(near, ["n::scale<float>", "scales"]);
        assert_eq!(
            near_names("set<double>", ["set<int>", "get<double>"].into_iter()),
            ["set<int>", "get<double>"]
        );
    }
}
