//! Known differences between two devices, as data with reasons.

use std::collections::BTreeSet;
use std::path::Path;

use reference::{DType, Value};

use serde::{Deserialize, Serialize};

use crate::{Error, filter};

/// A known difference. `[[difference]]` entries of a TOML file have these fields. If `case` is a list, each item makes
/// an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// A pattern of case ids with `*` and `?`. At least one of these cases must differ.
    pub case: String,
    /// The platform that one side must have run on: "cpu", "cuda", or a device's name before its colon. The default is
    /// any.
    pub on: Option<String>,
    /// A pattern with `*` and `?` of that side's architecture: "gfx9*". The default is any.
    pub arch: Option<String>,
    /// The only kinds of difference allowed. The default is any.
    pub only: Option<BTreeSet<Manner>>,
    /// Whether the cases must not run on such a device, because they would make it unusable. Only for runs.
    pub left_out: bool,
    /// The reason.
    pub reason: String,
}

/// The kind of difference between a wrong element and the right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Manner {
    /// Zeros of opposite sign.
    Zeros,
    /// NaN instead of a number or an infinity, or the other way round.
    Nan,
    /// Zero instead of a nonzero number.
    Vanished,
    /// Infinity instead of a number.
    Infinite,
    /// Another number.
    Other,
}

impl Manner {
    /// The kind of difference of the bits `got` from `expected`.
    pub fn of(dtype: DType, expected: u64, got: u64) -> Manner {
        let is_zero = |bits| matches!(dtype.decode(bits), Value::Float(0.0) | Value::Int(0));
        let is_infinite = |bits| matches!(dtype.decode(bits), Value::Float(x) if x.is_infinite());
        match () {
            () if dtype.is_nan(expected) || dtype.is_nan(got) => Manner::Nan,
            () if is_zero(expected) && is_zero(got) => Manner::Zeros,
            () if is_zero(got) => Manner::Vanished,
            () if is_infinite(got) => Manner::Infinite,
            () => Manner::Other,
        }
    }

