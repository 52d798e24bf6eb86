//! What is wrong with files, settings and tokens is said, and where.

mod common;

use std::path::Path;

use common::Recorded;
use models::text::Tokenizer;
use models::{Bert, Config, Error, LanguageModel, Session, SessionOptions, Settings, greedy};
use tensor_core::{Device, ErrorKind};
use weights::gguf::Metadata;

/// A folder with a model, whose settings and weights may be changed.
fn folder(change: impl FnOnce(&mut Recorded)) -> tempfile::TempDir {
    let mut recorded = Recorded::read("llama3");
    change(&mut recorded);
    let folder = tempfile::tempdir().unwrap();
    recorded.write(folder.path());
    folder
}

fn open(path: &Path) -> Error {
    LanguageModel::open(path, &Device::Cpu).unwrap_err()
}

fn with_setting(key: &str, value: serde_json::Value) -> Error {
    let folder = folder(|recorded| recorded.config[key] = value);
    open(folder.path())
}

#[test]
fn settings_that_do_not_fit_are_named() {
    for (key, value, message) in [
        (
            "model_type",
            "mamba".into(),
            "the architecture \"mamba\" is not known; known are llama mistral qwen2 qwen3 gemma3 gemma3_text bert",
        ),
        ("model_type", "bert".into(), "bert is an encoder, and does not continue texts"),
        ("hidden_size", serde_json::Value::Null, "config.json has no \"hidden_size\""),
        (
            "hidden_size",
            "wide".into(),
            "\"hidden_size\" of config.json is \"wide\"; expected a whole number below 2^32",
        ),
        ("hidden_act", "relu".into(), "\"hidden_act\" of config.json is \"relu\"; expected silu or swish"),
        (
            "num_key_value_heads",
            3.into(),
            "\"num_key_value_heads\" of config.json is 3; expected a divisor of the 4 heads",
        ),
        ("num_attention_heads", 0.into(), "\"num_attention_heads\" of config.json is 0; expected at least 1"),
        ("head_dim", 7.into(), "\"head_dim\" of config.json is 7; expected an even number of at most 65536"),
        (
            "head_dim",
            65_538.into(),
            "\"head_dim\" of config.json is 65538; expected an even number of at most 65536",
        ),
        (
            "num_hidden_layers",
            4_000_000_000u32.into(),
            "\"num_hidden_layers\" of config.json is 4000000000; expected at most 4096",
        ),
        (
            "rope_scaling",
            serde_json::json!({"rope_type": "yarn", "factor": 4.0}),
            "\"rope_type\" of config.json's rope_parameters or rope_scaling is \"yarn\"; expected default, linear or llama3",
        ),
        (
            "num_hidden_layers",
            3.into(),
            "the model has no weight \"blk.2.attn_norm.weight\", which llama needs",
        ),
        (
            "intermediate_size",
            64.into(),
            "the weight \"blk.0.ffn_gate.weight\" is [48, 32]; by the settings it is [64, 32]",
        ),
    ] {
        let error = with_setting(key, value);
        assert_eq!((error.to_string(), format!("{error:?}")), (message.to_owned(), message.to_owned()));
    }
    let metadata: Metadata = [("general.architecture", "qwen3")].into_iter().collect();
    let settings = Settings::from_gguf(&metadata).unwrap();
    let error = Config::new(&settings).unwrap_err().to_string();
    assert_eq!(error, "the GGUF file's metadata has no \"qwen3.embedding_length\"");
    let error = Settings::from_gguf(&Metadata::new()).unwrap_err().to_string();
    assert_eq!(error, "the GGUF file's metadata has no \"general.architecture\"");
}

