//! Which rows of the cache each sequence has.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::error::{Error, Result};

/// The tokens of a page. In attention to one token of each sequence a block of threads takes 64, 128, 192 or 256 keys, so whole pages. A sequence leaves half a page unused on average.
pub(crate) const PAGE: usize = 64;

/// The pages for so many tokens.
pub(crate) fn pages_of(tokens: usize) -> usize {
    tokens.div_ceil(PAGE)
}

/// Which pages are free, and which each sequence has. A sequence has as many as its tokens need.
#[derive(Debug)]
pub(crate) struct Pages {
    free: BTreeSet<usize>,
    of: Vec<Vec<usize>>,
    all: usize,
}

impl Pages {
    /// So many free pages.
    pub(super) fn new(sequences: usize, pages: usize) -> Pages {
        Pages { free: (0..pages).collect(), of: vec![Vec::new(); sequences], all: pages }
    }

    /// All pages.
    pub(super) fn all(&self) -> usize {
        self.all
    }

    /// Pages that sequences have.
    pub(super) fn used(&self) -> usize {
        self.all - self.free.len()
    }

    /// The pages of a sequence, in the order of its tokens.
    pub(crate) fn of(&self, sequence: usize) -> &[usize] {
        &self.of[sequence]
    }

    /// Gives sequences the pages that tokens up to these lengths need: the first ones that are free, in the order of the sequences. So a
    /// sequence that is alone has pages one behind the other.
    pub(super) fn reserve(&mut self, lengths: &[(usize, usize)]) -> Result<()> {
        let more =
            |(sequence, length): &(usize, usize)| pages_of(*length).saturating_sub(self.of[*sequence].len());
        let (needed, free) = (lengths.iter().map(more).sum(), self.free.len());
        if needed > free {
            return Err(Error::OutOfPages { needed, page: PAGE, free, pages: self.all });
        }
        for (sequence, length) in lengths {
            while self.of[*sequence].len() < pages_of(*length) {
                let page = self.free.pop_first().expect("they were counted");
                self.of[*sequence].push(page);
            }
        }
        Ok(())
    }

    /// Frees the pages of a sequence behind its first `length` tokens.
    pub(super) fn release(&mut self, sequence: usize, length: usize) {
        let pages = &mut self.of[sequence];
        let kept = pages_of(length).min(pages.len());
        self.free.extend(pages.drain(kept..));
    }

    /// The rows of some tokens of a sequence, in order, as few ranges as there are.
    pub(crate) fn rows(&self, sequence: usize, tokens: Range<usize>) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut token = tokens.start;
        while token < tokens.end {
            let next = (token / PAGE + 1) * PAGE;
            let first = self.of[sequence][token / PAGE] * PAGE + token % PAGE;
            let rows = first..first + tokens.end.min(next) - token;
            match runs.last_mut() {
                Some(last) if last.end == rows.start => last.end = rows.end,
                _ => runs.push(rows),
            }
            token = next;
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_free_pages_are_taken_all_of_them_or_none() {
        let mut pages = Pages::new(2, 5);
        pages.reserve(&[(0, PAGE + 1)]).unwrap();
        pages.reserve(&[(0, 2 * PAGE), (1, 1)]).unwrap();
        assert_eq!((pages.of(0), pages.of(1), pages.used()), (&[0, 1][..], &[2][..], 3));
        let error = pages.reserve(&[(0, 3 * PAGE), (1, 3 * PAGE)]).unwrap_err();
        assert!(error.to_string().starts_with("pages of 64 tokens: 3 more are needed, and 2 of 5 are free"));
        assert_eq!((pages.of(0), pages.of(1)), (&[0, 1][..], &[2][..]));
        pages.reserve(&[(0, 2 * PAGE + 1), (1, PAGE + 1)]).unwrap();
        assert_eq!((pages.of(0), pages.of(1)), (&[0, 1, 3][..], &[2, 4][..]));
        pages.release(0, PAGE);
        pages.release(1, 4 * PAGE);
        assert_eq!((pages.of(0), pages.used()), (&[0][..], 3));
        pages.reserve(&[(1, 3 * PAGE), (0, 2 * PAGE)]).unwrap();
        assert_eq!((pages.of(0), pages.of(1)), (&[0, 3][..], &[2, 4, 1][..]));
        let within = 2 * PAGE + 10..2 * PAGE + 20;
        assert_eq!(pages.rows(1, 10..20), std::slice::from_ref(&within));
        assert_eq!(
            pages.rows(1, PAGE - 1..2 * PAGE + 3),
            [3 * PAGE - 1..3 * PAGE, 4 * PAGE..5 * PAGE, PAGE..PAGE + 3]
        );
        assert!(pages.rows(0, PAGE..PAGE).is_empty());
        pages.release(1, 0);
        pages.reserve(&[(1, 2 * PAGE)]).unwrap();
        assert_eq!((pages.of(1), pages.rows(1, 3..PAGE + 9).len()), (&[1, 2][..], 1));
    }
}
