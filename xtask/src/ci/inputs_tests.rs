//! Tests of which files are inputs, in a small tree of packages and in this workspace.

use super::super::files::checkout;
use super::super::packages::small;
use super::super::steps::{Kernels, STEPS, step};
use super::super::tools::Tool;
use super::*;
use crate::workspace;
use std::path::Path;

/// A tree of the packages of [`small`], with a command `check` that uses `tensor`, and a page.
const TREE: &[(&str, &str)] = &[
    ("Cargo.lock", "version = 4\n"),
    ("Cargo.toml", "[workspace]\n"),
    ("crates/sys/src/lib.rs", ""),
    ("crates/sys/tests/skip.rs", ""),
    ("crates/sys/tests/other.rs", ""),
    ("crates/host/src/lib.rs", "#[path = \"../../sys/tests/skip.rs\"] mod skip;"),
    ("crates/safe/src/lib.rs", "env(\"HIP_X\")\n\n#[cfg(test)]\nmod tests {\n \"docs/tests.md\" }\n"),
    ("crates/safe/tests/a.rs", "include_str!(\"../../../docs/page.md\")"),
    ("crates/safe/kernels/a.hip", ""),
    ("crates/tensor/src/lib.rs", "read(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/../../ci/data\"))"),
    ("ci/data/a.tsv", ""),
    ("ci/run.sh", "ci/other.sh"),
    ("ci/other.sh", ""),
    ("docs/page.md", ""),
    ("docs/tests.md", ""),
    ("xtask/src/lib.rs", "mod check; mod table; mod lost;"),
    ("xtask/src/check/mod.rs", "use crate::{table, workspace::x};\nuse tensor::Tensor;"),
    ("xtask/src/check/part.rs", "include_str!(\"part.toml\"); cargo([\"run\", \"-p\", \"host\"])"),
    ("xtask/src/check/part.toml", ""),
    ("xtask/src/table.rs", ""),
    ("xtask/src/workspace.rs", ""),
    ("xtask/src/lost.rs", ""),
];

const TESTS_OF_SAFE: Step =
    Step { heavy: true, packages: &["safe"], tests: true, ..step("tests of safe", Run::Cargo(&["test"])) };
const SAFE: Step = Step { tests: false, ..TESTS_OF_SAFE };
const CHECK: Step = Step { heavy: true, ..step("check", Run::Xtask(&["check"])) };
const SCRIPT: Step = Step { heavy: true, ..step("script", Run::Script("ci/run.sh")) };

fn sources(root: &Path, environment: &[(&str, &str)]) -> Sources {
    let environment = environment.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    Sources::new(Files::of_checkout(root).expect("a checkout"), small(), environment.collect())
}

fn inputs(root: &Path, step: &Step) -> Inputs {
    sources(root, &[]).of(step).expect("all are readable")
}

/// The files that change a step's inputs when they are edited one at a time.
fn counted(step: &Step) -> Vec<&'static str> {
    let dir = checkout(TREE);
    let before = inputs(dir.path(), step).hash();
    let changes = |path: &&str| {
        let file = dir.path().join(path);
        let text = std::fs::read_to_string(&file).expect("just written");
        std::fs::write(&file, text.clone() + "\n").expect("writable");
        let changed = inputs(dir.path(), step).hash() != before;
        std::fs::write(&file, text).expect("writable");
        changed
    };
    TREE.iter().map(|(path, _)| *path).filter(changes).collect()
}

#[test]
fn a_changed_file_changes_only_steps_that_are_built_from_it() {
    assert_eq!(
        counted(&SAFE),
        ["crates/sys/src/lib.rs", "crates/safe/src/lib.rs"],
        "tests are not built, and a blank line in Cargo.toml is none of its entries"
    );
    let whole = Step { run: Run::Cargo(&["test", "--workspace"]), ..SAFE };
    assert_eq!(counted(&whole)[..2], ["Cargo.lock", "Cargo.toml"]);
    let tests = counted(&TESTS_OF_SAFE);
    for path in [
        "crates/host/src/lib.rs",
        "crates/safe/kernels/a.hip",
        "crates/sys/tests/skip.rs",
        "docs/page.md",
        "docs/tests.md",
    ] {
        assert!(tests.contains(&path), "{path} is built for the tests: {tests:?}");
    }
    assert!(!tests.contains(&"crates/sys/tests/other.rs") && !tests.contains(&"crates/tensor/src/lib.rs"));
    assert_eq!(counted(&SCRIPT), ["ci/run.sh", "ci/other.sh"]);
}

