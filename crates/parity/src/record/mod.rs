//! A device's results as a record: small enough for the repository, complete enough to compare another device with.
//!
//! A [`Record`] has one [`Entry`] per case, found by the case's hash, so that results for other inputs are never
//! compared.
//!
//! # Contents of an entry
//! - If the bits are determined ([`Judge::Exact`](reference::Judge)): a 128-bit digest of all elements ([`digest`]).
//!   Every NaN is first replaced by one pattern, because all NaN are equally right.
//! - Otherwise: the bits of at most [`PROBES`] elements, including the first and the last ([`positions`]), each with
//!   the reference's tolerance ([`Allowed`]).
//! - If the device returned no result: its error.
//!
//! # Comparing entries
//! Two entries of a case agree if dtype and shape are equal, and the digests are equal or every sampled element agrees
//! ([`compare`]). The judge allows each device an error around the exact value, which a record does not contain. Two
//! elements therefore agree if they differ by at most the sum of both tolerances. They also agree if
//! - their bits are equal, or both are NaN;
//! - some order of evaluation overflows, according to the reference, and one of the two is an infinity or NaN.
//!
//! An infinity counts as the number after the dtype's largest when compared with a finite number, as in
//! [`reference::difference`]. NaN never agrees with a number. Tolerances come from the reference, not from a file: in
//! two records they must be equal except for rounding, and a run uses its own ([`hold`]). Two results that the
//! reference accepts therefore always agree. Two results that agree differ, in the sampled elements, by at most twice
//! what one may differ from the exact value.

mod agree;
#[cfg(test)]
mod agree_tests;
mod coverage;
mod date;
mod embedded;
mod header;
mod make;
mod probe;
mod text;
#[cfg(test)]
mod text_tests;

pub(crate) use agree::farthest;
pub use agree::{Agreement, Difference, Kind, compare, hold};
pub use coverage::{Coverage, Match, RecordReport};
pub(crate) use date::now;
pub use embedded::{EMBEDDED, NamedRecord, embedded};
pub use header::Header;
pub(crate) use make::entry;
pub use make::{Made, record_cases};
pub use probe::{Allowed, PROBES, Probe, digest, positions};
pub use text::{Damage, SCHEMA};

use std::collections::HashMap;

use reference::{DType, Judge, Outcome};

use crate::case::shape_text;
use crate::judge;

/// A device's results.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    header: Header,
    entries: Vec<Entry>,
    by_hash: HashMap<u128, usize>,
    by_id: HashMap<String, usize>,
}

/// The result of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The case's hash over operation, dtypes, shapes, layouts, parameters and inputs:
    /// [`Case::hash`](crate::Case::hash).
    pub hash: u128,
    /// The case's id.
    pub id: String,
    /// The rule of judgement, in words.
    pub rule: String,
    /// The device's result.
    pub found: Found,
}

/// A result, or the reason why there is none.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// All elements of a result whose bits are determined.
    Exact {
        /// Dtype and shape.
        form: Form,
        /// The digest of the elements: see [`digest`].
        digest: u128,
    },
    /// Some elements of a result with a tolerance.
    Sampled {
        /// Dtype and shape.
        form: Form,
        /// The elements at [`positions`], in ascending order.
        probes: Vec<Probe>,
    },
    /// The device's error, or what is wrong with the form of its result.
    Error(String),
}

/// Dtype and shape of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// Element type.
    pub dtype: DType,
    /// Lengths of the axes.
    pub shape: Vec<usize>,
}

impl Form {
    /// Number of elements; `None` if it overflows.
    pub fn elements(&self) -> Option<usize> {
        self.shape.iter().try_fold(1usize, |product, axis| product.checked_mul(*axis))
    }
}

impl std::fmt::Display for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.dtype, shape_text(&self.shape))
    }
}

impl Entry {
    /// The entry of a result. `bytes` are its dense little-endian elements, with the outcome's dtype and shape. `judge`
    /// is the case's rule, see [`judge::rule`].
    ///
    /// Panics if the number of bytes is not that of the outcome's elements.
    pub fn of_result(hash: u128, id: String, outcome: &Outcome<'_>, judge: Judge, bytes: &[u8]) -> Entry {
        let dtype = outcome.dtype();
        assert_eq!(bytes.len(), outcome.len() * dtype.size(), "{id}: a result of another length");
        let form = Form { dtype, shape: outcome.shape().to_vec() };
        let found = match judge {
            Judge::Exact => Found::Exact { form, digest: digest(dtype, bytes) },
            Judge::Within { .. } => Found::Sampled { form, probes: probe::take(hash, outcome, judge, bytes) },
        };
        Entry { hash, id, rule: judge::describe(judge), found }
    }

    /// The entry of a case without a result.
    pub fn of_error(hash: u128, id: String, rule: String, error: String) -> Entry {
        Entry { hash, id, rule, found: Found::Error(error) }
    }

    /// The operation, from the id.
    pub fn operation(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    /// The dtype of the inputs, from the id.
    pub fn dtype(&self) -> &str {
        let dtypes = self.id.split('/').nth(1).unwrap_or_default();
        dtypes.split('>').next().unwrap_or_default()
    }
}

impl Record {
    /// Assembles a record. The entries keep their order.
    ///
    /// # Errors
    /// [`Damage`] if two entries have the same id, with the later one's line in [`Record::to_text`].
    pub fn new(header: Header, entries: Vec<Entry>) -> Result<Record, Damage> {
        let (mut by_hash, mut by_id) = (HashMap::new(), HashMap::new());
        for (index, entry) in entries.iter().enumerate() {
            by_hash.entry(entry.hash).or_insert(index);
            if by_id.insert(entry.id.clone(), index).is_some() {
                let reason = format!("case {} is there twice", entry.id);
                return Err(Damage { line: header.lines() + 1 + index, reason });
            }
        }
        Ok(Record { header, entries, by_hash, by_id })
    }

    /// Where and when it was made.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// All entries, in the order of the registry.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of a case: the one with this id if its hash matches, else any with the hash. A renamed case is thus
    /// found.
    pub fn get(&self, hash: u128, id: &str) -> Option<&Entry> {
        self.by_id(id).filter(|entry| entry.hash == hash).or_else(|| self.by_hash(hash))
    }

    /// An entry with this hash.
    pub fn by_hash(&self, hash: u128) -> Option<&Entry> {
        self.by_hash.get(&hash).map(|index| &self.entries[*index])
    }

    /// The entry with this id and any hash.
    pub fn by_id(&self, id: &str) -> Option<&Entry> {
        self.by_id.get(id).map(|index| &self.entries[*index])
    }
}
