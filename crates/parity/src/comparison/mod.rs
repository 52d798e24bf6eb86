//! Two records against each other, so that machines that never meet can be compared.
//!
//! What it means that two entries agree is said in [`crate::record`].

mod judged;
mod known;
mod table;

pub use known::{Known, Manner};
pub use table::render;

use std::collections::BTreeSet;

use crate::Error;
use crate::record::{Agreement, Difference, Entry, Found, Kind, NamedRecord, compare};
use crate::witness::Judged;

/// What became of all cases of two records.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison<'a> {
    /// The first record.
    pub left: &'a NamedRecord,
    /// The second.
    pub right: &'a NamedRecord,
    /// Every case of either: those of the first in its order, then those that only the second has.
    pub pairs: Vec<Pair<'a>>,
    /// The known differences, each with how many cases needed it.
    pub known: Vec<(&'a Known, usize)>,
}

/// A case of either record.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair<'a> {
    /// The entry that names it: the first record's, if it has one.
    pub entry: &'a Entry,
    /// How the two results compare.
    pub finding: Finding,
}

/// How the results of a case compare.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// Equal digests, or equal bits wherever both were sampled.
    Equal,
    /// Apart, no further than both may be; the greatest distance as a part of that.
    Within(f64),
    /// They cannot both be right.
    Differs(Difference),
    /// The same, and the list of known differences says why: the number of its entry.
    Known(Difference, usize),
    /// The second record has no such case.
    OnlyLeft,
    /// The first has none.
    OnlyRight,
    /// Both have it, for other inputs or parameters.
    OtherInputs,
    /// Both have it, but nothing can be said, for this reason.
    Incomparable(&'static str),
}

/// How many cases there are of each sort.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// With equal bits.
    pub equal: usize,
    /// Within what is allowed.
    pub within: usize,
    /// That cannot both be right, and are not listed.
    pub differ: usize,
    /// That cannot both be right, and are listed.
    pub known: usize,
    /// That only the first has.
    pub only_left: usize,
    /// That only the second has.
    pub only_right: usize,
    /// That both have for other inputs.
    pub other_inputs: usize,
    /// That nothing can be said about.
    pub incomparable: usize,
}

impl Counts {
    /// Cases whose results were compared.
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
    /// [`Error::NothingInCommon`] if no case could be compared: that is no agreement.
    pub fn new(
        left: &'a NamedRecord,
        right: &'a NamedRecord,
        known: &'a [Known],
    ) -> Result<Comparison<'a>, Error> {
        Comparison::with_judged(left, right, &[], known)
    }

    /// As [`Comparison::new`], where some of the two were judged in all elements: of their digests it is known in what manner they are wrong.
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

    /// Puts a comparison together: [`Finding::Known`] names entries of `known`.
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

    /// Known differences that no case needed: they must go from the list.
    pub fn unneeded(&self) -> impl Iterator<Item = &'a Known> {
        self.known.iter().filter(|(_, needed)| *needed == 0).map(|(known, _)| *known)
    }

    /// Whether nothing differs but what is listed, and nothing is listed in vain.
    pub fn is_good(&self) -> bool {
        self.counts().differ == 0 && self.unneeded().next().is_none()
    }
}

/// The first fitting entry of the list explains a difference.
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

/// In what manners two digests' elements differ, if one of them is the reference's and the other of judged results.
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
