//! `cargo xtask ci`: runs everything that a change has to pass, in order, and says which step failed.
//!
//! All steps run even if one fails, so that one run shows everything. A step that needs what this machine lacks is
//! skipped with a word, unless HIPSTACK_REQUIRE says that it must run.

use crate::build_kernels::compiler;
use crate::{libraries, sanitize, workspace};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Options of `cargo xtask ci`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  cargo xtask ci                           everything
  cargo xtask ci --only fmt --only clippy  two steps
  cargo xtask ci --skip test               all but one
  cargo xtask ci --list                    the steps, in order

Variables:
  HIPSTACK_WEIGHTS   a model.safetensors for the step `weights`; without it the step is skipped
  HIPSTACK_REQUIRE   steps, with commas between them, that fail if this machine lacks what they need, or all; with rocm among
                     them so do tests of AMD's compilers and libraries")]
pub struct CiArgs {
    /// Print the steps and what they run, run nothing
    #[arg(long)]
    list: bool,
    /// Run only this step (may be given several times)
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// Leave this step out (may be given several times)
    #[arg(long, value_name = "STEP")]
    skip: Vec<String>,
}

/// What a step runs.
enum Run {
    /// cargo with these arguments.
    Cargo(&'static [&'static str]),
    /// This program with these arguments.
    Xtask(&'static [&'static str]),
    /// A script of the workspace.
    Script(&'static str),
}

struct Step {
    name: &'static str,
    run: Run,
    env: Option<(&'static str, &'static str)>,
    /// More arguments, or why the step cannot run on this machine.
    needs: fn() -> Result<Vec<PathBuf>, String>,
}

const fn step(name: &'static str, run: Run) -> Step {
    Step { name, run, env: None, needs: || Ok(Vec::new()) }
}

const STEPS: [Step; 22] = [
    step("fmt", Run::Cargo(&["fmt", "--all", "--check"])),
    step("clippy", Run::Cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])),
    step("tidy", Run::Xtask(&["tidy"])),
    Step {
        env: Some(("RUSTDOCFLAGS", "-D warnings")),
        ..step("doc", Run::Cargo(&["doc", "--workspace", "--no-deps"]))
    },
    step("parity", Run::Xtask(&["parity"])),
    step("test", Run::Cargo(&["test", "--workspace"])),
    // Every order of threads for the locks, and every wait left out once: builds of their own.
    Step { env: Some(("RUSTFLAGS", "--cfg loom")), ..step("loom", Run::Cargo(&LOOM)) },
    Step { env: Some(("RUSTFLAGS", "--cfg hip_safe_mutation")), ..step("mutations", Run::Cargo(&MUTATIONS)) },
    Step { needs: rocm_headers, ..step("codegen", Run::Xtask(&["codegen", "--check"])) },
    Step {
        needs: || libraries::available().map(|()| Vec::new()),
        ..step("libraries", Run::Xtask(&["libraries"]))
    },
    step("kernels-host", Run::Xtask(&["build-kernels", "--platform", "host", "--arch", "host-w64"])),
    Step { needs: || compiler::rocm().map(|_| Vec::new()), ..step("kernels-amd", Run::Xtask(&KERNELS_AMD)) },
    Step {
        needs: || compiler::nvidia().map(|_| Vec::new()),
        ..step("kernels-nvidia", Run::Xtask(&KERNELS_NVIDIA))
    },
    Step { needs: || compilers_of_amd(["gfx90a", "gfx1100"]), ..step("fuzz", Run::Xtask(&["fuzz"])) },
    Step { needs: sanitizers, ..step("sanitize-planted", Run::Xtask(&["sanitize", "--planted"])) },
    // Their kernels compile slowly, so one dtype for all; `cargo xtask sanitize` runs them all. Who waits for whom does not
    // depend on the dtype; where a read ends can, so after a change of kernels run that by hand.
    Step { needs: sanitizers, ..step("sanitize-address", Run::Xtask(&ADDRESSES)) },
    Step { needs: sanitizers, ..step("sanitize-thread", Run::Xtask(&THREADS)) },
    Step { needs: aarch64, ..step("aarch64", Run::Script(AARCH64)) },
    step("sabotage", Run::Xtask(&["parity", "--sabotage"])),
    // The step `parity` has run the other cases; the record's entries are counted there, these by their ids here.
    step(
        "parity-long",
        Run::Xtask(&["parity", "--full", "--filter", "*many-blocks*", "--json", "target/parity/long.json"]),
    ),
    step("parity-kernels", Run::Xtask(&KERNELS_ALONE)),
    Step {
        needs: weights,
        ..step("weights", Run::Xtask(&["parity", "--json", "target/parity/weights.json", "--weights"]))
    },
];

