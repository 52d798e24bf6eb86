//! Tokens with a task: the beginning and end of text, the end of a turn.

use std::collections::{BTreeMap, BTreeSet};

use super::tokenizer::Tokenizer;
use super::vocabulary::{TokenKind, Vocabulary};

/// The tokens that begin and end text, and whether they are added to it.
#[doc(alias = "llama_vocab_bos")]
#[doc(alias = "llama_vocab_eos")]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpecialTokens {
    /// Begins a text.
    pub bos: Option<u32>,
    /// Ends a text.
    pub eos: Option<u32>,
    /// Ends a turn of a conversation.
    pub eot: Option<u32>,
    /// Ends a message, after which the same side goes on.
    pub eom: Option<u32>,
    /// Stands for text that the vocabulary does not have.
    pub unknown: Option<u32>,
    /// Fills up a batch.
    pub padding: Option<u32>,
    /// Whether text begins with `bos`.
    pub add_bos: bool,
    /// Whether text ends with `eos`.
    pub add_eos: bool,
}

/// What a token of a known text is for.
#[derive(Clone, Copy, PartialEq)]
enum Task {
    EndOfTurn,
    EndOfMessage,
    /// Ends the generation in another way.
    Stop,
    /// Is a control token, and ends nothing.
    Control,
}

/// Texts that are control tokens wherever they are tokens. Files mark them as such only if their converter did, and often
/// name none but the end of text.
const KNOWN: [(&str, Task); 40] = [
    ("<|eot_id|>", Task::EndOfTurn),
    ("<|im_end|>", Task::EndOfTurn),
    ("<|end|>", Task::EndOfTurn),
    ("<end_of_turn>", Task::EndOfTurn),
    ("<|endoftext|>", Task::EndOfTurn),
    ("<|end_of_text|>", Task::EndOfTurn),
    ("<EOT>", Task::EndOfTurn),
    ("_<EOT>", Task::EndOfTurn),
    ("[EOT]", Task::EndOfTurn),
    ("<｜end▁of▁sentence｜>", Task::EndOfTurn),
    ("<end_of_utterance>", Task::EndOfTurn),
    ("<|eom_id|>", Task::EndOfMessage),
    ("[EOS]", Task::Stop),
    ("<eos>", Task::Stop),
    // Gemma 3 has it as a tag of HTML. Files of models that it ends name it as their end of text.
    ("</s>", Task::Control),
    ("<|fim_pad|>", Task::Stop),
    ("<fim-pad>", Task::Stop),
    ("<fim_pad>", Task::Stop),
    ("<PAD>", Task::Stop),
    ("[PAD]", Task::Stop),
    ("<|fim_repo|>", Task::Stop),
    ("<|repo_name|>", Task::Stop),
    ("<fim-repo>", Task::Stop),
    ("<REPO>", Task::Stop),
    ("<reponame>", Task::Stop),
    ("<|file_sep|>", Task::Stop),
    ("<|fim_prefix|>", Task::Control),
    ("<fim-prefix>", Task::Control),
    ("<fim_prefix>", Task::Control),
    ("<PRE>", Task::Control),
    ("▁<PRE>", Task::Control),
    ("<|fim_suffix|>", Task::Control),
    ("<fim-suffix>", Task::Control),
    ("<fim_suffix>", Task::Control),
    ("<SUF>", Task::Control),
    ("▁<SUF>", Task::Control),
    ("<|fim_middle|>", Task::Control),
    ("<fim-middle>", Task::Control),
    ("<fim_middle>", Task::Control),
    ("<MID>", Task::Control),
];

/// Marks tokens of known texts as control tokens, fills in the end of a turn and of a message where `special` has none,
/// and returns the tokens after which generation stops.
pub(super) fn recognize(vocabulary: &mut Vocabulary, special: &mut SpecialTokens) -> BTreeSet<u32> {
    let mut stops = BTreeSet::new();
    for (text, task) in KNOWN {
        let Some(id) = vocabulary.id(text) else { continue };
        vocabulary.set_kind(id, TokenKind::Control);
        match task {
            Task::EndOfTurn => special.eot = special.eot.or(Some(id)),
            Task::EndOfMessage => special.eom = special.eom.or(Some(id)),
            Task::Stop | Task::Control => (),
        }
        if task != Task::Control {
            stops.insert(id);
        }
    }
    stops.extend([special.eos, special.eot, special.eom].into_iter().flatten());
    stops
}

/// The texts of special tokens by the names that chat templates have for them.
pub(super) fn texts(tokenizer: &Tokenizer) -> BTreeMap<String, String> {
    let special = tokenizer.special();
    let tokens = [
        ("bos_token", special.bos),
        ("eos_token", special.eos),
        ("unk_token", special.unknown),
        ("pad_token", special.padding),
    ];
    let text = |(name, id): (&str, Option<u32>)| Some((name.to_owned(), tokenizer.token(id?)?.to_owned()));
    tokens.into_iter().filter_map(text).collect()
}
