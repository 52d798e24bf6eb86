//! The environment variables that a step reads.

use super::mentions::Mentions;
use super::steps::Step;
use kernels_hip::hash_bytes;
use std::collections::BTreeMap;
use std::path::Path;

/// Variables that name locations or requirements, which do not change a step's result. HIPSTACK_CACHE is an input only if
/// it is `off`; of HIPSTACK_WEIGHTS the file's contents are the input.
const IGNORED: [&str; 10] = [
    "HIPSTACK_MODELS",
    "HIPSTACK_REQUIRE",
    "HIPSTACK_WEIGHTS",
    "HOME",
    "OUT_DIR",
    "PATH",
    "TMPDIR",
    "USER",
    "XDG_CACHE_HOME",
    "CARGO",
];

/// What cargo sets for the programs that it runs.
const OF_CARGO: [&str; 3] = ["CARGO_MANIFEST_", "CARGO_PKG_", "LD_LIBRARY_PATH"];

/// The variables that are inputs of a step, with hashes of their values. A step reads what its files and its tools mention.
pub(super) fn of_step<'a>(
    step: &Step,
    mentions: impl Iterator<Item = &'a Mentions> + Clone,
    environment: &BTreeMap<String, String>,
    root: &Path,
) -> BTreeMap<String, String> {
    let read = |name: &str| {
        let by_tool = step.tools.iter().flat_map(|tool| tool.variables).any(|pattern| matches(pattern, name));
        by_tool || mentions.clone().any(|mentions| mentions.word(name))
    };
    let root = format!("{}/", root.display());
    environment
        .iter()
        .filter(|(name, value)| counts(name, value) && read(name))
        // A path inside the tree is written relative to the root, so that all checkouts agree.
        .map(|(name, value)| (name.clone(), hash_bytes(value.replace(&root, "").as_bytes())))
        .collect()
}

/// The variables of this process.
pub(super) fn environment() -> BTreeMap<String, String> {
    let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect()
}

fn counts(name: &str, value: &str) -> bool {
    // A string such as "_" does not mean the variable `_` that shells set.
    let usual = name.len() > 1 && name.starts_with(|c: char| c.is_ascii_uppercase());
    let ignored = IGNORED.contains(&name) || OF_CARGO.iter().any(|begin| name.starts_with(begin));
    let cache = name == "HIPSTACK_CACHE" && value != "off";
    usual && !value.is_empty() && !ignored && !cache
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::super::steps::{Run, step};
    use super::super::tools;
    use super::*;

    fn read(set: &[(&str, &str)]) -> BTreeMap<String, String> {
        let environment = set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let mentions = Mentions::of("a.rs", r#"("HIPSTACK_HOST_THREADS", "PATH", "HIPSTACK_CACHE")"#, false);
        let step = Step { tools: &[tools::CXX], ..step("loom", Run::Cargo(&[])) };
        of_step(&step, std::iter::once(&mentions), &environment, Path::new("/checkout"))
    }

    fn names(set: &[(&str, &str)]) -> String {
        read(set).into_keys().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn variables_that_files_mention_or_tools_read_are_inputs() {
        let set = [("HIPSTACK_HOST_THREADS", "2"), ("CXX", "g++"), ("CXXFLAGS_x86", "-g"), ("NVCC", "nvcc")];
        assert_eq!(names(&set), "CXX CXXFLAGS_x86 HIPSTACK_HOST_THREADS");
        assert_eq!(names(&[("CXX", "")]), "", "empty is not set");
        assert_ne!(read(&[("CXX", "g++")]), read(&[("CXX", "clang++")]));
    }

    #[test]
    fn locations_are_no_inputs_but_a_disabled_cache_is() {
        assert_eq!(names(&[("PATH", "/bin"), ("HIPSTACK_CACHE", "/c")]), "");
        assert_eq!(names(&[("HIPSTACK_CACHE", "off")]), "HIPSTACK_CACHE");
        let here = read(&[("CXX", "/checkout/target/g++")]);
        assert_eq!(here, read(&[("CXX", "target/g++")]), "the same file of another checkout");
    }
}