#[test]
fn a_command_s_modules_and_their_crates_are_inputs() {
    let counted = counted(&CHECK);
    for path in [
        "xtask/src/lib.rs",
        "xtask/src/check/part.toml",
        "xtask/src/table.rs",
        "xtask/src/workspace.rs",
        "crates/tensor/src/lib.rs",
        "crates/sys/src/lib.rs",
        "crates/safe/kernels/a.hip",
        "crates/host/src/lib.rs",
        "ci/data/a.tsv",
    ] {
        assert!(counted.contains(&path), "{path}: {counted:?}");
    }
    assert!(!counted.contains(&"xtask/src/lost.rs") && !counted.contains(&"crates/safe/tests/a.rs"));
}

#[test]
fn new_files_definitions_tools_and_variables_change_the_inputs() {
    let dir = checkout(TREE);
    let before = inputs(dir.path(), &SAFE);
    std::fs::write(dir.path().join("crates/safe/src/new.rs"), "").expect("writable");
    let after = inputs(dir.path(), &SAFE);
    assert_eq!(after.changed_since(&before.0), ["crate safe changed"], "not tracked, but not ignored");

    let other = Step { run: Run::Cargo(&["test", "--release"]), ..SAFE };
    assert_eq!(inputs(dir.path(), &other).changed_since(&after.0), ["definition changed"]);
    let other = Step { env: Some(("RUSTFLAGS", "--cfg loom")), ..SAFE };
    assert_eq!(inputs(dir.path(), &other).changed_since(&after.0), ["definition changed"]);

    let tool = |versions| Tool { variables: &["TOOL_*"], versions };
    let first: &'static [Tool] = Box::leak(Box::new([tool(|| Ok(vec![("g++".into(), "12.2".into())]))]));
    let second: &'static [Tool] = Box::leak(Box::new([tool(|| Ok(vec![("g++".into(), "12.3".into())]))]));
    let before = inputs(dir.path(), &Step { tools: first, ..SAFE });
    let after = inputs(dir.path(), &Step { tools: second, ..SAFE });
    assert_eq!(after.changed_since(&before.0), ["g++ changed"]);
    assert_ne!(before.hash(), after.hash());

    let with = |set: &[(&str, &str)]| {
        sources(dir.path(), set).of(&Step { tools: second, ..SAFE }).expect("all are readable")
    };
    assert_eq!(with(&[("HIP_X", "1"), ("HIP_Y", "1")]).changed_since(&after.0), ["env HIP_X is new"]);
    assert_eq!(with(&[("TOOL_A", "1")]).changed_since(&with(&[("TOOL_A", "2")]).0), ["env TOOL_A changed"]);
}

#[test]
fn locked_versions_and_kernel_families_are_inputs() {
    let dir = checkout(TREE);
    let before = inputs(dir.path(), &SAFE);
    let lock = "package = [{ name = \"safe\", dependencies = [\"libc\"] }, { name = \"libc\", source = \"registry\" }]\n";
    std::fs::write(dir.path().join("Cargo.lock"), lock).expect("writable");
    assert_eq!(inputs(dir.path(), &SAFE).changed_since(&before.0), ["Cargo.lock and Cargo.toml changed"]);
    let kernels = Some(Kernels { platform: "amd", chips: "gfx942" });
    let inputs = inputs(dir.path(), &Step { kernels, ..SAFE });
    assert!(inputs.0.contains_key("kernels of reduce"));
}

#[test]
fn a_path_is_resolved_against_its_base() {
    assert_eq!(normal("crates/a/src", "../../b/c.rs"), "crates/b/c.rs");
    assert_eq!(normal("crates/a", "/../b/./c"), "crates/b/c");
    assert_eq!(normal("a", "../../b"), "", "out of the tree");
}

/// The inputs of this workspace.
fn ours() -> Option<Sources> {
    let root = workspace::root().expect("tests run inside the workspace");
    let packages = Packages::of_workspace(&root).expect("cargo is here");
    match Files::of_checkout(&root) {
        Ok(files) => Some(Sources::new(files, packages, BTreeMap::new())),
        Err(why) => {
            println!("skipped: {why}");
            None
        }
    }
}

#[test]
fn each_command_of_a_step_has_files_or_a_package() {
    let Some(sources) = ours() else { return };
    for step in STEPS.iter().filter(|step| step.heavy) {
        if let Run::Xtask(args) = step.run {
            let files = sources.command(args[0]);
            let module = !files.is_empty() && !files.contains("xtask/src/program.rs");
            let published = format!("{}{}", crate::packages::PREFIX, args[0]);
            assert!(
                module || step.packages == [published.as_str()] || step.packages == [args[0]],
                "{}: name the package of {}",
                step.name,
                args[0]
            );
        }
        let files = sources.files_of(step).expect("its packages are of the workspace");
        assert!(files.len() > 20, "{}: {files:?}", step.name);
    }
}

