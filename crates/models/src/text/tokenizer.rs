//! Text to tokens and back.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use weights::gguf::Metadata;

use super::bpe::Bpe;
use super::error::{Error, Result};
use super::json::Json;
use super::partition::{Part, Partition};
use super::sentencepiece::SentencePiece;
use super::special::SpecialTokens;
use super::stream::TextStream;
use super::vocabulary::{Spelling, TokenKind, Vocabulary};
use super::{gguf, json};

/// Text to tokens and back, as a model learnt it.
///
/// The ids are those of llama.cpp for GGUF files, and of the crate `tokenizers` for a `tokenizer.json`. With files there
/// is one difference from llama.cpp: text never becomes a control token by merges, whatever the vocabulary.
pub struct Tokenizer {
    vocabulary: Vocabulary,
    special: SpecialTokens,
    stops: BTreeSet<u32>,
    /// Whether text has a space put before it, which decoding takes away.
    space_first: bool,
    model: Model,
}

/// What turns text into tokens.
pub(super) enum Model {
    Bpe(Box<Bpe>, Partition),
    SentencePiece(SentencePiece, Partition),
    Json(Box<Json>),
}

/// What [`Tokenizer::encode`] does with special tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EncodeOptions {
    /// Adds the tokens that begin and end a text, if the model wants them.
    pub add_special: bool,
    /// Finds control tokens in the text, such as `<|im_start|>`. Without it their texts are encoded as any other text,
    /// which is what text from outside needs.
    pub parse_special: bool,
}

impl Default for EncodeOptions {
    /// A text of its own, from anywhere.
    fn default() -> EncodeOptions {
        EncodeOptions { add_special: true, parse_special: false }
    }
}

impl Tokenizer {
    /// The tokenizer in a GGUF file's metadata: "gpt2" (byte-pair encoding on bytes) or "llama" (SentencePiece).
    ///
    /// # Errors
    /// [`Error::UnknownTokenizer`] and [`Error::UnknownPreTokenizer`], which list what is known; [`Error::Metadata`] for
    /// a value that is missing or wrong.
    pub fn from_gguf(metadata: &Metadata) -> Result<Tokenizer> {
        gguf::read(metadata)
    }

    /// The tokenizer in a folder, or in a file named `tokenizer.json`. `tokenizer_config.json` and
    /// `generation_config.json` beside it say which tokens begin and end text.
    ///
    /// # Errors
    /// [`Error::Io`] for a folder without `tokenizer.json`; [`Error::Json`] for a file that is not understood.
    pub fn from_json(path: impl AsRef<Path>) -> Result<Tokenizer> {
        json::read(path.as_ref())
    }

    pub(super) fn new(
        vocabulary: Vocabulary,
        special: SpecialTokens,
        stops: BTreeSet<u32>,
        space_first: bool,
        model: Model,
    ) -> Tokenizer {
        Tokenizer { vocabulary, special, stops, space_first, model }
    }

    /// The tokens of a text.
    ///
    /// # Errors
    /// [`Error::Encode`]: a `tokenizer.json` may have no token for some text.
    #[doc(alias = "llama_tokenize")]
    pub fn encode(&self, text: &str, options: EncodeOptions) -> Result<Vec<u32>> {
        let failed = |what: tokenizers::Error| Error::Encode { what: what.to_string() };
        let mut ids = Vec::with_capacity(text.len() / 3 + 2);
        let SpecialTokens { bos, eos, add_bos, add_eos, .. } = self.special;
        let (bos, eos) = (bos.filter(|_| add_bos), eos.filter(|_| add_eos));
        if let (Some(bos), true, false) = (bos, options.add_special, self.is_json()) {
            ids.push(bos);
        }
        match &self.model {
            Model::Json(json) => return json.encode(text, options).map_err(failed),
            Model::Bpe(bpe, partition) => {
                for part in partition.split(text, options.parse_special) {
                    match part {
                        Part::Text(text) => bpe.encode(text, &mut ids).map_err(failed)?,
                        Part::Token(id) => ids.push(id),
                    }
                }
            }
            Model::SentencePiece(pieces, partition) => {
                let mut after_token = true;
                for part in partition.split(text, options.parse_special) {
                    match part {
                        Part::Text(text) => {
                            pieces.encode(&self.vocabulary, text, self.space_first && after_token, &mut ids);
                        }
                        Part::Token(id) => ids.push(id),
                    }
                    after_token = matches!(part, Part::Token(_));
                }
            }
        }
        if let (Some(eos), true) = (eos, options.add_special) {
            ids.push(eos);
        }
        Ok(ids)
    }

