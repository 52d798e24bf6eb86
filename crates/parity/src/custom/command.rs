//! The command line of `cargo xtask parity` for a program's own cases.

use std::collections::HashSet;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches};

use crate::case::Case;
use crate::cli::{self, ParityArgs, ParityCommand};
use crate::{Error, program};

/// The body of a `main` function: runs `cases` as the arguments of this process say, with the options and subcommands of
/// `cargo xtask parity`. `program` is the command that starts the process, up to its arguments, for messages: "cargo run
/// --example fused_kernel --".
///
/// Without `--device` the cases run on every device of this machine that all their operations have an implementation for.
/// The records that ship have no such cases and are not compared; `--against` names others.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// fn cases() -> Vec<parity::Case> {
///     Vec::new() // yours
/// }
///
/// fn main() -> ExitCode {
///     parity::custom::main("cargo run --bin my-kernels --", cases())
/// }
/// ```
pub fn main(program: &str, cases: Vec<Case>) -> ExitCode {
    run(program, std::env::args_os(), cases)
}

/// As [`main`](fn@main), with these arguments, of which the first is the program's name.
pub fn run(
    program: &str,
    arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    cases: Vec<Case>,
) -> ExitCode {
    let parsed = command(program).try_get_matches_from(arguments);
    let args = parsed.and_then(|matches| ParityArgs::from_arg_matches(&matches)).and_then(allowed);
    let mut args = match args {
        Ok(args) => args,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(error.exit_code().try_into().unwrap_or(cli::UNUSABLE));
        }
    };
    if let Err(error) = check(&cases) {
        return cli::exit(Err(error));
    }
    program::set(program);
    args.cases.own = Some(cases.clone());
    match &mut args.command {
        Some(ParityCommand::Record(args)) => args.cases.own = Some(cases),
        Some(ParityCommand::Export(args)) => args.cases.own = Some(cases),
        Some(ParityCommand::Compare(args)) => args.own = Some(cases),
        Some(ParityCommand::CompareTensors(_)) | None => {}
    }
    cli::run(args)
}

/// The command of `cargo xtask parity`, with another name, and without the options that choose among the registry's cases.
fn command(program: &str) -> Command {
    let renamed = |command: Command| {
        let examples =
            command.get_after_help().map(|help| help.to_string().replace(program::DEFAULT, program));
        match examples {
            Some(examples) => command.after_help(examples),
            None => command,
        }
    };
    let mut command = renamed(ParityArgs::command().bin_name(program));
    for hidden in ["all", "full", "model", "weights"] {
        command = command.mut_arg(hidden, |argument| argument.hide(true));
    }
    let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, renamed))
}

fn allowed(args: ParityArgs) -> Result<ParityArgs, clap::Error> {
    if args.weights.is_some() {
        let what = "--weights runs the operations of this project: use `cargo xtask parity`\n";
        return Err(clap::Error::raw(ErrorKind::ArgumentConflict, what));
    }
    Ok(args)
}

/// Checks what the registry's tests check of its cases.
fn check(cases: &[Case]) -> Result<(), Error> {
    let mut ids = HashSet::new();
    for case in cases {
        let id = case.id();
        if case.operands.is_empty() {
            return Err(Error::Cases { what: format!("{id} has no operand: give it one") });
        }
        if let Some(id) = ids.replace(id) {
            let what =
                format!("two have the id {id}: give them other shapes, parameters, classes or origins");
            return Err(Error::Cases { what });
        }
    }
    if ids.is_empty() {
        return Err(Error::Cases { what: "there are none".into() });
    }
    Ok(())
}
