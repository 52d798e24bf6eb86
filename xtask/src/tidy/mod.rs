//! `cargo xtask tidy`: checks what the pages under docs/ claim about the tree.
//!
//! A check is a function from the files to the problems that it finds, so that it can be tested on a small
//! tree in memory.

mod bodies;
mod edges;
mod errors;
mod headers;
mod lengths;
mod links;
mod manifests;
mod map;
mod markdown;
mod marks;
mod meaning;
mod safety;
pub(crate) mod tree;

use std::fmt;
use tree::Tree;

/// Options of `cargo xtask tidy`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  cargo xtask tidy                    all checks
  cargo xtask tidy --only safety      one of them
  cargo xtask tidy --list             what there is, and what each proves

Exceptions are data with a reason: xtask/tidy.toml.")]
pub struct TidyArgs {
    /// Print the checks and what they prove, run nothing
    #[arg(long)]
    list: bool,
    /// Run only this check (may be given several times)
    #[arg(long, value_name = "CHECK")]
    only: Vec<String>,
    /// Fail on warnings too
    #[arg(long)]
    strict: bool,
}

/// The severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Only shown.
    Warning,
    /// Makes the command fail.
    Error,
}

/// A problem that a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its severity.
    pub level: Level,
    /// Path from the root.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub message: String,
}

impl Problem {
    fn error(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { level: Level::Error, path: path.into(), line, message: message.into() }
    }

    fn warning(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { level: Level::Warning, ..Self::error(path, line, message) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = if self.level == Level::Error { "error" } else { "warning" };
        write!(f, "{}:{}: {level}: {}", self.path, self.line, self.message)
    }
}

/// A check: its name, the claim that it checks, and its function.
struct Check {
    name: &'static str,
    proves: &'static str,
    run: fn(&Tree) -> Vec<Problem>,
}

const CHECKS: [Check; 11] = [
    Check { name: "headers", proves: "every source file opens with what it is about", run: headers::check },
    Check {
        name: "map",
        proves: "the pages of docs/architecture name every crate and only what exists",
        run: map::check,
    },
    Check {
        name: "edges",
        proves: "crates depend on each other only as the page's table allows",
        run: edges::check,
    },
    Check {
        name: "safety",
        proves: "SAFETY comments and docs/SAFETY.md's rules cite each other",
        run: safety::check,
    },
    Check {
        name: "bodies",
        proves: "no function of a kernel asks the preprocessor about its target",
        run: bodies::check,
    },
    Check {
        name: "errors",
        proves: "errors print their message where programs end with them",
        run: errors::check,
    },
    Check {
        name: "lengths",
        proves: "a source file is short enough to be about one thing",
        run: lengths::check,
    },
    Check {
        name: "manifests",
        proves: "members inherit version, edition, licence, lints",
        run: manifests::check,
    },
    Check { name: "marks", proves: "no mark of unfinished work, no path of one machine", run: marks::check },
    Check { name: "meaning", proves: "each sentence of docs/MEANING.md has its tests", run: meaning::check },
    Check { name: "links", proves: "every relative link in a page leads somewhere", run: links::check },
];

/// Runs the command; the error is the text to show.
pub fn run(args: &TidyArgs) -> Result<(), String> {
    if args.list {
        for check in &CHECKS {
            println!("{:<10} {}", check.name, check.proves);
        }
        return Ok(());
    }
    if let Some(unknown) = args.only.iter().find(|name| CHECKS.iter().all(|check| check.name != *name)) {
        return Err(format!("tidy: no check is called {unknown:?}; `cargo xtask tidy --list` shows them"));
    }
    let tree = Tree::read(&crate::workspace::root()?)?;
    let chosen = |check: &&Check| args.only.is_empty() || args.only.iter().any(|name| name == check.name);
    let problems: Vec<Problem> = CHECKS.iter().filter(chosen).flat_map(|check| (check.run)(&tree)).collect();
    for problem in &problems {
        println!("{problem}");
    }
    let errors = problems.iter().filter(|p| p.level == Level::Error).count();
    let warnings = problems.len() - errors;
    let checks = CHECKS.iter().filter(chosen).count();
    println!("tidy: {checks} checks, {} files: {errors} errors, {warnings} warnings", tree.files.len());
    if errors > 0 || (args.strict && warnings > 0) {
        return Err("tidy: the tree is not as the pages say; see above".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_reads_as_compilers_write_it() {
        let problem = Problem::error("a/b.rs", 3, "no");
        assert_eq!(problem.to_string(), "a/b.rs:3: error: no");
        assert_eq!(Problem::warning("a", 1, "w").to_string(), "a:1: warning: w");
    }

    #[test]
    fn names_of_checks_are_distinct() {
        let names: std::collections::BTreeSet<_> = CHECKS.iter().map(|check| check.name).collect();
        assert_eq!(names.len(), CHECKS.len());
    }
}
