//! The command line: `cargo xtask conformance`.

use crate::{Entry, GROUPS, Job, Report, Suite};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use std::time::Instant;

/// Runs the cases that every implementation of HIP has to pass on a platform.
#[derive(clap::Parser, Debug)]
#[command(
    name = "cargo xtask conformance",
    bin_name = "cargo xtask conformance",
    max_term_width = 110,
    after_help = "Examples:
  cargo xtask conformance                                    hip-host, on both of its devices
  cargo xtask conformance --device 1 --filter 'stream/*'     one group on one device
  cargo xtask conformance --filter memory/allocate/too_much  one case
  cargo xtask conformance --list                             the names of all cases
  cargo xtask conformance --platform amd                     AMD's library, found as hip-sys finds it
  cargo xtask conformance --platform nvidia                  HIP on NVIDIA's driver
  cargo xtask conformance --platform amd --differences amd-emulated
                                                             the emulated one, with what is known of it

Known differences are in crates/conformance/differences.toml, each with a reason.
Exit code: 0 if every case is as it should be or as listed, 1 otherwise."
)]
pub struct ConformanceArgs {
    /// The platform: host, amd or nvidia
    #[arg(long, value_name = "NAME", default_value = "host")]
    platform: String,
    /// Only this device  [default: all of them]
    #[arg(long, value_name = "NUMBER")]
    device: Option<i32>,
    /// Only cases whose name contains this, or, with * or ?, whose whole name matches it
    #[arg(long, value_name = "GLOB")]
    filter: Option<String>,
    /// The list of known differences  [default: the platform's]
    #[arg(long, value_name = "NAME")]
    differences: Option<String>,
    /// Print the names of the cases, one per line, and run nothing
    #[arg(long)]
    list: bool,
    /// Write every result to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the command; the error is the text to show.
pub fn run(args: &ConformanceArgs) -> Result<(), String> {
    let say = |message| format!("conformance: {message}");
    let suite = Suite::new(&args.platform, args.differences.as_deref()).map_err(say)?;
    let jobs = suite.jobs(args.filter.as_deref(), args.device).map_err(say)?;
    if args.list {
        list(&jobs);
        return Ok(());
    }
    let template = "{bar:30} {pos}/{len}, {elapsed} gone, {eta} to go: {msg}";
    let style = ProgressStyle::with_template(template).expect("the template is a constant");
    let bar = ProgressBar::new(jobs.len() as u64).with_style(style);
    let mut report = Report::new(&suite);
    for job in &jobs {
        bar.set_message(job.case.name);
        let start = Instant::now();
        let verdict = suite.run(job);
        report.results.push(Entry::new(job, verdict, start.elapsed().as_secs_f64()));
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let Some(path) = &args.json {
        std::fs::write(path, report.to_json()).map_err(|e| say(format!("{}: {e}", path.display())))?;
    }
    let mut rerun = format!("cargo xtask conformance --platform {}", args.platform);
    if let Some(list) = &args.differences {
        rerun += &format!(" --differences {list}");
    }
    print!("{}", report.render(&rerun));
    if report.is_good() { Ok(()) } else { Err("conformance: not all is as it should be; see above".into()) }
}

/// Prints the names, each once, in the order of the groups.
fn list(jobs: &[Job]) {
    let cases = GROUPS.iter().flat_map(|group| group.cases());
    for case in cases.filter(|case| jobs.iter().any(|job| job.case.name == case.name)) {
        println!("{}{}", case.name, if case.isolated { "  (in a process of its own)" } else { "" });
    }
}