    /// The tokens of a prompt that a [`ChatTemplate`](super::ChatTemplate) rendered: control tokens are found, and the
    /// token that begins text is added if the model wants it and the template did not write it.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn encode_chat(&self, prompt: &str) -> Result<Vec<u32>> {
        let mut ids = self.encode(prompt, EncodeOptions { add_special: false, parse_special: true })?;
        match self.special.bos {
            Some(bos) if self.special.add_bos && ids.first() != Some(&bos) => ids.insert(0, bos),
            _ => (),
        }
        Ok(ids)
    }

    /// The text of all these tokens. Bytes that are no UTF-8 become U+FFFD. Without `special`, control tokens are left
    /// out. A space that [`Tokenizer::encode`] put before the text is taken away.
    ///
    /// # Errors
    /// [`Error::TokenId`], or [`Error::Decode`].
    #[doc(alias = "llama_detokenize")]
    pub fn decode(&self, ids: &[u32], special: bool) -> Result<String> {
        if let (Model::Json(json), Spelling::Opaque) = (&self.model, self.vocabulary.spelling()) {
            if let Some(&id) = ids.iter().find(|&&id| id as usize >= self.len()) {
                return Err(Error::TokenId { id, len: self.len() });
            }
            return json.decode(ids, special).map_err(|what| Error::Decode { what: what.to_string() });
        }
        let mut bytes = Vec::new();
        let mut is_first = true;
        for &id in ids {
            let piece = self.vocabulary.piece(id, special)?;
            let is_text = matches!(self.kind(id), Some(TokenKind::Normal | TokenKind::Byte));
            bytes.extend_from_slice(match &*piece {
                [b' ', rest @ ..] if self.space_first && is_first && is_text => rest,
                piece => piece,
            });
            is_first &= !is_text;
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Text as its tokens come, in whole characters. It goes on where other text ended: no space is taken away.
    pub fn stream(&self) -> TextStream<'_> {
        TextStream::new(self)
    }

    /// The bytes of a token, which may be part of a character. Those of control tokens are their text, or nothing
    /// without `special`.
    ///
    /// # Errors
    /// [`Error::TokenId`]; [`Error::Decode`] for a `tokenizer.json` whose decoder is neither on bytes nor
    /// SentencePiece's.
    #[doc(alias = "llama_token_to_piece")]
    pub fn piece(&self, id: u32, special: bool) -> Result<Cow<'_, [u8]>> {
        self.vocabulary.piece(id, special)
    }

    /// How many tokens there are. A model may have more rows in its embedding.
    #[expect(clippy::len_without_is_empty, reason = "a tokenizer without tokens is of no use")]
    pub fn len(&self) -> usize {
        self.vocabulary.len()
    }

    /// The token of this text, as the vocabulary writes it.
    pub fn id(&self, token: &str) -> Option<u32> {
        self.vocabulary.id(token)
    }

    /// The text of a token, as the vocabulary writes it.
    pub fn token(&self, id: u32) -> Option<&str> {
        self.vocabulary.text(id)
    }

    /// What a token is for.
    pub fn kind(&self, id: u32) -> Option<TokenKind> {
        self.vocabulary.kind(id)
    }

    /// The tokens that begin and end text.
    pub fn special(&self) -> &SpecialTokens {
        &self.special
    }

    /// The tokens after which generation stops: the ends of text, of a turn and of a message that the file names, and
    /// tokens whose texts are known to be such ends.
    #[doc(alias = "llama_vocab_is_eog")]
    pub fn stop_tokens(&self) -> &BTreeSet<u32> {
        &self.stops
    }

    fn is_json(&self) -> bool {
        matches!(self.model, Model::Json(_))
    }
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = match self.model {
            Model::Bpe(..) => "byte-pair encoding",
            Model::SentencePiece(..) => "SentencePiece",
            Model::Json(_) => "tokenizer.json",
        };
        f.debug_struct("Tokenizer")
            .field("model", &model)
            .field("tokens", &self.len())
            .field("special", &self.special)
            .finish_non_exhaustive()
    }
}
