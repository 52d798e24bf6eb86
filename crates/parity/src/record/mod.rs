//! A device's results on record: small enough for the repository, complete enough to hold another device against.
//!
//! A [`Record`] has one [`Entry`] per case, found by the case's hash, so that a result recorded for other inputs is never compared.
//!
//! # What an entry keeps
//! - Where the bits are decided ([`Judge::Exact`](reference::Judge)): a 128-bit digest of all elements ([`digest`]). Every NaN is brought to
//!   one pattern first, since any NaN is as right as another.
//! - Elsewhere: the bits of at most [`PROBES`] elements, the first and the last always among them ([`positions`]), each with what the
//!   reference allows there ([`Allowed`]).
//! - Where the device gave no result: its error.
//!
//! # What comparing means
//! Two entries of one case agree if dtype and shape are the same and the digests are equal, or if every sampled element agrees
//! ([`compare`]). The judge allows each device an error around the exact value, which a record does not have; so two elements may be
//! apart by the sum of both allowed errors, and agree as well if
//! - their bits are equal, or both are NaN;
//! - the reference says that some order of evaluation overflows, and one of the two is an infinity or NaN.
//!
//! An infinity against a finite number counts as the number after the dtype's largest, as in [`reference::difference`]; NaN
//! against a number never agrees. What an element may be off is the reference's to say, not a file's: in two records it must be the
//! same but for its rounding, and a run takes its own ([`hold`]). So two results that the reference accepts always agree, and two that agree were at most twice as far
//! apart as one may be from the exact value, at the elements that were sampled.

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

pub use agree::{Agreement, Difference, Kind, compare, hold};
pub use coverage::{Coverage, Match, RecordReport};
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

/// What came of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The case's hash over operation, dtypes, shapes, layouts, parameters and inputs: [`Case::hash`](crate::Case::hash).
    pub hash: u128,
    /// The case's id.
    pub id: String,
    /// How the result was judged, in words.
    pub rule: String,
    /// What the device made of it.
    pub found: Found,
}

/// A result, or what there is instead.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// All elements of a result whose bits are decided.
    Exact {
        /// Dtype and shape.
        form: Form,
        /// See [`digest`].
        digest: u128,
    },
    /// Some elements of a result that may be off.
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
    /// Number of elements; `None` if there are too many to count.
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
    /// The entry of a result: `bytes` are its elements, dense and little-endian, of the outcome's dtype and shape.
    /// `judge` is how the case is judged, see [`judge::rule`].
    ///
    /// Panics if there are not as many bytes as the outcome's elements have.
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

    /// The operation, by the id.
    pub fn operation(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    /// The dtype of the inputs, by the id.
    pub fn dtype(&self) -> &str {
        let dtypes = self.id.split('/').nth(1).unwrap_or_default();
        dtypes.split('>').next().unwrap_or_default()
    }
}

impl Record {
    /// Puts a record together. The entries keep their order.
    ///
    /// # Errors
    /// [`Damage`] if two entries have one id; its line is the later one's, as [`Record::to_text`] writes it.
    pub fn new(header: Header, entries: Vec<Entry>) -> Result<Record, Damage> {
        let (mut by_hash, mut by_id) = (HashMap::new(), HashMap::new());
        for (place, entry) in entries.iter().enumerate() {
            by_hash.entry(entry.hash).or_insert(place);
            if by_id.insert(entry.id.clone(), place).is_some() {
                let reason = format!("case {} is there twice", entry.id);
                return Err(Damage { line: header.lines() + 1 + place, reason });
            }
        }
        Ok(Record { header, entries, by_hash, by_id })
    }

    /// Where and when it was made.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Every case, in the order of the registry.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of a case: of this id if its hash is right, else of any case with the hash. A case that was given another
    /// name is still found.
    pub fn get(&self, hash: u128, id: &str) -> Option<&Entry> {
        self.by_id(id).filter(|entry| entry.hash == hash).or_else(|| self.by_hash(hash))
    }

    /// An entry with this hash.
    pub fn by_hash(&self, hash: u128) -> Option<&Entry> {
        self.by_hash.get(&hash).map(|place| &self.entries[*place])
    }

    /// The entry of this id, whatever its hash.
    pub fn by_id(&self, id: &str) -> Option<&Entry> {
        self.by_id.get(id).map(|place| &self.entries[*place])
    }
}
