//! The choice of a token from logits, on the host.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use super::candidates::Candidates;
use super::error::{Error, Result};

pub use super::candidates::Candidate;

/// Logits that differ by no more than this are as good as equal: a thousandth is less than the rounding of most devices,
/// and changes a probability by a thousandth of it.
pub const NEAR_TIE: f32 = 1e-3;

/// How a token is chosen. The steps are those of llama.cpp, in its order: penalty, `top_k`, `top_p`, `min_p`, temperature.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampling {
    /// Divides the logits before a token is drawn. 0 is greedy: the likeliest token, without chance.
    pub temperature: f32,
    /// Keeps this many of the likeliest tokens; 0 keeps all.
    pub top_k: usize,
    /// Keeps the smallest set of the likeliest tokens whose probabilities, as shares of what `top_k` kept, sum to this at
    /// least; 1 keeps all. (Holtzman et al. 2020, "The curious case of neural text degeneration".)
    #[doc(alias = "nucleus sampling")]
    pub top_p: f32,
    /// Keeps tokens whose probability is at least this share of the likeliest one's; 0 keeps all.
    pub min_p: f32,
    /// Divides positive logits of tokens that occurred, and multiplies negative ones; 1 changes nothing. (Keskar et al.
    /// 2019, "CTRL".)
    pub repetition_penalty: f32,
    /// How many of the last tokens the penalty looks at.
    pub repetition_window: usize,
    /// Where the random numbers begin.
    pub seed: u64,
}

impl Default for Sampling {
    /// llama.cpp's usual settings.
    fn default() -> Sampling {
        Sampling {
            temperature: 0.8,
            top_k: 40,
            top_p: 0.95,
            min_p: 0.05,
            repetition_penalty: 1.0,
            repetition_window: 64,
            seed: 0,
        }
    }
}

impl Sampling {
    /// The likeliest token each time.
    pub fn greedy() -> Sampling {
        Sampling { temperature: 0.0, ..Sampling::default() }
    }

    fn check(&self) -> Result<()> {
        let check = |name, value: f32, holds, expected| {
            if holds { Ok(()) } else { Err(Error::Sampling { name, value, expected }) }
        };
        let (temperature, penalty) = (self.temperature, self.repetition_penalty);
        let is_usable = temperature.is_finite() && temperature >= 0.0;
        check("temperature", temperature, is_usable, "0 or more")?;
        check("top_p", self.top_p, self.top_p > 0.0 && self.top_p <= 1.0, "more than 0, and 1 at most")?;
        check("min_p", self.min_p, (0.0..=1.0).contains(&self.min_p), "from 0 to 1")?;
        check("repetition_penalty", penalty, penalty.is_finite() && penalty > 0.0, "more than 0")
    }
}

/// Chooses tokens for one sequence.
///
/// # The same tokens on every device
/// Devices round differently, so their logits differ a little. Three things keep that from changing tokens:
/// - The greedy choice is the lowest id among the tokens whose logits are within [`NEAR_TIE`] of the greatest.
/// - A draw takes one random number, and goes through the tokens by id: that two tokens change their ranks moves no
///   token's share.
/// - Equal logits at the edge of `top_k` and `top_p` are ranked by id, the lower first.
///
/// What is left is a gap between two logits of about [`NEAR_TIE`], or a random number as close as the rounding to the edge
/// of a token's share. The random numbers are the same everywhere: those of ChaCha with 8 rounds, whose key
/// is the seed's eight bytes, the least first, and zeros.
#[doc(alias = "llama_sampler")]
#[derive(Debug, Clone)]
pub struct Sampler {
    sampling: Sampling,
    random: ChaCha8Rng,
    candidates: Candidates,
    /// The ids that are penalised, kept for its memory.
    repeated: Vec<u32>,
}

impl Sampler {
    /// A sampler at the beginning of its random numbers.
    ///
    /// # Errors
    /// [`Error::Sampling`] for a setting out of range.
    pub fn new(sampling: Sampling) -> Result<Sampler> {
        sampling.check()?;
        let mut key = [0; 32];
        key[..8].copy_from_slice(&sampling.seed.to_le_bytes());
        let random = ChaCha8Rng::from_seed(key);
        Ok(Sampler { sampling, random, candidates: Candidates::default(), repeated: Vec::new() })
    }

    /// The settings.
    pub fn sampling(&self) -> &Sampling {
        &self.sampling
    }

    /// A token for these logits, one for each token of the vocabulary. `history` has the tokens so far, for the penalty,
    /// which is written into `logits`.
    ///
    /// A draw takes one random number; a greedy choice takes none.
    ///
    /// # Errors
    /// [`Error::Logits`] if there are none, if one is NaN or +∞, or if all are −∞. [`Error::TokenId`] for a token of
    /// `history` that has no logit.
    pub fn sample(&mut self, logits: &mut [f32], history: &[u32]) -> Result<u32> {
        if self.sampling.temperature > 0.0 {
            self.candidates(logits, history)?;
            // The 53 bits that an f64 has, from 0 to below 1.
            let random = (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            return Ok(self.candidates.draw(random));
        }
        self.penalise(logits, history)?;
        let greatest = greatest(logits)?;
        let near = logits.iter().position(|&logit| logit >= greatest - NEAR_TIE);
        Ok(near.expect("the greatest is near itself") as u32)
    }

    /// The tokens that a draw chooses from, by id, with their probabilities, which sum to 1. For temperature 0 they are
    /// those of temperature 1. The penalty is written into `logits`.
    ///
    /// # Errors
    /// As [`Sampler::sample`].
    pub fn candidates(&mut self, logits: &mut [f32], history: &[u32]) -> Result<&[Candidate]> {
        self.penalise(logits, history)?;
        let greatest = greatest(logits)?;
        Ok(self.candidates.choose(logits, greatest, &self.sampling))
    }

    fn penalise(&mut self, logits: &mut [f32], history: &[u32]) -> Result<()> {
        let Sampling { repetition_penalty: penalty, repetition_window: window, .. } = self.sampling;
        if penalty == 1.0 {
            return Ok(());
        }
        self.repeated.clear();
        self.repeated.extend_from_slice(&history[history.len().saturating_sub(window)..]);
        self.repeated.sort_unstable();
        self.repeated.dedup();
        let len = logits.len();
        for &id in &self.repeated {
            let logit = logits.get_mut(id as usize).ok_or(Error::TokenId { id, len })?;
            *logit = if *logit > 0.0 { *logit / penalty } else { *logit * penalty };
        }
        Ok(())
    }
}

/// The greatest logit, if a token can be chosen.
fn greatest(logits: &[f32]) -> Result<f32> {
    let error = |what| Err(Error::Logits { len: logits.len(), what });
    // NaN stays once it came.
    let greatest = logits.iter().fold(f32::NEG_INFINITY, |greatest, &logit| {
        if logit > greatest || logit.is_nan() { logit } else { greatest }
    });
    if logits.is_empty() {
        return error("there are none");
    }
    if greatest.is_nan() {
        return error("one is not a number");
    }
    match greatest {
        f32::INFINITY => error("one is infinite"),
        f32::NEG_INFINITY => error("all are minus infinity"),
        greatest => Ok(greatest),
    }
}
