//! What a case is, and how it can end.

use crate::Bench;
use std::fmt::Debug;
use std::panic::Location;

/// How a case ends.
pub type Outcome = Result<(), Failure>;

/// Why a case did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// Something else was seen than what has to be.
    Wrong(String),
    /// The machine or the library lacks what the case is about.
    Skipped(String),
}

/// One thing to find out about a platform.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Group, topic and name, such as `memory/allocate/zero_bytes`.
    pub name: &'static str,
    /// Finds it out.
    pub run: fn(&Bench) -> Outcome,
    /// It breaks the device or the process, so it has a process to itself.
    pub isolated: bool,
}

/// Cases about one noun.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// The first part of its cases' names.
    pub name: &'static str,
    /// On how many devices its cases run.
    pub scope: Scope,
    /// Its cases, as the files of `src/cases/` list them.
    pub lists: &'static [&'static [Case]],
}

/// How often a case runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Once, with device 0 current: the answer does not depend on the device.
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
    /// The same case in a process of its own.
    pub(crate) const fn isolated(self) -> Self {
        Self { isolated: true, ..self }
    }
}

impl Failure {
    /// Something else was seen than what has to be; the place of the caller is added.
    #[track_caller]
    pub(crate) fn wrong(text: impl Into<String>) -> Self {
        let place = Location::caller();
        let file = place.file().rsplit("src/").next().unwrap_or_default();
        Self::Wrong(format!("{} ({file}:{})", text.into(), place.line()))
    }

    /// The machine or the library lacks what the case is about.
    pub(crate) fn skip(reason: impl Into<String>) -> Self {
        Self::Skipped(reason.into())
    }
}

/// The two are equal.
#[track_caller]
pub(crate) fn same<T: PartialEq + Debug>(what: &str, seen: T, expected: T) -> Outcome {
    if seen == expected {
        return Ok(());
    }
    Err(Failure::wrong(format!("{what}: expected {expected:?}, got {seen:?}")))
}

/// The two have equal elements; names the first that differs.
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

/// It holds.
#[track_caller]
pub(crate) fn ensure(holds: bool, what: impl Into<String>) -> Outcome {
    if holds { Ok(()) } else { Err(Failure::wrong(what)) }
}
