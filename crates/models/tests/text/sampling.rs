//! What a sampler keeps and draws, against plain definitions of it.

use models::text::{Candidate, Error, NEAR_TIE, Sampler, Sampling};
use proptest::prelude::*;

/// Keeps all tokens, at temperature 1.
fn all() -> Sampling {
    Sampling { temperature: 1.0, top_k: 0, top_p: 1.0, min_p: 0.0, ..Sampling::default() }
}

fn kept(sampling: Sampling, logits: &[f32]) -> Vec<Candidate> {
    Sampler::new(sampling).unwrap().candidates(&mut logits.to_vec(), &[]).unwrap().to_vec()
}

fn ids(candidates: &[Candidate]) -> Vec<u32> {
    candidates.iter().map(|candidate| candidate.id).collect()
}

/// Probabilities at temperature 1, by id.
fn softmax(logits: &[f32]) -> Vec<f64> {
    let masses: Vec<f64> = logits.iter().map(|&logit| f64::from(logit).exp()).collect();
    let total: f64 = masses.iter().sum();
    masses.iter().map(|mass| mass / total).collect()
}

/// All ids, the likeliest first, then by id.
fn ranking(logits: &[f32]) -> Vec<u32> {
    let mut ids: Vec<u32> = (0..logits.len() as u32).collect();
    ids.sort_by(|&one, &other| logits[other as usize].partial_cmp(&logits[one as usize]).unwrap());
    ids
}

/// Logits with many equal ones.
fn logits() -> impl Strategy<Value = Vec<f32>> {
    prop::collection::vec((-40i32..40).prop_map(|tenths| tenths as f32 / 10.0), 1..700)
}

proptest! {
    #[test]
    fn top_k_keeps_the_k_likeliest(logits in logits(), top_k in 1usize..50) {
        let found = kept(Sampling { top_k, ..all() }, &logits);
        let mut expected = ranking(&logits);
        expected.truncate(top_k);
        expected.sort_unstable();
        prop_assert_eq!(ids(&found), expected);
    }

    #[test]
    fn top_p_keeps_the_smallest_set_whose_mass_reaches_p(logits in logits(), top_p in 0.01f32..0.999) {
        let found = kept(Sampling { top_p, ..all() }, &logits);
        let probabilities = softmax(&logits);
        let mass = |ids: &[u32]| ids.iter().map(|&id| probabilities[id as usize]).sum::<f64>();
        let count = found.len();
        let mut likeliest = ranking(&logits);
        likeliest.truncate(count);
        // It reaches p, one less does not, and it is the likeliest that are kept.
        prop_assert!(mass(&likeliest) >= f64::from(top_p) - 1e-9);
        prop_assert!(mass(&likeliest[..count - 1]) < f64::from(top_p) + 1e-9);
        likeliest.sort_unstable();
        prop_assert_eq!(ids(&found), likeliest);
    }

    #[test]
    fn min_p_keeps_what_is_likely_enough(logits in logits(), min_p in 0.001f32..1.0) {
        let found = kept(Sampling { min_p, ..all() }, &logits);
        let probabilities = softmax(&logits);
        let greatest = probabilities.iter().copied().fold(0.0, f64::max);
        for (id, &probability) in (0..).zip(&probabilities) {
            let share = probability / greatest / f64::from(min_p);
            prop_assert!(share < 1.001 || ids(&found).contains(&id));
            prop_assert!(share > 0.999 || !ids(&found).contains(&id));
        }
    }

    #[test]
    fn probabilities_are_those_of_the_temperature(logits in logits(), temperature in 0.1f32..3.0) {
        let found = kept(Sampling { temperature, ..all() }, &logits);
        let cooled: Vec<f32> = logits.iter().map(|logit| logit / temperature).collect();
        for (candidate, expected) in found.iter().zip(softmax(&cooled)) {
            prop_assert!((candidate.probability - expected).abs() < 1e-5 * expected);
        }
        prop_assert_eq!(found.len(), logits.len());
    }

    #[test]
    fn a_draw_is_a_candidate(logits in logits(), top_k in 0usize..20, top_p in 0.1f32..1.0, seed: u64) {
        let sampling = Sampling { top_k, top_p, seed, ..Sampling::default() };
        let candidates = ids(&kept(sampling.clone(), &logits));
        let mut sampler = Sampler::new(sampling).unwrap();
        for _ in 0..20 {
            let token = sampler.sample(&mut logits.clone(), &[]).unwrap();
            prop_assert!(candidates.contains(&token));
        }
    }

    #[test]
    fn a_penalty_makes_what_occurred_less_likely(logits in logits(), penalty in 1.01f32..2.0) {
        let sampling = Sampling { repetition_penalty: penalty, repetition_window: 3, ..all() };
        let mut sampler = Sampler::new(sampling).unwrap();
        let mut penalised = logits.clone();
        // The first of four is outside of the window, and one occurs twice.
        let last = logits.len() as u32 - 1;
        sampler.candidates(&mut penalised, &[last / 2, last, 0, last]).unwrap();
        for (id, (&before, &after)) in (0..).zip(logits.iter().zip(&penalised)) {
            let expected = match (id == 0 || id == last, before > 0.0) {
                (false, _) => before,
                (true, true) => before / penalty,
                (true, false) => before * penalty,
            };
            prop_assert_eq!(after, expected);
        }
    }
}

