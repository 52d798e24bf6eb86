//! Errors of scripts: where, what, and in which calls.

use std::fmt;

use rhai::{EvalAltResult, ParseError, Position};

/// Why a script ended.
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    script: String,
    position: Option<(usize, usize)>,
    message: String,
    calls: Vec<(String, Option<(usize, usize)>)>,
}

impl Error {
    /// An error without a position in a script.
    pub(crate) fn of(script: &str, message: impl fmt::Display) -> Error {
        Error { script: script.to_owned(), position: None, message: message.to_string(), calls: Vec::new() }
    }

    pub(crate) fn parse(script: &str, error: &ParseError) -> Error {
        Error { position: line_and_column(error.position()), ..Error::of(script, error.err_type()) }
    }

    /// The innermost error, with the calls that led to it.
    pub(crate) fn run(script: &str, error: EvalAltResult, most_operations: u64) -> Error {
        let (mut error, mut calls) = (error, Vec::new());
        while let EvalAltResult::ErrorInFunctionCall(name, _, inner, position) = error {
            calls.push((name, line_and_column(position)));
            error = *inner;
        }
        calls.reverse();
        let position = error.take_position();
        let message = match error {
            EvalAltResult::ErrorRuntime(value, _) if value.is_unit() => {
                "the script threw an error".to_owned()
            }
            EvalAltResult::ErrorRuntime(value, _) => value.to_string(),
            EvalAltResult::ErrorParsing(problem, _) => problem.to_string(),
            EvalAltResult::ErrorFunctionNotFound(call, _) => {
                format!("there is no function {call}: docs/SCRIPTS.md lists those there are")
            }
            EvalAltResult::ErrorTooManyOperations(_) => {
                format!("the script was ended after {most_operations} operations, the most it may take")
            }
            EvalAltResult::ErrorDataRace(what, _) => {
                let what = if what.is_empty() { "a variable".to_owned() } else { what };
                format!("{what}: a closure uses a value that the call it is given to changes")
            }
            EvalAltResult::ErrorTerminated(..) => "the script was interrupted".to_owned(),
            other => other.to_string(),
        };
        Error { script: script.to_owned(), position: line_and_column(position), message, calls }
    }

    /// Line and column of the script, from 1.
    pub fn position(&self) -> Option<(usize, usize)> {
        self.position
    }

    /// What is wrong: the operation, its shapes and devices.
    pub fn message(&self) -> &str {
        &self.message
    }
}

fn line_and_column(position: Position) -> Option<(usize, usize)> {
    Some((position.line()?, position.position().unwrap_or(1)))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |position: Option<(usize, usize)>| match position {
            Some((line, column)) => format!("{}:{line}:{column}", self.script),
            None => self.script.clone(),
        };
        write!(f, "{}: {}", at(self.position), self.message)?;
        self.calls.iter().try_for_each(|(name, position)| {
            let name = if name.starts_with("anon$") { "a closure" } else { name };
            write!(f, "\n  in {name}, called at {}", at(*position))
        })
    }
}

/// The same as `Display`, which includes all causes: `main() -> Result` and `unwrap` print this.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

/// What a function of a script returns.
pub(crate) type Returned<T = rhai::Dynamic> = Result<T, Box<EvalAltResult>>;

/// The error of a function; the language adds the position of the call.
pub(crate) fn failed(error: impl fmt::Display) -> Box<EvalAltResult> {
    Box::new(EvalAltResult::ErrorRuntime(error.to_string().into(), Position::NONE))
}
