//! GPT-2's alphabet: a visible character for each byte. A byte that is visible in Latin-1 is itself; the others are
//! U+0100 and those after it, in their order.

use std::sync::LazyLock;

/// Bytes that are no visible character of Latin-1.
fn is_hidden(byte: u8) -> bool {
    matches!(byte, 0..=0x20 | 0x7F..=0xA0 | 0xAD)
}

static CHARS: LazyLock<[char; 256]> = LazyLock::new(|| {
    let mut next = 0x100;
    std::array::from_fn(|byte| {
        let byte = byte as u8;
        if !is_hidden(byte) {
            return char::from(byte);
        }
        next += 1;
        char::from_u32(next - 1).expect("there are 68 hidden bytes")
    })
});

/// The byte of each character below U+0144, where the alphabet ends.
static BYTES: LazyLock<[Option<u8>; 0x144]> = LazyLock::new(|| {
    let mut bytes = [None; 0x144];
    for (byte, &char) in CHARS.iter().enumerate() {
        bytes[char as usize] = Some(byte as u8);
    }
    bytes
});

/// Writes the characters of a text's bytes behind `word`.
pub(super) fn spell(text: &str, word: &mut String) {
    word.extend(text.bytes().map(|byte| CHARS[usize::from(byte)]));
}

/// The bytes that a text in this alphabet stands for. A character that it does not have stands for itself.
pub(super) fn bytes(word: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(word.len());
    for char in word.chars() {
        match BYTES.get(char as usize).copied().flatten() {
            Some(byte) => bytes.push(byte),
            None => bytes.extend(char.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_has_a_character() {
        // As GPT-2's vocabulary writes them.
        let mut word = String::new();
        spell(" \n\té!", &mut word);
        assert_eq!(word, "ĠĊĉÃ©!");
        assert_eq!(bytes(&word), " \n\té!".as_bytes());
        assert_eq!((CHARS[0], CHARS[0xAD], CHARS[0xFF], CHARS[0x7F]), ('Ā', 'Ń', 'ÿ', 'ġ'));
        let mut chars = CHARS.to_vec();
        chars.sort_unstable();
        chars.dedup();
        assert_eq!(chars.len(), 256);
    }

    #[test]
    fn other_characters_stand_for_themselves() {
        assert_eq!(bytes("a世"), "a世".as_bytes());
    }
}
