//! The steps, in order: what each runs, when it runs, and which inputs it has besides the files that it names.

use super::needs;
use super::tools::{self, Tool};
use std::path::PathBuf;

/// What a step runs.
pub(super) enum Run {
    /// cargo with these arguments.
    Cargo(&'static [&'static str]),
    /// This program with these arguments.
    Xtask(&'static [&'static str]),
    /// A script of the workspace.
    Script(&'static str),
}

/// One of the checks.
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) run: Run,
    pub(super) env: Option<(&'static str, &'static str)>,
    /// Whether it runs only if an input changed since it last passed.
    pub(super) heavy: bool,
    /// Whether only `--full`, or its name, makes it run.
    pub(super) only_full: bool,
    /// The packages that it builds. Their dependencies are inputs too, and so are crates that a command of xtask uses.
    pub(super) packages: &'static [&'static str],
    /// Whether it builds their tests.
    pub(super) tests: bool,
    /// The tools of this machine that it uses.
    pub(super) tools: &'static [Tool],
    /// Files that it reads and no string of its program names by a path.
    pub(super) files: &'static [&'static str],
    /// The kernels that it compiles ahead of time. Each family is an input of its own, and only changed families are compiled.
    pub(super) kernels: Option<Kernels>,
    /// More arguments, or why the step cannot run on this machine.
    pub(super) needs: fn() -> Result<Vec<PathBuf>, String>,
}

/// Kernels for chips of a platform.
#[derive(Clone, Copy)]
pub(super) struct Kernels {
    pub(super) platform: &'static str,
    pub(super) chips: &'static str,
}

/// A step that always runs.
pub(super) const fn step(name: &'static str, run: Run) -> Step {
    let needs = || Ok(Vec::new());
    Step {
        name,
        run,
        env: None,
        heavy: false,
        only_full: false,
        packages: &[],
        tests: false,
        tools: &[],
        files: &[],
        kernels: None,
        needs,
    }
}

/// A step that runs only if an input changed.
const fn heavy(name: &'static str, run: Run) -> Step {
    Step { heavy: true, tools: &[tools::RUST], ..step(name, run) }
}

/// A heavy step that compiles kernels for the host.
const fn on_host(name: &'static str, run: Run) -> Step {
    Step { tools: &[tools::RUST, tools::CXX], ..heavy(name, run) }
}

