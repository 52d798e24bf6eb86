//! From preprocessed HIP text to C++: HIP's own words are replaced, and kernels and variables register themselves.
//!
//! Nothing here changes a line break, so lines and the compiler's messages about them stay as they were.

use super::declaration::{Declaration, Scope};
use super::source::Source;
use super::tokens::Kind;
use std::collections::HashSet;

/// What a variable template is called that holds the launch bounds of the kernel template of the name that follows.
const BOUNDS: &str = "hiphost_bounds_";
/// After a kernel's brackets come its parameters; after these marks comes what a declarator is given.
const AFTER_NAME: [&str; 6] = ["=", "[", "{", ";", ",", "("];

/// Text that a C++ compiler takes.
#[derive(Debug)]
pub(crate) struct Rewritten {
    pub(crate) text: String,
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
        registered: 0,
    };
    rewriter.declarations();
    rewriter.words();
    rewriter.give_dynamic_shared();
    let text = rewriter.text();
    Rewritten { text, bounded: rewriter.bounded }
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
    registered: usize,
}

/// A name for dynamic shared memory.
struct Shared {
    name: String,
    declaration: String,
}

impl Rewriter<'_, '_> {
    /// Visits what namespaces and classes declare.
    fn declarations(&mut self) {
        let mut left = vec![(0, self.source.len(), Scope::Namespace)];
        while let Some((mut at, end, scope)) = left.pop() {
            while at < end {
                let declaration = Declaration::read(self.source, at, end);
                at = declaration.end.max(at + 1);
                match declaration.body {
                    Some((Scope::Function, open)) => self.bodies.push((open, declaration.start)),
                    Some((inner, open)) => {
                        let close = self.source.close(open).unwrap_or(open + 1);
                        left.push((open + 1, close, inner));
                    }
                    None => (),
                }
                if declaration.has(self.source, "__global__") {
                    self.kernel(&declaration, scope);
                } else if scope == Scope::Namespace {
                    self.variable(&declaration);
                }
            }
        }
    }

    /// Registers a kernel that is complete, and notes the launch bounds of a template.
    fn kernel(&mut self, declaration: &Declaration, scope: Scope) {
        let source = self.source;
        if declaration.instantiation {
            // `inline` may not stand here.
            for at in (declaration.words..declaration.end).filter(|at| source.is(*at, "__global__")) {
                self.replaced[at] = Some(String::new());
            }
        }
        let complete = declaration.body.is_some() || declaration.instantiation;
        let is_extern = source.is(declaration.start, "extern") && declaration.instantiation;
        let Some((name, open)) = self.kernel_name(declaration).filter(|_| complete && !is_extern) else {
            return;
        };
        let (Some(close), Scope::Namespace) = (source.close(open), scope) else { return };
        let bounds = self.launch_bounds(declaration);
        if let Some((start, end)) = declaration.template {
            if let Some(bounds) = bounds.filter(|_| self.bounded.insert(name.clone())) {
                let head = source.join(start..end);
                self.add(declaration, &format!("{head} constexpr unsigned {BOUNDS}{name} = ({bounds});"));
            }
            return;
        }
        let parameters = self.parameters(open + 1, close);
        let bounds = bounds.or_else(|| bounds_of(&self.bounded, &name)).unwrap_or_else(|| "0".into());
        let number = self.next_number();
        self.add(
            declaration,
            &format!(
                "static ::hiphost::Registration<static_cast<void (*)({parameters})>(&{name})> hiphost_rtc_{number}({bounds});"
            ),
        );
    }

    /// A kernel's name as it is declared, with its template arguments, and where its parameters open.
    fn kernel_name(&self, declaration: &Declaration) -> Option<(String, usize)> {
        let source = self.source;
        let end = declaration.body.map_or(declaration.end, |(_, open)| open);
        let result = (declaration.words..end).find(|at| source.is(*at, "void"))?;
        let mut at = result + 1;
        let mut name = String::new();
        while at < end && !source.is(at, "(") {
            if let Some(next) = source.skip_attribute(at) {
                at = next;
                continue;
            }
            let next = source.skip_template_arguments(at).unwrap_or(at + 1);
            let part = source.join(at..next);
            name += &part;
            at = next;
        }
        (at < end && !name.is_empty()).then_some((name, at))
    }

    /// The first number of `__launch_bounds__(threads, blocks)`, as an expression.
    fn launch_bounds(&self, declaration: &Declaration) -> Option<String> {
        let source = self.source;
        let end = declaration.body.map_or(declaration.end, |(_, open)| open);
        let word = (declaration.words..end).find(|at| source.is(*at, "__launch_bounds__"))?;
        let close = source.close(word + 1)?;
        let mut at = word + 2;
        while at < close && !source.is(at, ",") {
            at = source.skip_template_arguments(at).unwrap_or_else(|| source.skip(at));
        }
        Some(source.join(word + 2..at))
    }

    /// A parameter list without default arguments.
    fn parameters(&self, start: usize, end: usize) -> String {
        let source = self.source;
        let (mut parts, mut from, mut at) = (Vec::new(), start, start);
        while at < end {
            if source.is(at, "=") {
                parts.push(source.join(from..at));
                while at < end && !source.is(at, ",") {
                    at = source.skip_template_arguments(at).unwrap_or_else(|| source.skip(at));
                }
                from = at;
            } else {
                at = source.skip_template_arguments(at).unwrap_or_else(|| source.skip(at));
            }
        }
        parts.push(source.join(from.min(end)..end));
        parts.join(" ")
    }

