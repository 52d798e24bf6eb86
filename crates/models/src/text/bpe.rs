//! Byte-pair encoding on bytes, as GPT-2 and its heirs have it, from a GGUF file's vocabulary.

use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::{Model, Result};
use weights::gguf::Strings;

use super::alphabet;
use super::pre_tokenizer::{Known, PreTokenizer};
use super::vocabulary::Vocabulary;

/// A pre-tokenizer that cuts words, and the merges that join their bytes.
pub(super) struct Bpe {
    words: PreTokenizer,
    model: BPE,
}

impl Bpe {
    /// `merges` are "left right", the first to be joined first.
    ///
    /// # Errors
    /// The words of the crate `tokenizers`, if a merge needs or makes a text that is no token.
    pub(super) fn new(vocabulary: &Vocabulary, merges: &Strings, known: &Known) -> Result<Bpe> {
        let tokens = (0..vocabulary.len() as u32)
            .filter_map(|id| Some((vocabulary.text(id).filter(|text| !text.is_empty())?.to_owned(), id)));
        let merges = merges.iter().map(|merge| {
            // A token may begin with a space if it is no word of bytes.
            let space = merge.bytes().skip(1).position(|byte| byte == b' ').map(|index| index + 1);
            let space = space.ok_or_else(|| format!("the merge {merge:?} has no space"))?;
            Ok((merge[..space].to_owned(), merge[space + 1..].to_owned()))
        });
        let model = BPE::builder()
            .vocab_and_merges(tokens.collect::<Vocab>(), merges.collect::<Result<Vec<_>>>()?)
            .ignore_merges(known.ignore_merges)
            .build()?;
        Ok(Bpe { words: PreTokenizer::new(known), model })
    }

    /// Appends the tokens of a text without special tokens. A byte that has no token is left out.
    ///
    /// # Errors
    /// The words of the crate `tokenizers`.
    pub(super) fn encode(&self, text: &str, ids: &mut Vec<u32>) -> Result<()> {
        let mut spelt = String::new();
        for word in self.words.split(text) {
            spelt.clear();
            alphabet::spell(word, &mut spelt);
            ids.extend(self.model.tokenize(&spelt)?.into_iter().map(|token| token.id));
        }
        Ok(())
    }
}
