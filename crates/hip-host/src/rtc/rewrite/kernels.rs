//! Kernels: the name of each, how it is registered, and which ones could not be parsed.

use super::{BOUNDS, Rewriter, bounds_of};
use crate::rtc::declaration::Declaration;
use crate::rtc::tokens::Kind;

/// The class that contains the text, as far as its member kernels are concerned.
#[derive(Debug, Clone)]
pub(super) struct Class {
    /// Its name, qualified by the classes around it; `None` if a registration cannot name its kernels: in a
    /// template, and in an unnamed class.
    path: Option<String>,
    /// The last token of the outermost class; its kernels are registered after it.
    last: usize,
    /// It or a class around it is a template, so name expressions ask for its kernels.
    template: bool,
}

/// Where a declared kernel is, and how it is registered.
enum Location {
    Namespace,
    /// A static member: the name of its class, and the token to register it after.
    Member(String, usize),
    /// A function template, registered by the name expressions that ask for its instances.
    Template,
    /// Nothing can name it.
    Nowhere,
}

impl Rewriter<'_, '_> {
    /// The class that a declaration defines, inside `around`.
    pub(super) fn class(&self, declaration: &Declaration, around: Option<&Class>) -> Class {
        let name = declaration.class_name(self.source);
        let template = declaration.template.is_some() || around.is_some_and(|class| class.template);
        let last = around.map_or(declaration.end - 1, |class| class.last);
        let path = match around {
            None => name,
            Some(class) => class.path.clone().zip(name).map(|(path, name)| format!("{path}::{name}")),
        };
        Class { path: path.filter(|_| !template), last, template }
    }

    /// Registers a kernel that is defined here, and notes the launch bounds of a template.
    pub(super) fn kernel(&mut self, declaration: &Declaration, class: Option<&Class>) {
        let source = self.source;
        let open = declaration.body.map_or(declaration.end, |(_, open)| open);
        let marks = (declaration.words..open).filter(|at| source.is(*at, "__global__"));
        let marks: Vec<usize> = marks.collect();
        if declaration.instantiation {
            // An explicit instantiation must not have `inline`.
            marks.iter().for_each(|at| self.replaced[*at] = Some(String::new()));
        }
        if declaration.body.is_none() && !declaration.instantiation {
            return;
        }
        let Some((name, open)) = self.kernel_name(declaration, marks.first().copied()) else { return };
        let Some(close) = source.close(open) else { return };
        let location = self.location_of(declaration, class, open, close);
        if !matches!(location, Location::Nowhere) {
            self.read.extend(marks);
        }
        let bounds = self.launch_bounds(declaration);
        let (registered, last) = match location {
            Location::Nowhere => return,
            Location::Template => return self.bounds_of_template(declaration, &name, bounds),
            // The types of its parameters may be visible inside the class only.
            Location::Member(path, last) => (format!("&{path}::{name}"), last),
            Location::Namespace => {
                let parameters = self.parameters(open + 1, close);
                (format!("static_cast<void (*)({parameters})>(&{name})"), declaration.end - 1)
            }
        };
        let bounds = bounds.or_else(|| bounds_of(&self.bounded, &name)).unwrap_or_else(|| "0".into());
        let number = self.next_number();
        let text = format!("static ::hiphost::Registration<{registered}> hiphost_rtc_{number}({bounds});");
        self.add_behind(last, &text);
    }

    fn location_of(
        &self,
        declaration: &Declaration,
        class: Option<&Class>,
        open: usize,
        close: usize,
    ) -> Location {
        let source = self.source;
        let of_template = declaration.template.is_some() || class.is_some_and(|class| class.template);
        // `void k(auto a)` is a template too.
        if of_template || (open..close).any(|at| source.is(at, "auto")) {
            return Location::Template;
        }
        let Some(class) = class else { return Location::Namespace };
        let path = class.path.clone().filter(|_| declaration.has(source, "static"));
        path.map_or(Location::Nowhere, |path| Location::Member(path, class.last))
    }

    /// Adds a variable template next to a kernel template, which holds the launch bounds of its instances.
    fn bounds_of_template(&mut self, declaration: &Declaration, name: &str, bounds: Option<String>) {
        let Some((bounds, (start, end))) = bounds.zip(declaration.template) else { return };
        if self.bounded.insert(name.to_owned()) {
            let head = self.source.join(start..end);
            let text = format!("{head} constexpr unsigned {BOUNDS}{name} = ({bounds});");
            self.add_behind(declaration.end - 1, &text);
        }
    }

    /// A kernel's declared name with its template arguments, and where its parameters open. The name is the
    /// last one before the first parentheses, whatever the result type.
    fn kernel_name(&self, declaration: &Declaration, mark: Option<usize>) -> Option<(String, usize)> {
        let source = self.source;
        let end = declaration.body.map_or(declaration.end, |(_, open)| open);
        let (mut name, mut at) = (String::new(), mark? + 1);
        while at < end {
            if let Some(next) = source.skip_attribute(at) {
                at = next;
                continue;
            }
            let next = source.skip_template_arguments(at).unwrap_or(at + 1);
            if source.is(at, "(") {
                // `void (k)(int)` has its name in parentheses.
                let close = source.close(at)?;
                if name != "void" {
                    return (!name.is_empty()).then_some((name, at));
                }
                if !source.is(close + 1, "(") {
                    return None;
                }
                name = source.join(at + 1..close);
                at = close + 1;
                continue;
            }
            if next > at + 1 {
                name += &source.join(at..next);
            } else if source.is(at, "::") {
                // A name does not continue after a keyword.
                name = if name == "void" || name == "auto" { "::".into() } else { name + "::" };
            } else if source.is_kind(at, Kind::Word) {
                let goes_on = name.ends_with("::");
                name = if goes_on { name } else { String::new() } + source.tokens[at].text;
            } else {
                name.clear();
            }
            at = next;
        }
        None
    }

    /// The first argument of `__launch_bounds__(threads, blocks)`, as an expression.
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

    /// Messages, each with file and line, about the kernels that have a body but are not registered.
    pub(super) fn lost(&self) -> String {
        let source = self.source;
        let unread = (0..source.len()).filter(|at| source.is(*at, "__global__") && !self.read.contains(at));
        unread
            .filter(|at| self.opens_body(*at))
            .map(|at| {
                let (file, line) = source.location(at);
                format!(
                    "{file}:{line}: error: hip-host cannot tell what the kernel is called that is declared here, so no launch would find it: \
                     declare it as `__global__ void name(parameters) {{ ... }}` in a namespace, or as a public static member of a class with a name\n"
                )
            })
            .collect()
    }

    /// Whether the declaration there has a body.
    fn opens_body(&self, mark: usize) -> bool {
        let source = self.source;
        let mut at = mark + 1;
        while at < source.len() && !source.is_any(at, &[";", "}", "="]) {
            if source.is(at, "{") {
                return true;
            }
            let next = source.skip_attribute(at).or_else(|| source.skip_template_arguments(at));
            at = next.unwrap_or_else(|| source.skip(at));
        }
        false
    }
}
