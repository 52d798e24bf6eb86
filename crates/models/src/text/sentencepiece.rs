//! SentencePiece's byte-pair encoding by scores, as llama.cpp has it for Llama 2 and Gemma.
//!
//! Of all neighbours whose joined text is a token, those with the highest score are joined first, the leftmost of equal
//! ones. The crate `tokenizers` ranks merges by a list instead, which these vocabularies do not have.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::vocabulary::{SPACE, TokenKind, Vocabulary, byte_text};

/// The scores of a vocabulary, and where its single bytes are.
pub(super) struct SentencePiece {
    scores: Vec<f32>,
    /// The token of each byte; without one, the unknown token.
    bytes: Box<[Option<u32>; 256]>,
}

impl SentencePiece {
    /// `scores` are as many as the tokens. `unknown` stands for bytes that have no token.
    pub(super) fn new(vocabulary: &Vocabulary, scores: Vec<f32>, unknown: Option<u32>) -> SentencePiece {
        debug_assert_eq!(vocabulary.len(), scores.len());
        let bytes = std::array::from_fn(|byte| vocabulary.id(&byte_text(byte as u8)).or(unknown));
        SentencePiece { scores, bytes: Box::new(bytes) }
    }

    /// Appends the tokens of a text without special tokens. A byte that has no token is left out.
    pub(super) fn encode(&self, vocabulary: &Vocabulary, text: &str, space_first: bool, ids: &mut Vec<u32>) {
        let mut text = text.replace(' ', SPACE);
        if space_first {
            text.insert_str(0, SPACE);
        }
        let mut merge = Merge::new(vocabulary, &self.scores, &text);
        merge.run();
        for symbol in merge.symbols.iter().filter(|symbol| symbol.len > 0) {
            let text = &text[symbol.start..symbol.start + symbol.len];
            match vocabulary.id(text) {
                Some(id) => ids.push(id),
                None => ids.extend(text.bytes().filter_map(|byte| self.bytes[usize::from(byte)])),
            }
        }
    }
}

/// A piece of the text: a character at first. One that was joined to its left neighbour is empty.
struct Symbol {
    start: usize,
    len: usize,
    /// The indices of its neighbours; [`NONE`] at the ends.
    left: usize,
    right: usize,
}

const NONE: usize = usize::MAX;

/// Two neighbours that may be joined.
struct Pair {
    score: f32,
    left: usize,
    right: usize,
    /// The length of both when they were found; they changed since if it differs now.
    len: usize,
}

impl Ord for Pair {
    /// The pair to join first is the greatest.
    fn cmp(&self, other: &Pair) -> Ordering {
        self.score.total_cmp(&other.score).then(other.left.cmp(&self.left))
    }
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Pair) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Pair {
    fn eq(&self, other: &Pair) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Pair {}

struct Merge<'m> {
    vocabulary: &'m Vocabulary,
    scores: &'m [f32],
    text: &'m str,
    symbols: Vec<Symbol>,
    pairs: BinaryHeap<Pair>,
}

impl<'m> Merge<'m> {
    fn new(vocabulary: &'m Vocabulary, scores: &'m [f32], text: &'m str) -> Merge<'m> {
        let mut symbols: Vec<Symbol> = text
            .char_indices()
            .enumerate()
            .map(|(index, (start, char))| Symbol {
                start,
                len: char.len_utf8(),
                left: index.checked_sub(1).unwrap_or(NONE),
                right: index + 1,
            })
            .collect();
        if let Some(last) = symbols.last_mut() {
            last.right = NONE;
        }
        let mut merge = Merge { vocabulary, scores, text, symbols, pairs: BinaryHeap::new() };
        for right in 1..merge.symbols.len() {
            merge.consider(right - 1, right);
        }
        merge
    }

    fn run(&mut self) {
        while let Some(Pair { left, right, len, .. }) = self.pairs.pop() {
            let joined = self.symbols[left].len + self.symbols[right].len;
            if self.symbols[left].len == 0 || self.symbols[right].len == 0 || joined != len {
                continue;
            }
            self.symbols[left].len = joined;
            self.symbols[right].len = 0;
            let after = self.symbols[right].right;
            self.symbols[left].right = after;
            if after != NONE {
                self.symbols[after].left = left;
                self.consider(left, after);
            }
            let before = self.symbols[left].left;
            if before != NONE {
                self.consider(before, left);
            }
        }
    }

    /// Remembers two neighbours if their joined text is a token. Control tokens never come from text: they are found
    /// before, if they are wanted.
    fn consider(&mut self, left: usize, right: usize) {
        let len = self.symbols[left].len + self.symbols[right].len;
        let start = self.symbols[left].start;
        let Some(id) = self.vocabulary.id(&self.text[start..start + len]) else { return };
        if matches!(self.vocabulary.kind(id), Some(TokenKind::Control | TokenKind::Unknown)) {
            return;
        }
        // 0 for −0, which are equal.
        let score = self.scores[id as usize] + 0.0;
        self.pairs.push(Pair { score, left, right, len });
    }
}

#[cfg(test)]
mod tests {
    use super::super::vocabulary::Spelling;
    use super::*;

    /// The ids of `text` with these tokens and scores.
    fn encode(tokens: &[(&str, f32, TokenKind)], text: &str) -> Vec<u32> {
        let texts = tokens.iter().map(|(text, ..)| text).collect();
        let kinds = tokens.iter().map(|&(.., kind)| kind).collect();
        let vocabulary = Vocabulary::new(texts, kinds, Spelling::SentencePiece).unwrap();
        let scores = tokens.iter().map(|&(_, score, _)| score).collect();
        let unknown = vocabulary.id("<unk>");
        let mut ids = Vec::new();
        SentencePiece::new(&vocabulary, scores, unknown).encode(&vocabulary, text, false, &mut ids);
        ids
    }

    #[test]
    fn the_highest_score_is_joined_first_and_the_leftmost_of_equals() {
        use TokenKind::Normal;
        let tokens = [
            ("a", 0.0, Normal),
            ("b", 0.0, Normal),
            ("ab", -2.0, Normal),
            ("ba", -1.0, Normal),
            ("aba", -3.0, Normal),
            ("aa", -1.5, Normal),
        ];
        assert_eq!(encode(&tokens, "aba"), [4]);
        assert_eq!(encode(&tokens, "abab"), [4, 1]);
        assert_eq!(encode(&tokens, "aaa"), [5, 0]);
        assert!(encode(&tokens, "").is_empty());
    }

    #[test]
    fn bytes_and_then_the_unknown_token_stand_for_the_rest() {
        use TokenKind::{Byte, Normal, Unknown};
        let tokens = [("<unk>", 0.0, Unknown), ("a", 0.0, Normal), ("<0xC3>", 0.0, Byte), ("▁", 0.0, Normal)];
        assert_eq!(encode(&tokens, "a é"), [1, 3, 2, 0]);
    }

    #[test]
    fn text_never_becomes_a_control_token() {
        use TokenKind::{Control, Normal};
        let tokens = [
            ("<s>", 0.0, Control),
            ("<", -1.0, Normal),
            ("s>", -2.0, Normal),
            ("s", -3.0, Normal),
            (">", -4.0, Normal),
        ];
        assert_eq!(encode(&tokens, "<s>"), [1, 2]);
    }
}
