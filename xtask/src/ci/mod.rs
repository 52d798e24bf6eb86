//! `cargo xtask ci`: runs everything that a change has to pass, in order, and says which step failed.
//!
//! All steps run even if one fails, so that one run shows everything. A heavy step that passed with the same inputs is
//! left out; the commit decides which of those are repeated now and then. A step that needs what this machine lacks is
//! skipped with a message, unless HIPSTACK_REQUIRE says that it must run.

mod files;
mod inputs;
mod kernels;
mod listing;
mod locked;
mod mentions;
mod needs;
mod outcome;
mod packages;
mod perform;
mod plan;
mod record;
mod steps;
mod tools;
mod variables;

use crate::build_kernels::compiler;
use crate::table::Table;
use crate::workspace;
use files::Files;
use inputs::Sources;
use outcome::{Outcome, Required};
use packages::Packages;
use plan::{Asked, Decision, Planned};
use record::{Entry, Record};
use std::path::Path;
use std::time::Instant;
use steps::Step;

/// Options of `cargo xtask ci`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  cargo xtask ci                           what a change can break: light steps, and heavy ones whose inputs changed
  cargo xtask ci --full                    every step
  cargo xtask ci --record                  write down in ci/passed.toml what passed, to be committed
  cargo xtask ci --only fmt --only clippy  two steps
  cargo xtask ci --skip test               all but one
  cargo xtask ci --list                    of each step what it depends on, when it passed, and whether it would run now

The inputs of a step are the files of its crates, of the crates that they are built from and of its kernels, its command,
Cargo.lock, the variables it reads, and its tools' versions. Steps that have not changed are repeated for up to 8 minutes
a run, chosen by the commit's hash. If more than 40 units of kernels changed, a run compiles one of each family, chosen by the
commit; --record, --full and --only compile all. Outside of a git checkout every step runs.

Variables:
  HIPSTACK_WEIGHTS   a model.safetensors for the step `weights`; without it the step is skipped
  HIPSTACK_MODELS    the folder that ci/fetch-models.sh filled, for the step `models`; without it the step is skipped
  HIPSTACK_REQUIRE   steps, with commas between them, that fail if this machine lacks what they need, or all; with rocm among
                     them so do tests of AMD's compilers and libraries, with chromium tests of pages in a browser")]
pub struct CiArgs {
    /// Say of each step what it depends on, when it last passed and whether it would run now; run nothing
    #[arg(long)]
    list: bool,
    /// Run every step, also those that have not changed since they passed
    #[arg(long)]
    full: bool,
    /// Write each step that passes into ci/passed.toml
    #[arg(long, conflicts_with = "list")]
    record: bool,
    /// Run only this step, changed or not (may be given several times)
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// Leave this step out (may be given several times)
    #[arg(long, value_name = "STEP")]
    skip: Vec<String>,
}

/// Runs the command; the error is the text to show.
pub fn run(args: &CiArgs) -> Result<(), String> {
    let steps = steps::chosen(&args.only, &args.skip)?;
    // A mistyped compiler must fail here: a missing one would only skip steps.
    compiler::check_named().map_err(|error| format!("ci: {error}"))?;
    let required = Required::parse(&std::env::var("HIPSTACK_REQUIRE").unwrap_or_default())?;
    let root = workspace::root()?;
    let record = Record::read(&root)?;
    let sources = sources(&root)?;
    let commit = match &sources {
        Ok((_, commit)) => commit.as_str(),
        Err(why) if args.record => return Err(format!("ci: --record needs a git checkout: {why}")),
        Err(why) => {
            println!("ci: {why}: what changed is not known, so every step runs");
            ""
        }
    };
    let named = !args.only.is_empty() && !args.list;
    let asked = Asked { full: args.full, named, recorded: args.record, commit };
    let inputs = |step: &Step| sources.as_ref().ok().map(|(sources, _)| sources.of(step));
    let plan = plan::plan(&steps, &record, asked, inputs)?;
    if args.list {
        print!("{}", listing::text(&plan, &record));
        return Ok(());
    }
    println!("{}", plan::counted(&plan));
    let results = perform_all(&plan, &required, &root, |planned, seconds, outcome| {
        let same = || unchanged(&root, planned);
        if args.record { note(&root, planned, seconds, outcome, same) } else { Ok(()) }
    })?;
    println!("\n== summary");
    print!("{}", summary(&plan, &results, &record));
    println!("{}", outcome::closing_line(results.iter().map(|(outcome, _)| outcome)));
    if results.iter().any(|(outcome, _)| matches!(outcome, Outcome::Failed(_))) {
        Err("ci: a step failed; see above".into())
    } else {
        Ok(())
    }
}

/// The sources of inputs and the commit; outside a checkout, the reason why inputs are unknown.
fn sources(root: &Path) -> Result<Result<(Sources, String), String>, String> {
    let checkout = Files::of_checkout(root).and_then(|files| Ok((files, files::commit(root)?)));
    let (files, commit) = match checkout {
        Ok(found) => found,
        Err(why) => return Ok(Err(why)),
    };
    Ok(Ok((Sources::new(files, Packages::of_workspace(root)?, variables::environment()), commit)))
}

