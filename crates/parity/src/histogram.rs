//! How many elements of a result are how far off, in ulp: counts in buckets that double.

use serde::{Serialize, Serializer};

/// Number of buckets.
pub const BUCKETS: usize = 24;

/// The bucket of elements with an infinity or NaN on one side only, which have no distance.
const NO_DISTANCE: usize = BUCKETS - 1;

/// Counts of elements by their error in ulp.
///
/// | bucket | elements |
/// |---|---|
/// | 0 | the reference's bits, or NaN on both sides |
/// | 1 | other bits, less than 1/2 ulp off |
/// | 2 | from 1/2 to 1 ulp off |
/// | b, from 3 to 22 | from 2^(b − 3) to 2^(b − 2) ulp off; bucket 22 has all that are further off, too |
/// | 23 | an infinity or NaN on one side only |
///
/// In JSON it is an array of the counts, without the zeros at its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Histogram([u64; BUCKETS]);

impl Histogram {
    /// An empty histogram.
    pub const NONE: Histogram = Histogram([0; BUCKETS]);

    /// The bucket of an element with other bits than the reference's that is `ulps` off; `None` if it has no distance.
    pub fn bucket(ulps: Option<f64>) -> usize {
        match ulps {
            Some(ulps) if ulps < 0.5 => 1,
            // The exponent of a normal number is its logarithm, rounded down.
            Some(ulps) if ulps.is_finite() => {
                let biased = (ulps.to_bits() >> 52) as usize;
                (biased + 3 - 1023).min(NO_DISTANCE - 1)
            }
            _ => NO_DISTANCE,
        }
    }

    /// Counts an element.
    pub fn add(&mut self, bucket: usize) {
        self.0[bucket] += 1;
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        self.0.iter_mut().zip(other.0).for_each(|(count, more)| *count += more);
    }

    /// Counts in bucket 0 what the other buckets lack of all `elements`.
    pub fn complete(&mut self, elements: usize) {
        let others: u64 = self.0[1..].iter().sum();
        self.0[0] = elements as u64 - others;
    }

    /// The counts, without the zeros at the end.
    pub fn counts(&self) -> &[u64] {
        let end = self.0.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        &self.0[..end]
    }

    /// Whether every element has the reference's bits.
    pub fn is_equal(&self) -> bool {
        self.counts().len() <= 1
    }
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.counts())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_begin_at_powers_of_two() {
        for (ulps, bucket) in [
            (0.0, 1),
            (0.499, 1),
            (0.5, 2),
            (0.999, 2),
            (1.0, 3),
            (1.999, 3),
            (2.0, 4),
            (3.346, 4),
            (4.0, 5),
            (1024.0, 13),
            (524_287.9, 21),
            (524_288.0, 22),
            (1e300, 22),
            (f64::INFINITY, 23),
            (f64::NAN, 23),
        ] {
            assert_eq!(Histogram::bucket(Some(ulps)), bucket, "{ulps}");
        }
        assert_eq!(Histogram::bucket(None), 23);
    }

    #[test]
    fn counts_end_with_the_last_that_is_not_zero() {
        let mut histogram = Histogram::NONE;
        assert_eq!((histogram.counts(), histogram.is_equal()), (&[][..], true));
        histogram.complete(5);
        assert_eq!((histogram.counts(), histogram.is_equal()), (&[5][..], true));
        histogram.add(3);
        let mut other = Histogram::NONE;
        (0..2).for_each(|_| other.add(2));
        histogram.merge(&other);
        histogram.complete(10);
        assert_eq!((histogram.counts(), histogram.is_equal()), (&[7, 0, 2, 1][..], false));
        assert_eq!(serde_json::to_string(&histogram).expect("numbers"), "[7,0,2,1]");
    }
}
