//! What the language and its references cost beside the tokens of a model: their count is exact, and multiplied with a measured time.
//!
//! A program of its own with one test, so that nothing computes beside it.

mod common;

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{Run, project, tiny_model};
use script::Options;
use serde_json::Value as Json;

/// The operations of the language: it asks before each of them whether it is to end.
static OPERATIONS: AtomicU64 = AtomicU64::new(0);

fn counted() -> bool {
    OPERATIONS.fetch_add(1, Ordering::Relaxed);
    false
}

/// The operations of a script, and what it ends with.
fn counted_in(run: &mut Run, text: &str) -> (u64, Json) {
    let before = OPERATIONS.load(Ordering::Relaxed);
    let value = run.run(text).unwrap_or_else(|error| panic!("{error}")).to_json().unwrap();
    (OPERATIONS.load(Ordering::Relaxed) - before, value)
}

/// The least of several times: other programs make a run slower, and never faster.
fn least(times: usize, mut seconds: impl FnMut() -> f64) -> f64 {
    (0..times).map(|_| seconds()).fold(f64::INFINITY, f64::min)
}

#[test]
fn references_take_less_than_a_hundredth_of_a_token() {
    let folder = tempfile::tempdir().unwrap();
    tiny_model(folder.path());
    let options =
        Options { interrupted: counted, arguments: vec!["tiny.gguf".to_owned()], ..Options::default() };
    let mut run = Run::inside(folder.path(), options);

    // A chat script, and one that asks for each token's logits. Operations that do not depend on the tokens are subtracted.
    let chat = fs::read_to_string(project("benches/scripts/chat.rhai")).unwrap();
    let by_hand = "let s = language_model(args[0]).session(); let next = [5]; let start = time();
                   for i in 0..64 { next = [s.feed(next).argmax(0).to_scalar()]; }
                   #{ tokens_per_second: 64 / (time() - start) }";
    let mut per_token = Vec::new();
    for (name, script, number, most) in
        [("chat", chat.as_str(), "most: 64", 6), ("by hand", by_hand, "0..64", 13)]
    {
        assert!(script.contains(number), "{name}");
        let with = |tokens: u64| script.replace(number, &number.replace("64", &tokens.to_string()));
        let [few, many] = [16, 48].map(|tokens| counted_in(&mut run, &with(tokens)).0);
        let operations = (many - few).div_ceil(32);
        assert!(operations <= most, "{name}: {operations} operations a token");
        // Another run takes exactly as many.
        assert_eq!(counted_in(&mut run, &with(48)).0, many, "{name}");
        let token = least(5, || {
            1.0 / counted_in(&mut run, script).1["tokens_per_second"].as_f64().expect("the script gives it")
        });
        per_token.push((name, operations, token));
    }

    // What a reference adds to an operation. An operation takes one at most, and most of them take none.
    run.value(
        "fn copies(value) { for i in 0..200 { let a = value; let b = value; let c = value; let d = value; } }
         let l = language_model(args[0]); let s = l.session(); let w = l.weights;",
    );
    let mut one = |value: &str| {
        let text = format!("let start = time(); copies({value}); time() - start");
        least(25, || counted_in(&mut run, &text).1.as_f64().expect("seconds")) / 800.0
    };
    let nothing = one("()");
    let values = [
        "l",
        "s",
        "l.tokenizer",
        "w",
        "w.layer(0)",
        "w[\"output_norm.weight\"]",
        "w[\"blk.0.ffn_up.weight\"]",
    ];
    let reference = values.into_iter().map(one).fold(0.0, f64::max) - nothing;
    for (name, operations, token) in per_token {
        let share = operations as f64 * reference / token;
        println!(
            "{name}: {operations} references of {:.0} ns or less beside {:.0} us a token: {:.2} %",
            reference * 1e9,
            token * 1e6,
            share * 100.0
        );
        assert!(share < 0.01, "{name}: {share} of a token");
        // All of the language's work, by the time of such an operation and the loop around it.
        let all = operations as f64 * (nothing + reference) / token;
        assert!(all < 0.05, "{name}: {all} of a token");
    }
}
