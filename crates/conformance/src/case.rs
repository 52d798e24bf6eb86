//! Cases, and their outcomes.

use crate::Bench;
use std::fmt::Debug;
use std::panic::Location;

/// The outcome of a case.
pub type Outcome = Result<(), Failure>;

/// Why a case did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The result differs from the expected one.
    Wrong(String),
    /// The machine or the library lacks what the case needs.
    Skipped(String),
}

/// One property of a platform to check.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Group, topic and name, such as `memory/allocate/zero_bytes`.
    pub name: &'static str,
    /// Checks it.
    pub run: fn(&Bench) -> Outcome,
    /// It breaks the device or the process, so it runs in a process of its own.
    pub isolated: bool,
}

/// Cases about one subject.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// The first part of its cases' names.
    pub name: &'static str,
    /// The devices that its cases run on.
    pub scope: Scope,
    /// Its cases, as the files of `src/cases/` list them.
    pub lists: &'static [&'static [Case]],
}

/// How often a case runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Once, with device 0 current: the result does not depend on the device.
    Process,
    /// On every device of the platform.
    Device,
}

impl Group {
    /// All its cases.
    pub fn cases(&self) -> impl Iterator<Item = &'static Case> + use<> {
        self.lists.iter().flat_map(|list| list.iter())
    }
}

impl Case {
    /// The same case, in a process of its own.
    pub(crate) const fn isolated(self) -> Self {
        Self { isolated: true, ..self }
    }
}

impl Failure {
    /// A result that differs from the expected one; the caller's location is added.
    #[track_caller]
    pub(crate) fn wrong(text: impl Into<String>) -> Self {
        let location = Location::caller();
        let file = location.file().rsplit("src/").next().unwrap_or_default();
        Self::Wrong(format!("{} ({file}:{})", text.into(), location.line()))
    }

    /// The machine or the library lacks what the case needs.
    pub(crate) fn skip(reason: impl Into<String>) -> Self {
        Self::Skipped(reason.into())
    }
}

/// Checks that the two are equal.
#[track_caller]
pub(crate) fn same<T: PartialEq + Debug>(what: &str, seen: T, expected: T) -> Outcome {
    if seen == expected {
        return Ok(());
    }
    Err(Failure::wrong(format!("{what}: expected {expected:?}, got {seen:?}")))
}

/// Checks that the two have equal elements; reports the first difference.
#[track_caller]
pub(crate) fn same_all<T: PartialEq + Debug>(what: &str, seen: &[T], expected: &[T]) -> Outcome {
    same(&format!("{what}: length"), seen.len(), expected.len())?;
    let Some(at) = (0..seen.len()).find(|i| seen[*i] != expected[*i]) else { return Ok(()) };
    let differ = (0..seen.len()).filter(|i| seen[*i] != expected[*i]).count();
    Err(Failure::wrong(format!(
        "{what}: element {at} is {:?}, expected {:?}; {differ} of {} differ",
        seen[at],
        expected[at],
        seen.len()
    )))
}

/// Checks that the condition holds.
#[track_caller]
pub(crate) fn ensure(holds: bool, what: impl Into<String>) -> Outcome {
    if holds { Ok(()) } else { Err(Failure::wrong(what)) }
}