/// The parity cases, by the crate's own command.
const fn parity(name: &'static str, args: &'static [&'static str]) -> Step {
    Step { packages: &["hipstack-parity"], ..on_host(name, Run::Xtask(args)) }
}

/// The kernels under a sanitizer: that command builds these packages with their tests.
const fn sanitize(name: &'static str, args: &'static [&'static str]) -> Step {
    Step {
        packages: &["hipstack-hip-host", "hipstack-kernels-hip", "hipstack-parity"],
        tests: true,
        needs: needs::sanitizers,
        ..on_host(name, Run::Xtask(args))
    }
}

/// All steps.
pub(super) static STEPS: [Step; 28] = [
    step("fmt", Run::Cargo(&["fmt", "--all", "--check"])),
    step("clippy", Run::Cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])),
    step("tidy", Run::Xtask(&["tidy"])),
    Step {
        env: Some(("RUSTDOCFLAGS", "-D warnings")),
        ..step("doc", Run::Cargo(&["doc", "--workspace", "--no-deps"]))
    },
    step("packed", Run::Xtask(&["packed"])),
    // The two commands that README.md gives.
    step("parity", Run::Xtask(&["parity"])),
    step("test", Run::Cargo(&["test", "--workspace"])),
    // parity depends on every crate whose front page has examples.
    Step {
        packages: &["hipstack-parity"],
        files: &["README.md"],
        ..on_host("snippets", Run::Xtask(&["snippets"]))
    },
    // loom tries every interleaving of threads that use the locks. It needs a build of its own.
    Step {
        env: Some(("RUSTFLAGS", "--cfg loom")),
        // Without `tests`: loom's models are in the library, so dependencies of other tests are not built.
        packages: &["hipstack-hip-safe"],
        ..heavy("loom", Run::Cargo(&LOOM))
    },
    // Mutation tests leave out every wait once. They need another build.
    Step {
        env: Some(("RUSTFLAGS", "--cfg hip_safe_mutation")),
        packages: &["hipstack-hip-safe"],
        tests: true,
        ..on_host("mutations", Run::Cargo(&MUTATIONS))
    },
    Step {
        packages: &["hipstack-hip-sys"],
        tools: &[tools::RUST, tools::HEADERS],
        needs: needs::rocm_headers,
        ..heavy("codegen", Run::Xtask(&["codegen", "--check"]))
    },
    Step {
        tools: &[tools::RUST, tools::CXX, tools::LIBRARIES],
        needs: needs::libraries,
        ..heavy("libraries", Run::Xtask(&["libraries"]))
    },
    // Tests that take half a minute each: `cargo test` leaves them out.
    Step {
        packages: &["benches", "conformance", "hipstack-hip-safe", "hipstack-models", "hipstack-tensor-core"],
        tests: true,
        tools: &[tools::RUST, tools::CXX, tools::LIBRARIES, tools::WEIGHTS_IF_ANY],
        ..heavy("slow-tests", Run::Cargo(&SLOW_TESTS))
    },
    // All tensors of two real models on every device, and a text of thousands of tokens.
    Step {
        packages: &["hipstack-models", "hipstack-weights"],
        tests: true,
        only_full: true,
        needs: needs::models,
        ..on_host("models", Run::Cargo(&MODELS))
    },
    on_host("kernels-host", Run::Xtask(&["build-kernels", "--platform", "host", "--arch", "host-w64"])),
    Step {
        tools: &[tools::RUST, tools::AMD],
        kernels: Some(Kernels { platform: "amd", chips: AMD_CHIPS }),
        needs: needs::rocm_compiler,
        ..heavy("kernels-amd", Run::Xtask(&KERNELS_AMD))
    },
    Step {
        tools: &[tools::RUST, tools::NVIDIA],
        kernels: Some(Kernels { platform: "nvidia", chips: NVIDIA_CHIP }),
        needs: needs::nvcc,
        ..heavy("kernels-nvidia", Run::Xtask(&KERNELS_NVIDIA))
    },
    Step {
        packages: &["fuzz"],
        tools: &[tools::RUST, tools::AMD, tools::BUNDLER],
        needs: needs::bundler,
        ..heavy("fuzz", Run::Xtask(&["fuzz"]))
    },
    sanitize("sanitize-planted", &["sanitize", "--planted"]),
    // The sanitizers' kernels compile slowly, so these steps run one dtype; `cargo xtask sanitize` runs all. Synchronisation
    // does not depend on the dtype. The end of a read can, so run all dtypes by hand after you change kernels.
    sanitize("sanitize-address", &ADDRESSES),
    sanitize("sanitize-thread", &THREADS),
    Step {
        packages: &["hipstack-hip-host", "hipstack-hip-host-miopen"],
        tests: true,
        tools: &[tools::RUST, tools::AARCH64],
        needs: || needs::of_script(AARCH64_SCRIPT),
        ..heavy("aarch64", Run::Script(AARCH64_SCRIPT))
    },
    Step {
        packages: &["hipstack-hip-host", "hipstack-hip-safe", "hipstack-tensor-core"],
        tests: true,
        tools: &[tools::MIRI],
        needs: || needs::of_script(MIRI_SCRIPT),
        ..heavy("miri", Run::Script(MIRI_SCRIPT))
    },
    // A workspace of its own, which depends on tensor-core by its path.
    Step {
        packages: &["hipstack-tensor-core"],
        needs: || needs::of_script(CANDLE_SCRIPT),
        ..on_host("candle", Run::Script(CANDLE_SCRIPT))
    },
    parity("sabotage", &["parity", "--sabotage"]),
    // The step `parity` runs a representative subset. This one runs all cases, and counts the record's entries.
    parity("parity-full", &["parity", "--full", "--json", "target/parity/full.json"]),
    // Computes by our kernels what libraries compute in the other steps.
    parity("parity-kernels", &KERNELS_ALONE),
    Step {
        tools: &[tools::RUST, tools::CXX, tools::WEIGHTS],
        needs: needs::weights,
        ..parity("weights", &["parity", "--json", "target/parity/weights.json", "--weights"])
    },
];

/// Loom's threads have small stacks, which unoptimised code overflows.
const LOOM: [&str; 9] = [
    "test",
    "-p",
    "hipstack-hip-safe",
    "--lib",
    "--config",
    "profile.dev.package.hipstack-hip-safe.opt-level=1",
    "--target-dir",
    "target/loom",
    "loom",
];
/// The skipped test takes tens of minutes; ci/run-time-compiler.sh runs it.
const SLOW_TESTS: [&str; 14] = [
    "test",
    "--workspace",
    "--test",
    "host",
    "--test",
    "minilm",
    "--test",
    "throughput",
    "--test",
    "run_time",
    "--",
    "--ignored",
    "--skip",
    "every_unit",
];
/// The skipped test fails: crates/models/tests/perplexity.rs says by how much, and why.
const MODELS: [&str; 17] = [
    "test",
    "-p",
    "hipstack-weights",
    "-p",
    "hipstack-models",
    "--config",
    "profile.dev.package.hipstack-tensor-core.opt-level=3",
    "--target-dir",
    "target/models",
    "--test",
    "real",
    "--test",
    "perplexity",
    "--",
    "--ignored",
    "--skip",
    "gemma3",
];
const MUTATIONS: [&str; 8] =
    ["test", "-p", "hipstack-hip-safe", "--target-dir", "target/mutation", "--test", "suite", "mutations"];