const LOOM: [&str; 7] = ["test", "-p", "hip-safe", "--lib", "--target-dir", "target/loom", "loom"];
const MUTATIONS: [&str; 8] =
    ["test", "-p", "hip-safe", "--target-dir", "target/mutation", "--test", "suite", "mutations"];
/// AMD's chips that CI builds for: two of Instinct, and one Radeon of each newer generation. `--arch all` builds all, by hand.
const AMD_CHIPS: &str = "gfx90a,gfx942,gfx1100,gfx1201";
const KERNELS_AMD: [&str; 6] = ["build-kernels", "--platform", "amd", "--arch", AMD_CHIPS, "--deny-spills"];
const ADDRESSES: [&str; 4] = ["sanitize", "address", "--filter", "*/f32/*"];
const THREADS: [&str; 4] = ["sanitize", "thread", "--filter", "*/f32/contiguous/*"];
const KERNELS_NVIDIA: [&str; 6] =
    ["build-kernels", "--platform", "nvidia", "--arch", "sm_90", "--deny-spills"];

// What libraries compute elsewhere, by our kernels.
const KERNELS_ALONE: [&str; 5] =
    ["parity", "--device", "host:0:kernels,host:1:kernels", "--json", "target/parity/kernels.json"];

/// Cross-builds for 64-bit ARM, and says itself what it lacks.
const AARCH64: &str = "ci/aarch64.sh";

fn aarch64() -> Result<Vec<PathBuf>, String> {
    let script = workspace::root()?.join(AARCH64);
    let asked = Command::new(script).arg("--check").output().map_err(|e| format!("{AARCH64}: {e}"))?;
    let lacks = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
    if asked.status.success() { Ok(Vec::new()) } else { Err(lacks) }
}

fn weights() -> Result<Vec<PathBuf>, String> {
    let file = workspace::env("HIPSTACK_WEIGHTS").ok_or("HIPSTACK_WEIGHTS names no file")?;
    Ok(vec![file])
}

fn compilers_of_amd<'a>(archs: impl IntoIterator<Item = &'a str>) -> Result<Vec<PathBuf>, String> {
    archs.into_iter().try_for_each(|arch| compiler::amd_for(arch).map(drop)).map(|()| Vec::new())
}

fn sanitizers() -> Result<Vec<PathBuf>, String> {
    sanitize::available().map(|()| Vec::new())
}

