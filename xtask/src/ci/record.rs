//! `ci/passed.toml`, which is committed: when each step last passed, and with which inputs.

use super::inputs::Inputs;
use crate::workspace;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The file, relative to the root.
pub(super) const FILE: &str = "ci/passed.toml";

const HEADING: &str = "\
# When each step of `cargo xtask ci` last passed, how many seconds it took, and with which inputs. Written by
# `cargo xtask ci --record`; a step whose inputs have the same hash today is not run again.

";

/// A step that passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// The day, as 2026-01-31.
    pub(super) date: String,
    pub(super) seconds: u64,
    /// The hash of all inputs; none for a step that always runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) hash: Option<String>,
    /// The single inputs, so that a message can name the ones that changed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) inputs: BTreeMap<String, String>,
}

impl Entry {
    pub(super) fn new(date: &str, seconds: u64, inputs: Option<&Inputs>) -> Self {
        let all = inputs.map(|inputs| inputs.0.clone()).unwrap_or_default();
        Self { date: date.into(), seconds, hash: inputs.map(Inputs::hash), inputs: all }
    }
}

/// The entries of all steps that passed, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Record(pub(super) BTreeMap<String, Entry>);

impl Record {
    /// Reads the committed record; empty if there is none yet.
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        let text = match std::fs::read_to_string(root.join(FILE)) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(e) => return Err(format!("ci: cannot read {FILE}: {e}")),
        };
        toml::from_str(&text).map_err(|e| {
            format!(
                "ci: {FILE} is not as it was written: {e}\ndelete the entry, or the file: then the steps run"
            )
        })
    }

    /// Writes the whole record.
    pub(super) fn write(&self, root: &Path) -> Result<(), String> {
        let text = toml::to_string(self).map_err(|e| format!("ci: {FILE}: {e}"))?;
        workspace::write_whole(&root.join(FILE), (HEADING.to_owned() + &text).as_bytes())
            .map_err(|e| format!("ci: {e}"))
    }
}

/// Today's date in UTC.
pub(super) fn today() -> Result<String, String> {
    let asked = workspace::output_of(std::process::Command::new("date").args(["-u", "+%F"]));
    Ok(asked.ok_or("ci: `date -u +%F` fails")?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written_and_keeps_other_entries() {
        let dir = tempfile::tempdir().expect("the temporary folder is writable");
        assert_eq!(Record::read(dir.path()), Ok(Record::default()), "none yet");
        let inputs = Inputs(
            [("crate hip-sys", "1"), ("C++ compiler", "g++ (Debian) \"12\"")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
        );
        let mut record = Record::default();
        record.0.insert("loom".into(), Entry::new("2026-01-31", 43, Some(&inputs)));
        record.write(dir.path()).expect("writable");
        let mut record = Record::read(dir.path()).expect("just written");
        record.0.insert("fmt".into(), Entry::new("2026-02-01", 1, None));
        record.write(dir.path()).expect("writable");
        let text = std::fs::read_to_string(dir.path().join(FILE)).expect("just written");
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with('[')).collect();
        assert_eq!(lines, ["[fmt]", "[loom]", "[loom.inputs]"]);
        let read = Record::read(dir.path()).expect("just written");
        assert_eq!(read, record);
        assert_eq!(read.0["loom"].hash, Some(inputs.hash()));
        read.write(dir.path()).expect("writable");
        assert_eq!(std::fs::read_to_string(dir.path().join(FILE)).expect("just written"), text);
    }

    #[test]
    fn a_corrupt_record_is_an_error_with_a_remedy() {
        let dir = tempfile::tempdir().expect("the temporary folder is writable");
        workspace::write_whole(&dir.path().join(FILE), b"<<<<<<< HEAD\n").expect("writable");
        let error = Record::read(dir.path()).expect_err("no TOML");
        assert!(error.contains(FILE) && error.contains("delete"), "{error}");
    }

    #[test]
    fn a_day_is_written_as_in_the_record() {
        let day = today().expect("every machine has it");
        assert!(day.len() == 10 && day.starts_with("20") && day.as_bytes()[7] == b'-', "{day}");
    }
}