#[test]
fn a_seed_gives_the_same_tokens_again() {
    let draw = |seed| -> Vec<u32> {
        let mut sampler = Sampler::new(Sampling { seed, ..all() }).unwrap();
        (0..200)
            .map(|step| {
                let mut logits: Vec<f32> =
                    (0..100).map(|id| ((id * 37 + step * 11) % 50) as f32 / 10.0).collect();
                sampler.sample(&mut logits, &[]).unwrap()
            })
            .collect()
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    // A copy goes on where the first is.
    let mut sampler = Sampler::new(all()).unwrap();
    sampler.sample(&mut [0.0; 50], &[]).unwrap();
    let mut copy = sampler.clone();
    let next = |sampler: &mut Sampler| -> Vec<u32> {
        (0..20).map(|_| sampler.sample(&mut [0.0; 50], &[]).unwrap()).collect()
    };
    assert_eq!(next(&mut sampler), next(&mut copy));
}

/// The tokens of a thousand equal logits, by the key stream of ChaCha8 for the key 42, as another program computes it: the
/// upper 53 bits of each eight bytes are the random number.
#[test]
fn the_random_numbers_are_those_of_chacha() {
    let mut sampler = Sampler::new(Sampling { seed: 42, ..all() }).unwrap();
    let tokens: Vec<u32> = (0..8).map(|_| sampler.sample(&mut [0.0; 1000], &[]).unwrap()).collect();
    assert_eq!(tokens, [348, 285, 493, 367, 825, 67, 489, 266]);
}

#[test]
fn a_million_draws_have_the_frequencies_of_the_probabilities() {
    const DRAWS: u32 = 1_000_000;
    let logits = [2.0, -1.0, 0.5, f32::NEG_INFINITY, 0.5, 3.0, -4.0, 1.0];
    let mut sampler = Sampler::new(Sampling { temperature: 0.9, seed: 3, ..all() }).unwrap();
    let mut counts = [0u32; 8];
    for _ in 0..DRAWS {
        counts[sampler.sample(&mut logits.clone(), &[]).unwrap() as usize] += 1;
    }
    assert_eq!(counts[3], 0);
    let mut chi_squared = 0.0;
    let expected = softmax(&logits.map(|logit| logit / 0.9));
    for (id, (&count, &probability)) in counts.iter().zip(&expected).enumerate() {
        let mean = f64::from(DRAWS) * probability;
        // Five standard deviations: one seed in a million is outside.
        let bound = 5.0 * (mean * (1.0 - probability)).sqrt();
        assert!(
            (f64::from(count) - mean).abs() <= bound,
            "{id}: {count} draws, {mean} expected, within {bound}"
        );
        if probability > 0.0 {
            chi_squared += (f64::from(count) - mean).powi(2) / mean;
        }
    }
    // Six degrees of freedom: 1 in 10,000 is above 27.9.
    assert!(chi_squared < 27.9, "{chi_squared}");
}

#[test]
fn near_ties_are_the_lowest_id() {
    let mut greedy = Sampler::new(Sampling::greedy()).unwrap();
    let mut choose = |logits: &[f32]| greedy.sample(&mut logits.to_vec(), &[]).unwrap();
    assert_eq!(choose(&[1.0, 5.0, 3.0, 5.0]), 1);
    // What another device rounds differently.
    assert_eq!(choose(&[1.0, 5.0, 3.0, 5.0 + NEAR_TIE / 2.0]), 1);
    assert_eq!(choose(&[1.0, 5.0, 3.0, 5.0 + NEAR_TIE * 2.0]), 3);
    assert_eq!(choose(&[-3.0, f32::NEG_INFINITY]), 0);
    // Draws: two tokens that change their ranks keep their shares.
    let token = |logits: &[f32], seed| {
        Sampler::new(Sampling { seed, ..all() }).unwrap().sample(&mut logits.to_vec(), &[]).unwrap()
    };
    for seed in 0..500 {
        assert_eq!(token(&[0.1, 1.0, 1.00001, 0.5], seed), token(&[0.1, 1.00001, 1.0, 0.5], seed));
    }
}

#[test]
fn what_cannot_be_is_an_error() {
    let refused = |sampling: Sampling| Sampler::new(sampling).unwrap_err().to_string();
    assert_eq!(refused(Sampling { temperature: -1.0, ..all() }), "temperature is -1; it must be 0 or more");
    assert_eq!(
        refused(Sampling { top_p: 0.0, ..all() }),
        "top_p is 0; it must be more than 0, and 1 at most"
    );
    assert_eq!(refused(Sampling { min_p: f32::NAN, ..all() }), "min_p is NaN; it must be from 0 to 1");
    assert_eq!(
        refused(Sampling { repetition_penalty: 0.0, ..all() }),
        "repetition_penalty is 0; it must be more than 0"
    );
    let infinity = f32::INFINITY;
    for sampling in [Sampling::greedy(), Sampling::default()] {
        let mut sampler = Sampler::new(sampling).unwrap();
        let mut refused = |logits: &[f32]| sampler.sample(&mut logits.to_vec(), &[]).unwrap_err().to_string();
        assert_eq!(refused(&[]), "no token can be chosen from 0 logits: there are none");
        assert_eq!(
            refused(&[1.0, f32::NAN, 2.0]),
            "no token can be chosen from 3 logits: one is not a number"
        );
        assert_eq!(refused(&[infinity, 1.0]), "no token can be chosen from 2 logits: one is infinite");
        assert_eq!(refused(&[-infinity]), "no token can be chosen from 1 logits: all are minus infinity");
    }
    let mut sampler = Sampler::new(Sampling { repetition_penalty: 1.1, ..all() }).unwrap();
    let error = sampler.sample(&mut [0.0; 3], &[3]).unwrap_err();
    assert!(matches!(error, Error::TokenId { id: 3, len: 3 }));
}

/// More than `top_p` looks at first.
#[test]
fn a_flat_distribution_keeps_its_share() {
    let logits = vec![0.5; 100_000];
    let found = kept(Sampling { top_p: 0.75, ..all() }, &logits);
    assert_eq!(found.len(), 75_000);
    assert_eq!(found[74_999].id, 74_999);
}
