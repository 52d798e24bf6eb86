//! Tokens with matched brackets, and functions that skip constructs.

use super::tokens::{Kind, Token, tokens};

/// Keywords that only HIP's compilers know. They stay in the preprocessed source and are replaced there.
pub(crate) const WORDS: [&str; 9] = [
    "__global__",
    "__device__",
    "__constant__",
    "__managed__",
    "__shared__",
    "__launch_bounds__",
    "__grid_constant__",
    "__forceinline__",
    "__noinline__",
];

/// Words whose parentheses belong to them and are not a parameter list.
const WITH_PARENTHESES: [&str; 14] = [
    "__attribute__",
    "__attribute",
    "__declspec",
    "__launch_bounds__",
    "__typeof__",
    "alignas",
    "asm",
    "__asm",
    "__asm__",
    "decltype",
    "explicit",
    "noexcept",
    "sizeof",
    "typeof",
];

/// Tokens that may follow `operator`, besides a type and brackets. A token comes before its prefixes.
const OPERATORS: [&str; 37] = [
    "<<=", ">>=", "<=>", "->*", "==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=",
    "^=", "&=", "|=", "<<", ">>", "->", "+", "-", "*", "/", "%", "^", "&", "|", "~", "!", "=", "<", ">", ",",
];

/// The partner of an angle bracket and a declaration's specifiers are searched for within this many tokens.
pub(super) const REACH: usize = 1024;