#[test]
fn files_that_are_missing_or_damaged_are_named() {
    let there = folder(|_| ());
    std::fs::remove_file(there.path().join("config.json")).unwrap();
    let error = open(there.path());
    assert!(matches!(&error, Error::ConfigFile { path, .. } if path.ends_with("config.json")), "{error}");
    std::fs::write(there.path().join("config.json"), "{").unwrap();
    assert!(matches!(open(there.path()), Error::Json(_)));
    // It has no end.
    #[cfg(unix)]
    for name in ["config.json", "tokenizer.json", "chat_template.jinja"] {
        let _ = std::fs::remove_file(there.path().join(name));
        std::os::unix::fs::symlink("/dev/zero", there.path().join(name)).unwrap();
    }
    #[cfg(unix)]
    for error in [open(there.path()).to_string(), Tokenizer::from_json(there.path()).unwrap_err().to_string()]
    {
        assert!(error.contains(".json: it is no regular file"), "{error}");
    }

    let there = folder(|_| ());
    let path = there.path().join("model.safetensors");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 100]).unwrap();
    let error = open(there.path());
    assert!(
        matches!(&error, Error::Tensor(error) if matches!(error.kind(), ErrorKind::File { .. })),
        "{error}"
    );

    let there = folder(|_| ());
    let error = Bert::open(there.path(), &Device::Cpu).unwrap_err().to_string();
    assert_eq!(error, "llama continues texts, and does not give the vectors of texts");
}

#[test]
fn tokens_that_do_not_fit_change_nothing() {
    let there = folder(|_| ());
    let model = LanguageModel::open(there.path(), &Device::Cpu).unwrap();
    let options = SessionOptions { context: Some(6), chunk: 2, ..SessionOptions::default() };
    let mut session = Session::new(&model, &options).unwrap();
    let expected = session.feed(&[1, 2, 3]).unwrap().to_vec1::<f32>().unwrap();
    session.truncate(2);

    assert!(matches!(session.feed(&[]), Err(Error::NoTokens)));
    let error = session.feed(&[1; 5]).unwrap_err().to_string();
    assert!(error.starts_with("5 more tokens after 2 do not fit a context of 6"), "{error}");
    // The third chunk has a token that there is not.
    let error = session.feed(&[1, 2, 3, 40]).unwrap_err().to_string();
    assert_eq!(error, "the token 40 is not in the vocabulary, which has 40");
    assert_eq!(session.length(), 2);
    assert_eq!(session.feed(&[3]).unwrap().to_vec1::<f32>().unwrap(), expected);

    let other = Recorded::read("gemma3_caps");
    let folder = tempfile::tempdir().unwrap();
    other.write(folder.path());
    let other = LanguageModel::open(folder.path(), &Device::Cpu).unwrap();
    let mut cache = other.new_cache(1, 8, models::CacheFormat::F32).unwrap();
    let found = model.forward(&[1], &mut cache, 0, models::Logits::Last);
    assert!(matches!(found, Err(Error::WrongCache { found: 3, expected: 2 })));
    assert!(other.new_cache(2, usize::MAX, models::CacheFormat::F32).is_err());
}

#[test]
fn texts_end_at_stops_and_at_the_end_of_the_context() {
    let there = folder(|_| ());
    let model = LanguageModel::open(there.path(), &Device::Cpu).unwrap();
    let options = SessionOptions { context: Some(8), ..SessionOptions::default() };
    let mut session = Session::new(&model, &options).unwrap();
    let all: Vec<_> = session.generate(&[1, 2, 3], &[], greedy).unwrap().collect();
    // Five tokens fit into the context. They give a sixth, and after it the context is too long.
    assert_eq!(all.len(), 7);
    let tokens: Vec<u32> = all[..6].iter().map(|token| *token.as_ref().unwrap()).collect();
    assert!(matches!(all[6], Err(Error::ContextTooLong { tokens: 1, used: 8, capacity: 8 })));

    session.truncate(0);
    let stop = [tokens[3]];
    let first = tokens.iter().position(|token| *token == stop[0]).unwrap();
    let until: Vec<u32> = session.generate(&[1, 2, 3], &stop, greedy).unwrap().map(Result::unwrap).collect();
    assert_eq!(until, tokens[..first]);
}
