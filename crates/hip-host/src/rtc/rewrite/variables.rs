//! Variables at namespace scope, which the host can look up by name.

use super::Rewriter;
use crate::rtc::declaration::{Declaration, Scope};
use crate::rtc::tokens::Kind;

/// Punctuation that can follow a declared name.
const AFTER_NAME: [&str; 6] = ["=", "[", "{", ";", ",", "("];

impl Rewriter<'_, '_> {
    /// Registers the variables of a declaration with `__device__` or a similar keyword.
    pub(super) fn variable(&mut self, declaration: &Declaration) {
        let source = self.source;
        let marked = ["__device__", "__constant__", "__managed__"].iter().any(|w| declaration.has(source, w));
        let elsewhere = declaration.has(source, "extern") && !declaration.initialised;
        let other = ["typedef", "using", "friend", "operator"].iter().any(|w| declaration.has(source, w));
        let function = matches!(declaration.body, Some((Scope::Function | Scope::Namespace, _)));
        if !marked || elsewhere || other || function || declaration.template.is_some() {
            return;
        }
        for name in self.declared_names(declaration) {
            let number = self.next_number();
            self.add_behind(
                declaration.end - 1,
                &format!("static ::hiphost::Variable<&{name}> hiphost_rtc_{number};"),
            );
        }
    }

    /// The variables that a declaration declares; empty if it declares a function.
    fn declared_names(&self, declaration: &Declaration) -> Vec<String> {
        let source = self.source;
        let Some((name, mut at)) = self.first_name(declaration) else { return Vec::new() };
        let mut names = vec![name];
        while at < declaration.end && !source.is(at, ";") {
            if !source.is(at, ",") {
                at = source.skip_template_arguments(at).unwrap_or_else(|| source.skip(at));
                continue;
            }
            at += 1;
            while source.is_any(at, &["*", "&"]) {
                at += 1;
            }
            if source.is_kind(at, Kind::Word) && source.is_any(at + 1, &AFTER_NAME) {
                names.push(source.tokens[at].text.into());
            }
        }
        names
    }

    /// The first variable, and the index after its name.
    fn first_name(&self, declaration: &Declaration) -> Option<(String, usize)> {
        let source = self.source;
        let mut at = declaration.words;
        let mut last = None;
        while at < declaration.end {
            if let Some(next) = source.skip_attribute(at).or_else(|| source.skip_template_arguments(at)) {
                at = next;
                continue;
            }
            if source.is(at, "(") {
                let inside = at + 1;
                if source.is_any(inside, &["*", "&"]) {
                    // A pointer to a function or to an array.
                    let name = (inside..source.close(at)?).find(|at| source.is_kind(*at, Kind::Word))?;
                    return Some((source.tokens[name].text.into(), source.skip(at)));
                }
                // A value in parentheses is an initialiser; anything else is a parameter list.
                let value = source.is_kind(inside, Kind::Number) || source.is_kind(inside, Kind::Literal);
                if !value && !source.is(inside, "-") {
                    return None;
                }
            }
            if source.is_any(at, &AFTER_NAME) {
                let name: usize = last?;
                // The name of the variable's class, or a qualified name, is not a variable of this scope.
                let foreign =
                    source.is_any(name.checked_sub(1)?, &["::", "struct", "class", "union", "enum"]);
                if source.is(at, "{") && declaration.body.is_some_and(|(_, open)| open == at) {
                    (at, last) = (source.skip(at), None);
                    continue;
                }
                return (!foreign).then(|| (source.tokens[name].text.into(), at));
            }
            if source.is_kind(at, Kind::Word) {
                last = Some(at);
            }
            at += 1;
        }
        None
    }
}
