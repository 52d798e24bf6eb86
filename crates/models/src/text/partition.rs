//! Text around special tokens. They are found before any other token.

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::error::{Error, Result};
use super::vocabulary::{TokenKind, Vocabulary};

/// Finds special tokens in text: those of the user always, control tokens and the unknown one when they are asked for.
pub(super) struct Partition {
    /// All special tokens, the longest first, then by id.
    tokens: Vec<Special>,
    searcher: AhoCorasick,
}

struct Special {
    id: u32,
    /// Found only when asked for.
    is_control: bool,
}

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'t> {
    /// Has no special token, and is not empty.
    Text(&'t str),
    Token(u32),
}

impl Partition {
    pub(super) fn new(vocabulary: &Vocabulary) -> Result<Partition> {
        let kinds = [TokenKind::Control, TokenKind::UserDefined, TokenKind::Unknown];
        let text = |id: &u32| vocabulary.text(*id).expect("ids of the vocabulary");
        let mut ids = vocabulary.of_kinds(&kinds);
        ids.retain(|id| !text(id).is_empty());
        ids.sort_by_key(|id| (std::cmp::Reverse(text(id).len()), *id));
        // Thousands of tokens are few for this kind, which finds overlapping ones in one pass.
        let searcher =
            AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(ids.iter().map(text));
        let searcher = searcher
            .map_err(|error| Error::metadata("tokenizer.ggml.tokens", format!("is too large: {error}")))?;
        let tokens = ids
            .into_iter()
            .map(|id| Special { id, is_control: vocabulary.kind(id) != Some(TokenKind::UserDefined) })
            .collect();
        Ok(Partition { tokens, searcher })
    }

    /// The parts of a text in their order. A longer token wins over a shorter one that overlaps it, wherever they begin,
    /// as in llama.cpp; of equal ones the leftmost wins.
    pub(super) fn split<'t>(&self, text: &'t str, control: bool) -> Vec<Part<'t>> {
        let mut found: Vec<(usize, usize, usize)> = self
            .searcher
            .find_overlapping_iter(text)
            .map(|found| (found.pattern().as_usize(), found.start(), found.end()))
            .filter(|&(index, ..)| control || !self.tokens[index].is_control)
            .collect();
        found.sort_unstable();
        // Where each token that is taken begins; where it ends, and which it is.
        let mut taken: BTreeMap<usize, (usize, u32)> = BTreeMap::new();
        for (index, start, end) in found {
            let is_free = taken.range(..end).next_back().is_none_or(|(_, &(before, _))| before <= start);
            if is_free {
                taken.insert(start, (end, self.tokens[index].id));
            }
        }
        let mut parts = Vec::with_capacity(2 * taken.len() + 1);
        let mut at = 0;
        for (start, (end, id)) in taken {
            if at < start {
                parts.push(Part::Text(&text[at..start]));
            }
            parts.push(Part::Token(id));
            at = end;
        }
        if at < text.len() {
            parts.push(Part::Text(&text[at..]));
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::super::vocabulary::Spelling;
    use super::*;

    fn partition(tokens: &[(&str, TokenKind)]) -> Partition {
        let texts = tokens.iter().map(|(text, _)| text).collect();
        let kinds = tokens.iter().map(|&(_, kind)| kind).collect();
        Partition::new(&Vocabulary::new(texts, kinds, Spelling::SentencePiece).unwrap()).unwrap()
    }

    #[test]
    fn longer_tokens_win_wherever_they_begin() {
        use Part::{Text, Token};
        use TokenKind::{Control, Normal, UserDefined};
        let partition = partition(&[
            ("xab", UserDefined),
            ("abcd", UserDefined),
            ("<end>", Control),
            ("q", Normal),
            ("\n\n", UserDefined),
            ("\n", UserDefined),
        ]);
        assert_eq!(partition.split("xabcd", false), [Text("x"), Token(1)]);
        assert_eq!(partition.split("xab<end>", true), [Token(0), Token(2)]);
        assert_eq!(partition.split("xab<end>", false), [Token(0), Text("<end>")]);
        assert_eq!(partition.split("q\n\n\nq", false), [Text("q"), Token(4), Token(5), Text("q")]);
        assert_eq!(partition.split("", true), []);
    }
}
