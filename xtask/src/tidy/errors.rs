//! Checks that no error derives `Debug`: `main() -> Result` and `unwrap` print that, and who reads it wants the message.

use super::{Problem, tree::File, tree::Tree};

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    tree.with_extension(&["rs"]).filter(|file| !file.is_generated()).flat_map(problems).collect()
}

fn problems(file: &File) -> Vec<Problem> {
    // What is derived for the next type, and the line of its first derive.
    let (mut derived, mut first, mut inside) = (String::new(), 0, false);
    let mut problems = Vec::new();
    for (number, line) in file.lines() {
        let code = line.trim_start();
        if code.starts_with("//") {
            continue;
        }
        if code.starts_with("#[derive(") {
            first = if derived.is_empty() { number } else { first };
            inside = true;
        }
        if inside {
            derived.push_str(code);
            inside = !code.contains(")]");
            continue;
        }
        let Some(name) = type_named(code) else { continue };
        let derives = |path: &str| words(&derived).any(|word| word == path);
        let is_error = derives("Error") || derives("thiserror::Error") || is_implemented(file, name);
        if is_error && derives("Debug") {
            let message = format!(
                "{name} derives Debug, which `main() -> Result` prints: `hip_sys::debug_by_display!({name})`, or an \
                 `impl Debug` that writes what Display does"
            );
            problems.push(Problem::error(&file.path, first, message));
        }
        derived.clear();
    }
    problems
}

/// The paths in an attribute.
fn words(attribute: &str) -> impl Iterator<Item = &str> {
    attribute.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
}

/// The name of the type that a line begins.
fn type_named(code: &str) -> Option<&str> {
    let code = code.strip_prefix("pub").map_or(code, |rest| {
        let rest =
            rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |(_, rest)| rest);
        rest.trim_start()
    });
    let name = ["struct ", "enum "].iter().find_map(|word| code.strip_prefix(word))?;
    let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len());
    Some(&name[..end])
}

/// Whether the file implements `Error` for a type by hand.
fn is_implemented(file: &File, name: &str) -> bool {
    file.lines().any(|(_, line)| {
        let Some((of, target)) = line.split_once("Error for ") else { return false };
        let is_trait = of.is_empty() || of.ends_with(':') || of.ends_with(' ');
        line.starts_with("impl") && is_trait && words(target).next() == Some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(&Tree::of(&[("crates/a/src/error.rs", text)])).into_iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn an_error_that_derives_debug_is_found() {
        assert_eq!(
            lines("//! a\n#[derive(Debug, thiserror::Error)]\n#[non_exhaustive]\npub enum Error {\n"),
            [2]
        );
        assert_eq!(lines("#[derive(\n    Clone,\n    Debug,\n    Error,\n)]\n/// b\nstruct Failed;\n"), [1]);
        assert_eq!(lines("#[derive(Error)]\n#[derive(Debug)]\npub(crate) struct Failed(u8);\n"), [1]);
        let by_hand = "#[derive(Debug)]\npub struct Failed;\nimpl std::error::Error for Failed {}\n";
        assert_eq!(lines(by_hand), [1]);
        let generic = "#[derive(Debug)]\npub struct Failed<T>(T);\nimpl<T> Error for Failed<T> {}\n";
        assert_eq!(lines(generic), [1]);
    }

    #[test]
    fn others_are_not() {
        assert_eq!(lines("#[derive(Clone, thiserror::Error)]\npub enum Error {\n"), Vec::<usize>::new());
        assert_eq!(lines("#[derive(Debug, Clone)]\npub enum Failure {\n"), Vec::<usize>::new());
        let two = "#[derive(Debug)]\npub struct A;\n#[derive(Error)]\npub struct B;\nimpl Display for A {}\n";
        assert_eq!(lines(two), Vec::<usize>::new());
        let other =
            "#[derive(Debug)]\npub struct A;\nimpl std::error::Error for Ab {}\nimpl IsError for A {}\n";
        assert_eq!(lines(other), Vec::<usize>::new());
    }
}
