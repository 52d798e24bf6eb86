//! Splits C++ source into tokens: words, numbers, literals, directives and punctuation, each with its
//! position. Accepts any text, even if no compiler would.

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier or a keyword.
    Word,
    /// A number.
    Number,
    /// A string or character literal, with its prefix.
    Literal,
    /// A line that begins with `#`, its continuation lines included.
    Directive,
    /// Punctuation: one character, or one of `::`, `->`, `<<`, `<=`, `>=`.
    Mark,
}

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    /// The offset of its first byte.
    pub(crate) start: usize,
}

impl Token<'_> {
    /// Whether it is this word or punctuation; a literal never is.
    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Mark) && self.text == text
    }

    /// The offset after its last byte.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// All tokens of a text, without comments and white space.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0 };
    let mut out = Vec::new();
    let mut line_start = true;
    while let Some(byte) = lexer.peek(0) {
        let start = lexer.at;
        if byte.is_ascii_whitespace() {
            line_start |= byte == b'\n';
            lexer.at += 1;
            continue;
        }
        if lexer.skip_comment() {
            continue;
        }
        let kind = lexer.token(byte, line_start);
        line_start = false;
        out.push(Token { kind, text: &text[start..lexer.at], start });
    }
    out
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

/// Letters, digits, and all non-ASCII characters.
fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || !byte.is_ascii()
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// Advances to the next byte for which `found` holds, or to the end.
    fn go_to(&mut self, found: impl Fn(u8) -> bool) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|byte| found(*byte)).unwrap_or(rest.len());
    }

    fn skip_comment(&mut self) -> bool {
        match (self.peek(0), self.peek(1)) {
            (Some(b'/'), Some(b'/')) => self.go_to(|byte| byte == b'\n'),
            (Some(b'/'), Some(b'*')) => {
                let end = self.text[self.at + 2..].find("*/");
                self.at = end.map_or(self.bytes.len(), |length| self.at + 2 + length + 2);
            }
            _ => return false,
        }
        true
    }

    /// Advances past a token that begins with the byte.
    fn token(&mut self, byte: u8, line_start: bool) -> Kind {
        if byte == b'#' && line_start {
            self.directive();
            return Kind::Directive;
        }
        if byte.is_ascii_digit() || (byte == b'.' && self.peek(1).is_some_and(|next| next.is_ascii_digit())) {
            self.number();
            return Kind::Number;
        }
        if in_word(byte) {
            let start = self.at;
            self.go_to(|byte| !in_word(byte));
            let word = &self.text[start..self.at];
            return match (word, self.peek(0)) {
                ("R" | "u8R" | "uR" | "UR" | "LR", Some(b'"')) => self.raw_string(),
                ("u8" | "u" | "U" | "L", Some(quote @ (b'"' | b'\''))) => self.quoted(quote),
                _ => Kind::Word,
            };
        }
        if byte == b'"' || byte == b'\'' {
            return self.quoted(byte);
        }
        self.at += match (byte, self.peek(1)) {
            (b':', Some(b':')) | (b'-', Some(b'>')) | (b'<', Some(b'<' | b'=')) | (b'>', Some(b'=')) => 2,
            _ => 1,
        };
        Kind::Mark
    }

    /// Advances to the end of the line, including lines continued by a backslash.
    fn directive(&mut self) {
        loop {
            self.go_to(|byte| byte == b'\n');
            if self.at == self.bytes.len() || self.bytes[self.at - 1] != b'\\' {
                return;
            }
            self.at += 1;
        }
    }

    fn number(&mut self) {
        while let Some(byte) = self.peek(0) {
            let signed = matches!(byte, b'e' | b'E' | b'p' | b'P');
            let separates = byte == b'\'' && self.peek(1).is_some_and(in_word);
            if signed && matches!(self.peek(1), Some(b'+' | b'-')) {
                self.at += 2;
            } else if in_word(byte) || byte == b'.' || separates {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    /// A literal ends at its closing quote; an unterminated literal ends with its line.
    fn quoted(&mut self, quote: u8) -> Kind {
        self.at += 1;
        loop {
            self.go_to(|byte| byte == quote || byte == b'\\' || byte == b'\n');
            match self.peek(0) {
                Some(b'\\') => {
                    // The escaped character, which may have several bytes.
                    let next = self.text[self.at + 1..].chars().next();
                    self.at += 1 + next.map_or(0, char::len_utf8);
                }
                Some(byte) if byte == quote => {
                    self.at += 1;
                    return Kind::Literal;
                }
                _ => return Kind::Literal,
            }
        }
    }

    /// `R"word( anything )word"`.
    fn raw_string(&mut self) -> Kind {
        let rest = &self.text[self.at + 1..];
        let Some(open) = rest.find('(').filter(|open| *open <= 16) else { return self.quoted(b'"') };
        let end = format!("){}\"", &rest[..open]);
        let length = rest[open..].find(&end).map_or(rest.len(), |at| open + at + end.len());
        self.at += 1 + length;
        Kind::Literal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).iter().map(|token| token.text).collect()
    }

    #[test]
    fn words_numbers_and_marks() {
        assert_eq!(texts("a::b->c<d>>e<<2"), ["a", "::", "b", "->", "c", "<", "d", ">", ">", "e", "<<", "2"]);
        assert_eq!(texts("1'000.5e+3f-.5"), ["1'000.5e+3f", "-", ".5"]);
        assert_eq!(texts("0x1p-3+é"), ["0x1p-3", "+", "é"]);
        assert_eq!(texts("a<=b>=c"), ["a", "<=", "b", ">=", "c"]);
    }

    #[test]
    fn literals_hide_what_is_in_them() {
        assert_eq!(
            texts(r#"f("a\"__global__", 'x', L"}")"#),
            ["f", "(", r#""a\"__global__""#, ",", "'x'", ",", r#"L"}""#, ")"]
        );
        assert_eq!(texts("R\"x(a)\" { )x\";b"), ["R\"x(a)\" { )x\"", ";", "b"]);
        assert_eq!(texts("'\\'' '\"' b"), ["'\\''", "'\"'", "b"]);
        // An unterminated literal ends with its line.
        assert_eq!(texts("\"abc\nd"), ["\"abc", "d"]);
    }

    #[test]
    fn comments_are_left_out() {
        assert_eq!(texts("a // b \" \nc /* d ' */ e /* f"), ["a", "c", "e"]);
    }

    #[test]
    fn directives_are_one_token() {
        let text = "# 1 \"a.hip\" 1\nint #x\n  #define A \\\n  {\nb";
        assert_eq!(texts(text), ["# 1 \"a.hip\" 1", "int", "#", "x", "#define A \\\n  {", "b"]);
        assert_eq!(tokens(text)[0].kind, Kind::Directive);
    }
}
