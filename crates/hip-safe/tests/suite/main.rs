//! The crate's tests in one program: on hip-host, or on the platform that `HIPSTACK_TEST_PLATFORM` names.

mod code;
mod device;
mod graph;
mod launch;
mod memory;
mod methods;
#[cfg(hip_safe_mutation)]
mod mutations;
mod order;
mod stream;
mod under_test;
mod waiting;
mod watched;

use std::process::{Command, Output};

/// Tells a process that it was started for one test.
const CHILD: &str = "HIP_SAFE_TEST_CHILD";

/// Whether this process was started by [`again`].
fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Starts this program again for the test of that name, with these variables, and waits for its end.
fn again(test: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args(["--exact", test, "--nocapture"]).env(CHILD, "1").envs(variables.iter().copied());
    command.output().expect("it starts")
}

/// Runs the test of that name in a process of its own, where no other test is in its way or has it in its own. True in that process.
fn alone(test: &str) -> bool {
    if is_child() {
        return true;
    }
    let output = again(test, &[]);
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
    false
}
