//! Language models, tokenizers and encoders, beside the crate models; time, memory and output.

use std::fs;
use std::path::Path;

use models::text::{EncodeOptions, Tokenizer};
use models::{Bert, LanguageModel};
use serde_json::{Value as Json, json};
use tensor_core::{Device, copies_on_write};
use weights::Checkpoint;

use super::{Calls, rows};
use crate::common::tiny_encoder;

pub(super) fn check(calls: &mut Calls, folder: &Path) {
    tokenizers(calls, folder);
    languages(calls, folder);
    encoders(calls, folder);
    measured(calls);
}

fn tokenizer_of(path: &Path) -> Tokenizer {
    Tokenizer::of_model(path, &Checkpoint::open(path).unwrap()).unwrap()
}

fn tokenizers(calls: &mut Calls, folder: &Path) {
    let known = tokenizer_of(&folder.join("tiny.gguf"));
    let ids = known.encode("to be, or", EncodeOptions::default()).unwrap();
    let stops: Vec<u32> = known.stop_tokens().iter().copied().collect();
    calls.does("let t = tokenizer(\"tiny.gguf\");");
    rows! { calls;
        "t.encode(\"to be, or\")" => json!(ids);
        "t.decode(t.encode(\"to be, or\"))" => json!("to be, or");
        "[t.len(), t.stop_tokens]" => json!([known.len(), stops]);
        // As the script that wrote the file has them.
        "[t.id(\"<unk>\"), t.id(\"</s>\"), t.id(\"▁\"), t.id(\"nothing\")]" => json!([0, 2, 259, null]);
    }
    // A file of the library tokenizers, with words whose ids are known.
    let words = json!({
        "version": "1.0", "added_tokens": [], "normalizer": null, "post_processor": null, "decoder": null,
        "pre_tokenizer": { "type": "WhitespaceSplit" },
        "model": { "type": "WordLevel", "vocab": { "?": 0, "to": 1, "be": 2, "or": 3 }, "unk_token": "?" },
    });
    let words_folder = folder.join("words");
    fs::create_dir(&words_folder).unwrap();
    fs::write(words_folder.join("tokenizer.json"), words.to_string()).unwrap();
    rows! { calls;
        "let words = tokenizer(\"words/tokenizer.json\"); words.encode(\"to be or not to be\")" => json!([1, 2, 3, 0, 1, 2]);
        "[words.len(), words.id(\"or\")]" => json!([4, 3]);
    }
}

fn languages(calls: &mut Calls, folder: &Path) {
    let model = LanguageModel::open(folder.join("tiny.gguf"), &Device::Cpu).unwrap();
    let mut session = models::Session::new(&model, &models::SessionOptions::default()).unwrap();
    let ids = tokenizer_of(&folder.join("tiny.gguf")).encode("to", EncodeOptions::default()).unwrap();
    let logits = session.feed(&ids).unwrap();
    calls.does("let l = language_model(\"tiny.gguf\"); let s = l.session(#{ context: 64, cache: \"f16\" }); let u = l.session();");
    rows! { calls;
        "[l.vocabulary, l.architecture, l.device == device(), l.tokenizer.len(), l.weights.len()]" => json!([320, "llama", true, 320, 20]);
        "u.feed(l.tokenizer.encode(\"to\"))" => logits;
        "[u.length, u.tokens, u.capacity]" => json!([ids.len(), ids, 512]);
        "u.truncate(1); [u.length, u.tokens.len()]" => json!([1, 1]);
        "s.capacity" => json!(64);
        // The script's template, filled in by hand.
        "s.system(\"be\"); let answer = s.chat(\"to\", #{ most: 1, temperature: 0 }); s.tokens" => {
            let prompt = tokenizer_of(&folder.join("tiny.gguf")).encode_chat("system: be\nuser: to\n").unwrap();
            json!(prompt)
        };
        "let answer = u.generate(\"to\", #{ most: 3, temperature: 0 }); [answer.tokens.len(), answer.interrupted]" => json!([3, false]);
    }
}

fn encoders(calls: &mut Calls, folder: &Path) {
    tiny_encoder(folder);
    let path = folder.join("encoder.gguf");
    let (bert, tokenizer) = (Bert::open(&path, &Device::Cpu).unwrap(), tokenizer_of(&path));
    let ids =
        ["a cat", "stocks fell", "a"].map(|text| tokenizer.encode(text, EncodeOptions::default()).unwrap());
    rows! { calls;
        "let e = encoder(\"encoder.gguf\"); e.embed([\"a cat\", \"stocks fell\", \"a\"])" => bert.embed(&ids);
        "e.embed(\"a cat\")" => bert.embed(&ids[..1]);
    }
}

fn measured(calls: &mut Calls) {
    let copies = copies_on_write();
    rows! { calls;
        "let start = time(); sleep(0.02); sleep(0); time() - start >= 0.02" => json!(true);
        "synchronize()" => Json::Null;
        "write(\"some\"); write(\" text\")" => Json::Null;
        // The CPU counts nothing.
        "let m = memory(); [m.live_bytes, m.live_buffers, m.peak_bytes, m.reserved_bytes, m.allocations]" => json!([null, null, null, null, null]);
    }
    assert_eq!(calls.run.printed().lines().last(), Some("some text"));
    // Other tests of this program copy, too.
    let now = calls.json("let x = ones([2]); let y = x; y += 1; memory().copies_on_write");
    assert!(now.as_u64().unwrap() > copies);
}
