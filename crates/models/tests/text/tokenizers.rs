//! Tokenizers of small vocabularies: from metadata, and from a folder.

use models::text::{EncodeOptions, Error, TokenKind, Tokenizer};
use serde_json::json;
use weights::gguf::{Array, Metadata, Value};

const PLAIN: EncodeOptions = EncodeOptions { add_special: false, parse_special: false };
const SPECIAL: EncodeOptions = EncodeOptions { add_special: false, parse_special: true };

fn strings<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Value {
    Value::Array(Array::String(texts.into_iter().collect()))
}

/// The characters of GPT-2's alphabet, of each byte.
fn alphabet() -> Vec<String> {
    let mut hidden = (0x100..).map(|char| char::from_u32(char).unwrap());
    let char = |byte: u8| match byte {
        b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF => char::from(byte),
        _ => hidden.next().unwrap(),
    };
    (0..=255).map(char).map(String::from).collect()
}

/// A byte-level vocabulary: the bytes, then what its merges make, then control tokens.
pub(crate) fn byte_pairs() -> Metadata {
    let merges = ["h e", "l l", "he ll", "hell o", "Ġ hello"];
    let merged = merges.map(|merge| merge.replace(' ', ""));
    let control = ["<|begin|>", "<|im_end|>"];
    let tokens: Vec<String> =
        alphabet().into_iter().chain(merged).chain(control.map(str::to_owned)).collect();
    let kinds = tokens.iter().map(|token| if token.starts_with("<|") { 3 } else { 1 }).collect();
    let ids = tokens.len() as u32;
    let mut metadata = Metadata::new();
    metadata.insert("tokenizer.ggml.model", "gpt2");
    metadata.insert("tokenizer.ggml.pre", "qwen2");
    metadata.insert("tokenizer.ggml.tokens", strings(&tokens));
    metadata.insert("tokenizer.ggml.token_type", Array::I32(kinds));
    metadata.insert("tokenizer.ggml.merges", strings(merges));
    metadata.insert("tokenizer.ggml.bos_token_id", ids - 2);
    metadata.insert("tokenizer.ggml.eos_token_id", ids - 1);
    metadata
}

/// A SentencePiece vocabulary as Llama 2's: three special tokens, the bytes, and pieces.
fn sentence_pieces() -> Metadata {
    let pieces = ["▁", "h", "i", "▁h", "hi", "▁hi", "!", "世"];
    let tokens: Vec<String> = ["<unk>", "<s>", "</s>"]
        .map(str::to_owned)
        .into_iter()
        .chain((0..=255u8).map(|byte| format!("<0x{byte:02X}>")))
        .chain(pieces.map(str::to_owned))
        .collect();
    let kinds: Vec<i32> = [2, 3, 3].into_iter().chain([6; 256]).chain(pieces.map(|_| 1)).collect();
    let scores = (0..tokens.len()).map(|id| -(id as f32)).collect();
    let mut metadata = Metadata::new();
    metadata.insert("tokenizer.ggml.model", "llama");
    metadata.insert("tokenizer.ggml.tokens", strings(&tokens));
    metadata.insert("tokenizer.ggml.token_type", Array::I32(kinds));
    metadata.insert("tokenizer.ggml.scores", Array::F32(scores));
    metadata
}

/// A folder with a `tokenizer.json` of the kind that Llama 2 has.
pub(crate) fn folder() -> tempfile::TempDir {
    let mut vocabulary = serde_json::Map::new();
    for (id, token) in ["<unk>", "<s>", "</s>"].into_iter().enumerate() {
        vocabulary.insert(token.to_owned(), json!(id));
    }
    for byte in 0..=255u8 {
        vocabulary.insert(format!("<0x{byte:02X}>"), json!(u32::from(byte) + 3));
    }
    for (index, token) in ["▁", "h", "i", "▁h", "▁hi", "!"].into_iter().enumerate() {
        vocabulary.insert(token.to_owned(), json!(259 + index));
    }
    let special = |id: u32, content: &str| {
        json!({"id": id, "content": content, "special": true, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false})
    };
    let tokenizer = json!({
        "version": "1.0",
        "added_tokens": [special(0, "<unk>"), special(1, "<s>"), special(2, "</s>")],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "▁"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
        "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true, "vocab": vocabulary,
            "merges": ["▁ h", "▁h i"]},
    });
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, value: serde_json::Value| {
        std::fs::write(folder.path().join(name), value.to_string()).unwrap();
    };
    write("tokenizer.json", tokenizer);
    write("tokenizer_config.json", json!({"bos_token": {"content": "<s>"}, "eos_token": "</s>"}));
    write("generation_config.json", json!({"eos_token_id": [2, 264, 9999]}));
    folder
}