/// Whether a step's inputs are the same as when it was planned.
fn unchanged(root: &Path, planned: &Planned) -> Result<bool, String> {
    let (sources, _) = sources(root)??;
    Ok(planned.inputs == Some(sources.of(planned.step)?))
}

/// Performs the plan. `after` is called for each step, with the seconds that it took.
fn perform_all(
    plan: &[Planned],
    required: &Required,
    root: &Path,
    after: impl Fn(&Planned, u64, &Outcome) -> Result<(), String>,
) -> Result<Vec<(Outcome, u64)>, String> {
    // This is asked only once: a step may rebuild this program, and then the running file no longer has a name.
    let us = std::env::current_exe().map_err(|e| format!("ci: cannot tell where this program is: {e}"))?;
    let mut results = Vec::new();
    for (i, planned) in plan.iter().enumerate() {
        let step = planned.step;
        let heading = format!("\n== {}/{} {}", i + 1, plan.len(), step.name);
        let start = Instant::now();
        let outcome = match &planned.decision {
            Decision::Leave(date) => Outcome::Unchanged(date.clone()),
            Decision::OnlyFull => Outcome::Skipped("--full runs it, or --only".to_owned()),
            Decision::Lack(why) => required.judge(step.name, Outcome::Skipped(why.clone())),
            decision @ (Decision::Run(_) | Decision::Sample(_) | Decision::Repeat(_)) => {
                let part = planned.in_part || matches!(decision, Decision::Sample(_));
                let more = planned.arguments.iter().filter(|_| part);
                let more: String = more.map(|argument| format!(" {}", argument.display())).collect();
                println!("{heading}: {}{more}", step.command_line());
                if step.heavy {
                    println!("== {}: {decision}", step.name);
                }
                perform::perform(step, &planned.arguments, root, &us)
            }
        };
        let seconds = start.elapsed().as_secs_f64().ceil() as u64;
        match planned.decision {
            Decision::Leave(_) | Decision::OnlyFull | Decision::Lack(_) => println!("{heading}: {outcome}"),
            Decision::Run(_) | Decision::Sample(_) | Decision::Repeat(_) => {
                println!("== {}: {outcome} in {seconds} s", step.name);
            }
        }
        after(planned, seconds, &outcome)?;
        results.push((outcome, seconds));
    }
    Ok(results)
}

/// Records that a step passed. If a repeated step fails, its entry is removed: the inputs no longer predict the result.
fn note(
    root: &Path,
    planned: &Planned,
    seconds: u64,
    outcome: &Outcome,
    same: impl Fn() -> Result<bool, String>,
) -> Result<(), String> {
    let mut record = Record::read(root)?;
    let name = planned.step.name;
    match outcome {
        Outcome::Passed if planned.step.heavy && !same()? => {
            println!("{name} is not written to {}: what it depends on changed while it ran", record::FILE);
            return Ok(());
        }
        Outcome::Passed => {
            // A partial run says nothing about the whole step's time, so the old time stays.
            let before = record.0.get(name).filter(|_| planned.in_part);
            let seconds = before.map_or(seconds, |entry| entry.seconds);
            let entry = Entry::new(&record::today()?, seconds, planned.inputs.as_ref());
            record.0.insert(name.to_owned(), entry);
        }
        Outcome::Failed(_) if matches!(planned.decision, Decision::Repeat(_)) => {
            record.0.remove(name);
        }
        _ => return Ok(()),
    }
    record.write(root)
}

/// A table with each step's seconds, in this run and on record, and its result.
fn summary(plan: &[Planned], results: &[(Outcome, u64)], record: &Record) -> Table {
    let mut table = Table::new(&["step", "seconds", "on record", "result"]);
    for (planned, (outcome, seconds)) in plan.iter().zip(results) {
        let recorded =
            record.0.get(planned.step.name).map_or(String::new(), |entry| entry.seconds.to_string());
        let result = match (&planned.decision, outcome) {
            (Decision::Repeat(date), Outcome::Passed) => format!("passed (repeated, unchanged since {date})"),
            (Decision::Repeat(date), outcome) => format!(
                "{outcome}, and nothing it depends on changed since it passed on {date}: it fails at random, or an input is not \
                 counted"
            ),
            (Decision::Sample(_), Outcome::Passed) => format!(
                "passed for one unit of each family; all of them: cargo xtask ci --record --only {}",
                planned.step.name
            ),
            (_, outcome) => outcome.to_string(),
        };
        let ran = !matches!(outcome, Outcome::Unchanged(_) | Outcome::Skipped(_));
        let seconds = if ran { seconds.to_string() } else { "-".into() };
        table.row(&[planned.step.name.to_owned(), seconds, recorded, result]);
    }
    let all: u64 = results.iter().map(|(_, seconds)| seconds).sum();
    table.row(&["all".to_owned(), all.to_string()]);
    table
}

#[cfg(test)]
mod tests;