    /// Registers the variables of a declaration that says `__device__` or the like.
    fn variable(&mut self, declaration: &Declaration) {
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
            self.add(declaration, &format!("static ::hiphost::Variable<&{name}> hiphost_rtc_{number};"));
        }
    }

    /// The variables that a declaration declares; none if it declares a function.
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
                // Values in parentheses are an initialiser; anything else is a parameter list.
                let value = source.is_kind(inside, Kind::Number) || source.is_kind(inside, Kind::Literal);
                if !value && !source.is(inside, "-") {
                    return None;
                }
            }
            if source.is_any(at, &AFTER_NAME) {
                let name: usize = last?;
                // The class that a variable is declared with, or a name of somewhere else, is none of this scope's.
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

    /// Which tokens are in the body of a function.
    fn inside_functions(&self) -> Vec<bool> {
        let mut inside = vec![false; self.source.len()];
        for (open, _) in &self.bodies {
            let close = self.source.close(*open).unwrap_or(*open);
            inside[*open..close].fill(true);
        }
        inside
    }

    /// Shared memory: of the OS thread that runs the block, or, where it is `extern`, what the launch asked for.
    fn shared(&mut self, at: usize, in_function: bool) {
        let source = self.source;
        let start = source.declaration_start(at);
        if !source.has_specifier(at, "extern") {
            let said = source.has_specifier(at, "static");
            return self.replace(at, if said { "thread_local" } else { "static thread_local" });
        }
        let mut end = at;
        while end < source.len() && !source.is(end, ";") {
            end = source.skip(end);
        }
        let declared = self.dynamic_declarators(start, end);
        if !in_function {
            // The declaration stays, for what only names the array; each function declares it again for itself.
            self.replace(at, "");
            return self.dynamic.extend(declared.into_iter().map(|shared| (at, shared)));
        }
        (start..(end + 1).min(source.len()))
            .filter(|at| !source.is_kind(*at, Kind::Directive))
            .for_each(|at| self.replace(at, ""));
        let text: Vec<String> = declared.into_iter().map(|shared| shared.declaration).collect();
        self.replace(at, &text.join(" "));
    }

    /// The names of a declaration of dynamic shared memory, each as a reference to where it is.
    fn dynamic_declarators(&self, start: usize, end: usize) -> Vec<Shared> {
        let source = self.source;
        let mut words = Vec::new();
        let mut at = start;
        while at < end && !source.is_any(at, &["[", ","]) {
            // The memory is aligned to 256 bytes, so attributes about that are of no use.
            if let Some(next) = source.skip_attribute(at) {
                at = next;
                continue;
            }
            let next = source.skip_template_arguments(at).unwrap_or(at + 1);
            let part = source.join(at..next);
            if part != "extern" && !part.is_empty() {
                words.push(part);
            }
            at = next;
        }
        let Some(mut name) = words.pop() else { return Vec::new() };
        let stars = words.iter().rposition(|word| word != "*" && word != "&").map_or(0, |last| last + 1);
        let (base, mut prefix) = (words[..stars].join(" "), words[stars..].concat());
        let mut out = Vec::new();
        loop {
            let brackets = at;
            while at < end && !source.is(at, ",") {
                at = source.skip(at);
            }
            let at_end = at.min(end);
            let whole = format!("{base} {prefix}{}", source.join(brackets..at_end));
            let whole = format!("::hiphost::same_t<{whole}>");
            let declaration = format!("{whole}& {name} = *({whole}*)::hiphost::dynamic_shared();");
            out.push(Shared { name: std::mem::take(&mut name), declaration });
            if at >= end {
                return out;
            }
            at += 1;
            prefix.clear();
            while source.is(at, "*") {
                prefix.push('*');
                at += 1;
            }
            if at >= end || !source.is_kind(at, Kind::Word) {
                return out;
            }
            name = source.tokens[at].text.into();
            at += 1;
        }
    }

    /// Each function that names dynamic shared memory of its namespace declares it for itself.
    fn give_dynamic_shared(&mut self) {
        let source = self.source;
        let (bodies, dynamic) = (std::mem::take(&mut self.bodies), std::mem::take(&mut self.dynamic));
        for (open, start) in bodies.into_iter().filter(|_| !dynamic.is_empty()) {
            let Some(close) = source.close(open) else { continue };
            let used = |(at, shared): &&(usize, Shared)| {
                let named =
                    |range: std::ops::Range<usize>| range.into_iter().any(|at| source.is(at, &shared.name));
                *at < start && named(open..close) && !named(start..open)
            };
            let text: Vec<&str> = dynamic.iter().filter(used).map(|(_, s)| s.declaration.as_str()).collect();
            if !text.is_empty() {
                // In braces of their own the function's variables may have the same name.
                self.added[open] += &format!(" {} {{", text.join(" "));
                self.replace(close, "}}");
            }
        }
    }

    fn next_number(&mut self) -> usize {
        self.registered += 1;
        self.registered
    }

    /// Adds text after a declaration.
    fn add(&mut self, declaration: &Declaration, text: &str) {
        let last = declaration.end - 1;
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