#[test]
fn byte_pairs_are_merged_in_order() {
    let tokenizer = Tokenizer::from_gguf(&byte_pairs()).unwrap();
    let text = |ids: &[u32]| ids.iter().map(|&id| tokenizer.token(id).unwrap()).collect::<Vec<_>>();
    let encode = |text: &str, options| tokenizer.encode(text, options).unwrap();
    assert_eq!(text(&encode("hello hello hel", PLAIN)), ["hello", "Ġhello", "Ġ", "he", "l"]);
    assert_eq!(text(&encode("é", PLAIN)), ["Ã", "©"]);
    assert!(encode("", PLAIN).is_empty());
    // The file says whether a text begins with a token, and this one says nothing.
    assert_eq!(encode("h", EncodeOptions::default()), encode("h", PLAIN));
    let mut metadata = byte_pairs();
    metadata.insert("tokenizer.ggml.add_bos_token", true);
    metadata.insert("tokenizer.ggml.add_eos_token", true);
    let adds = Tokenizer::from_gguf(&metadata).unwrap();
    let bos = adds.special().bos.unwrap();
    assert_eq!(adds.encode("", EncodeOptions::default()).unwrap(), [bos, bos + 1]);
    // A prompt has one beginning, whoever writes it, and no end.
    assert_eq!(adds.encode_chat("h").unwrap(), adds.encode_chat("<|begin|>h").unwrap());
    assert_eq!(adds.encode_chat("h").unwrap(), [bos, 'h' as u32]);
}

#[test]
fn control_tokens_are_found_if_they_are_wanted() {
    let tokenizer = Tokenizer::from_gguf(&byte_pairs()).unwrap();
    let end = tokenizer.id("<|im_end|>").unwrap();
    assert_eq!(tokenizer.encode("h<|im_end|>", SPECIAL).unwrap(), [b'h'.into(), end]);
    let plain = tokenizer.encode("h<|im_end|>", PLAIN).unwrap();
    assert!(!plain.contains(&end) && plain.len() == 11);
    assert_eq!(tokenizer.decode(&plain, false).unwrap(), "h<|im_end|>");
    assert_eq!(tokenizer.decode(&[b'h'.into(), end], false).unwrap(), "h");
    assert_eq!(tokenizer.decode(&[b'h'.into(), end], true).unwrap(), "h<|im_end|>");
    assert_eq!(tokenizer.kind(end), Some(TokenKind::Control));
    assert!(tokenizer.stop_tokens().iter().eq([&end]));
    let special = tokenizer.special();
    assert_eq!(
        (special.bos, special.eos, special.eot, special.eom),
        (Some(end - 1), Some(end), Some(end), None)
    );
}

/// Each byte is a token here.
#[test]
fn a_stream_prints_whole_characters() {
    let tokenizer = Tokenizer::from_gguf(&byte_pairs()).unwrap();
    let text = "世界🦀👩‍👧é!";
    let ids = tokenizer.encode(text, PLAIN).unwrap();
    assert_eq!(ids.len(), text.len());
    let mut stream = tokenizer.stream();
    let pieces: Vec<String> = ids.iter().map(|&id| stream.push(id).unwrap()).collect();
    let characters: Vec<String> = text.chars().map(String::from).collect();
    assert_eq!(pieces.iter().filter(|piece| !piece.is_empty()).cloned().collect::<Vec<_>>(), characters);
    assert_eq!(stream.finish(), "");
    // A character that never ends.
    let mut stream = tokenizer.stream();
    assert_eq!((stream.push(ids[0]).unwrap(), stream.push(ids[1]).unwrap()), (String::new(), String::new()));
    assert_eq!((stream.finish(), stream.finish()), ("\u{FFFD}".to_owned(), String::new()));
    let error = stream.push(9999).unwrap_err().to_string();
    assert_eq!(error, "token 9999 is out of range: the vocabulary has 263 tokens");
}

