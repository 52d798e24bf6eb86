//! Tokens of C++ with CUDA's signs: comments and line splices are gone, and preprocessor lines are still tokens.

use logos::{Lexer, Logos, Skip};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Word,
    /// A number, as the preprocessor sees it.
    Number,
    /// A string or a character, quotes included.
    Text,
    /// Everything else.
    Sign,
}

/// A token, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    /// The byte of the file at which it starts.
    pub(crate) at: usize,
    /// Whether it is the first token of a line; a line that ends with a backslash goes on in the next.
    pub(crate) first: bool,
    /// How many braces are open around it. An opening brace and its closing one have the same number.
    pub(crate) depth: usize,
}

impl Token<'_> {
    /// Whether it is this word or sign.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.kind != Kind::Text && self.text == text
    }

    /// Whether it is a word.
    pub(crate) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }

    /// The value of an integer; suffixes and separators are allowed.
    pub(crate) fn integer(&self) -> Option<i64> {
        if self.kind != Kind::Number {
            return None;
        }
        let text = self.text.to_ascii_lowercase().replace('\'', "");
        let text = text.trim_end_matches(['u', 'l', 'z']);
        let value = if let Some(digits) = text.strip_prefix("0x") {
            u64::from_str_radix(digits, 16)
        } else if let Some(digits) = text.strip_prefix("0b") {
            u64::from_str_radix(digits, 2)
        } else if text.len() > 1 && text.starts_with('0') {
            u64::from_str_radix(&text[1..], 8)
        } else {
            text.parse()
        };
        // Larger ones wrap, as the bits of a mask do.
        value.ok().map(|value| value as i64)
    }

    /// Whether it is an integer whose type in C++ has 64 bits.
    pub(crate) fn is_64_bit_integer(&self) -> bool {
        let lower = self.text.to_ascii_lowercase();
        let fits = self.integer().is_some_and(|value| (0..=i64::from(u32::MAX)).contains(&value));
        let hexadecimal = lower.starts_with("0x") || lower.starts_with("0b");
        let suffix = &lower[lower.trim_end_matches(['u', 'l', 'z']).len()..];
        suffix.contains('l')
            || !fits
            || (!hexadecimal && !suffix.contains('u') && self.integer() > Some(i32::MAX.into()))
    }
}

/// All tokens of a text.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut first = true;
    for (lexeme, range) in Lexeme::lexer(text).spanned() {
        let kind = match lexeme {
            Ok(Lexeme::Newline) => {
                first = true;
                continue;
            }
            Ok(Lexeme::Word) => Kind::Word,
            Ok(Lexeme::Number) => Kind::Number,
            Ok(Lexeme::Text | Lexeme::RawText) => Kind::Text,
            Ok(Lexeme::Sign) | Err(()) => Kind::Sign,
        };
        tokens.push(Token { kind, text: &text[range.clone()], at: range.start, first, depth: 0 });
        first = false;
    }
    tokens
}

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\x0b\x0c]+")]
#[logos(skip r"\\\r?\n")]
#[logos(skip r"//(?:[^\\\n]|\\\r\n|\\[^\r])*")]
#[logos(skip("/\\*", block_comment))]
enum Lexeme {
    #[token("\n")]
    Newline,
    #[regex(r"[A-Za-z_$\u{80}-\u{10ffff}][A-Za-z0-9_$\u{80}-\u{10ffff}]*")]
    Word,
    #[regex(r"\.?[0-9](?:'?[0-9A-Za-z_]|[eEpP][+-]|\.)*")]
    Number,
    #[regex(r#"(?:u8|u|U|L)?"(?:[^"\\\n]|\\[\x00-\u{10ffff}])*""#)]
    #[regex(r"(?:u8|u|U|L)?'(?:[^'\\\n]|\\[\x00-\u{10ffff}])+'")]
    Text,
    #[regex(r#"(?:u8|u|U|L)?R""#, raw_text)]
    RawText,
    #[regex(r"<<<|>>>|<<=|>>=|\.\.\.|->|::|&&|\|\||==|!=|<=|>=|<<|>>|\+\+|--|##|[-+*/%&|^]=")]
    #[regex(r"[!-#%-/:-@\[\]^`{-~]")]
    Sign,
}

/// Ends after `*/`, or with the text.
fn block_comment(lexer: &mut Lexer<'_, Lexeme>) -> Skip {
    let rest = lexer.remainder();
    lexer.bump(rest.find("*/").map_or(rest.len(), |end| end + 2));
    Skip
}

/// Ends after `)delimiter"`, or with the text.
fn raw_text(lexer: &mut Lexer<'_, Lexeme>) {
    let rest = lexer.remainder();
    let delimiter = rest.split('(').next().unwrap_or_default();
    let end = format!("){delimiter}\"");
    lexer.bump(rest.find(&end).map_or(rest.len(), |start| start + end.len()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_and_splices_are_left_out() {
        assert_eq!(texts("a /* b\n c */ d // e \\\n f\ng \\\n h"), ["a", "d", "g", "h"]);
        assert_eq!(texts("a /* never ends"), ["a"]);
    }

    #[test]
    fn texts_and_numbers_are_one_token() {
        assert_eq!(texts(r#"x = "a // \" b"; 'c'"#), ["x", "=", r#""a // \" b""#, ";", "'c'"]);
        assert_eq!(texts("R\"d(a )\" b)d\" 1'000.5e-3f;"), ["R\"d(a )\" b)d\"", "1'000.5e-3f", ";"]);
        assert_eq!(
            texts("a<<<1,2>>>b>>=c->d::e"),
            ["a", "<<<", "1", ",", "2", ">>>", "b", ">>=", "c", "->", "d", "::", "e"]
        );
    }

    #[test]
    fn lines_start_after_newlines_that_no_backslash_takes_away() {
        let firsts: Vec<_> = tokens("a b\n# c \\\n d\n e").iter().map(|token| token.first).collect();
        assert_eq!(firsts, [true, false, true, false, false, true]);
    }

    #[test]
    fn integers_have_values_and_widths() {
        let of = |text: &'static str| (tokens(text)[0].integer(), tokens(text)[0].is_64_bit_integer());
        assert_eq!(of("0xffffffff"), (Some(0xffff_ffff), false));
        assert_eq!(of("0xFFFFFFFFu"), (Some(0xffff_ffff), false));
        assert_eq!(of("0xffffffffULL"), (Some(0xffff_ffff), true));
        assert_eq!(of("0xffffffffffffffff"), (Some(-1), true));
        assert_eq!(of("4294967295"), (Some(0xffff_ffff), true));
        assert_eq!(of("0x1f"), (Some(31), false));
        assert_eq!(of("1.5f"), (None, true));
    }
}
