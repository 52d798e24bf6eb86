//! Running a step.

use super::outcome::Outcome;
use super::steps::{Run, Step};
use crate::workspace;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs a step with more arguments. `us` is this program's file.
pub(super) fn perform(step: &Step, arguments: &[PathBuf], root: &Path, us: &Path) -> Outcome {
    let mut command = match step.run {
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
    match command.args(arguments).envs(step.env).status() {
        Ok(status) if status.success() => Outcome::Passed,
        Ok(status) => Outcome::Failed(status.to_string()),
        Err(e) => Outcome::Failed(format!("cannot start: {e}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::steps::step;
    use super::*;

    #[test]
    fn a_failing_command_is_a_failed_step() {
        let root = workspace::root().expect("tests run inside the workspace");
        let perform = |step: &Step| perform(step, &[], &root, Path::new("no-such-program"));
        assert!(matches!(perform(&step("x", Run::Cargo(&["no-such-command"]))), Outcome::Failed(_)));
        assert_eq!(perform(&step("x", Run::Cargo(&["--version"]))), Outcome::Passed);
        let script = step("x", Run::Script("ci/readme-commands.sh"));
        assert_eq!(perform(&script), Outcome::Passed);
        assert_eq!(script.command_line(), "ci/readme-commands.sh");
        let Outcome::Failed(why) = perform(&step("x", Run::Script("ci/none.sh"))) else {
            panic!("no script")
        };
        assert!(why.starts_with("cannot start"), "{why}");
        let Outcome::Failed(why) = perform(&step("x", Run::Xtask(&["tidy"]))) else { panic!("no program") };
        assert!(why.starts_with("cannot start"), "{why}");
    }
}
