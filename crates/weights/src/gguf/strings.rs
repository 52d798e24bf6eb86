//! Many texts in one piece of memory.

use std::fmt;

/// Texts, in one piece of memory: the vocabulary of a tokenizer has hundreds of thousands.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Strings {
    text: String,
    /// Where each text ends in the whole.
    ends: Vec<usize>,
}

impl Strings {
    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text at an index.
    pub fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start..end])
    }

    /// All texts, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|index| self.get(index).expect("there are that many"))
    }

    /// Adds a text.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    /// The texts that end at `ends` in the whole; each is a boundary of characters, and none is before its neighbour.
    pub(super) fn of_parts(text: String, ends: Vec<usize>) -> Strings {
        Strings { text, ends }
    }
}

impl<T: AsRef<str>> FromIterator<T> for Strings {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Strings {
        let mut strings = Strings::default();
        texts.into_iter().for_each(|text| strings.push(text.as_ref()));
        strings
    }
}

impl fmt::Debug for Strings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
