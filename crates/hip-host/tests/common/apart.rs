//! Bodies of tests that run in a process of their own, because they break a device or need the environment set.
#![allow(dead_code, reason = "each test file uses a part")]

use super::{Hip, hip};
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const CASE: &str = "HIPHOST_TEST_APART";

/// What a process of its own left.
pub(crate) struct Left {
    /// What it wrote to standard error.
    pub text: String,
    /// What it wrote to standard output, with the words of the test harness.
    pub output: String,
    pub success: bool,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
}

/// Runs the body in a process of its own: this test program, started again for the test of that name. `None` in there.
pub(crate) fn left_by(name: &str, environment: &[(&str, &str)], body: impl FnOnce(&Hip)) -> Option<Left> {
    use std::os::unix::process::ExitStatusExt;
    if std::env::var(CASE).as_deref() == Ok(name) {
        body(&hip());
        return None;
    }
    let program = std::env::current_exe().expect("this program");
    let mut command = match emulator() {
        Some(words) => {
            let mut words = words.split_whitespace().map(str::to_owned).collect::<Vec<_>>().into_iter();
            let mut command = Command::new(words.next().expect("the variable is not empty"));
            command.args(words).arg(program);
            command
        }
        None => Command::new(program),
    };
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(CASE, name);
    for variable in ["HIPSTACK_HOST_GUARD", "HIPSTACK_HOST_WATCHDOG_MS", "HIPSTACK_HOST_TRAPS"] {
        command.env_remove(variable);
    }
    command.envs(environment.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let output = read(child.stdout.take().expect("it is a pipe"));
    let text = read(child.stderr.take().expect("it is a pipe"));
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child of ours") {
            break status;
        }
        if start.elapsed() > Duration::from_secs(240) {
            child.kill().expect("a child of ours");
            panic!("{name} hangs: {}", text.join().unwrap_or_default());
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let [output, text] = [output, text].map(|reader| reader.join().expect("no panic there"));
    Some(Left { text, output, success: status.success(), signal: status.signal() })
}

/// Reads a pipe to its end, so that who writes to it does not wait.
fn read(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// What cargo runs this program with, where another machine is emulated: see ci/aarch64.sh.
fn emulator() -> Option<String> {
    let variable = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER";
    let words = std::env::var(variable).ok().filter(|words| !words.trim().is_empty());
    words.filter(|_| cfg!(target_arch = "aarch64"))
}

/// As [`left_by`], for a body that passes: what it wrote to standard error.
pub(crate) fn apart(name: &str, environment: &[(&str, &str)], body: impl FnOnce(&Hip)) -> Option<String> {
    let left = left_by(name, environment, body)?;
    assert!(left.success, "{name}: signal {:?}\n{}", left.signal, left.text);
    Some(left.text)
}
