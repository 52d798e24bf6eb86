//! From preprocessed HIP source to C++: replaces HIP's keywords, and makes kernels and variables register
//! themselves.
//!
//! Nothing here changes a line break, so line numbers in the compiler's messages stay right.

mod kernels;
mod shared;
mod variables;

use super::declaration::{Declaration, Scope};
use super::source::Source;
use super::tokens::Kind;
use kernels::Class;
use shared::Shared;
use std::collections::HashSet;

/// The prefix of the variable template that holds the launch bounds of a kernel template; the kernel's name
/// follows.
const BOUNDS: &str = "hiphost_bounds_";

/// Source that a C++ compiler accepts.
#[derive(Debug)]
pub(crate) struct Rewritten {
    pub(crate) text: String,
    /// Messages about kernels that could not be parsed; usually empty.
    pub(crate) lost: String,
    /// Names of the kernel templates that have launch bounds.
    bounded: HashSet<String>,
}

impl Rewritten {
    /// The lines that register the entities that name expressions ask for. The compiler reports mistakes in
    /// them as its own.
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

/// An expression for the launch bounds of a template's instance: the instance's name, with the bounds
/// template in place of the kernel template.
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

/// Rewrites preprocessed source.
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
    /// The replacement of each token, if any.
    replaced: Vec<Option<String>>,
    /// Text added after each token.
    added: Vec<String>,
    /// Where function bodies open, and where their declarations start.
    bodies: Vec<(usize, usize)>,
    /// Dynamic shared memory declared outside functions: where, and how a function declares it for itself.
    dynamic: Vec<(usize, Shared)>,
    bounded: HashSet<String>,
    /// The `__global__` tokens of kernels that are registered, or that name expressions ask for.
    read: HashSet<usize>,
    registered: usize,
}

impl Rewriter<'_, '_> {
    /// Visits the declarations of namespaces and classes.
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

    /// Replaces HIP's keywords everywhere.
    fn words(&mut self) {
        let source = self.source;
        let inside = self.inside_functions();
        let mut at = 0;
        while at < source.len() {
            let text = source.tokens[at].text;
            match text {
                // Inside an attribute, `noinline` is the compiler's own keyword.
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

    /// Makes a function inline. `inline` must not be repeated.
    fn inline(&mut self, at: usize, said: &[&str]) {
        let attribute = "__attribute__((always_inline))";
        let said = said.iter().any(|word| self.source.has_specifier(at, word));
        self.replace(at, &if said { attribute.into() } else { format!("inline {attribute}") });
    }

    fn next_number(&mut self) -> usize {
        self.registered += 1;
        self.registered
    }

    /// Adds text after a declaration, given its last token.
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
                // A space separates the words around a removed one.
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
