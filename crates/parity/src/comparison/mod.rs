//! Comparing two records, so that results of different machines can be compared.
//!
//! [`crate::record`] defines when two entries agree.

mod judged;
mod known;
mod table;

pub use known::{Known, Manner};
pub use table::render;

use std::collections::BTreeSet;

use crate::Error;
use crate::record::{Agreement, Difference, Entry, Found, Kind, NamedRecord, compare};
use crate::witness::Judged;

/// The comparison of all cases of two records.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison<'a> {
    /// The first record.
    pub left: &'a NamedRecord,
    /// The second.
    pub right: &'a NamedRecord,
    /// The cases of both: those of the first in its order, then those that only the second has.
    pub pairs: Vec<Pair<'a>>,
    /// The known differences, with the number of cases that needed each.
    pub known: Vec<(&'a Known, usize)>,
}

/// A case of one or both records.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair<'a> {
    /// The entry with the case's id: the first record's, if it has one.
    pub entry: &'a Entry,
    /// How the two results compare.
    pub finding: Finding,
}

/// The result of comparing a case.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// Equal digests, or equal bits in all sampled elements.
    Equal,
    /// Different, but within what is allowed. The maximum distance as a fraction of that.
    Within(f64),
    /// The results cannot both be right.
    Differs(Difference),
    /// As `Differs`, but explained by this entry of the known differences.
    Known(Difference, usize),
    /// The second record has no such case.
    OnlyLeft,
    /// The first record has no such case.
    OnlyRight,
    /// Both have the case, for other inputs or parameters.
    OtherInputs,
    /// Both have the case, but they cannot be compared, for this reason.
    Incomparable(&'static str),
}

/// The number of cases for each result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Equal bits.
    pub equal: usize,
    /// Within what is allowed.
    pub within: usize,
    /// Cannot both be right, and not known.
    pub differ: usize,
    /// Cannot both be right, but known.
    pub known: usize,
    /// Only in the first record.
    pub only_left: usize,
    /// Only in the second record.
    pub only_right: usize,
    /// In both, for other inputs.
    pub other_inputs: usize,
    /// Not comparable.
    pub incomparable: usize,
}

impl Counts {
    /// The number of cases that were compared.
    pub fn compared(&self) -> usize {
        self.equal + self.within + self.differ + self.known
    }

    fn add(&mut self, finding: &Finding) {
        *match finding {
            Finding::Equal => &mut self.equal,
            Finding::Within(_) => &mut self.within,
            Finding::Differs(_) => &mut self.differ,
            Finding::Known(..) => &mut self.known,
            Finding::OnlyLeft => &mut self.only_left,
            Finding::OnlyRight => &mut self.only_right,
            Finding::OtherInputs => &mut self.other_inputs,
            Finding::Incomparable(_) => &mut self.incomparable,
        } += 1;
    }
}