#[test]
fn sentence_pieces_begin_with_a_space() {
    let tokenizer = Tokenizer::from_gguf(&sentence_pieces()).unwrap();
    let encode = |text: &str, options| tokenizer.encode(text, options).unwrap();
    let ids = |tokens: &[&str]| tokens.iter().map(|token| tokenizer.id(token).unwrap()).collect::<Vec<_>>();
    // Llama 2's beginning of text is usual.
    assert_eq!(encode("hi", EncodeOptions::default()), ids(&["<s>", "▁hi"]));
    assert_eq!(encode("", EncodeOptions::default()), ids(&["<s>"]));
    assert_eq!(encode(" hi", PLAIN), ids(&["▁", "▁hi"]));
    assert_eq!(encode("é世", PLAIN), ids(&["▁", "<0xC3>", "<0xA9>", "世"]));
    // Also after a control token.
    assert_eq!(encode("hi</s>hi", SPECIAL), ids(&["▁hi", "</s>", "▁hi"]));
    assert_eq!(encode("</s>", PLAIN), ids(&["▁", "<0x3C>", "<0x2F>", "<0x73>", "<0x3E>"]));
    for text in ["hi", " hi", "", " ", "é世🦀 x"] {
        let ids = encode(text, EncodeOptions::default());
        assert_eq!(tokenizer.decode(&ids, false).unwrap(), text);
    }
    // A stream goes on after other text, whose space it must not lose.
    let mut stream = tokenizer.stream();
    assert_eq!(stream.push(ids(&["▁h"])[0]).unwrap(), " h");

    let mut metadata = sentence_pieces();
    metadata.insert("tokenizer.ggml.add_space_prefix", false);
    let tokenizer = Tokenizer::from_gguf(&metadata).unwrap();
    assert_eq!(tokenizer.encode("hi", PLAIN).unwrap(), [tokenizer.id("hi").unwrap()]);
    assert_eq!(tokenizer.decode(&tokenizer.encode(" h", PLAIN).unwrap(), false).unwrap(), " h");
}

#[test]
fn a_folder_is_read() {
    let folder = folder();
    let tokenizer = Tokenizer::from_json(folder.path()).unwrap();
    let ids = |tokens: &[&str]| tokens.iter().map(|token| tokenizer.id(token).unwrap()).collect::<Vec<_>>();
    assert_eq!(tokenizer.encode("hi", EncodeOptions::default()).unwrap(), ids(&["<s>", "▁hi"]));
    assert_eq!(tokenizer.encode("hi</s>", SPECIAL).unwrap(), ids(&["▁hi", "</s>"]));
    // The file's truncation to four tokens is left out.
    let plain = tokenizer.encode("hi</s>", PLAIN).unwrap();
    assert_eq!(plain, ids(&["▁hi", "<0x3C>", "<0x2F>", "<0x73>", "<0x3E>"]));
    assert_eq!(tokenizer.decode(&plain, false).unwrap(), "hi</s>");
    let crab = tokenizer.encode("!🦀 hi", PLAIN).unwrap();
    assert_eq!(tokenizer.decode(&crab, false).unwrap(), "!🦀 hi");
    let mut stream = tokenizer.stream();
    let pieces: Vec<String> = crab.iter().map(|&id| stream.push(id).unwrap()).collect();
    assert_eq!(pieces, [" ", "!", "", "", "", "🦀", " hi"]);

    let special = tokenizer.special();
    assert_eq!((special.bos, special.eos, special.add_bos, special.add_eos), (Some(1), Some(2), true, false));
    assert_eq!(tokenizer.stop_tokens().iter().copied().collect::<Vec<_>>(), [2, 264]);
    assert_eq!(
        tokenizer.encode_chat("hi").unwrap(),
        tokenizer.encode("hi", EncodeOptions::default()).unwrap()
    );
    let kinds = [0, 1, 3, 259].map(|id| tokenizer.kind(id).unwrap());
    assert_eq!(kinds, [TokenKind::Control, TokenKind::Control, TokenKind::Byte, TokenKind::Normal]);

    std::fs::write(folder.path().join("tokenizer.json"), "{}").unwrap();
    let error = Tokenizer::from_json(folder.path()).unwrap_err();
    assert!(matches!(&error, Error::Json { path, .. } if path.ends_with("tokenizer.json")), "{error}");
    std::fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    assert!(matches!(Tokenizer::from_json(folder.path()), Err(Error::Io { .. })));
}

