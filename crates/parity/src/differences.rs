//! Known differences: a file that names cases in which two sides mean something else, each with its reason.
//!
//! ```toml
//! [[difference]]
//! cases = ["maximum/f32/*", "maximum/f64/*"]   # whole ids, with * and ?
//! on = "cpu"                                   # only there; left out: everywhere
//! reason = "PyTorch takes either zero for the greater one"
//! ```
//!
//! The list excuses no case that agrees: a pattern without a case that differs is stale, and an error.

use std::path::Path;

use serde::Deserialize;

use crate::{Error, filter};

/// A file of known differences.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Differences {
    /// The entries, in the order of the file.
    #[serde(default)]
    pub difference: Vec<Difference>,
}

/// One reason, and the cases that differ for it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// Patterns that match whole ids, see [`filter::matches`].
    pub cases: Vec<String>,
    /// The platform on which they differ; `None` for all.
    pub on: Option<String>,
    /// Why both sides are right, or which of them is not.
    pub reason: String,
}

/// What the list says of the cases that were compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sorted<'a> {
    /// The cases that differ for each reason of the file; none for an entry of another platform.
    pub known: Vec<(&'a Difference, Vec<&'a str>)>,
    /// Cases that differ and are not in the file.
    pub unknown: Vec<&'a str>,
    /// Patterns that match a case that was compared or none at all, and no case that differs.
    pub stale: Vec<&'a str>,
}

impl Differences {
    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::Differences`]: it cannot be read, is no such TOML, or an entry has no pattern or no reason.
    pub fn read(path: &Path) -> Result<Differences, Error> {
        let wrong = |what: String| Error::Differences { path: path.to_path_buf(), what };
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        Differences::parse(&text).map_err(wrong)
    }

    fn parse(text: &str) -> Result<Differences, String> {
        let all: Differences = toml::from_str(text).map_err(|error| error.to_string())?;
        for (number, entry) in all.difference.iter().enumerate() {
            if entry.cases.is_empty() || entry.reason.trim().is_empty() {
                return Err(format!("entry {} needs cases and a reason", number + 1));
            }
        }
        Ok(all)
    }

    /// Sorts the cases that differ. `compared` has the id of every case that was compared, and whether it differs; `all` the ids of
    /// all cases there are; `platforms` what the two sides ran on.
    ///
    /// A pattern that matches only cases that were not compared this time is not stale.
    pub fn sort<'a>(
        &'a self,
        compared: &[(&'a str, bool)],
        all: &[String],
        platforms: &[&str],
    ) -> Sorted<'a> {
        let here = |entry: &Difference| entry.on.as_ref().is_none_or(|on| platforms.contains(&on.as_str()));
        let mut sorted = Sorted {
            known: self.difference.iter().map(|entry| (entry, Vec::new())).collect(),
            unknown: Vec::new(),
            stale: Vec::new(),
        };
        for (id, _) in compared.iter().filter(|(_, differs)| *differs) {
            let known = sorted.known.iter_mut().find(|(entry, _)| {
                here(entry) && entry.cases.iter().any(|pattern| filter::matches(pattern, id))
            });
            match known {
                Some((_, ids)) => ids.push(id),
                None => sorted.unknown.push(id),
            }
        }
        let patterns = self.difference.iter().filter(|entry| here(entry)).flat_map(|entry| &entry.cases);
        sorted.stale = patterns
            .map(String::as_str)
            .filter(|pattern| {
                let matching = || compared.iter().filter(|(id, _)| filter::matches(pattern, id));
                match matching().next() {
                    Some(_) => matching().all(|(_, differs)| !differs),
                    None => !all.iter().any(|id| filter::matches(pattern, id)),
                }
            })
            .collect();
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"
        [[difference]]
        cases = ["max/*", "min/*"]
        reason = "zeros"
        [[difference]]
        cases = ["gelu/f32/*"]
        on = "cpu"
        reason = "tail"
    "#;

    fn sort<'a>(list: &'a Differences, compared: &[(&'a str, bool)], platform: &str) -> Sorted<'a> {
        let all = ["max/f32/a", "min/f32/a", "gelu/f32/a", "gelu/f32/b"].map(String::from);
        list.sort(compared, &all, &[platform])
    }

    #[test]
    fn what_differs_is_known_or_not() {
        let list = Differences::parse(LIST).unwrap();
        let compared =
            [("max/f32/a", true), ("min/f32/a", true), ("gelu/f32/a", true), ("gelu/f32/b", false)];
        let cpu = sort(&list, &compared, "cpu");
        let known: Vec<_> =
            cpu.known.iter().map(|(entry, ids)| (entry.reason.as_str(), ids.clone())).collect();
        assert_eq!(known, [("zeros", vec!["max/f32/a", "min/f32/a"]), ("tail", vec!["gelu/f32/a"])]);
        assert!(cpu.unknown.is_empty() && cpu.stale.is_empty());
        let cuda = sort(&list, &compared, "cuda");
        assert_eq!((cuda.unknown, cuda.stale), (vec!["gelu/f32/a"], vec![]));
    }

    #[test]
    fn patterns_that_excuse_nothing_are_stale() {
        let list = Differences::parse(LIST).unwrap();
        let compared =
            [("max/f32/a", true), ("min/f32/a", false), ("gelu/f32/a", false), ("gelu/f32/b", false)];
        assert_eq!(sort(&list, &compared, "cpu").stale, ["min/*", "gelu/f32/*"]);
        assert_eq!(sort(&list, &compared, "cuda").stale, ["min/*"]);
        // Not compared this time: nothing can be said.
        assert!(sort(&list, &[("max/f32/a", true)], "cpu").stale.is_empty());
        let typo = Differences::parse("[[difference]]\ncases = [\"maxx/*\"]\nreason = \"r\"").unwrap();
        assert_eq!(sort(&typo, &[], "cpu").stale, ["maxx/*"]);
    }

    #[test]
    fn damaged_lists_are_refused() {
        assert!(Differences::parse("").unwrap().difference.is_empty());
        for (text, what) in [
            ("[[difference]]\ncases = [\"a\"]", "reason"),
            ("[[difference]]\ncases = []\nreason = \"r\"", "entry 1 needs cases"),
            ("[[difference]]\ncases = [\"a\"]\nreason = \" \"", "entry 1 needs cases"),
            ("[[difference]]\ncase = \"a\"\nreason = \"r\"", "case"),
        ] {
            let error = Differences::parse(text).unwrap_err();
            assert!(error.contains(what), "{text:?} gave {error:?}");
        }
    }
}
