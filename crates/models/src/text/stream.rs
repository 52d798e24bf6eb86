//! Text as its tokens come.

use super::error::Result;
use super::tokenizer::Tokenizer;

/// The text of tokens, one after the other, in whole characters: what a token has of a character is kept until the tokens
/// that follow it have the rest.
///
/// ```
/// # use models::text::Tokenizer;
/// # fn print(tokenizer: &Tokenizer, ids: &[u32]) -> models::text::Result<()> {
/// let mut stream = tokenizer.stream();
/// for &id in ids {
///     print!("{}", stream.push(id)?);
/// }
/// print!("{}", stream.finish());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TextStream<'t> {
    tokenizer: &'t Tokenizer,
    special: bool,
    /// The beginning of a character: three bytes at most.
    pending: Vec<u8>,
}

impl<'t> TextStream<'t> {
    pub(super) fn new(tokenizer: &'t Tokenizer) -> TextStream<'t> {
        TextStream { tokenizer, special: false, pending: Vec::new() }
    }

    /// Shows the texts of control tokens, which are left out otherwise.
    pub fn with_special(mut self, special: bool) -> TextStream<'t> {
        self.special = special;
        self
    }

    /// The text that is whole with this token. Bytes that no character has become U+FFFD as soon as that is certain.
    ///
    /// # Errors
    /// As [`Tokenizer::piece`].
    pub fn push(&mut self, id: u32) -> Result<String> {
        let piece = self.tokenizer.piece(id, self.special)?;
        self.pending.extend_from_slice(&piece);
        Ok(take_whole(&mut self.pending))
    }

    /// Ends the text. A character that was never finished becomes U+FFFD.
    pub fn finish(&mut self) -> String {
        let rest = String::from_utf8_lossy(&self.pending).into_owned();
        self.pending.clear();
        rest
    }
}

/// Takes all but the beginning of a character.
fn take_whole(bytes: &mut Vec<u8>) -> String {
    let mut text = String::new();
    let mut taken = 0;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        taken += chunk.valid().len();
        let invalid = chunk.invalid();
        // The last chunk may be the beginning of a character rather than wrong.
        let is_begun = taken + invalid.len() == bytes.len()
            && std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
        if !invalid.is_empty() && !is_begun {
            text.push(char::REPLACEMENT_CHARACTER);
            taken += invalid.len();
        }
    }
    bytes.drain(..taken);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces of text that come with each of these bytes, and what is left.
    fn stream(bytes: &[u8]) -> (Vec<String>, Vec<u8>) {
        let mut pending = Vec::new();
        let texts = bytes.iter().map(|&byte| {
            pending.push(byte);
            take_whole(&mut pending)
        });
        let texts = texts.collect();
        (texts, pending)
    }

    #[test]
    fn characters_come_whole() {
        let (texts, rest) = stream("a世🦀".as_bytes());
        assert_eq!(texts, ["a", "", "", "世", "", "", "", "🦀"]);
        assert!(rest.is_empty());
    }

    #[test]
    fn wrong_bytes_are_replaced_at_once_and_begun_ones_kept() {
        let (texts, rest) = stream(b"\xFFa\xE4\xB8b\xF0\x9F");
        assert_eq!(texts, ["\u{FFFD}", "a", "", "", "\u{FFFD}b", "", ""]);
        assert_eq!(rest, b"\xF0\x9F");
    }

    #[test]
    fn the_whole_is_what_std_reads() {
        proptest::proptest!(|(bytes: Vec<u8>)| {
            let (texts, rest) = stream(&bytes);
            let whole = texts.concat() + &String::from_utf8_lossy(&rest);
            proptest::prop_assert_eq!(whole, String::from_utf8_lossy(&bytes));
        });
    }
}