#[test]
fn damaged_metadata_are_errors() {
    let error = |metadata: Metadata| Tokenizer::from_gguf(&metadata).unwrap_err().to_string();
    let with = |mut metadata: Metadata, key: &str, value: Value| {
        metadata.insert(format!("tokenizer.ggml.{key}"), value);
        error(metadata)
    };
    let without = |mut metadata: Metadata, key: &str| {
        metadata.remove(&format!("tokenizer.ggml.{key}"));
        error(metadata)
    };
    let missing =
        |key: &str| format!("tokenizer.ggml.{key} is missing: the file has no tokenizer that is complete");
    assert_eq!(error(Metadata::new()), missing("model"));
    for key in ["tokens", "merges"] {
        assert_eq!(without(byte_pairs(), key), missing(key));
    }
    assert_eq!(without(sentence_pieces(), "scores"), missing("scores"));
    assert_eq!(
        with(byte_pairs(), "model", "rwkv".into()),
        r#"tokenizer.ggml.model is "rwkv", which is not supported; supported are ["gpt2", "llama"]"#
    );
    let found = with(byte_pairs(), "pre", "my-own".into());
    assert!(
        found.starts_with(r#"tokenizer.ggml.pre is "my-own", which is not known; known are ["default", "#),
        "{found}"
    );
    assert_eq!(with(byte_pairs(), "tokens", 3u32.into()), "tokenizer.ggml.tokens is no array of texts");
    assert_eq!(
        with(sentence_pieces(), "tokens", strings(["a", "b", "a"])),
        "tokenizer.ggml.token_type has 267 values, and there are 3 tokens"
    );
    let mut twice = sentence_pieces();
    twice.remove("tokenizer.ggml.token_type");
    assert_eq!(
        with(twice, "tokens", strings(["a", "b", "a"])),
        r#"tokenizer.ggml.tokens has the text of token 2, "a", twice"#
    );
    let mut scores = vec![0.0; 267];
    scores[5] = f32::NAN;
    assert_eq!(
        with(sentence_pieces(), "scores", Array::F32(scores).into()),
        "tokenizer.ggml.scores is not a number for token 5"
    );
    assert_eq!(
        with(sentence_pieces(), "scores", Array::F32(vec![0.0]).into()),
        "tokenizer.ggml.scores has 1 values, and there are 267 tokens"
    );
    assert_eq!(
        with(byte_pairs(), "eos_token_id", (-1i32).into()),
        "tokenizer.ggml.eos_token_id is -1, which is no token"
    );
    assert_eq!(
        with(byte_pairs(), "add_bos_token", "yes".into()),
        "tokenizer.ggml.add_bos_token is \"yes\", neither true nor false"
    );
    assert_eq!(
        with(byte_pairs(), "merges", strings(["he"])),
        "tokenizer.ggml.merges cannot be used: the merge \"he\" has no space"
    );
    let found = with(byte_pairs(), "merges", strings(["x y"]));
    assert!(found.starts_with("tokenizer.ggml.merges ") && found.contains("xy"), "{found}");
    // A token past the end is one that the model does not have.
    let mut metadata = byte_pairs();
    metadata.insert("tokenizer.ggml.bos_token_id", 70_000u32);
    assert_eq!(Tokenizer::from_gguf(&metadata).unwrap().special().bos, None);
}
