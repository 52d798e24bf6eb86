//! The tokens of a model: their texts, what they are for, and the bytes that they stand for.

use std::borrow::Cow;
use std::collections::HashMap;

use weights::gguf::Strings;

use super::alphabet;
use super::error::{Error, Result};

/// What SentencePiece writes for a space.
pub(super) const SPACE: &str = "\u{2581}";

/// What a token is for.
#[doc(alias = "llama_token_attr")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A piece of text.
    Normal,
    /// Stands for text that the vocabulary does not have.
    Unknown,
    /// Steers the model and is no text, such as the end of a turn.
    Control,
    /// A piece of text that is found before all others.
    UserDefined,
    /// Never used.
    Unused,
    /// One byte of text that no other token has.
    Byte,
}

/// How the texts of normal tokens stand for bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// A character for each byte, as GPT-2 has it.
    ByteLevel,
    /// As it is, but for spaces.
    SentencePiece,
    /// Only the tokenizer itself knows.
    Opaque,
}

/// The tokens of a model.
pub(super) struct Vocabulary {
    texts: Strings,
    kinds: Vec<TokenKind>,
    ids: HashMap<Box<str>, u32>,
    spelling: Spelling,
}

impl Vocabulary {
    /// Tokens with their texts and kinds, in the order of their ids. A token without text has none to be found by.
    ///
    /// # Errors
    /// The index of a text that an earlier token has too.
    pub(super) fn new(
        texts: Strings,
        kinds: Vec<TokenKind>,
        spelling: Spelling,
    ) -> std::result::Result<Vocabulary, usize> {
        debug_assert_eq!(texts.len(), kinds.len());
        let mut ids = HashMap::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            if !text.is_empty() && ids.insert(text.into(), index as u32).is_some() {
                return Err(index);
            }
        }
        Ok(Vocabulary { texts, kinds, ids, spelling })
    }

    pub(super) fn len(&self) -> usize {
        self.kinds.len()
    }

    pub(super) fn spelling(&self) -> Spelling {
        self.spelling
    }

    pub(super) fn id(&self, text: &str) -> Option<u32> {
        self.ids.get(text).copied()
    }

    pub(super) fn text(&self, id: u32) -> Option<&str> {
        self.texts.get(id as usize)
    }

    pub(super) fn kind(&self, id: u32) -> Option<TokenKind> {
        self.kinds.get(id as usize).copied()
    }

    pub(super) fn set_kind(&mut self, id: u32, kind: TokenKind) {
        self.kinds[id as usize] = kind;
    }

    /// The ids of these kinds, in ascending order.
    pub(super) fn of_kinds(&self, kinds: &[TokenKind]) -> Vec<u32> {
        (0..self.len() as u32).filter(|&id| kinds.contains(&self.kinds[id as usize])).collect()
    }

    /// The bytes of a token. Those of control tokens and of the unknown token are their texts, or nothing without
    /// `special`.
    pub(super) fn piece(&self, id: u32, special: bool) -> Result<Cow<'_, [u8]>> {
        let (Some(text), Some(kind)) = (self.text(id), self.kind(id)) else {
            return Err(Error::TokenId { id, len: self.len() });
        };
        Ok(match kind {
            TokenKind::Control | TokenKind::Unknown if !special => Cow::Borrowed(&[]),
            TokenKind::Control | TokenKind::Unknown | TokenKind::UserDefined => text.as_bytes().into(),
            TokenKind::Unused => Cow::Borrowed(&[]),
            TokenKind::Byte => match byte_of(text) {
                Some(byte) => vec![byte].into(),
                None => text.as_bytes().into(),
            },
            TokenKind::Normal => match self.spelling {
                Spelling::ByteLevel => alphabet::bytes(text).into(),
                Spelling::SentencePiece if text.contains(SPACE) => {
                    text.replace(SPACE, " ").into_bytes().into()
                }
                Spelling::SentencePiece => text.as_bytes().into(),
                Spelling::Opaque => {
                    let what = "its decoder has no bytes for single tokens; decode all of them at once";
                    return Err(Error::Decode { what: what.to_owned() });
                }
            },
        })
    }
}

/// The text of a byte's token.
pub(super) fn byte_text(byte: u8) -> String {
    format!("<0x{byte:02X}>")
}

/// The byte of such a text.
pub(super) fn byte_of(text: &str) -> Option<u8> {
    let digits = text.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() == 2 { u8::from_str_radix(digits, 16).ok() } else { None }
}
