//! The tokens that a draw chooses from.

use std::cmp::Ordering;

use super::sampler::Sampling;

/// A token that may be drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The token.
    pub id: u32,
    /// Its logit, after the penalty.
    pub logit: f32,
    /// Its share of the draws.
    pub probability: f64,
}

/// Candidates, with memory that is kept from one token to the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Candidates {
    /// Tokens with their logits, in any order at first.
    ranked: Vec<(f32, u32)>,
    chosen: Vec<Candidate>,
}

/// How many of the likeliest tokens `top_p` looks at first, and by how much more it looks at then.
const FIRST: usize = 64;
const MORE: usize = 8;

impl Candidates {
    /// The tokens that `sampling` keeps, by id, with their probabilities. `greatest` is the greatest logit.
    pub(super) fn choose(&mut self, logits: &[f32], greatest: f32, sampling: &Sampling) -> &[Candidate] {
        self.ranked.clear();
        // 0 for −0, which are equal.
        let tokens = (0..).zip(logits).map(|(id, &logit)| (logit + 0.0, id));
        match sampling.top_k {
            0 => self.ranked.extend(tokens),
            top_k => likeliest(tokens, top_k, &mut self.ranked),
        }
        if sampling.top_p < 1.0 {
            let kept = self.smallest_set(greatest, sampling.top_p);
            self.ranked.truncate(kept);
        }
        if sampling.min_p > 0.0 {
            let least = greatest + sampling.min_p.ln();
            self.ranked.retain(|&(logit, _)| logit >= least);
        }
        self.ranked.sort_unstable_by_key(|&(_, id)| id);

        let temperature = if sampling.temperature > 0.0 { f64::from(sampling.temperature) } else { 1.0 };
        self.chosen.clear();
        self.chosen.extend(self.ranked.iter().map(|&(logit, id)| {
            let probability = ((f64::from(logit) - f64::from(greatest)) / temperature).exp();
            Candidate { id, logit, probability }
        }));
        let total: f64 = self.chosen.iter().map(|candidate| candidate.probability).sum();
        self.chosen.iter_mut().for_each(|candidate| candidate.probability /= total);
        &self.chosen
    }

    /// The candidate whose share of the line from 0 to 1 has `random` in it.
    pub(super) fn draw(&self, random: f64) -> u32 {
        let mut end = 0.0;
        for candidate in &self.chosen {
            end += candidate.probability;
            if random < end {
                return candidate.id;
            }
        }
        // The sum may be less than 1 by its rounding.
        let last = self.chosen.iter().rev().find(|candidate| candidate.probability > 0.0);
        last.expect("the likeliest token is a candidate").id
    }

    /// How many of the likeliest tokens have `share` of the mass of all; they are ranked then. Few are ranked if few are
    /// enough, because a vocabulary has hundreds of thousands.
    fn smallest_set(&mut self, greatest: f32, share: f32) -> usize {
        let mass = |&(logit, _): &(f32, u32)| (f64::from(logit) - f64::from(greatest)).exp();
        let wanted = f64::from(share) * self.ranked.iter().map(mass).sum::<f64>();
        let mut count = FIRST;
        loop {
            let count_now = count.min(self.ranked.len());
            rank(&mut self.ranked, count_now);
            let mut sum = 0.0;
            for (index, token) in self.ranked[..count_now].iter().enumerate() {
                sum += mass(token);
                if sum >= wanted {
                    return index + 1;
                }
            }
            if count_now == self.ranked.len() {
                return count_now;
            }
            count *= MORE;
        }
    }
}

/// The `count` likeliest of tokens that come by id, the likeliest first.
fn likeliest(tokens: impl Iterator<Item = (f32, u32)>, count: usize, found: &mut Vec<(f32, u32)>) {
    let most = count.saturating_mul(2).max(FIRST);
    // Of `count` tokens that were found, the least likely: what comes later needs more.
    let mut least = None;
    for token in tokens {
        if least.is_some_and(|least| token.0 <= least) {
            continue;
        }
        found.push(token);
        if found.len() > most {
            rank(found, count);
            found.truncate(count);
            least = Some(found[count - 1].0);
        }
    }
    let count = count.min(found.len());
    rank(found, count);
    found.truncate(count);
}

/// Brings the `count` likeliest tokens to the front, the likeliest first; of equal ones the lower id comes first.
fn rank(tokens: &mut [(f32, u32)], count: usize) {
    fn by_rank(one: &(f32, u32), other: &(f32, u32)) -> Ordering {
        other.0.total_cmp(&one.0).then(one.1.cmp(&other.1))
    }
    if count < tokens.len() {
        tokens.select_nth_unstable_by(count, by_rank);
    }
    tokens[..count].sort_unstable_by(by_rank);
}
