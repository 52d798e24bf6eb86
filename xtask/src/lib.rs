//! The workspace's own tool, `cargo xtask`: the commands that people and CI use to check, build and compare.
//!
//! Each command is one file or folder. It has `Args`, with examples in its `--help`, and `run(&Args) ->
//! Result<(), String>`, whose error is the text to show. `port_check` ends the process with a status of its own. `parity`,
//! `conformance` and `fuzz` are programs of other crates.

pub mod build_kernels;
pub mod build_rust_kernels;
pub mod bundle;
pub mod ci;
pub mod codegen;
pub mod doctor;
pub mod fuzz;
pub mod libraries;
pub mod packages;
pub mod packed;
pub mod parity;
pub mod port_check;
pub mod program;
pub mod resources;
pub mod sanitize;
#[cfg(test)]
#[path = "../../crates/code-object/tests/common/skip.rs"]
mod skip;
pub mod snippets;
pub mod table;
pub mod tidy;
pub mod workspace;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser, Debug)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "The workspace's own tool",
    max_term_width = 110
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Check what the pages under docs/ claim about the tree
    Tidy(tidy::TidyArgs),
    /// Report what this machine has, and how to get what it lacks
    Doctor(doctor::DoctorArgs),
    /// Run every check that a change has to pass, in order
    Ci(ci::CiArgs),
    /// Compare every device of this machine with the reference
    #[command(after_help = "Examples:\n  cargo xtask parity --help    all options, with examples")]
    Parity(program::Passed),
    /// Run the cases that every implementation of HIP has to pass on a platform
    #[command(after_help = "Examples:\n  cargo xtask conformance --help    all options, with examples")]
    Conformance(program::Passed),
    /// Run the kernels under AddressSanitizer or ThreadSanitizer
    Sanitize(sanitize::SanitizeArgs),
    /// Compile every kernel ahead of time
    BuildKernels(build_kernels::BuildArgs),
    /// Compile a crate of Rust kernels for GPUs, by a nightly compiler
    BuildRustKernels(build_rust_kernels::RustKernelsArgs),
    /// Show the compiled kernels' use of GPU resources
    Resources(resources::ResourcesArgs),
    /// Find what breaks or changes when CUDA source is built for AMD's GPUs
    PortCheck(port_check::PortCheckArgs),
    /// Run the reader of code objects on a million broken ones
    #[command(
        after_help = "Examples:\n  cargo xtask fuzz           a million inputs\n  cargo xtask fuzz --help    all options, with examples"
    )]
    Fuzz(program::Passed),
    /// Collect everything that a machine with a GPU needs in a folder
    Bundle(bundle::BundleArgs),
    /// Run the examples of README.md and of the crates' front pages outside of the workspace
    Snippets(snippets::SnippetsArgs),
    /// Pack the crates to publish, and refuse a lockfile that takes one of them from elsewhere
    Packed(packed::PackedArgs),
    /// Compare AMD's libraries and headers with hip-sys's bindings
    Libraries(libraries::LibrariesArgs),
    /// Generate hip-sys's files from ROCm's public headers
    Codegen(codegen::CodegenArgs),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Tidy(args) => tidy::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Parity(args) => parity::run(&args),
        Command::Conformance(args) => program::run("conformance", &args),
        Command::Ci(args) => ci::run(&args),
        Command::Sanitize(args) => sanitize::run(&args),
        Command::BuildKernels(args) => build_kernels::run(&args),
        Command::BuildRustKernels(args) => build_rust_kernels::run(&args),
        Command::Resources(args) => resources::run(&args),
        Command::PortCheck(args) => return port_check::run(&args),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Bundle(args) => bundle::run(&args),
        Command::Snippets(args) => snippets::run(&args),
        Command::Packed(args) => packed::run(&args),
        Command::Libraries(args) => libraries::run(&args),
        Command::Codegen(args) => codegen::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Cli::command().debug_assert();
    }

    #[test]
    fn other_programs_get_all_that_follows_their_name() {
        use clap::Parser;
        let words = ["record", "--help", "--device", "amd:0", "-x", "--", "more"];
        for command in ["parity", "conformance"] {
            let line = ["cargo xtask", command].into_iter().chain(words);
            match super::Cli::try_parse_from(line).expect("nothing of it is xtask's").command {
                super::Command::Parity(args) | super::Command::Conformance(args) => {
                    assert_eq!(args.words(), words);
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn every_command_shows_examples() {
        for command in super::Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("cargo xtask"), "`{}` has no examples", command.get_name());
        }
    }
}
