//! `cargo xtask port-check`: what breaks or changes when CUDA source is built for AMD's GPUs. The crate port-check does the work.

use port_check::{Checker, Error, Report, Source, rules};
use std::path::PathBuf;
use std::process::ExitCode;

/// Options of `cargo xtask port-check`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  cargo xtask port-check kernel.cu                 one file
  cargo xtask port-check src/cuda                  all .cu, .cuh, .h, .hpp and the like in a folder, read as one project
  cargo xtask port-check src --rule sync-mask      only this rule
  cargo xtask port-check src -D MYLIB_ON_MI300     with a macro that your build for AMD's GPUs defines
  cargo xtask port-check src -D __CUDA_ARCH__=800  the branches for that architecture, too
  cargo xtask port-check src -U GGML_USE_HIP       as if nobody had ported them
  cargo xtask port-check src --json > findings.json
  cargo xtask port-check --list                    all rules

A finding is `path:line:column: severity: rule: reason`, with the remedy below it. `breaks` does not compile, or gives wrong results on
some GPU; `check` may be wrong or slow. The rules are those of ROCm 7.2. Names that AMD's hipify translates, as cudaMalloc, are no findings.
Code in branches for one side alone, such as #ifdef __HIP_PLATFORM_AMD__ or USE_ROCM and their #else, gives none either.

Exit status: 0 without findings, 1 with some, 2 when a path or an option is wrong.")]
pub struct PortCheckArgs {
    /// Files, and folders with sources
    #[arg(required_unless_present = "list", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Only this rule; may be given more than once
    #[arg(long, value_name = "NAME")]
    rule: Vec<String>,
    /// A macro that the build for AMD's GPUs defines, and the one for CUDA does not
    #[arg(short = 'D', long, value_name = "NAME[=INTEGER]")]
    define: Vec<String>,
    /// As if this macro were not defined: ported sources as they were before
    #[arg(short = 'U', long, value_name = "NAME")]
    undefine: Vec<String>,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
    /// List the rules
    #[arg(long)]
    list: bool,
}

/// Runs the command, prints, and tells how the process is to end.
pub fn run(args: &PortCheckArgs) -> ExitCode {
    if args.list {
        for rule in rules() {
            println!("{:19} {}", rule.name, rule.about);
        }
        return ExitCode::SUCCESS;
    }
    match report(args) {
        Ok(report) => {
            println!("{}", if args.json { report.to_json() } else { report.to_string() });
            if report.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn report(args: &PortCheckArgs) -> Result<Report, Error> {
    let mut checker = Checker::new().define(&args.define)?.undefine(&args.undefine);
    if !args.rule.is_empty() {
        checker = checker.only(&args.rule)?;
    }
    Ok(checker.check(&Source::read_all(&args.paths)?))
}