/// A source, its tokens, and its matched brackets.
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    pub(crate) tokens: Vec<Token<'a>>,
    /// For each bracket the index of its partner; for all other tokens, and for unmatched brackets, their own
    /// index.
    partner: Vec<usize>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let tokens = tokens(text);
        let mut partner: Vec<usize> = (0..tokens.len()).collect();
        let mut open = Vec::new();
        for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Mark) {
            let opening = match token.text {
                "(" | "[" | "{" => {
                    open.push(at);
                    continue;
                }
                ")" => "(",
                "]" => "[",
                "}" => "{",
                _ => continue,
            };
            if open.last().is_some_and(|first: &usize| tokens[*first].text == opening) {
                let first = open.pop().expect("just seen");
                (partner[first], partner[at]) = (at, first);
            }
        }
        Self { text, tokens, partner }
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether the token there is this word or punctuation. Beyond the end there is no token.
    pub(crate) fn is(&self, at: usize, text: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(text))
    }

    pub(crate) fn is_any(&self, at: usize, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.is(at, text))
    }

    /// The token there, if it is a single punctuation character: faster than comparing with each of several
    /// texts.
    fn mark(&self, at: usize) -> Option<u8> {
        let token = self.tokens.get(at).filter(|token| token.kind == Kind::Mark)?;
        <[u8; 1]>::try_from(token.text.as_bytes()).ok().map(|[mark]| mark)
    }

    pub(crate) fn is_kind(&self, at: usize, kind: Kind) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == kind)
    }

    /// Where the bracket that opens there closes.
    pub(crate) fn close(&self, at: usize) -> Option<usize> {
        self.partner.get(at).copied().filter(|close| *close > at)
    }

    /// Where the bracket that closes there opens.
    pub(crate) fn open(&self, at: usize) -> Option<usize> {
        self.partner.get(at).copied().filter(|open| *open < at)
    }

    /// The index after a token, or after the bracket that it opens.
    pub(crate) fn skip(&self, at: usize) -> usize {
        self.close(at).unwrap_or(at) + 1
    }

    /// The index after a directive, a word with its own parentheses, an operator's name, or a `requires`
    /// clause; `None` for anything else.
    pub(crate) fn skip_attribute(&self, at: usize) -> Option<usize> {
        match self.tokens.get(at)?.kind {
            Kind::Directive => Some(at + 1),
            Kind::Mark if self.is(at, "[") && self.is(at + 1, "[") => Some(self.skip(at)),
            Kind::Word if self.is(at + 1, "(") && self.is_any(at, &WITH_PARENTHESES) => {
                Some(self.skip(at + 1))
            }
            Kind::Word => self.skip_operator(at).or_else(|| self.skip_requires(at)),
            _ => None,
        }
    }

    /// The index after the name of an operator function, so that its `=`, `<` or `()` are not interpreted.
    /// For a conversion such as `operator bool`, the index of the type.
    fn skip_operator(&self, at: usize) -> Option<usize> {
        if !self.is(at, "operator") {
            return None;
        }
        if self.is_any(at + 1, &["(", "["]) && self.close(at + 1) == Some(at + 2) {
            return Some(at + 3);
        }
        let Some(first) = self.tokens.get(at + 1) else { return Some(at + 1) };
        let rest = &self.text[first.start..];
        let length = OPERATORS.iter().find(|name| rest.starts_with(**name)).map_or(0, |name| name.len());
        let count =
            self.tokens[at + 1..].iter().take_while(|token| token.end() <= first.start + length).count();
        Some(at + 1 + count)
    }

    /// The index after `requires` with its parentheses and, in an expression, its braces, which are not a
    /// function body.
    fn skip_requires(&self, at: usize) -> Option<usize> {
        if !self.is(at, "requires") {
            return None;
        }
        let in_expression = at > 0 && self.is_any(at - 1, &["requires", "=", "&", "|", "(", "!"]);
        let next = if self.is(at + 1, "(") { self.skip(at + 1) } else { at + 1 };
        Some(if in_expression && self.is(next, "{") { self.skip(next) } else { next })
    }

    /// The index after the template arguments that open there.
    pub(crate) fn skip_angles(&self, at: usize) -> Option<usize> {
        let (mut depth, mut next) = (0_usize, at);
        while next < self.len().min(at.saturating_add(REACH)) {
            match self.mark(next) {
                Some(b'<') => {
                    // After `sizeof(T)` or a number it is a comparison.
                    let compares =
                        next > at && (self.is(next - 1, ")") || self.is_kind(next - 1, Kind::Number));
                    depth += usize::from(!compares);
                }
                Some(b'>') => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(next + 1);
                    }
                }
                Some(b';' | b'{' | b')' | b']' | b'}') if self.close(next).is_none() => return None,
                _ => (),
            }
            next = self.skip(next);
        }
        None
    }

    /// The index after a template's parameters that contain a comparison such as `N < 4`, so that their
    /// brackets do not match. The last bracket is the one followed by a word.
    pub(crate) fn skip_unmatched_head(&self, at: usize) -> Option<usize> {
        let mut next = at;
        while next < self.len().min(at.saturating_add(REACH)) {
            match self.mark(next) {
                Some(b';' | b'{' | b'}') => return None,
                Some(b'>') if self.is_kind(next + 1, Kind::Word) => return Some(next + 1),
                _ => next = self.skip(next),
            }
        }
        None
    }

    /// As [`Self::skip_angles`], but only after a word, where `<` is not a comparison.
    pub(crate) fn skip_template_arguments(&self, at: usize) -> Option<usize> {
        let named = at > 0 && self.is_kind(at - 1, Kind::Word) && !self.is(at - 1, "operator");
        if named && self.is(at, "<") { self.skip_angles(at) } else { None }
    }

    /// Whether the declaration that contains the word at `at` has the specifier.
    pub(crate) fn has_specifier(&self, at: usize, word: &str) -> bool {
        let start = self.declaration_start(at);
        if (start..at).any(|before| self.is(before, word)) {
            return true;
        }
        let mut next = at + 1;
        while next < self.len().min(at + REACH) {
            if let Some(after) = self.skip_attribute(next).or_else(|| self.skip_template_arguments(next)) {
                next = after;
                continue;
            }
            if self.is(next, word) {
                return true;
            }
            if self.is_any(next, &["(", "[", "{", ";", "=", ",", ")", "}"]) {
                return false;
            }
            next += 1;
        }
        false
    }

    /// Where the declaration starts whose specifiers include the word at `at`.
    pub(crate) fn declaration_start(&self, at: usize) -> usize {
        let mut start = at;
        while start > 0 && at - start < REACH {
            let before = start - 1;
            if self.is_any(before, &[";", "{", "}", ":", "(", ","]) {
                return start;
            }
            if self.is_any(before, &[")", "]"]) {
                // The parentheses of an attribute belong to the declaration; those of an `if` do not.
                let Some(open) = self.open(before) else { return start };
                let first = if self.is(before, "]") { open } else { open.saturating_sub(1) };
                if self.skip_attribute(first) != Some(start) {
                    return start;
                }
                start = first;
                continue;
            }
            start = before;
        }
        start
    }

    /// The file and line of a token, according to the preprocessor's line markers.
    pub(crate) fn location(&self, at: usize) -> (&'a str, usize) {
        let start = self.tokens.get(at).map_or(self.text.len(), |token| token.start);
        let before = self.tokens.get(..at).unwrap_or_default().iter().rev();
        let marks = before.filter(|token| token.kind == Kind::Directive);
        let mark = marks.filter_map(|token| Some((token, line_mark(token.text)?))).next();
        let (from, (line, file)) =
            mark.map_or((0, (1, "text")), |(token, (line, file))| (token.start, (line, file)));
        let lines = self.text[from..start].matches('\n').count();
        // The marker gives the number of the line after it.
        (file, (line + lines).saturating_sub(usize::from(mark.is_some())))
    }

    /// The tokens as text, without directives and without HIP's keywords.
    pub(crate) fn join(&self, range: std::ops::Range<usize>) -> String {
        self.join_if(range, |token| token.kind != Kind::Word || !WORDS.contains(&token.text))
    }

    /// The tokens as text, without directives.
    pub(crate) fn join_all(&self, range: std::ops::Range<usize>) -> String {
        self.join_if(range, |_| true)
    }

    fn join_if(&self, range: std::ops::Range<usize>, kept: impl Fn(&Token) -> bool) -> String {
        let tokens = self.tokens.get(range).unwrap_or_default().iter();
        let texts =
            tokens.filter(|token| token.kind != Kind::Directive && kept(token)).map(|token| token.text);
        texts.collect::<Vec<_>>().join(" ")
    }
}

/// The line and file of a marker such as `# 12 "kernel.hip"`.
fn line_mark(directive: &str) -> Option<(usize, &str)> {
    let (line, rest) = directive.strip_prefix('#')?.trim_start().split_once(' ')?;
    let file = rest.trim_start().strip_prefix('"')?.split('"').next()?;
    Some((line.parse().ok()?, file))
}