impl<'a> Comparison<'a> {
    /// Compares every case of two records.
    ///
    /// # Errors
    /// [`Error::NothingInCommon`] if no case could be compared, because that does not mean agreement.
    pub fn new(
        left: &'a NamedRecord,
        right: &'a NamedRecord,
        known: &'a [Known],
    ) -> Result<Comparison<'a>, Error> {
        Comparison::with_judged(left, right, &[], known)
    }

    /// As [`Comparison::new`]. Records in `judged` were judged in all elements, so that the kinds of difference of
    /// their digests are known.
    ///
    /// # Errors
    /// As [`Comparison::new`].
    pub fn with_judged(
        left: &'a NamedRecord,
        right: &'a NamedRecord,
        judged: &[&Judged],
        known: &'a [Known],
    ) -> Result<Comparison<'a>, Error> {
        let of_left = left.record.entries().iter().map(|entry| {
            let finding = match right.record.get(entry.hash, &entry.id) {
                Some(other) => found([entry, other], judged, known),
                None if right.record.by_id(&entry.id).is_some() => Finding::OtherInputs,
                None => Finding::OnlyLeft,
            };
            Pair { entry, finding }
        });
        let alone = |entry: &&Entry| {
            left.record.get(entry.hash, &entry.id).is_none() && left.record.by_id(&entry.id).is_none()
        };
        let of_right = right.record.entries().iter().filter(alone);
        let of_right = of_right.map(|entry| Pair { entry, finding: Finding::OnlyRight });
        let pairs: Vec<Pair<'_>> = of_left.chain(of_right).collect();
        Comparison::of_pairs(left, right, pairs, known)
    }

    /// Assembles a comparison. [`Finding::Known`] refers to entries of `known`.
    fn of_pairs(
        left: &'a NamedRecord,
        right: &'a NamedRecord,
        pairs: Vec<Pair<'a>>,
        known: &'a [Known],
    ) -> Result<Comparison<'a>, Error> {
        let needed = |number| {
            pairs
                .iter()
                .filter(|pair| matches!(pair.finding, Finding::Known(_, its) if its == number))
                .count()
        };
        let known = known.iter().enumerate().map(|(number, known)| (known, needed(number))).collect();
        let comparison = Comparison { left, right, pairs, known };
        if comparison.counts().compared() == 0 {
            let seeds = format!("{} and {}", left.record.header().seed, right.record.header().seed);
            let (left, right) = (left.name.clone(), right.name.clone());
            return Err(Error::NothingInCommon { left, right, seeds });
        }
        Ok(comparison)
    }

    /// Counts over all cases.
    pub fn counts(&self) -> Counts {
        self.count(|_| true)
    }

    /// Counts over some cases.
    pub fn count(&self, chosen: impl Fn(&Entry) -> bool) -> Counts {
        let mut counts = Counts::default();
        let pairs = self.pairs.iter().filter(|pair| chosen(pair.entry));
        pairs.for_each(|pair| counts.add(&pair.finding));
        counts
    }

    /// Known differences that no case needed, which must be removed from the list.
    pub fn unneeded(&self) -> impl Iterator<Item = &'a Known> {
        self.known.iter().filter(|(_, needed)| *needed == 0).map(|(known, _)| *known)
    }

    /// Whether all differences are known and all known differences were needed.
    pub fn is_good(&self) -> bool {
        self.counts().differ == 0 && self.unneeded().next().is_none()
    }
}

/// Compares two entries. A difference is known if an entry of the list explains it; the first matching entry counts.
fn found(pair: [&Entry; 2], judged: &[&Judged], known: &[Known]) -> Finding {
    let difference = match compare(pair[0], pair[1]) {
        Agreement::Equal => return Finding::Equal,
        Agreement::Within(units) => return Finding::Within(units),
        Agreement::Incomparable(why) => return Finding::Incomparable(why),
        Agreement::Differs(difference) => difference,
    };
    let manners = match &difference.kind {
        Kind::Fault => return Finding::Differs(difference),
        Kind::Elements(manners) => manners.clone(),
        Kind::Bits => judged.iter().find_map(|judged| of_digests(pair, judged)).unwrap_or_default(),
    };
    match known.iter().position(|known| known.covers_only(&pair[0].id, &manners)) {
        Some(number) => Finding::Known(difference, number),
        None => Finding::Differs(difference),
    }
}

/// The kinds of difference between two digests, if one is the reference's and the other belongs to judged results.
fn of_digests(pair: [&Entry; 2], judged: &Judged) -> Option<BTreeSet<Manner>> {
    let digest = |entry: &Entry| match entry.found {
        Found::Exact { digest, .. } => Some(digest),
        _ => None,
    };
    let entries = &judged.record.record;
    pair.iter().zip(pair.iter().rev()).find_map(|(its, other)| {
        let wrong = judged.wrong.get(&its.id).filter(|_| entries.by_id(&its.id) == Some(*its))?;
        (wrong.right.is_some() && wrong.right == digest(other)).then(|| wrong.manners.clone())
    })
}