/// codegen says itself what it lacks, but builds bindgen before: not where only Debian 12's old headers are.
fn rocm_headers() -> Result<Vec<PathBuf>, String> {
    let named = workspace::env("HIP_INCLUDE").is_some() || workspace::env("ROCM_PATH").is_some();
    let old = |text: String| text.lines().any(|line| line.trim_end() == "#define HIP_VERSION_MAJOR 5");
    let usable = |dir: &str| {
        std::fs::read_to_string(Path::new(dir).join("hip/hip_version.h")).is_ok_and(|text| !old(text))
    };
    if named || usable("/opt/rocm/include") || usable("/usr/include") {
        return Ok(Vec::new());
    }
    Err("no HIP headers of version 6.0 or later in $HIP_INCLUDE, $ROCM_PATH, /opt/rocm/include, /usr/include"
        .into())
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

/// What HIPSTACK_REQUIRE asks for.
struct Required(Vec<String>);

impl Required {
    /// The word that tests look for themselves is known here too.
    fn parse(list: &str) -> Result<Self, String> {
        let words = list.split(',').map(str::trim).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(Into::into).collect();
        let known =
            |word: &str| ["all", "rocm"].contains(&word) || STEPS.iter().any(|step| step.name == word);
        match words.iter().find(|word| !known(word)) {
            Some(word) => {
                Err(format!("ci: HIPSTACK_REQUIRE has {word:?}, which is no step, nor all or rocm"))
            }
            None => Ok(Self(words)),
        }
    }

    /// A step that was skipped and must not be has failed.
    fn judge(&self, step: &str, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Skipped(why) if self.0.iter().any(|word| word == "all" || word == step) => {
                Outcome::Failed(format!("HIPSTACK_REQUIRE asks for it, and it cannot run: {why}"))
            }
            outcome => outcome,
        }
    }
}

/// Runs the command; the error is the text to show.
pub fn run(args: &CiArgs) -> Result<(), String> {
    let steps = chosen(args)?;
    if args.list {
        for step in steps {
            println!("{:<16} {}", step.name, step.command_line());
        }
        return Ok(());
    }
    // A mistyped compiler is not a missing one, for which steps are skipped.
    compiler::check_named().map_err(|error| format!("ci: {error}"))?;
    let required = Required::parse(&std::env::var("HIPSTACK_REQUIRE").unwrap_or_default())?;
    let root = workspace::root()?;
    // Asked once: a step may build this program anew, and then the file that runs has no name any more.
    let us = std::env::current_exe().map_err(|e| format!("ci: cannot tell where this program is: {e}"))?;
    let mut results = Vec::new();
    for (i, step) in steps.iter().enumerate() {
        println!("\n== {}/{} {}: {}", i + 1, steps.len(), step.name, step.command_line());
        let start = Instant::now();
        let outcome = required.judge(step.name, step.perform(&root, &us));
        println!("== {}: {} in {}", step.name, describe(&outcome), seconds(start.elapsed()));
        results.push((step.name, outcome, start.elapsed()));
    }
    println!("\n== summary");
    for (name, outcome, time) in &results {
        println!("{name:<16} {:>8}  {}", seconds(*time), describe(outcome));
    }
    let outcomes: Vec<_> = results.into_iter().map(|(_, outcome, _)| outcome).collect();
    println!("{}", closing_line(&outcomes));
    if outcomes.iter().any(|o| matches!(o, Outcome::Failed(_))) {
        Err("ci: a step failed; see above".into())
    } else {
        Ok(())
    }
}

/// The steps that the options choose, in their order.
fn chosen(args: &CiArgs) -> Result<Vec<&'static Step>, String> {
    static ALL: [Step; STEPS.len()] = STEPS;
    for name in args.only.iter().chain(&args.skip) {
        if ALL.iter().all(|step| step.name != *name) {
            return Err(format!("ci: no step is called {name:?}; `cargo xtask ci --list` shows them"));
        }
    }
    let named = |names: &[String], step: &Step| names.iter().any(|name| name == step.name);
    let wanted = |step: &&Step| (args.only.is_empty() || named(&args.only, step)) && !named(&args.skip, step);
    Ok(ALL.iter().filter(wanted).collect())
}

impl Step {
    fn command_line(&self) -> String {
        let (program, args) = match self.run {
            Run::Cargo(args) => ("cargo", args),
            Run::Xtask(args) => ("cargo xtask", args),
            Run::Script(path) => (path, [].as_slice()),
        };
        let env = self.env.map(|(name, value)| format!("{name}={value:?} ")).unwrap_or_default();
        format!("{env}{program} {}", args.join(" ")).trim_end().to_owned()
    }

