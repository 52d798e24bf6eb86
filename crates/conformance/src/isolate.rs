//! Runs cases that break their device or process in a process of their own: this program, started again.

use crate::case::{Failure, Outcome};
use crate::suite::{self, DEADLINE, Job, Suite};
use hip_sys::Platform;
use std::io::{self, Read};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The first argument of a process that runs one case; platform, device and case follow.
pub const CHILD_FLAG: &str = "--one-isolated-case";
/// The prefix of the line that reports how the case ended.
const VERDICT: &str = "conformance-verdict ";

/// Runs one case if this process was started for that, and returns the exit code; otherwise `None`. A program
/// that runs suites must call this first, or [`child_with`] if it opens platforms of its own.
pub fn child() -> Option<ExitCode> {
    child_with(suite::open)
}

/// As [`child`], for suites on platforms that the program opens itself: the function receives the name that
/// was passed to [`Suite::on`]. For other names it may call [`open`](crate::open).
///
/// ```no_run
/// use conformance::Suite;
/// use std::sync::Arc;
/// fn open(name: &str) -> Result<Arc<hip_sys::Platform>, String> {
///     match name {
///         "mine" => Ok(hip_host::platform()), // or a platform that this program has
///         other => conformance::open(other),
///     }
/// }
/// fn main() -> Result<(), String> {
///     if conformance::child_with(open).is_some() {
///         return Ok(());
///     }
///     let suite = Suite::on(open("mine")?, "mine", "mine")?;
///     for job in suite.jobs(Some("device/reset/*"), None)? {
///         println!("{}: {:?}", job.case.name, suite.run(&job));
///     }
///     Ok(())
/// }
/// ```
pub fn child_with(open: impl FnOnce(&str) -> Result<Arc<Platform>, String>) -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next()? != CHILD_FLAG {
        return None;
    }
    let outcome = run_child(arguments.collect(), open);
    let (word, text) = match &outcome {
        Ok(()) => ("passed", ""),
        Err(Failure::Skipped(text)) => ("skipped", text.as_str()),
        Err(Failure::Wrong(text)) => ("wrong", text.as_str()),
    };
    println!("{VERDICT}{}", serde_json::json!([word, text]));
    Some(ExitCode::SUCCESS)
}

fn run_child(arguments: Vec<String>, open: impl FnOnce(&str) -> Result<Arc<Platform>, String>) -> Outcome {
    let [platform, device, case] = arguments.as_slice() else {
        return Err(Failure::Wrong(format!("{CHILD_FLAG} takes a platform, a device and a case")));
    };
    let device = device.parse().map_err(|_| Failure::Wrong(format!("{device:?} is no device")))?;
    let opened = open(platform).map_err(Failure::Wrong)?;
    let suite = Suite::on(opened, platform, platform).map_err(Failure::Wrong)?;
    let jobs = suite.jobs(Some(case), Some(device)).map_err(Failure::Wrong)?;
    let job = jobs.iter().find(|job| job.case.name == *case);
    suite.run_here(job.ok_or_else(|| Failure::Wrong(format!("no case is called {case}")))?)
}

/// Runs a case in a process of its own.
pub(crate) fn run(platform: &str, job: &Job) -> Outcome {
    let failed = |error: io::Error| Failure::Wrong(format!("cannot run a process of its own: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let mut command = Command::new(program);
    command.args([CHILD_FLAG, platform, &job.device.to_string(), job.case.name]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let (output, errors) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let end = wait(&mut child).map_err(failed)?;
    let (output, errors) = (output.join().unwrap_or_default(), errors.join().unwrap_or_default());
    verdict(&output).unwrap_or_else(|| {
        let last: Vec<&str> = errors.lines().rev().take(5).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        Err(Failure::Wrong(format!("its process gave no verdict: {end}; {}", last.join(" | "))))
    })
}

/// Reads a pipe to its end in the background.
fn collect(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // The output before an error is still useful.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn wait(child: &mut Child) -> io::Result<String> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.to_string());
        }
        if start.elapsed() > DEADLINE {
            child.kill()?;
            child.wait()?;
            return Ok(format!("killed after {} s", DEADLINE.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn verdict(output: &str) -> Option<Outcome> {
    let line = output.lines().rev().find_map(|line| line.strip_prefix(VERDICT))?;
    let (word, text): (String, String) = serde_json::from_str(line).ok()?;
    match word.as_str() {
        "passed" => Some(Ok(())),
        "skipped" => Some(Err(Failure::Skipped(text))),
        "wrong" => Some(Err(Failure::Wrong(text))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_read_from_the_last_line_of_that_kind() {
        let line = |word: &str, text: &str| format!("noise\n{VERDICT}{}\n", serde_json::json!([word, text]));
        assert_eq!(verdict(&line("passed", "")), Some(Ok(())));
        assert_eq!(verdict(&line("wrong", "a\nb")), Some(Err(Failure::Wrong("a\nb".into()))));
        assert_eq!(verdict(&line("odd", "")), None);
        assert_eq!(verdict("nothing"), None);
    }
}
