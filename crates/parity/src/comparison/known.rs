//! Differences between two devices that are known: data with a reason.

use std::path::Path;

use serde::Deserialize;

use crate::{Error, filter};

/// A known difference: `[[difference]]` in a TOML file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The cases, by id, with `*` and `?`. Not each of them has to differ, but one.
    pub case: String,
    /// Why it is so.
    pub reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    difference: Vec<Known>,
}

impl Known {
    /// Whether it is about this case.
    pub fn covers(&self, id: &str) -> bool {
        filter::matches(&self.case, id)
    }

    /// Reads a list.
    ///
    /// # Errors
    /// [`Error::Differences`]: the file cannot be read, is no such list, or has an entry without a reason or twice.
    pub fn read(path: &Path) -> Result<Vec<Known>, Error> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
        let list = text.and_then(|text| Known::parse(&text));
        list.map_err(|reason| Error::Differences { path: path.to_path_buf(), reason })
    }

    fn parse(text: &str) -> Result<Vec<Known>, String> {
        let File { difference: list } = toml::from_str(text).map_err(|error| error.to_string())?;
        for (number, known) in list.iter().enumerate() {
            if known.reason.trim().is_empty() {
                return Err(format!("{:?} says not why", known.case));
            }
            if list[..number].iter().any(|other| other.case == known.case) {
                return Err(format!("{:?} is there twice; only one is looked at", known.case));
            }
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = "[[difference]]\ncase = \"exp/f16/*\"\nreason = \"because\"\n";

    #[test]
    fn an_entry_is_about_cases() {
        let list = Known::parse(ENTRY).expect("a good list");
        assert!(list[0].covers("exp/f16/contiguous/one/[1]"));
        assert!(!list[0].covers("exp/f32/contiguous/one/[1]"));
        assert_eq!(Known::parse(""), Ok(Vec::new()));
    }

    #[test]
    fn bad_lists_are_refused() {
        assert!(Known::parse(&ENTRY.replace("because", " ")).is_err());
        assert!(Known::parse(&ENTRY.replace("reason", "why")).is_err());
        assert!(Known::parse(&format!("{ENTRY}{ENTRY}")).is_err());
        assert!(Known::parse("difference = 3").is_err());
    }
}
