//! Tokenizers from the metadata of GGUF files.

use weights::gguf::{Array, Metadata, Strings};

use super::bpe::Bpe;
use super::error::{Error, Result};
use super::partition::Partition;
use super::pre_tokenizer::Known;
use super::sentencepiece::SentencePiece;
use super::special::{self, SpecialTokens};
use super::tokenizer::{Model, Tokenizer};
use super::vocabulary::{Spelling, TokenKind, Vocabulary};

const MODEL: &str = "tokenizer.ggml.model";
const PRE: &str = "tokenizer.ggml.pre";
const TOKENS: &str = "tokenizer.ggml.tokens";
const KINDS: &str = "tokenizer.ggml.token_type";
const SCORES: &str = "tokenizer.ggml.scores";
const MERGES: &str = "tokenizer.ggml.merges";

/// The tokenizer that a file's metadata describe.
pub(super) fn read(metadata: &Metadata) -> Result<Tokenizer> {
    let name = metadata.str(MODEL).ok_or_else(|| missing(MODEL))?;
    match name {
        "gpt2" => byte_pairs(metadata),
        "llama" => sentence_pieces(metadata),
        found => Err(Error::UnknownTokenizer { found: found.to_owned(), known: vec!["gpt2", "llama"] }),
    }
}

fn byte_pairs(metadata: &Metadata) -> Result<Tokenizer> {
    let known = Known::of(metadata.str(PRE).unwrap_or("default"))?;
    let mut vocabulary = vocabulary(metadata, Spelling::ByteLevel)?;
    let merges = strings(metadata, MERGES)?;
    let bpe = Bpe::new(&vocabulary, merges, known)
        .map_err(|what| Error::metadata(MERGES, format!("cannot be used: {what}")))?;
    let special = SpecialTokens { add_bos: known.add_bos, ..SpecialTokens::default() };
    let mut special = special_tokens(metadata, &vocabulary, special)?;
    let stops = special::recognize(&mut vocabulary, &mut special);
    let partition = Partition::new(&vocabulary)?;
    Ok(Tokenizer::new(vocabulary, special, stops, false, Model::Bpe(Box::new(bpe), partition)))
}

fn sentence_pieces(metadata: &Metadata) -> Result<Tokenizer> {
    let mut vocabulary = vocabulary(metadata, Spelling::SentencePiece)?;
    // Llama 2's, which the first files left out.
    let at = |id: u32| (vocabulary.len() > id as usize).then_some(id);
    let usual =
        SpecialTokens { bos: at(1), eos: at(2), unknown: at(0), add_bos: true, ..SpecialTokens::default() };
    let mut special = special_tokens(metadata, &vocabulary, usual)?;
    let scores = scores(metadata, vocabulary.len())?;
    let stops = special::recognize(&mut vocabulary, &mut special);
    let model = SentencePiece::new(&vocabulary, scores, special.unknown);
    let partition = Partition::new(&vocabulary)?;
    let space_first = flag(metadata, "tokenizer.ggml.add_space_prefix")?.unwrap_or(true);
    Ok(Tokenizer::new(vocabulary, special, stops, space_first, Model::SentencePiece(model, partition)))
}

fn vocabulary(metadata: &Metadata, spelling: Spelling) -> Result<Vocabulary> {
    let texts = strings(metadata, TOKENS)?;
    let kinds = match metadata.get(KINDS).map(|value| value.as_array()) {
        None => vec![TokenKind::Normal; texts.len()],
        Some(Some(Array::I32(kinds))) => kinds.iter().map(|&kind| kind_of(i64::from(kind))).collect(),
        Some(Some(Array::U32(kinds))) => kinds.iter().map(|&kind| kind_of(i64::from(kind))).collect(),
        Some(_) => return Err(Error::metadata(KINDS, "is no array of i32")),
    };
    if kinds.len() != texts.len() {
        let what = format!("has {} values, and there are {} tokens", kinds.len(), texts.len());
        return Err(Error::metadata(KINDS, what));
    }
    Vocabulary::new(texts.clone(), kinds, spelling).map_err(|index| {
        let text = texts.get(index).unwrap_or_default();
        Error::metadata(TOKENS, format!("has the text of token {index}, {text:?}, twice"))
    })
}

/// The kind with that number in files. Numbers that files should not have mean a token without a use.
#[doc(alias = "llama_token_type")]
fn kind_of(number: i64) -> TokenKind {
    match number {
        1 => TokenKind::Normal,
        2 => TokenKind::Unknown,
        3 => TokenKind::Control,
        4 => TokenKind::UserDefined,
        6 => TokenKind::Byte,
        _ => TokenKind::Unused,
    }
}

fn scores(metadata: &Metadata, tokens: usize) -> Result<Vec<f32>> {
    let scores: Vec<f32> = match metadata.get(SCORES).map(|value| value.as_array()) {
        Some(Some(Array::F32(scores))) => scores.clone(),
        Some(Some(Array::I32(scores))) => scores.iter().map(|&score| score as f32).collect(),
        Some(_) => return Err(Error::metadata(SCORES, "is no array of f32")),
        None => return Err(missing(SCORES)),
    };
    if scores.len() != tokens {
        return Err(Error::metadata(
            SCORES,
            format!("has {} values, and there are {tokens} tokens", scores.len()),
        ));
    }
    match scores.iter().position(|score| score.is_nan()) {
        Some(index) => Err(Error::metadata(SCORES, format!("is not a number for token {index}"))),
        None => Ok(scores),
    }
}

/// What the file says of special tokens, and `usual` where it says nothing.
fn special_tokens(
    metadata: &Metadata,
    vocabulary: &Vocabulary,
    usual: SpecialTokens,
) -> Result<SpecialTokens> {
    let token = |name: &str, usual: Option<u32>| -> Result<Option<u32>> {
        let key = format!("tokenizer.ggml.{name}_token_id");
        let Some(value) = metadata.get(&key) else { return Ok(usual) };
        let id =
            value.as_u64().ok_or_else(|| Error::metadata(&key, format!("is {value}, which is no token")))?;
        // Converters write numbers past the vocabulary for tokens that a model does not have.
        Ok(u32::try_from(id).ok().filter(|&id| (id as usize) < vocabulary.len()).or(usual))
    };
    Ok(SpecialTokens {
        bos: token("bos", usual.bos)?,
        eos: token("eos", usual.eos)?,
        eot: token("eot", usual.eot)?,
        eom: token("eom", usual.eom)?,
        unknown: token("unknown", usual.unknown)?,
        padding: token("padding", usual.padding)?,
        add_bos: flag(metadata, "tokenizer.ggml.add_bos_token")?.unwrap_or(usual.add_bos),
        add_eos: flag(metadata, "tokenizer.ggml.add_eos_token")?.unwrap_or(usual.add_eos),
    })
}

fn flag(metadata: &Metadata, key: &str) -> Result<Option<bool>> {
    let Some(value) = metadata.get(key) else { return Ok(None) };
    value
        .as_bool()
        .map(Some)
        .ok_or_else(|| Error::metadata(key, format!("is {value}, neither true nor false")))
}

fn strings<'m>(metadata: &'m Metadata, key: &str) -> Result<&'m Strings> {
    let value = metadata.get(key).ok_or_else(|| missing(key))?;
    let strings = value.as_array().and_then(Array::as_strings);
    strings.ok_or_else(|| Error::metadata(key, "is no array of texts"))
}

fn missing(key: &str) -> Error {
    Error::metadata(key, "is missing: the file has no tokenizer that is complete")
}
