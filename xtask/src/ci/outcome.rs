//! How a step ended, and which skipped steps HIPSTACK_REQUIRE makes fail.

use super::steps::STEPS;
use std::fmt;

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    Failed(String),
    /// This machine lacks something.
    Skipped(String),
    /// It passed on that day with the same inputs, and was not run now.
    Unchanged(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Passed => write!(f, "passed"),
            Outcome::Failed(why) => write!(f, "FAILED ({why})"),
            Outcome::Skipped(why) => write!(f, "skipped: {why}"),
            Outcome::Unchanged(date) => write!(f, "unchanged since {date}"),
        }
    }
}

/// What HIPSTACK_REQUIRE asks for.
pub(super) struct Required(Vec<String>);

impl Required {
    /// Tests look for some words themselves, so these are accepted here too.
    pub(super) fn parse(list: &str) -> Result<Self, String> {
        let words = list.split(',').map(str::trim).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(Into::into).collect();
        let known = |word: &str| {
            ["all", "rocm", "chromium"].contains(&word) || STEPS.iter().any(|step| step.name == word)
        };
        match words.iter().find(|word| !known(word)) {
            Some(word) => {
                Err(format!("ci: HIPSTACK_REQUIRE has {word:?}, which is no step, nor all, rocm or chromium"))
            }
            None => Ok(Self(words)),
        }
    }

    /// A skipped step counts as failed if it is required.
    pub(super) fn judge(&self, step: &str, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Skipped(why) if self.0.iter().any(|word| word == "all" || word == step) => {
                Outcome::Failed(format!("HIPSTACK_REQUIRE asks for it, and it cannot run: {why}"))
            }
            outcome => outcome,
        }
    }
}

/// The last line of a run, for tools. It counts steps, not tests.
pub(super) fn closing_line<'a>(outcomes: impl Iterator<Item = &'a Outcome> + Clone) -> String {
    let count = |wanted: fn(&Outcome) -> bool| outcomes.clone().filter(|outcome| wanted(outcome)).count();
    let passed = count(|o| *o == Outcome::Passed);
    let failed = count(|o| matches!(o, Outcome::Failed(_)));
    let skipped = count(|o| matches!(o, Outcome::Skipped(_)));
    let unchanged = count(|o| matches!(o, Outcome::Unchanged(_)));
    format!("steps: {passed} passed, {failed} failed, {skipped} skipped, {unchanged} unchanged")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_required_step_is_not_skipped() {
        let skipped = || Outcome::Skipped("no nvcc".into());
        let required = |list| Required::parse(list).expect("steps");
        for (list, step) in [("fuzz, weights", "fuzz"), ("all", "doc"), ("rocm,all", "weights")] {
            let Outcome::Failed(why) = required(list).judge(step, skipped()) else { panic!("{list:?}") };
            assert!(why.contains("HIPSTACK_REQUIRE") && why.ends_with("no nvcc"), "{why}");
        }
        assert_eq!(required("fuzz").judge("weights", skipped()), skipped());
        assert_eq!(required("rocm,chromium").judge("weights", skipped()), skipped());
        assert_eq!(required("fuzz").judge("fuzz", Outcome::Passed), Outcome::Passed);
        let unchanged = Outcome::Unchanged("2026-01-02".into());
        assert_eq!(required("all").judge("fuzz", unchanged.clone()), unchanged, "it could run");
        assert!(Required::parse("fuzz,lint").err().expect("no step").contains("\"lint\""));
    }

    #[test]
    fn the_closing_line_counts_every_outcome() {
        let unchanged = || Outcome::Unchanged("2026-01-02".into());
        let (failed, skipped) = (Outcome::Failed("x".into()), Outcome::Skipped("y".into()));
        let outcomes =
            [Outcome::Passed, failed, skipped, Outcome::Passed, unchanged(), unchanged(), unchanged()];
        assert_eq!(closing_line(outcomes.iter()), "steps: 2 passed, 1 failed, 1 skipped, 3 unchanged");
    }
}
