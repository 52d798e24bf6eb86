//! What was found, as text and as JSON.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It does not compile for some or all of AMD's GPUs, or gives wrong results on some.
    Breaks,
    /// It may be wrong or slow there: somebody has to look.
    Check,
}

/// Code that needs work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The file, as it was given.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The rule's name.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is different on AMD's GPUs, in a sentence.
    pub reason: String,
    /// What to do, in a sentence.
    pub remedy: String,
}

/// The findings of a check, in the order of paths and lines.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// How many files were read.
    pub files: usize,
    /// What was found.
    pub findings: Vec<Finding>,
}

impl Report {
    /// The whole report as JSON: `files`, `findings`, and `summary` with the number of findings by rule.
    pub fn to_json(&self) -> String {
        let json =
            serde_json::json!({ "files": self.files, "findings": self.findings, "summary": self.summary() });
        format!("{json:#}")
    }

    /// How many findings each rule has; rules without any are left out.
    pub fn summary(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for finding in &self.findings {
            *counts.entry(finding.rule).or_default() += 1;
        }
        counts
    }

    fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Breaks => "breaks",
            Severity::Check => "check",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}:{}:{}: {}: {}: {}",
            self.path.display(),
            self.line,
            self.column,
            self.severity,
            self.rule,
            self.reason
        )?;
        write!(f, "    {}", self.remedy)
    }
}

/// An empty line stands between the findings of two files; the last lines count them.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = None;
        for finding in &self.findings {
            if last.is_some_and(|path| path != &finding.path) {
                writeln!(f)?;
            }
            last = Some(&finding.path);
            writeln!(f, "{finding}")?;
        }
        if self.findings.is_empty() {
            return write!(f, "{}: nothing found", files(self.files));
        }
        let (breaks, checks) = (self.count(Severity::Breaks), self.count(Severity::Check));
        writeln!(
            f,
            "\n{}: {} findings, {breaks} break and {checks} are to be checked",
            files(self.files),
            self.findings.len()
        )?;
        let counts: Vec<String> =
            self.summary().iter().map(|(rule, count)| format!("{rule} {count}")).collect();
        write!(f, "by rule: {}", counts.join(", "))
    }
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".to_string() } else { format!("{count} files") }
}
