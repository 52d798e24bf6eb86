//! The results of a run: a table by group for people, and JSON for programs.

use crate::suite::{Job, Suite, Verdict};
use serde::Serialize;
use std::fmt::Write;

/// The results of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The platform.
    pub platform: String,
    /// Its version, such as 6.4.43484.
    pub version: String,
    /// Ordinal, architecture and wave size of each device.
    pub devices: Vec<String>,
    /// One entry for each case and device.
    pub results: Vec<Entry>,
}

/// The result of a case on a device.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    /// The case.
    pub case: String,
    /// The ordinal of the device.
    pub device: i32,
    /// `passed`, `failed`, `known`, `skipped` or `stale`.
    pub verdict: &'static str,
    /// What was observed, or why the case was skipped.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The cause of a known difference.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// How long it took.
    pub seconds: f64,
}

const VERDICTS: [&str; 5] = ["passed", "failed", "known", "skipped", "stale"];

impl Entry {
    /// The result of a job.
    pub fn new(job: &Job, verdict: Verdict, seconds: f64) -> Self {
        let (verdict, detail, reason) = match verdict {
            Verdict::Passed => ("passed", String::new(), String::new()),
            Verdict::Failed(seen) => ("failed", seen, String::new()),
            Verdict::Known { seen, reason } => ("known", seen, reason),
            Verdict::Skipped(why) => ("skipped", why, String::new()),
            Verdict::Stale(reason) => ("stale", "passes, but is listed in differences.toml".into(), reason),
        };
        Self { case: job.case.name.to_owned(), device: job.device, verdict, detail, reason, seconds }
    }

    fn group(&self) -> &str {
        self.case.split('/').next().unwrap_or_default()
    }
}

impl Report {
    /// An empty report about a suite.
    pub fn new(suite: &Suite) -> Self {
        let name =
            |device: &crate::Device| format!("{} {} wave {}", device.ordinal, device.arch, device.wave);
        Self {
            platform: suite.name().to_owned(),
            version: suite.platform().version().to_string(),
            devices: suite.devices().iter().map(name).collect(),
            results: Vec::new(),
        }
    }

    /// How many cases have this verdict.
    pub fn count(&self, verdict: &str) -> usize {
        self.results.iter().filter(|entry| entry.verdict == verdict).count()
    }

    /// Whether nothing failed and no listed difference is stale.
    pub fn is_good(&self) -> bool {
        self.count("failed") + self.count("stale") == 0
    }

    /// The table by group, then all failures and stale entries. `rerun` is the command without its options.
    pub fn render(&self, rerun: &str) -> String {
        let mut text = String::new();
        let mut groups: Vec<&str> = self.results.iter().map(Entry::group).collect();
        groups.dedup();
        let _ = writeln!(
            text,
            "{:<12}{:>7}{:>8}{:>8}{:>8}{:>9}{:>7}{:>9}",
            "group", "cases", "passed", "failed", "known", "skipped", "stale", "seconds"
        );
        for group in groups.iter().copied().chain(["all"]) {
            let mine = |entry: &&Entry| group == "all" || entry.group() == group;
            let entries: Vec<&Entry> = self.results.iter().filter(mine).collect();
            let mut cases: Vec<&str> = entries.iter().map(|entry| entry.case.as_str()).collect();
            cases.dedup();
            let [passed, failed, known, skipped, stale] =
                VERDICTS.map(|verdict| entries.iter().filter(|entry| entry.verdict == verdict).count());
            let seconds: f64 = entries.iter().map(|entry| entry.seconds).sum();
            let _ = writeln!(
                text,
                "{group:<12}{:>7}{passed:>8}{failed:>8}{known:>8}{skipped:>9}{stale:>7}{seconds:>9.1}",
                cases.len()
            );
        }
        for verdict in ["skipped", "known", "stale", "failed"] {
            for entry in self.results.iter().filter(|entry| entry.verdict == verdict) {
                let title = verdict.to_uppercase();
                let _ =
                    writeln!(text, "\n{title} {} on device {}: {}", entry.case, entry.device, entry.detail);
                if !entry.reason.is_empty() {
                    let _ = writeln!(text, "     listed because: {}", entry.reason);
                }
                if verdict == "failed" {
                    let _ = writeln!(text, "     {rerun} --device {} --filter {}", entry.device, entry.case);
                }
            }
        }
        let _ = writeln!(
            text,
            "\n{} {} with {}",
            self.platform,
            self.version,
            self.devices.iter().map(|name| format!("device {name}")).collect::<Vec<_>>().join(", ")
        );
        text
    }

    /// As JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data") + "\n"
    }
}