/// The AMD chips that CI builds for: one Instinct and one Radeon. `--arch all`, by hand, builds for all.
const AMD_CHIPS: &str = "gfx942,gfx1100";
const KERNELS_AMD: [&str; 6] = ["build-kernels", "--platform", "amd", "--arch", AMD_CHIPS, "--deny-spills"];
const ADDRESSES: [&str; 4] = ["sanitize", "address", "--filter", "*/f32/*"];
const THREADS: [&str; 4] = ["sanitize", "thread", "--filter", "*/f32/contiguous/*"];
const NVIDIA_CHIP: &str = "sm_90";
const KERNELS_NVIDIA: [&str; 6] =
    ["build-kernels", "--platform", "nvidia", "--arch", NVIDIA_CHIP, "--deny-spills"];
const KERNELS_ALONE: [&str; 6] =
    ["parity", "--all", "--device", "host:0:kernels,host:1:kernels", "--json", "target/parity/kernels.json"];
/// Cross-builds for 64-bit ARM. The script itself reports what it lacks.
const AARCH64_SCRIPT: &str = "ci/aarch64.sh";
/// Tests crates/candle-hip.
const CANDLE_SCRIPT: &str = "ci/candle.sh";
/// Runs tests under Miri, with the toolchain that the script names.
pub(super) const MIRI_SCRIPT: &str = "ci/miri.sh";

impl Step {
    /// The command line as a person would type it.
    pub(super) fn command_line(&self) -> String {
        let (program, args) = match self.run {
            Run::Cargo(args) => ("cargo", args),
            Run::Xtask(args) => ("cargo xtask", args),
            Run::Script(path) => (path, [].as_slice()),
        };
        let env = self.env.map(|(name, value)| format!("{name}={value:?} ")).unwrap_or_default();
        format!("{env}{program} {}", args.join(" ")).trim_end().to_owned()
    }
}

/// The steps that `--only` and `--skip` choose, in their order.
pub(super) fn chosen(only: &[String], skip: &[String]) -> Result<Vec<&'static Step>, String> {
    for name in only.iter().chain(skip) {
        if STEPS.iter().all(|step| step.name != *name) {
            return Err(format!("ci: no step is called {name:?}; `cargo xtask ci --list` shows them"));
        }
    }
    let named = |names: &[String], step: &Step| names.iter().any(|name| name == step.name);
    let wanted = |step: &&Step| (only.is_empty() || named(only, step)) && !named(skip, step);
    Ok(STEPS.iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(only: &[&str], skip: &[&str]) -> Result<Vec<&'static str>, String> {
        let strings = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        Ok(chosen(&strings(only), &strings(skip))?.into_iter().map(|step| step.name).collect())
    }

    #[test]
    fn steps_keep_their_order() {
        assert_eq!(names(&["tidy", "fmt"], &[]), Ok(vec!["fmt", "tidy"]));
        let all = names(&[], &["test"]).expect("a step");
        assert_eq!(all.len(), STEPS.len() - 1);
        assert!(!all.contains(&"test"));
    }

    #[test]
    fn an_unknown_step_is_named() {
        assert!(names(&["lint"], &[]).expect_err("no such step").contains("\"lint\""));
        assert!(names(&[], &["lint"]).is_err());
    }

    #[test]
    fn the_command_lines_of_this_program_are_understood() {
        use clap::Parser;
        for step in &STEPS {
            if let Run::Xtask(args) = step.run {
                let line = ["cargo xtask"].iter().chain(args);
                let parsed = crate::Cli::try_parse_from(line);
                assert!(parsed.is_ok(), "{}: {parsed:?}", step.name);
            }
        }
    }

    #[test]
    fn a_step_s_kernels_match_its_command() {
        for step in &STEPS {
            if let (Some(Kernels { platform, chips }), Run::Xtask(args)) = (step.kernels, &step.run) {
                assert!(args.contains(&platform) && args.contains(&chips), "{}", step.name);
            }
        }
    }

    #[test]
    fn names_are_distinct_and_heavy_steps_count_a_compiler() {
        let names: std::collections::BTreeSet<_> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(names.len(), STEPS.len());
        assert!(STEPS.iter().all(|step| step.heavy != step.tools.is_empty()));
    }
}