    fn perform(&self, root: &Path, us: &Path) -> Outcome {
        let more = match (self.needs)() {
            Ok(more) => more,
            Err(why) => return Outcome::Skipped(why),
        };
        let mut command = match self.run {
            Run::Cargo(args) => {
                let mut command = workspace::cargo(root);
                command.args(args);
                command
            }
            Run::Xtask(args) => {
                let mut command = Command::new(us);
                command.current_dir(root).args(args);
                command
            }
            Run::Script(path) => {
                let mut command = Command::new(root.join(path));
                command.current_dir(root).stdin(Stdio::null());
                command
            }
        };
        match command.args(more).envs(self.env).status() {
            Ok(status) if status.success() => Outcome::Passed,
            Ok(status) => Outcome::Failed(status.to_string()),
            Err(e) => Outcome::Failed(format!("cannot start: {e}")),
        }
    }
}

fn describe(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Passed => "passed".into(),
        Outcome::Failed(why) => format!("FAILED ({why})"),
        Outcome::Skipped(why) => format!("skipped: {why}"),
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// The last line of a run, which tools read: steps, not tests, are counted.
fn closing_line(outcomes: &[Outcome]) -> String {
    let count = |wanted: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| wanted(outcome)).count();
    let passed = count(|o| *o == Outcome::Passed);
    let failed = count(|o| matches!(o, Outcome::Failed(_)));
    let skipped = count(|o| matches!(o, Outcome::Skipped(_)));
    format!("steps: {passed} passed, {failed} failed, {skipped} skipped")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(only: &[&str], skip: &[&str]) -> Result<Vec<&'static str>, String> {
        let strings = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let args = CiArgs { list: false, only: strings(only), skip: strings(skip) };
        Ok(chosen(&args)?.into_iter().map(|step| step.name).collect())
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
    fn a_failing_command_is_a_failed_step() {
        let root = workspace::root().expect("tests run inside the workspace");
        let failing = step("failing", Run::Cargo(&["no-such-command"]));
        assert!(matches!(failing.perform(&root, Path::new("unused")), Outcome::Failed(_)));
        let passing = step("passing", Run::Cargo(&["--version"]));
        assert_eq!(passing.perform(&root, Path::new("unused")), Outcome::Passed);
        let script = step("script", Run::Script("ci/readme-commands.sh"));
        assert_eq!(script.perform(&root, Path::new("unused")), Outcome::Passed);
        assert_eq!(script.command_line(), "ci/readme-commands.sh");
        assert!(matches!(
            step("script", Run::Script("ci/none.sh")).perform(&root, Path::new("unused")),
            Outcome::Failed(_)
        ));
        let skipped = Step { needs: || Err("no card".into()), ..failing };
        assert_eq!(skipped.perform(&root, Path::new("unused")), Outcome::Skipped("no card".into()));
    }

    #[test]
    fn a_required_step_is_not_skipped() {
        let skipped = || Outcome::Skipped("no nvcc".into());
        let required = |list| Required::parse(list).expect("steps");
        for (list, step) in [("fuzz, weights", "fuzz"), ("all", "doc"), ("rocm,all", "weights")] {
            let Outcome::Failed(why) = required(list).judge(step, skipped()) else { panic!("{list:?}") };
            assert!(why.contains("HIPSTACK_REQUIRE") && why.ends_with("no nvcc"), "{why}");
        }
        assert_eq!(required("fuzz").judge("weights", skipped()), skipped());
        assert_eq!(required("rocm,").judge("weights", skipped()), skipped());
        assert_eq!(required("fuzz").judge("fuzz", Outcome::Passed), Outcome::Passed);
        assert!(Required::parse("fuzz,lint").err().expect("no step").contains("\"lint\""));
    }

    #[test]
    fn the_closing_line_counts_every_outcome() {
        let outcomes =
            [Outcome::Passed, Outcome::Failed("x".into()), Outcome::Skipped("y".into()), Outcome::Passed];
        assert_eq!(closing_line(&outcomes), "steps: 2 passed, 1 failed, 1 skipped");
    }
}
