//! Shared memory: static arrays of the block, and dynamic shared memory.

use super::Rewriter;
use crate::rtc::tokens::Kind;

/// A declared name for dynamic shared memory.
pub(super) struct Shared {
    name: String,
    declaration: String,
}

impl Rewriter<'_, '_> {
    /// For each token, whether it is in a function body.
    pub(super) fn inside_functions(&self) -> Vec<bool> {
        let mut inside = vec![false; self.source.len()];
        for (open, _) in &self.bodies {
            let close = self.source.close(*open).unwrap_or(*open);
            inside[*open..close].fill(true);
        }
        inside
    }

    /// Rewrites shared memory: a static array becomes a thread-local of the OS thread that runs the block, an
    /// `extern` array becomes the dynamic shared memory of the launch.
    pub(super) fn shared(&mut self, at: usize, in_function: bool) {
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
            // The declaration stays, for code that only names the array; each function declares it again for
            // itself.
            self.replace(at, "");
            return self.dynamic.extend(declared.into_iter().map(|shared| (at, shared)));
        }
        (start..(end + 1).min(source.len()))
            .filter(|at| !source.is_kind(*at, Kind::Directive))
            .for_each(|at| self.replace(at, ""));
        let text: Vec<String> = declared.into_iter().map(|shared| shared.declaration).collect();
        self.replace(at, &text.join(" "));
    }

    /// The names in a declaration of dynamic shared memory, each declared as a reference to it.
    fn dynamic_declarators(&self, start: usize, end: usize) -> Vec<Shared> {
        let source = self.source;
        let mut words = Vec::new();
        let mut at = start;
        while at < end && !source.is_any(at, &["[", ","]) {
            // The memory is aligned to 256 bytes, so alignment attributes are unnecessary.
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

    /// Makes each function that names dynamic shared memory of its namespace declare it for itself.
    pub(super) fn give_dynamic_shared(&mut self) {
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
                // In braces of their own, so that the function's variables may have the same name.
                self.added[open] += &format!(" {} {{", text.join(" "));
                self.replace(close, "}}");
            }
        }
    }
}
