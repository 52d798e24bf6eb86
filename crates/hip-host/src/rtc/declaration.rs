//! One declaration in a namespace or a class: where it ends, and what it declares as far as that matters for
//! rewriting.

use super::source::Source;
use super::tokens::Kind;

/// What the braces of a declaration hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Declarations: the text itself, a namespace, `extern "C"`.
    Namespace,
    /// Members.
    Class,
    /// Statements.
    Function,
}

/// A declaration. All positions are token indices.
#[derive(Debug)]
pub(crate) struct Declaration {
    pub(crate) start: usize,
    /// After its semicolon or its closing brace.
    pub(crate) end: usize,
    /// Where its own words start: after `template <...>`.
    pub(crate) words: usize,
    /// The parameters of a template, from `template` to after the bracket.
    pub(crate) template: Option<(usize, usize)>,
    /// `template` without a bracket: an explicit instantiation.
    pub(crate) instantiation: bool,
    /// What its braces contain, and where they open.
    pub(crate) body: Option<(Scope, usize)>,
    /// It initialises a variable.
    pub(crate) initialised: bool,
}

impl Declaration {
    /// Reads the declaration that starts at `start`; it ends at `limit` at the latest.
    pub(crate) fn read(source: &Source, start: usize, limit: usize) -> Self {
        let mut read = Self {
            start,
            end: limit,
            words: start,
            template: None,
            instantiation: false,
            body: None,
            initialised: false,
        };
        let mut state = State::default();
        let mut at = start;
        while at < limit {
            match read.step(source, &mut state, at) {
                Step::On(next) => at = next,
                Step::End(end) => {
                    read.end = end.min(limit);
                    return read;
                }
            }
        }
        read
    }

    fn step(&mut self, source: &Source, state: &mut State, at: usize) -> Step {
        if let Some(next) = source.skip_attribute(at) {
            // The preprocessor's line markers may precede a declaration and are not part of it.
            if at == self.words && source.is_kind(at, Kind::Directive) {
                self.words = next;
            }
            return Step::On(next);
        }
        if source.is(at, ";") || source.is(at, "}") {
            return Step::End(at + 1);
        }
        if source.is(at, "template") && at == self.words {
            return Step::On(self.template_head(source, at));
        }
        if source.is_any(at, &["namespace", "struct", "class", "union", "enum"]) {
            state.key = Some(at);
        }
        if source.is(at, ":") && source.is_any(at.wrapping_sub(1), &["public", "private", "protected"]) {
            return Step::End(at + 1);
        }
        if let Some(next) = source.skip_template_arguments(at).filter(|_| !self.initialised) {
            return Step::On(next);
        }
        match source.tokens[at].text {
            "(" if !self.initialised => state.parameters = true,
            "=" => self.initialised = true,
            ":" => state.initialisers = state.parameters,
            "{" => return self.brace(source, state, at),
            _ => (),
        }
        Step::On(source.skip(at))
    }

    /// Reads `template <...>`, `template <>` or `template`; returns the index after it.
    fn template_head(&mut self, source: &Source, at: usize) -> usize {
        self.words = at + 1;
        if source.is(at + 1, "<") {
            let end = source.skip_angles(at + 1).or_else(|| source.skip_unmatched_head(at + 1));
            self.words = end.unwrap_or(at + 1);
            // `template <>` has no parameters.
            if end.is_none_or(|end| end > at + 3) {
                self.template = Some((at, self.words));
            }
        } else {
            self.instantiation = true;
        }
        self.words
    }

    fn brace(&mut self, source: &Source, state: &State, at: usize) -> Step {
        let Some(close) = source.close(at) else { return Step::End(at + 1) };
        if at == self.words {
            // Braces that belong to nothing known are skipped by themselves.
            return Step::End(close + 1);
        }
        let linkage = at >= 2 && source.is_kind(at - 1, Kind::Literal) && source.is(at - 2, "extern");
        let key = state.key.filter(|_| !state.parameters && !self.initialised);
        if linkage || key.is_some_and(|key| source.is(key, "namespace")) {
            self.body = Some((Scope::Namespace, at));
            return Step::End(close + 1);
        }
        if let Some(key) = key {
            // Variables may follow the class. Enumerators declare nothing that is rewritten.
            if !source.is(key, "enum") && self.body.is_none() {
                self.body = Some((Scope::Class, at));
            }
            return Step::On(close + 1);
        }
        // A constructor's `: member{value}` is not its body.
        let member = state.initialisers && (source.is_kind(at - 1, Kind::Word) || source.is(at - 1, ">"));
        if !state.parameters || self.initialised || member {
            self.initialised |= !state.parameters;
            return Step::On(close + 1);
        }
        self.body = Some((Scope::Function, at));
        Step::End(close + 1)
    }

    /// Whether the declaration has this word outside parentheses.
    pub(crate) fn has(&self, source: &Source, word: &str) -> bool {
        let end = self.body.map_or(self.end, |(_, open)| open);
        let mut at = self.words;
        while at < end {
            if source.is(at, word) {
                return true;
            }
            if source.is(at, "=") {
                return false;
            }
            at = source.skip_attribute(at).unwrap_or_else(|| source.skip(at));
        }
        false
    }

    /// The name of the class that its braces define, with template arguments; `None` for an unnamed class.
    pub(crate) fn class_name(&self, source: &Source) -> Option<String> {
        let (_, open) = self.body.filter(|(scope, _)| *scope == Scope::Class)?;
        let mut at = self.words;
        while at < open && !source.is_any(at, &["struct", "class", "union"]) {
            at = source.skip_attribute(at).unwrap_or(at + 1);
        }
        let mut name = String::new();
        at += 1;
        while at < open && !source.is_any(at, &[":", "final"]) {
            let attribute = source.skip_attribute(at);
            let next = attribute.or_else(|| source.skip_template_arguments(at)).unwrap_or(at + 1);
            if attribute.is_none() {
                name += &source.join(at..next);
            }
            at = next;
        }
        (!name.is_empty()).then_some(name)
    }
}

enum Step {
    On(usize),
    End(usize),
}

#[derive(Default)]
struct State {
    /// The last of `namespace`, `struct` and similar keywords.
    key: Option<usize>,
    /// A parameter list was seen.
    parameters: bool,
    /// A constructor's initialisers have begun.
    initialisers: bool,
}
