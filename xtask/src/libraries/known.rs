//! Known differences between the bindings and the headers of some versions, and how the code handles them.

use super::version::{Release, release};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    difference: Vec<Known>,
}

/// An entry of known.toml.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Known {
    /// Its section of functions.toml.
    library: String,
    /// Headers before this release have the difference.
    before: Option<String>,
    /// Headers of this release and later ones have the difference.
    since: Option<String>,
    /// A structure, `structure.field`, or an enumeration.
    pub item: String,
    /// These headers do not have the item.
    #[serde(default)]
    pub absent: bool,
    /// The item's name in these headers.
    pub named: Option<String>,
    /// The field's offset in these headers.
    pub offset: Option<usize>,
    /// The constants' values in these headers.
    #[serde(default)]
    pub values: BTreeMap<String, i64>,
    /// Why it differs, and what in the code handles it.
    reason: String,
}

/// The entries that apply to the headers of a library in one release.
pub(super) fn of(library: &str, at: Release) -> Result<Vec<Known>, String> {
    let file: File = toml::from_str(include_str!("known.toml")).map_err(|e| format!("known.toml: {e}"))?;
    let mut entries = Vec::new();
    for known in file.difference.into_iter().filter(|known| known.library == library) {
        if known.applies(at)? {
            entries.push(known);
        }
    }
    Ok(entries)
}

impl Known {
    fn applies(&self, at: Release) -> Result<bool, String> {
        let what = [self.absent, self.named.is_some(), self.offset.is_some(), !self.values.is_empty()];
        if what.iter().filter(|set| **set).count() != 1 {
            return Err(format!("known.toml: {}: give one of absent, named, offset and values", self.item));
        }
        let read = |text: &Option<String>| text.as_deref().and_then(release);
        match (read(&self.before), read(&self.since)) {
            (Some(before), None) => Ok(at < before),
            (None, Some(since)) => Ok(at >= since),
            _ => Err(format!("known.toml: {}: give a release, as before or since", self.item)),
        }
    }

    /// The entry as a sentence.
    pub(super) fn sentence(&self) -> String {
        let what = match (&self.named, self.offset) {
            (Some(name), _) => format!("is called {name}"),
            (None, Some(offset)) => format!("is at byte {offset}"),
            (None, None) if self.absent => "is absent".into(),
            (None, None) => {
                let values: Vec<_> =
                    self.values.iter().map(|(name, value)| format!("{name} {value}")).collect();
                format!("has {}", values.join(", "))
            }
        };
        let when = match (&self.before, &self.since) {
            (Some(before), _) => format!("before {before}"),
            (None, since) => format!("since {}", since.as_deref().unwrap_or_default()),
        };
        format!("{} {what} {when}: {}", self.item, self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_of_something_in_the_bindings() {
        for kind in super::super::kind::Kind::ALL {
            let bindings = kind.bindings();
            for at in [(5, 2), (6, 3), (7, 0), (8, 0)] {
                for known in of(kind.module(), at).expect("known.toml is good") {
                    let (item, field) = known.item.split_once('.').unwrap_or((&known.item, ""));
                    let structure = bindings.structures.iter().find(|structure| structure.name == item);
                    let values = |of: &str| bindings.constants.iter().filter(|c| c.of == of).count();
                    match structure {
                        Some(found) if !field.is_empty() => {
                            assert!(found.fields.iter().any(|(name, _)| *name == field), "{}", known.item);
                        }
                        Some(_) => {}
                        None => assert!(values(item) >= known.values.len().max(1), "{}", known.item),
                    }
                    for name in known.values.keys() {
                        assert!(bindings.constants.iter().any(|c| c.name == name && c.of == item), "{name}");
                    }
                }
            }
        }
    }

    #[test]
    fn an_entry_holds_in_its_range_only() {
        let items = |at| -> Vec<String> {
            of("hip", at).expect("known.toml is good").into_iter().map(|known| known.item).collect()
        };
        assert!(items((5, 2)).contains(&"hipDeviceProp_tR0600".into()));
        assert_eq!(items((7, 2)), Vec::<String>::new(), "the bindings are made of 7.2");
        assert_eq!(items((6, 4)), ["hipLimit_t"]);
        assert_eq!(items((6, 3)), ["hipGraphNodeType", "hipLimit_t"]);
    }
}
