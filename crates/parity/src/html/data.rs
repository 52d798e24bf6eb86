//! The data of a page. In JSON these are objects with fields of the same names; `page/model.js` reads them.

use std::collections::{BTreeMap, HashMap};

use reference::DType;
use serde::Serialize;

use crate::judge::Sample;
use crate::registry;

/// Everything that a page shows: cases by operation and dtype, each with a result for every column.
#[derive(Debug, Clone, Serialize)]
pub struct Page<'a> {
    /// "run" or "comparison".
    pub(super) kind: &'static str,
    /// Facts about the whole, each with its name.
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) columns: Vec<Column>,
    pub(super) notes: Vec<String>,
    /// All dtypes, in the order of tables.
    pub(super) dtypes: Vec<String>,
    /// The families of [`registry::families`] that occur.
    pub(super) families: Vec<&'static str>,
    /// Each operation with the index of its family.
    pub(super) operations: Vec<(String, usize)>,
    /// The rules of judgement, in words.
    pub(super) rules: Vec<String>,
    pub(super) cases: Vec<Case<'a>>,
    /// Earlier runs, the oldest first.
    pub(super) history: Vec<Past>,
    #[serde(skip)]
    case_indices: HashMap<String, usize>,
}

/// A device of a run, or two compared sides.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Column {
    pub(super) name: String,
    /// What the two values of an element are: got and expected, or the names of both sides.
    pub(super) sides: [String; 2],
    /// What was run: devices, with their descriptions and facts.
    pub(super) devices: Vec<Source>,
    /// Commands that run a case again, with {case} for its id, quoted for a shell.
    pub(super) commands: Vec<String>,
}

/// A device or a file of results.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Source {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) facts: BTreeMap<String, String>,
}

/// A case, with a result for each column.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Case<'a> {
    pub(super) id: &'a str,
    pub(super) hash: String,
    /// Indices into the page's lists.
    pub(super) operation: usize,
    pub(super) dtype: usize,
    pub(super) rule: usize,
    pub(super) elements: usize,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(super) operands: &'a [String],
    pub(super) results: Vec<Shown<'a>>,
}

/// A result. Most are equal, and the page has thousands, so these are short: 1, and 0 for none.
#[derive(Debug, Clone)]
pub(super) enum Shown<'a> {
    None,
    Equal,
    Result(Box<Found<'a>>),
}

impl Serialize for Shown<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Shown::None => serializer.serialize_u8(0),
            Shown::Equal => serializer.serialize_u8(1),
            Shown::Result(found) => found.serialize(serializer),
        }
    }
}

/// A result that is not simply equal.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Found<'a> {
    /// "pass", "known", "mismatch", "error", or "absent" if two sides could not be compared.
    pub(super) status: &'static str,
    /// Maximum error as a fraction of what is allowed; `null` in JSON if it is infinite.
    pub(super) worst: f64,
    /// Maximum error in ulp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ulps: Option<f64>,
    /// Number of wrong elements.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) wrong: usize,
    /// Why it failed, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sample: Option<std::borrow::Cow<'a, Sample>>,
    /// Counts of elements by error: see [`crate::histogram::Histogram`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) histogram: Vec<u64>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// An earlier run.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Past {
    pub(super) name: String,
    pub(super) date: String,
    pub(super) version: String,
    pub(super) failures: usize,
    pub(super) cells: Vec<PastCell>,
}

/// A cell in an earlier run. Fields are as in [`crate::history::Change`], with indices for names.
#[derive(Debug, Clone, Serialize)]
pub(super) struct PastCell {
    pub(super) operation: usize,
    pub(super) dtype: usize,
    pub(super) column: usize,
    pub(super) cases: usize,
    pub(super) failures: usize,
    pub(super) then: f64,
    pub(super) now: f64,
}

impl<'a> Page<'a> {
    /// A page without cases.
    pub(super) fn new(kind: &'static str, facts: Vec<(&'static str, String)>, columns: Vec<Column>) -> Self {
        Page {
            kind,
            facts,
            columns,
            notes: Vec::new(),
            dtypes: DType::ALL.iter().map(|dtype| dtype.name().to_string()).collect(),
            families: Vec::new(),
            operations: Vec::new(),
            rules: Vec::new(),
            cases: Vec::new(),
            history: Vec::new(),
            case_indices: HashMap::new(),
        }
    }

    /// The case with this id, which is added if it is not there. Its results are empty then.
    pub(super) fn case(
        &mut self,
        id: &'a str,
        hash: String,
        [operation, dtype, rule]: [&str; 3],
    ) -> &mut Case<'a> {
        if let Some(index) = self.case_indices.get(id) {
            return &mut self.cases[*index];
        }
        let (operation, dtype) = (self.operation(operation), self.dtype(dtype));
        let rule = index_of(&mut self.rules, |known| known == rule, || rule.to_string());
        let results = vec![Shown::None; self.columns.len()];
        self.case_indices.insert(id.to_string(), self.cases.len());
        self.cases.push(Case { id, hash, operation, dtype, rule, elements: 0, operands: &[], results });
        self.cases.last_mut().expect("one was added")
    }

    pub(super) fn operation(&mut self, name: &str) -> usize {
        let family = registry::family(name);
        let family = index_of(&mut self.families, |known| *known == family, || family);
        index_of(&mut self.operations, |(known, _)| known == name, || (name.to_string(), family))
    }

    pub(super) fn dtype(&mut self, name: &str) -> usize {
        // A record of another version may have one more.
        index_of(&mut self.dtypes, |known| known == name, || name.to_string())
    }
}

/// The index of an entry, which is added if it is not there. The last ones are looked at first, because cases of an
/// operation follow each other.
fn index_of<T>(list: &mut Vec<T>, found: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> usize {
    list.iter().rposition(found).unwrap_or_else(|| {
        list.push(new());
        list.len() - 1
    })
}
