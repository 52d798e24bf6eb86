//! A run of tokens with its functions and calls: the code of a file, or what a macro stands for.

use crate::lex::Token;
use crate::preprocess::Macros;
use std::ops::Range;

/// A run of tokens.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) tokens: &'a [Token<'a>],
    pub(crate) functions: Vec<Function>,
    /// The macro that stands for it, and its parameters.
    pub(crate) define: Option<(&'a str, &'a [&'a str])>,
}

/// A function with a body, as ranges of tokens.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// What stands before its name.
    pub(crate) header: Range<usize>,
    /// What stands between the parentheses.
    pub(crate) parameters: Range<usize>,
    /// What stands between the braces.
    pub(crate) body: Range<usize>,
    /// Whether a GPU runs it.
    pub(crate) on_device: bool,
}

/// A call, as ranges of tokens.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The name's token.
    pub(crate) name: usize,
    pub(crate) arguments: Vec<Range<usize>>,
}

/// Words before a parenthesis that are no functions, and words before a name that is called.
const KEYWORDS: [&str; 13] = [
    "if", "for", "while", "switch", "catch", "return", "sizeof", "alignof", "decltype", "else", "do", "case",
    "throw",
];

impl<'a> Scene<'a> {
    pub(crate) fn new(
        tokens: &'a [Token<'a>],
        define: Option<(&'a str, &'a [&'a str])>,
        macros: &Macros,
    ) -> Scene<'a> {
        let mut scene = Scene { tokens, functions: Vec::new(), define };
        scene.functions = scene.find_functions(macros);
        scene
    }

    /// The text of a token; none is an empty text.
    pub(crate) fn text(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    pub(crate) fn is(&self, at: usize, text: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(text))
    }

    pub(crate) fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(Token::is_word)
    }

    /// The indices of words.
    pub(crate) fn words(&self) -> impl Iterator<Item = usize> {
        (0..self.tokens.len()).filter(|at| self.is_word(*at))
    }

    /// The end of a bracket that opens here: the token that closes it.
    pub(crate) fn close(&self, open: usize) -> Option<usize> {
        let (opens, closes) = match self.text(open) {
            "(" => ("(", ")"),
            "[" => ("[", "]"),
            "{" => {
                let depth = self.tokens[open].depth;
                return (open + 1..self.tokens.len())
                    .find(|at| self.is(*at, "}") && self.tokens[*at].depth == depth);
            }
            _ => return None,
        };
        let mut depth = 0_usize;
        for at in open..self.tokens.len() {
            if self.is(at, opens) {
                depth += 1;
            } else if self.is(at, closes) {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
        }
        None
    }

    /// The function that a token belongs to.
    pub(crate) fn function_at(&self, at: usize) -> Option<&Function> {
        self.functions.iter().find(|function| function.body.contains(&at))
    }

    /// Whether a GPU runs this token.
    pub(crate) fn on_device(&self, at: usize) -> bool {
        self.function_at(at).is_some_and(|function| function.on_device)
    }

    /// All calls, also those of macros, but no declarations.
    pub(crate) fn calls(&self) -> impl Iterator<Item = Call> {
        self.words().filter_map(|at| self.call(at))
    }

    /// The call of the function whose name stands here.
    pub(crate) fn call(&self, name: usize) -> Option<Call> {
        if KEYWORDS.contains(&self.text(name)) {
            return None;
        }
        if let Some(before) = name.checked_sub(1).map(|at| self.tokens[at]) {
            // `int f(…)` declares, `x.f(…)` is another function.
            let declares = before.is_word() && !KEYWORDS.contains(&before.text);
            if declares || before.is(".") || before.is("->") {
                return None;
            }
        }
        let mut open = name + 1;
        if self.is(open, "<") {
            open = (open..self.tokens.len().min(open + 16)).find(|at| self.is(*at, ">"))? + 1;
        }
        if !self.is(open, "(") {
            return None;
        }
        let close = self.close(open)?;
        Some(Call { name, arguments: self.arguments(open + 1..close) })
    }

    /// The parts between commas; commas within brackets do not count.
    pub(crate) fn arguments(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut arguments = Vec::new();
        let (mut depth, mut start) = (0_i32, range.start);
        for at in range.clone() {
            match self.text(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                "," if depth == 0 => {
                    arguments.push(start..at);
                    start = at + 1;
                }
                _ => {}
            }
        }
        if start < range.end {
            arguments.push(start..range.end);
        }
        arguments
    }

    /// The words and signs of the type that a name has within a function: `const float *` for a parameter `const float* x`.
    pub(crate) fn type_of(&self, function: &Function, name: &str) -> Option<&'a [Token<'a>]> {
        let indices = function.parameters.clone().chain(function.body.clone());
        indices.into_iter().find_map(|at| {
            let declares = self.is(at, name) && ["=", ";", ",", ")", "[", "{"].contains(&self.text(at + 1));
            if !declares || at == 0 {
                return None;
            }
            let before = &self.tokens[at - 1];
            let ends_type = (before.is_word() && !KEYWORDS.contains(&before.text))
                || before.is("*")
                || before.is("&")
                || before.is(">");
            let start = (0..at)
                .rev()
                .find(|start| [";", "{", "}", "(", ")", ",", "="].contains(&self.text(*start)))?
                + 1;
            // `a * b` is a product unless the statement starts with it.
            (ends_type && start < at && self.is_word(start) && !KEYWORDS.contains(&self.text(start)))
                .then(|| &self.tokens[start..at])
        })
    }

    fn find_functions(&self, macros: &Macros) -> Vec<Function> {
        let mut functions = Vec::new();
        let (mut at, mut start) = (0, 0);
        while at < self.tokens.len() {
            match self.text(at) {
                ";" | "}" => start = at + 1,
                "{" => {
                    // Other braces belong to namespaces and types, whose functions count.
                    if let Some(function) = self.function_before(start, at, macros) {
                        at = function.body.end;
                        functions.push(function);
                    }
                    start = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
        functions
    }

    /// The function whose body opens at `brace`, if what stands since `start` is a function's head.
    fn function_before(&self, start: usize, brace: usize, macros: &Macros) -> Option<Function> {
        let mut open = None;
        let mut at = start;
        while at < brace {
            if self.is(at, "(") {
                let close = self.close(at).filter(|close| *close < brace)?;
                let before = at.checked_sub(1).filter(|before| *before >= start);
                let name = before.map_or("", |before| self.text(before));
                let attribute =
                    ["__launch_bounds__", "__attribute__", "__align__", "alignas", "__cluster_dims__"]
                        .contains(&name);
                if !attribute && !KEYWORDS.contains(&name) && before.is_some() {
                    open.get_or_insert((at, close));
                }
                at = close;
            }
            at += 1;
        }
        let (open, close) = open?;
        let header = start..open - 1;
        let device = |word: &str| macros.mentions(word, "__device__") || macros.mentions(word, "__global__");
        let words = self.tokens[start..open - 1].iter().filter(|token| token.is_word());
        let on_device = words
            .into_iter()
            .any(|token| ["__device__", "__global__"].contains(&token.text) || device(token.text));
        let end = self.close(brace).unwrap_or(self.tokens.len());
        Some(Function { header, parameters: open + 1..close, body: brace + 1..end, on_device })
    }
}