    /// The kind of difference between two elements if it is not known which one is right.
    pub fn between(dtype: DType, left: u64, right: u64) -> Manner {
        Manner::of(dtype, left, right).min(Manner::of(dtype, right, left))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    difference: Vec<Listed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    case: OneOrMore<String>,
    on: Option<String>,
    arch: Option<String>,
    only: Option<OneOrMore<Manner>>,
    #[serde(default)]
    left_out: bool,
    reason: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore<T> {
    One(T),
    Several(Vec<T>),
}

impl<T> OneOrMore<T> {
    fn all(self) -> Vec<T> {
        match self {
            OneOrMore::One(one) => vec![one],
            OneOrMore::Several(several) => several,
        }
    }
}

impl Listed {
    fn each(self) -> impl Iterator<Item = Known> {
        let Listed { case, on, arch, only, left_out, reason } = self;
        let only: Option<BTreeSet<Manner>> = only.map(|only| only.all().into_iter().collect());
        let known = move |case| {
            let (on, arch, only) = (on.clone(), arch.clone(), only.clone());
            Known { case, on, arch, only, left_out, reason: reason.clone() }
        };
        case.all().into_iter().map(known)
    }
}

impl Known {
    /// Whether the entry's pattern matches this case.
    pub fn covers(&self, id: &str) -> bool {
        filter::matches(&self.case, id)
    }

    /// As [`Known::covers`], if the wrong elements have these kinds of difference. An empty set means that the kinds
    /// are unknown; then an entry with `only` does not match.
    pub fn covers_only(&self, id: &str, manners: &BTreeSet<Manner>) -> bool {
        let demanded = |only: &BTreeSet<Manner>| !manners.is_empty() && manners.is_subset(only);
        self.covers(id) && self.only.as_ref().is_none_or(demanded)
    }

    /// Whether the entry is about one of the sides, given as platform and architecture. An empty string means unknown.
    pub fn is_on(&self, sides: &[(&str, &str)]) -> bool {
        sides.iter().any(|(platform, arch)| {
            self.on.as_ref().is_none_or(|on| on == platform)
                && self.arch.as_ref().is_none_or(|pattern| filter::matches(pattern, arch))
        })
    }

    /// Reads a list of known differences.
    ///
    /// # Errors
    /// [`Error::Differences`] if the file cannot be read, is not such a list, or has an entry without a reason or
    /// twice.
    pub fn read(path: &Path) -> Result<Vec<Known>, Error> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
        let list = text.and_then(|text| Known::parse(&text));
        list.map_err(|reason| Error::Differences { path: path.to_path_buf(), reason })
    }

    fn parse(text: &str) -> Result<Vec<Known>, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let list: Vec<Known> = file.difference.into_iter().flat_map(Listed::each).collect();
        for (number, known) in list.iter().enumerate() {
            if known.reason.trim().is_empty() {
                return Err(format!("{:?} says not why", known.case));
            }
            let about = |known: &Known| (known.case.clone(), known.on.clone(), known.arch.clone());
            if list[..number].iter().any(|other| about(other) == about(known)) {
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
    fn a_reason_may_have_several_patterns() {
        let several = ENTRY.replace("\"exp/f16/*\"", "[\"exp/f16/*\", \"log/f16/*\"]");
        let list = Known::parse(&several).expect("a good list");
        let cases: Vec<_> = list.iter().map(|known| (known.case.as_str(), known.reason.as_str())).collect();
        assert_eq!(cases, [("exp/f16/*", "because"), ("log/f16/*", "because")]);
    }

    #[test]
    fn an_entry_may_name_a_platform_and_a_kind_of_difference() {
        let text = ENTRY.replace("reason", "on = \"cpu\"\nonly = \"zeros\"\nreason");
        let list = Known::parse(&format!("{text}{}", text.replace("cpu", "cuda"))).expect("a good list");
        let [host, cpu, cuda] = [("host", ""), ("cpu", ""), ("cuda", "")];
        assert!(list[0].is_on(&[host, cpu]) && !list[0].is_on(&[cuda]) && list[1].is_on(&[cuda]));
        let covers = |manners: &[Manner]| {
            list[0].covers_only("exp/f16/contiguous/one/[1]", &manners.iter().copied().collect())
        };
        assert!(covers(&[Manner::Zeros]));
        assert!(!covers(&[Manner::Zeros, Manner::Nan]) && !covers(&[Manner::Other]) && !covers(&[]));
        assert!(Known::parse(&text.replace("zeros", "none")).is_err());
    }

    #[test]
    fn an_entry_may_name_an_architecture_and_several_kinds() {
        let text =
            ENTRY.replace("reason", "on = \"amd\"\narch = \"gfx9*\"\nonly = [\"nan\", \"infinite\"]\nreason");
        let list = Known::parse(&format!("{text}{}", text.replace("gfx9*", "gfx11*"))).expect("a good list");
        assert!(list[0].is_on(&[("cpu", "x86_64"), ("amd", "gfx90a:sramecc+")]));
        assert!(!list[0].is_on(&[("amd", "gfx1100")]) && !list[0].is_on(&[("amd", ""), ("host", "gfx90a")]));
        let covers = |manners: &[Manner]| {
            list[0].covers_only("exp/f16/contiguous/one/[1]", &manners.iter().copied().collect())
        };
        assert!(covers(&[Manner::Nan]) && covers(&[Manner::Nan, Manner::Infinite]));
        assert!(!covers(&[Manner::Nan, Manner::Other]) && !covers(&[]));
    }

    #[test]
    fn kinds_of_difference_of_wrong_elements() {
        let f16 = |expected, got| Manner::of(DType::F16, expected, got);
        assert_eq!(f16(0x0000, 0x8000), Manner::Zeros);
        assert_eq!((f16(0x7c00, 0x7e00), f16(0xfe00, 0x3c00)), (Manner::Nan, Manner::Nan));
        assert_eq!((f16(0x0001, 0x8000), f16(0x0000, 0x0001)), (Manner::Vanished, Manner::Other));
        assert_eq!((f16(0x7bff, 0x7c00), f16(0xfc00, 0x7c00)), (Manner::Infinite, Manner::Infinite));
        assert_eq!((f16(0x7c00, 0x7bff), f16(0x7c00, 0)), (Manner::Other, Manner::Vanished));
        assert_eq!(Manner::of(DType::U8, 5, 0), Manner::Vanished);
        let either = |left, right| Manner::between(DType::F16, left, right);
        assert_eq!((either(0x0000, 0x0001), either(0x0001, 0x8000)), (Manner::Vanished, Manner::Vanished));
        assert_eq!((either(0x0000, 0x8000), either(0x0001, 0x0002)), (Manner::Zeros, Manner::Other));
    }

    #[test]
    fn bad_lists_are_refused() {
        assert!(Known::parse(&ENTRY.replace("because", " ")).is_err());
        assert!(Known::parse(&ENTRY.replace("reason", "why")).is_err());
        assert!(Known::parse(&format!("{ENTRY}{ENTRY}")).is_err());
        assert!(Known::parse("difference = 3").is_err());
    }
}
