//! The command that starts this process, for messages that say how to run a case again.

use std::sync::OnceLock;

/// The command of this project.
pub(crate) const DEFAULT: &str = "cargo xtask parity";

static COMMAND: OnceLock<String> = OnceLock::new();

/// Sets the command; the first one stays.
pub(crate) fn set(command: &str) {
    let _ = COMMAND.set(command.to_owned());
}

/// The command up to its arguments.
pub(crate) fn command() -> &'static str {
    COMMAND.get().map_or(DEFAULT, String::as_str)
}