/// Finds the files that packages include from outside their folder, by a plain text search, and expects them as inputs.
#[test]
fn files_that_are_included_from_elsewhere_are_inputs() {
    let Some(sources) = ours() else { return };
    let mut seen = 0;
    for step in STEPS.iter().filter(|step| step.heavy) {
        let counted = sources.files_of(step).expect("its packages are of the workspace");
        let whole = counted.iter().filter(|(path, tests)| path.ends_with(".rs") && **tests);
        for (path, _) in whole {
            let text = sources.files.text(path);
            let folder = path.rsplit_once('/').expect("in a package").0;
            for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
                let includes = ["#[path = \"", "include_str!(\"", "include_bytes!(\"", "include!(\""];
                for begin in includes {
                    let Some((_, rest)) = line.split_once(begin) else { continue };
                    let named = normal(folder, rest.split_once('"').expect("it ends there").0);
                    if sources.files.has(&named) {
                        seen += 1;
                        assert!(counted.contains_key(&named), "{}: {path} includes {named}", step.name);
                    }
                }
            }
        }
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn files_that_only_a_running_test_reads_are_inputs() {
    let Some(sources) = ours() else { return };
    let heavy = STEPS.iter().filter(|step| step.heavy);
    let files: BTreeMap<_, _> = heavy
        .map(|step| (step.name, sources.files_of(step).expect("its packages are of the workspace")))
        .collect();
    for (step, path) in [
        ("mutations", "docs/SAFETY.md"),
        ("sabotage", "kernels-hip/headers/portable.hpp"),
        ("sabotage", "crates/parity/differences/amd-emulated.toml"),
        ("sabotage", "xtask/src/program.rs"),
        ("sabotage", "crates/parity/records/cuda-h200.tsv"),
        ("sanitize-planted", "crates/hip-host/tests/kernels/planted.cpp"),
        ("sanitize-address", "xtask/src/sanitize/setup.rs"),
        ("kernels-amd", "xtask/src/build_kernels/one.rs"),
        ("kernels-amd", "xtask/src/build_kernels/exceptions.toml"),
        ("kernels-amd", "crates/kernel-resources/src/occupancy.rs"),
        ("kernels-nvidia", "crates/kernel-resources/src/nvidia.rs"),
        ("fuzz", "kernels-hip/kernels.toml"),
        ("kernels-host", "crates/hip-host/include/hip/hip_runtime.h"),
        ("codegen", "crates/hip-sys/functions.toml"),
        ("fuzz", "crates/code-object/src/lib.rs"),
        ("aarch64", "ci/aarch64.sh"),
        ("miri", "ci/miri.sh"),
        ("miri", "crates/hip-safe/tests/miri/main.rs"),
        ("miri", "crates/hip-host/src/lib.rs"),
        ("libraries", "xtask/src/libraries/known.toml"),
        ("weights", ".cargo/config.toml"),
        ("snippets", "README.md"),
    ] {
        assert!(files[step].contains_key(path), "{step}: {path}");
    }
    // Features of every member reach what these build.
    for step in ["snippets", "parity-full", "slow-tests"] {
        for path in ["Cargo.lock", "crates/conformance/Cargo.toml"] {
            assert!(files[step].contains_key(path), "{step}: {path}");
        }
    }
    // Else a step would run after changes that cannot break it.
    for (step, path) in [
        ("loom", "kernels-hip/headers/portable.hpp"),
        ("mutations", "crates/tensor-core/src/lib.rs"),
        ("codegen", "crates/hip-safe/src/lib.rs"),
        ("sabotage", "crates/conformance/src/lib.rs"),
        ("aarch64", "kernels-hip/headers/portable.hpp"),
        ("kernels-amd", "kernels-hip/headers/portable.hpp"),
        ("kernels-amd", "crates/hip-host/src/lib.rs"),
    ] {
        assert!(!files[step].contains_key(path), "{step}: {path}");
    }
    for (step, files) in &files {
        for path in ["README.md", ".ci/run", "xtask/src/ci/steps.rs", "xtask/src/tidy/mod.rs"] {
            let read = *step == "snippets" && path == "README.md";
            assert_eq!(files.contains_key(path), read, "{step}: {path}");
        }
    }
}
