//! Tokenizers from `tokenizer.json`, and what the files beside it say.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;
use tokenizers::Result as TokenizersResult;

use super::error::{Error, Result};
use super::special::{self, SpecialTokens};
use super::tokenizer::{EncodeOptions, Model, Tokenizer};
use super::vocabulary::{SPACE, Spelling, TokenKind, Vocabulary, byte_of};
use crate::files;

/// The largest vocabulary that is read, in tokens. The ids of a file are not trusted.
const MOST_TOKENS: u32 = 1 << 24;

/// A tokenizer of the crate `tokenizers`.
pub(super) struct Json {
    tokenizer: tokenizers::Tokenizer,
    /// The same, which finds no control tokens; made when it is first needed.
    plain: OnceLock<tokenizers::Tokenizer>,
}

impl Json {
    pub(super) fn encode(&self, text: &str, options: EncodeOptions) -> TokenizersResult<Vec<u32>> {
        let tokenizer = if options.parse_special {
            &self.tokenizer
        } else {
            self.plain.get_or_init(|| {
                let mut plain = self.tokenizer.clone();
                plain.set_encode_special_tokens(true);
                plain
            })
        };
        Ok(tokenizer.encode_fast(text, options.add_special)?.get_ids().to_vec())
    }

    pub(super) fn decode(&self, ids: &[u32], special: bool) -> TokenizersResult<String> {
        self.tokenizer.decode(ids, !special)
    }
}

/// The tokenizer in a folder or in a file.
pub(super) fn read(path: &Path) -> Result<Tokenizer> {
    let (file, folder) = match path.is_dir() {
        true => (path.join("tokenizer.json"), path),
        false => (path.to_owned(), path.parent().unwrap_or(Path::new(""))),
    };
    let wrong = |what: String| Error::Json { path: file.clone(), what };
    let bytes = files::bytes(&file).map_err(|source| Error::Io { path: file.clone(), source })?;
    let mut tokenizer =
        tokenizers::Tokenizer::from_bytes(&bytes).map_err(|error| wrong(error.to_string()))?;
    // Who encodes texts of different lengths together fills them up himself, and who reads a long text cuts it.
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None).map_err(|error| wrong(error.to_string()))?;

    let decoder = serde_json::to_value(tokenizer.get_decoder()).map_err(|error| wrong(error.to_string()))?;
    let (spelling, space_first) = spelling(&decoder);
    let mut vocabulary = vocabulary(&tokenizer, spelling).map_err(wrong)?;
    let mut special = special_tokens(&tokenizer, &vocabulary, folder)?;
    let mut stops = special::recognize(&mut vocabulary, &mut special);
    stops.extend(end_ids(folder)?.into_iter().filter(|&id| (id as usize) < vocabulary.len()));
    let model = Model::Json(Box::new(Json { tokenizer, plain: OnceLock::new() }));
    Ok(Tokenizer::new(vocabulary, special, stops, space_first, model))
}

/// A JSON file, if it is there.
pub(super) fn optional(path: PathBuf) -> Result<Option<Value>> {
    let bytes = match files::bytes(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::Io { path, source }),
    };
    match serde_json::from_slice(&bytes) {
        Ok(value) => Ok(Some(value)),
        Err(error) => Err(Error::Json { path, what: error.to_string() }),
    }
}

/// How a decoder spells bytes, and whether it takes away a space at the beginning of text.
fn spelling(decoder: &Value) -> (Spelling, bool) {
    let mut all = vec![decoder];
    let (mut spelling, mut space_first) = (Spelling::Opaque, false);
    while let Some(decoder) = all.pop() {
        let field = |name: &str| decoder.get(name).and_then(Value::as_str).unwrap_or_default();
        match field("type") {
            "Sequence" => all.extend(decoder["decoders"].as_array().into_iter().flatten()),
            "ByteLevel" => spelling = Spelling::ByteLevel,
            "Metaspace" => {
                spelling = Spelling::SentencePiece;
                space_first |= field("prepend_scheme") != "never";
            }
            "Replace" if decoder["pattern"]["String"] == SPACE && field("content") == " " => {
                spelling = Spelling::SentencePiece;
            }
            "Strip" => space_first |= field("content") == " " && decoder["start"].as_u64() > Some(0),
            _ => (),
        }
    }
    (spelling, space_first && spelling == Spelling::SentencePiece)
}

fn vocabulary(
    tokenizer: &tokenizers::Tokenizer,
    spelling: Spelling,
) -> std::result::Result<Vocabulary, String> {
    let ids = tokenizer.get_vocab(true);
    let len = ids.values().max().map_or(0, |&id| u64::from(id) + 1);
    if len > u64::from(MOST_TOKENS) {
        return Err(format!(
            "its largest token id is {}, and {MOST_TOKENS} tokens are read at most",
            len - 1
        ));
    }
    let mut texts = vec![""; len as usize];
    let mut kinds = vec![TokenKind::Unused; len as usize];
    for (text, &id) in &ids {
        let is_byte = spelling == Spelling::SentencePiece && byte_of(text).is_some();
        texts[id as usize] = text;
        kinds[id as usize] = if is_byte { TokenKind::Byte } else { TokenKind::Normal };
    }
    for (id, token) in tokenizer.get_added_tokens_decoder() {
        kinds[id as usize] = if token.special { TokenKind::Control } else { TokenKind::UserDefined };
    }
    Vocabulary::new(texts.into_iter().collect(), kinds, spelling)
        .map_err(|index| format!("token {index} has the text of another"))
}

/// The tokens that `tokenizer_config.json` names. Whether they are added is what the tokenizer does.
fn special_tokens(
    tokenizer: &tokenizers::Tokenizer,
    vocabulary: &Vocabulary,
    folder: &Path,
) -> Result<SpecialTokens> {
    let config = optional(folder.join("tokenizer_config.json"))?.unwrap_or_default();
    let token = |name: &str| {
        let token = &config[name];
        vocabulary.id(token.as_str().or_else(|| token["content"].as_str())?)
    };
    let (bos, eos) = (token("bos_token"), token("eos_token"));
    let added = tokenizer.encode_fast("", true).map_err(|what| Error::Encode { what: what.to_string() })?;
    let added = added.get_ids();
    Ok(SpecialTokens {
        bos,
        eos,
        eot: None,
        eom: None,
        unknown: token("unk_token"),
        padding: token("pad_token"),
        add_bos: bos.is_some() && added.first() == bos.as_ref(),
        add_eos: eos.is_some() && added.last() == eos.as_ref(),
    })
}

/// The tokens that end generation: one or a list, in `generation_config.json` or in `config.json`.
fn end_ids(folder: &Path) -> Result<Vec<u32>> {
    let mut ids = Vec::new();
    for name in ["generation_config.json", "config.json"] {
        let config = optional(folder.join(name))?.unwrap_or_default();
        let found = &config["eos_token_id"];
        let found = found.as_array().map_or(std::slice::from_ref(found), Vec::as_slice);
        ids.extend(found.iter().filter_map(|id| u32::try_from(id.as_u64()?).ok()));
    }
    Ok(ids)
}
