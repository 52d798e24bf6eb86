//! From preprocessed HIP text to C++: HIP's own words are replaced, and kernels and variables register themselves.
//!
//! Nothing here changes a line break, so lines and the compiler's messages about them stay as they were.

mod kernels;
mod shared;
mod variables;

use super::declaration::{Declaration, Scope};
use super::source::Source;
use super::tokens::Kind;
use kernels::Class;
use shared::Shared;
use std::collections::HashSet;

/// What a variable template is called that holds the launch bounds of the kernel template of the name that follows.
const BOUNDS: &str = "hiphost_bounds_";

/// Text that a C++ compiler takes.
#[derive(Debug)]
pub(crate) struct Rewritten {
    pub(crate) text: String,
    /// Messages about kernels that could not be read; usually none.
    pub(crate) lost: String,
    /// Names of the kernel templates that have launch bounds.
    bounded: HashSet<String>,
}

impl Rewritten {
    /// The lines that register what name expressions ask for. The compiler reports mistakes in them as its own.
    pub(crate) fn register(&self, expressions: &[String]) -> String {
        let mut out = String::new();
        for (index, expression) in expressions.iter().enumerate() {
            let entity = entity(expression);
            let shown = expression.replace(['\\', '"', '\n', '\r'], " ");
            let bounds = bounds_of(&self.bounded, entity).unwrap_or_else(|| "0".into());
            out += &format!(
                "\n# 1 \"name expression {shown}\"\n\
                 static ::hiphost::Expression<{index}, &{entity}> hiphost_expression_{index}({bounds});\n"
            );
        }
        out
    }
}

/// A name expression without the `&` and the parentheses around it.
fn entity(expression: &str) -> &str {
    let mut entity = expression.trim();
    while let Some(inner) = entity.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        entity = inner.trim();
    }
    entity.trim_start_matches('&').trim()
}

/// Where the launch bounds of a template's instance are to be had: its name with ours instead of the template's.
fn bounds_of(bounded: &HashSet<String>, instance: &str) -> Option<String> {
    let source = Source::new(instance);
    let mut at = 0;
    while at < source.len() {
        let token = source.tokens[at];
        let end = if source.is(at + 1, "<") { source.skip_angles(at + 1) } else { None };
        if end == Some(source.len()) && bounded.contains(token.text) {
            let (before, after) = (&instance[..token.start], &instance[token.start..]);
            return Some(format!("{before}{BOUNDS}{after}"));
        }
        at = end.unwrap_or(at + 1);
    }
    None
}

/// Rewrites a text that the preprocessor has been through.
pub(crate) fn rewrite(text: &str) -> Rewritten {
    let source = Source::new(text);
    let count = source.len();
    let mut rewriter = Rewriter {
        source: &source,
        replaced: vec![None; count],
        added: vec![String::new(); count],
        bodies: Vec::new(),
        dynamic: Vec::new(),
        bounded: HashSet::new(),
        read: HashSet::new(),
        registered: 0,
    };
    rewriter.declarations();
    rewriter.words();
    rewriter.give_dynamic_shared();
    let text = rewriter.text();
    Rewritten { text, lost: rewriter.lost(), bounded: rewriter.bounded }
}

struct Rewriter<'s, 'a> {
    source: &'s Source<'a>,
    /// What stands instead of a token.
    replaced: Vec<Option<String>>,
    /// What follows a token.
    added: Vec<String>,
    /// Where functions' bodies open, and where their declarations start.
    bodies: Vec<(usize, usize)>,
    /// Dynamic shared memory declared outside functions: where, and how a function declares it for itself.
    dynamic: Vec<(usize, Shared)>,
    bounded: HashSet<String>,
    /// The words `__global__` of kernels that are registered, or that name expressions ask for.
    read: HashSet<usize>,
    registered: usize,
}

impl Rewriter<'_, '_> {
    /// Visits what namespaces and classes declare.
    fn declarations(&mut self) {
        let mut left = vec![(0, self.source.len(), None)];
        while let Some((mut at, end, class)) = left.pop() {
            let class: Option<Class> = class;
            while at < end {
                let declaration = Declaration::read(self.source, at, end);
                at = declaration.end.max(at + 1);
                if declaration.has(self.source, "__global__") {
                    self.kernel(&declaration, class.as_ref());
                } else if class.is_none() {
                    self.variable(&declaration);
                }
                let Some((scope, open)) = declaration.body else { continue };
                let inner = match scope {
                    Scope::Function => {
                        self.bodies.push((open, declaration.start));
                        continue;
                    }
                    Scope::Class => Some(self.class(&declaration, class.as_ref())),
                    Scope::Namespace => class.clone(),
                };
                left.push((open + 1, self.source.close(open).unwrap_or(open + 1), inner));
            }
        }
    }

    /// Replaces HIP's words, wherever they are.
    fn words(&mut self) {
        let source = self.source;
        let inside = self.inside_functions();
        let mut at = 0;
        while at < source.len() {
            let text = source.tokens[at].text;
            match text {
                // What an attribute calls noinline is the compiler's own word.
                "__attribute__" | "__attribute" => {
                    at = source.skip_attribute(at).unwrap_or(at + 1);
                    continue;
                }
                _ if self.replaced[at].is_some() || source.tokens[at].kind != Kind::Word => (),
                "__device__" | "__constant__" | "__managed__" | "__grid_constant__" => self.replace(at, ""),
                "__noinline__" => self.replace(at, "__attribute__((noinline))"),
                "__forceinline__" => self.inline(at, &["inline"]),
                "__global__" => self.inline(at, &["inline", "__forceinline__"]),
                "__launch_bounds__" => {
                    let end = source.skip_attribute(at).unwrap_or(at + 1);
                    (at..end)
                        .filter(|at| !source.is_kind(*at, Kind::Directive))
                        .for_each(|at| self.replace(at, ""));
                }
                "__shared__" => self.shared(at, inside[at]),
                _ => (),
            }
            at += 1;
        }
    }

    /// A function that is inlined. `inline` may be said once.
    fn inline(&mut self, at: usize, said: &[&str]) {
        let attribute = "__attribute__((always_inline))";
        let said = said.iter().any(|word| self.source.has_specifier(at, word));
        self.replace(at, &if said { attribute.into() } else { format!("inline {attribute}") });
    }

    fn next_number(&mut self) -> usize {
        self.registered += 1;
        self.registered
    }

    /// Adds text after a declaration, whose last token that is.
    fn add_behind(&mut self, last: usize, text: &str) {
        self.added[last] += " ";
        self.added[last] += text;
    }

    fn replace(&mut self, at: usize, text: &str) {
        self.replaced[at] = Some(text.into());
    }

    fn text(&self) -> String {
        let source = self.source;
        let mut out = String::with_capacity(source.text.len() + 4096);
        let mut from = 0;
        for (at, token) in source.tokens.iter().enumerate() {
            out += &source.text[from..token.start];
            match &self.replaced[at] {
                // A space keeps apart what a word stood between.
                Some(text) if text.is_empty() => out.push(' '),
                Some(text) => out += text,
                None => out += token.text,
            }
            // A directive ends with its line.
            if token.kind == Kind::Directive && !self.added[at].is_empty() {
                out.push('\n');
            }
            out += &self.added[at];
            from = token.end();
        }
        out + &source.text[from..]
    }
}

#[cfg(test)]
#[path = "rewrite_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "rewrite_nesting.rs"]
mod nesting;
