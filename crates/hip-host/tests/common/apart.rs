//! Bodies of tests that run in a process of their own, because they break a device or need the environment set.
#![allow(dead_code, reason = "each test file uses a part")]

use super::{Hip, hip};
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The variable that tells a process what it was started for.
const ROLE: &str = "HIPHOST_TEST_ROLE";
/// Variables that a test's own process does not inherit from the settings of the whole run.
const SETTINGS: [&str; 6] = [
    "HIPSTACK_HOST_ADVERSARY",
    "HIPSTACK_HOST_ADVERSARY_PATIENCE_MS",
    "HIPSTACK_HOST_CHECK",
    "HIPSTACK_HOST_GUARD",
    "HIPSTACK_HOST_TRAPS",
    "HIPSTACK_HOST_WATCHDOG_MS",
];

/// The outcome of a test's own process.
pub(crate) struct Left {
    /// Its standard error.
    pub text: String,
    /// Its standard output, including the test harness's.
    pub output: String,
    pub success: bool,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
}

/// The role that [`again`] started this process for, if any.
pub(crate) fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

/// Runs the body in a process of its own: this test program, started again for the test of that name. Returns
/// `None` in that process.
pub(crate) fn left_by(name: &str, environment: &[(&str, &str)], body: impl FnOnce(&Hip)) -> Option<Left> {
    if role().as_deref() == Some(name) {
        body(&hip());
        return None;
    }
    Some(again(name, name, environment))
}

/// Starts this test program again for the test of that name, which finds the role there. A variable with an
/// empty value is removed.
pub(crate) fn again(name: &str, role: &str, environment: &[(&str, &str)]) -> Left {
    use std::os::unix::process::ExitStatusExt;
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
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(ROLE, role);
    let taken = environment.iter().filter(|(_, value)| value.is_empty()).map(|(variable, _)| variable);
    SETTINGS.iter().chain(taken).for_each(|variable| _ = command.env_remove(variable));
    let environment = environment.iter().copied().filter(|(_, value)| !value.is_empty());
    command.envs(environment).stdout(Stdio::piped()).stderr(Stdio::piped());
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
    Left { text, output, success: status.success(), signal: status.signal() }
}

/// Reads a pipe to its end, so that its writer does not block.
fn read(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The command that cargo runs this program with if another architecture is emulated: see ci/aarch64.sh.
fn emulator() -> Option<String> {
    let variable = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER";
    let words = std::env::var(variable).ok().filter(|words| !words.trim().is_empty());
    words.filter(|_| cfg!(target_arch = "aarch64"))
}

/// As [`left_by`], for a body that passes: returns its standard error.
pub(crate) fn apart(name: &str, environment: &[(&str, &str)], body: impl FnOnce(&Hip)) -> Option<String> {
    let left = left_by(name, environment, body)?;
    assert!(left.success, "{name}: signal {:?}\n{}", left.signal, left.text);
    Some(left.text)
}
