//! Language models, sessions and tokenizers, with the model of random weights of an example.

use models::text::{EncodeOptions, Tokenizer};
use models::{LanguageModel, SessionOptions, greedy};
use script::Options;
use tensor_core::Device;
use weights::Checkpoint;

use crate::common::{Run, tiny_model};

#[test]
fn a_session_continues_a_text_as_the_crate_models_does() {
    let folder = tempfile::tempdir().unwrap();
    tiny_model(folder.path());
    let path = folder.path().join("tiny.gguf");
    // By the library alone.
    let model = LanguageModel::open(&path, &Device::Cpu).unwrap();
    let tokenizer = Tokenizer::of_model(&path, &Checkpoint::open(&path).unwrap()).unwrap();
    let prompt = tokenizer.encode("to be", EncodeOptions::default()).unwrap();
    let options = SessionOptions { context: Some(64), ..SessionOptions::default() };
    let mut session = models::Session::new(&model, &options).unwrap();
    let stops: Vec<u32> = tokenizer.stop_tokens().iter().copied().collect();
    let expected: Vec<u32> =
        session.generate(&prompt, &stops, greedy).unwrap().take(8).map(Result::unwrap).collect();

    let mut run = Run::inside(folder.path(), Options::default());
    run.value("let l = language_model(\"tiny.gguf\"); let s = l.session(#{ context: 64 });");
    assert_eq!(run.value("l.tokenizer.encode(\"to be\")"), format!("{prompt:?}"));
    assert_eq!(run.value("l.tokenizer.decode(l.tokenizer.encode(\"to be\"))"), "to be");
    run.value(
        "let pieces = \"\"; let a = s.generate(\"to be\", #{ most: 8, temperature: 0 }, |p| pieces += p);",
    );
    assert_eq!(run.value("a.tokens"), format!("{expected:?}"));
    assert_eq!(
        run.value("pieces == a.text && a.prompt_tokens == l.tokenizer.encode(\"to be\").len()"),
        "true"
    );
    // The last token was given, and not computed.
    assert_eq!(run.value("s.length"), (prompt.len() + expected.len() - 1).to_string());
    assert_eq!(run.value("s.tokens.len()"), run.value("s.length"));
    // The same tokens by hand, from logits.
    let by_hand = "let t = l.session(); let tokens = []; let next = l.tokenizer.encode(\"to be\");
                   for i in 0..8 { let token = t.feed(next).argmax(0).to_scalar(); tokens.push(token); next = [token]; }
                   tokens";
    assert_eq!(run.value(by_hand), format!("{expected:?}"));
    assert_eq!(run.value("t.truncate(2); t.length"), "2");
}

#[test]
fn a_function_ends_an_answer_and_may_fail() {
    let folder = tempfile::tempdir().unwrap();
    tiny_model(folder.path());
    let mut run = Run::inside(folder.path(), Options::default());
    run.value("let l = language_model(\"tiny.gguf\"); let s = l.session(#{ context: 64 });");
    let ended = "let n = 0; let a = s.generate(\"to\", #{ most: 9, temperature: 0 }, |p| { n += 1; n < 3 }); [a.tokens.len(), a.interrupted]";
    assert_eq!(run.value(ended), "[3, true]");
    let found = run.error("s.generate(\"to\", #{}, |p| throw \"mine\")");
    assert!(found.contains("mine"), "{found}");
    let found = run.error("s.generate(\"to\", #{}, |p| s.length)");
    assert!(found.contains("a closure uses a value that the call it is given to changes"), "{found}");
    let found = run.error("let l = language_model(\"tiny.gguf\"); let s = l.session(); let t = s; s.generate(\"to\", #{}, |p| t.length)");
    assert!(found.contains("the session is in use"), "{found}");
    let found = run.error("s.generate(\"to\", #{ tempo: 1 })");
    assert!(found.contains("no option tempo: there are most stop temperature"), "{found}");
    let found = run.error("s.generate([1, 999999])");
    assert!(found.contains("the token 999999 is not in the vocabulary"), "{found}");
    // A conversation keeps what it has read.
    run.value("let c = l.session(); c.system(\"be\"); let one = c.chat(\"a\", #{ most: 2 }); let two = c.chat(\"b\", #{ most: 2 });");
    assert_eq!(run.value("c.tokens.len() == c.length && two.prompt_tokens < c.length"), "true");
    // A message that does not fit is not kept.
    run.value("let d = l.session(#{ context: 64 }); let long = \"\"; for i in 0..99 { long += \"to \"; }");
    assert!(run.error("d.chat(long, #{ most: 2 })").contains("do not fit"));
    run.value("let three = d.chat(\"a\", #{ most: 2 }); let e = l.session(#{ context: 64 }); let four = e.chat(\"a\", #{ most: 2 });");
    assert_eq!(run.value("three.tokens == four.tokens && d.tokens == e.tokens"), "true");
}

#[test]
fn a_language_model_shares_its_weights() {
    let folder = tempfile::tempdir().unwrap();
    tiny_model(folder.path());
    let mut run = Run::inside(folder.path(), Options::default());
    run.value("let l = language_model(\"tiny.gguf\"); let a = l.weights; let b = l; let k = a.layers;");
    let shared = "[a[\"blk.1.attn_q.weight\"].shares_storage(b.weights.layer(1)[\"attn_q.weight\"]),
                   k[0][\"attn_norm.weight\"].shares_storage(a[\"blk.0.attn_norm.weight\"]), memory().copies_on_write]";
    let copies = run.value("memory().copies_on_write");
    assert_eq!(run.value(shared), format!("[true, true, {copies}]"));
}
