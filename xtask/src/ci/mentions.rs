//! The files, modules, crates and variables that a program's text mentions. A step's inputs follow from them, so that
//! nobody has to maintain a list.

use std::collections::BTreeSet;

/// What one file mentions.
#[derive(Debug, Default)]
pub(super) struct Mentions {
    /// Its string literals; for a script, its words.
    strings: BTreeSet<String>,
    /// Its code without comments and strings; empty for a script.
    code: String,
}

impl Mentions {
    /// Reads one file. `tests` says whether its module of tests is read too.
    pub(super) fn of(path: &str, text: &str, tests: bool) -> Self {
        match path.rsplit_once('.') {
            Some((_, "rs")) => {
                let end = if tests { None } else { text.find("\n#[cfg(test)]\nmod tests {") };
                rust(&text[..end.unwrap_or(text.len())])
            }
            Some((_, "sh")) => Self { strings: words(text), code: String::new() },
            _ => Self::default(),
        }
    }

    /// The strings that look like a path with several parts.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.strings
            .iter()
            .map(String::as_str)
            .filter(|text| text.contains('/') && !text.contains(['\n', ' ']))
    }

    /// The strings that look like a file name.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let name = |text: &&str| text.contains('.') && !text.contains(['\n', ' ', '/']);
        self.strings.iter().map(String::as_str).filter(name)
    }

    /// Whether one string equals this word, such as a variable's name or a package that cargo is told to run.
    pub(super) fn word(&self, name: &str) -> bool {
        self.strings.contains(name)
    }

    /// The modules at the root of the crate that the code names, as `crate::NAME` or in `use crate::{NAME, ...}`.
    pub(super) fn modules(&self) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        for (at, begin) in self.code.match_indices("crate::") {
            let rest = &self.code[at + begin.len()..];
            match rest.strip_prefix('{') {
                Some(list) => found.extend(group(list)),
                None => found.extend(first_word(rest)),
            }
        }
        found
    }

    /// Whether the code names this crate, spelled as in Rust code.
    pub(super) fn names_crate(&self, name: &str) -> bool {
        let path = format!("{name}::");
        self.code.match_indices(&path).any(|(at, _)| {
            let before = &self.code[..at];
            // `::name::` names a crate; `a::name::` does not.
            let outer = before.strip_suffix("::").unwrap_or(before);
            !outer.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '>')
        })
    }
}

fn first_word(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    Some(&text[..end]).filter(|word| !word.is_empty())
}

/// The first words of the entries of a group, up to its closing brace.
fn group(list: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut begin = 0;
    let mut found = Vec::new();
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                found.extend(first_word(list[begin..at].trim_start()));
                begin = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    found
}

fn words(text: &str) -> BTreeSet<String> {
    let lines = || text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let in_path = |c: char| c.is_alphanumeric() || "_./-".contains(c);
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    let paths = lines().flat_map(|line| line.split(move |c| !in_path(c)));
    let names = lines().flat_map(|line| line.split(move |c| !in_name(c)));
    paths.chain(names).map(Into::into).collect()
}

/// Splits a Rust file into code and strings.
fn rust(text: &str) -> Mentions {
    let mut found = Mentions::default();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'', '/']) {
        found.code.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if rest.starts_with('"') {
            let (string, length) = match raw_end(&found.code) {
                Some(end) => raw_string(rest, &end),
                None => string(rest),
            };
            found.strings.insert(string);
            length
        } else if let Some(length) = character(rest) {
            length
        } else {
            found.code.push_str(&rest[..1]);
            1
        };
        rest = &rest[length..];
    }
    found.code.push_str(rest);
    found
}

/// How a raw string ends that begins at the end of this code; `None` if none begins there.
fn raw_end(code: &str) -> Option<String> {
    let before = code.trim_end_matches('#');
    let marks = &code[before.len()..];
    let before = before.strip_suffix('r')?;
    let before = before.strip_suffix(['b', 'c']).unwrap_or(before);
    let word = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    (!word).then(|| format!("\"{marks}"))
}

/// The raw string that begins here, and its length including the quotes.
fn raw_string(text: &str, end: &str) -> (String, usize) {
    let inner = &text[1..];
    match inner.find(end) {
        Some(at) => (inner[..at].to_owned(), 1 + at + end.len()),
        None => (inner.to_owned(), text.len()),
    }
}

/// The string that begins here, and its length including the quotes. Only escaped quotes and backslashes are decoded.
fn string(text: &str) -> (String, usize) {
    let mut inner = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (inner, at + 1),
            '\\' => inner.extend(chars.next().map(|(_, c)| if c == 'n' { '\n' } else { c })),
            c => inner.push(c),
        }
    }
    (inner, text.len())
}

/// The length of the character literal that begins here; `None` for a lifetime.
fn character(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('\'')?;
    let first = inner.chars().next()?;
    if first == '\\' {
        // The escaped character may itself be a quote.
        return inner.get(2..)?.find('\'').map(|at| at + 4);
    }
    inner[first.len_utf8()..].starts_with('\'').then(|| first.len_utf8() + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Mentions {
        Mentions::of("a.rs", text, false)
    }

    fn paths(text: &str) -> Vec<String> {
        of(text).paths().map(Into::into).collect()
    }

    #[test]
    fn strings_are_found_and_comments_are_not() {
        assert_eq!(paths(r#"#[path = "../a.rs"] // "b/c""#), ["../a.rs"]);
        assert_eq!(paths(r#"x('"'); y("a/b\"c"); /* "d/e" */ 'l: loop { z("f/g") }"#), ["a/b\"c", "f/g"]);
        assert_eq!(paths(r###"r"a/b" br#"c/"d"# for"e/f" '\'' "g/h""###), ["a/b", "c/\"d", "e/f", "g/h"]);
        assert_eq!(of(r#"("points.tsv", "a b.c", "x")"#).names().collect::<Vec<_>>(), ["points.tsv"]);
    }

    #[test]
    fn modules_and_crates_are_found_in_code() {
        let found =
            of("use crate::{a, b::{c, d}, e::f};\nuse crate::g::h; // crate::i\nlet x = \"crate::j\";");
        assert_eq!(found.modules().into_iter().collect::<Vec<_>>(), ["a", "b", "e", "g"]);
        let found = of("use hip_sys::x; ::parity::run(); crate::bench::y(); not_reference::z()");
        for (name, named) in [("hip_sys", true), ("parity", true), ("bench", false), ("reference", false)] {
            assert_eq!(found.names_crate(name), named, "{name}");
        }
    }

    #[test]
    fn variables_are_found_in_programs_and_scripts() {
        assert!(of(r#"env::var("HIP_X")"#).word("HIP_X") && !of("HIP_X").word("HIP_X"));
        let script = Mentions::of("a.sh", "# $NONE\nrun \"${HIP_X:-}\" ci/b.sh $HIP_Y/z", false);
        assert!(script.word("HIP_X") && script.word("HIP_Y"));
        assert!(!script.word("NONE"));
        assert!(script.paths().any(|path| path == "ci/b.sh"));
    }

    #[test]
    fn tests_count_where_they_run() {
        let text = "f(\"a/b\")\n\n#[cfg(test)]\nmod tests {\n    \"c/d\"\n}\n";
        assert_eq!(paths(text), ["a/b"]);
        assert_eq!(Mentions::of("a.rs", text, true).paths().collect::<Vec<_>>(), ["a/b", "c/d"]);
    }
}
