//! The peer: a process that runs the same rows with another library, one repeat per request.
//!
//! Both sides exchange lines of JSON: see `benches/peers/torch_throughput.py`.

use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The clock and what it times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// Calls until the device has finished, on the host's clock.
    Wall,
    /// Only the kernels of calls, on the device's clock.
    Kernels,
    /// Calls until the last has returned, on the host's clock.
    Host,
}

#[derive(Serialize)]
#[serde(tag = "ask", rename_all = "lowercase")]
enum Request<'a> {
    /// Report versions of software and device.
    Versions,
    /// Prepare the inputs of this row.
    Row { op: &'a str, dtype: &'a str, dims: &'a [usize] },
    /// Time a number of calls of the prepared row.
    Time { clock: Clock, calls: u32 },
}

#[derive(Deserialize)]
struct Answer {
    error: Option<String>,
    versions: Option<String>,
    seconds: Option<f64>,
}

/// The peer process; dropping this ends it.
pub struct Peer {
    child: Child,
    // Closed before waiting for the process, which exits at end of input.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    versions: String,
}

impl Peer {
    /// Starts `program script` and asks for its versions. Its standard error is inherited.
    ///
    /// # Errors
    /// Why it does not answer, as text.
    pub fn start(program: &OsStr, script: &Path) -> Result<Peer, String> {
        let called = format!("{} {}", program.to_string_lossy(), script.display());
        let mut child = Command::new(program)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("the peer cannot be started by {called}: {error}"))?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut peer = Peer { child, input, output, versions: String::new() };
        let answer = peer.ask(&Request::Versions).map_err(|error| format!("{called}: {error}"))?;
        peer.versions = answer.versions.ok_or_else(|| format!("{called} does not say what it runs on"))?;
        Ok(peer)
    }

    /// Its versions, in one line.
    pub fn versions(&self) -> &str {
        &self.versions
    }

    /// Makes it prepare the inputs of a row and call it once.
    ///
    /// # Errors
    /// Why it cannot, as text.
    pub fn prepare(&mut self, op: &str, dtype: &str, dims: &[usize]) -> Result<(), String> {
        self.ask(&Request::Row { op, dtype, dims }).map(drop)
    }

    /// Seconds per call, for a number of calls of the row prepared last.
    ///
    /// # Errors
    /// Why there is no time, as text.
    pub fn time(&mut self, clock: Clock, calls: u32) -> Result<f64, String> {
        let seconds = self.ask(&Request::Time { clock, calls })?.seconds;
        seconds.filter(|seconds| *seconds > 0.0).ok_or_else(|| "the peer's answer has no time".to_owned())
    }

    fn ask(&mut self, request: &Request<'_>) -> Result<Answer, String> {
        let line = serde_json::to_string(request).expect("it has no maps");
        let gone = |error: String| format!("the peer has ended: what it wrote is above ({error})");
        let input = self.input.as_mut().expect("it is there until this is dropped");
        writeln!(input, "{line}").and_then(|()| input.flush()).map_err(|error| gone(error.to_string()))?;
        let mut text = String::new();
        match self.output.read_line(&mut text) {
            Ok(0) => return Err(gone(format!("asked for {line}"))),
            Ok(_) => {}
            Err(error) => return Err(gone(error.to_string())),
        }
        let answer: Answer = serde_json::from_str(&text)
            .map_err(|error| format!("the peer answered {:?}, which is no answer: {error}", text.trim()))?;
        match answer.error {
            Some(error) => Err(format!("the peer: {error}")),
            None => Ok(answer),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.input.take());
        // There is nobody to report an error to.
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A peer in sh that answers each request with the matching branch of `case`.
    fn peer(branches: &str) -> Result<Peer, String> {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let script = folder.path().join("peer.sh");
        let text = format!("while read -r line; do case $line in\n{branches}\nesac; done\n");
        std::fs::write(&script, text).expect("the folder is ours");
        Peer::start(OsStr::new("sh"), &script)
    }

    #[test]
    fn questions_and_answers_are_lines() {
        let mut peer = peer(
            r#"'{"ask":"versions"}') echo '{"versions": "sh"}';;
            '{"ask":"row","op":"add","dtype":"f16","dims":[2,3]}') echo '{}';;
            '{"ask":"time","clock":"wall","calls":7}') echo '{"seconds": 0.5}';;
            *kernels*) echo '{}';;
            *) echo '{"error": "no such thing"}';;"#,
        )
        .expect("sh is there");
        assert_eq!(peer.versions(), "sh");
        assert_eq!(peer.prepare("add", "f16", &[2, 3]), Ok(()));
        assert_eq!(peer.time(Clock::Wall, 7), Ok(0.5));
        assert_eq!(peer.time(Clock::Kernels, 7), Err("the peer's answer has no time".into()));
        assert_eq!(peer.prepare("sub", "f16", &[2, 3]), Err("the peer: no such thing".into()));
    }

    #[test]
    fn a_peer_that_does_not_answer_is_named() {
        let ended = peer("*) exit 3;;").err().expect("it ended");
        assert!(ended.contains("peer.sh: the peer has ended"), "{ended}");
        let other = peer("*) echo hello;;").err().expect("no JSON");
        assert!(other.contains("the peer answered \"hello\", which is no answer"), "{other}");
        let silent = peer("*) echo '{}';;").err().expect("no versions");
        assert!(silent.ends_with("does not say what it runs on"), "{silent}");
        let absent = Peer::start(OsStr::new("no-such-program"), Path::new("x.py")).err();
        assert!(
            absent
                .is_some_and(|error| error.starts_with("the peer cannot be started by no-such-program x.py"))
        );
    }
}
