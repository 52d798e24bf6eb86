//! Checks that sources have no marks of unfinished work, and that no file has a path of one person's machine.

use super::{Problem, tree::Tree};

/// Marks of unfinished work, split in two so that this file contains none.
const MARKS: [(&str, &str); 5] =
    [("to", "do!"), ("unimpl", "emented!"), ("TO", "DO"), ("FIX", "ME"), ("XX", "X")];

/// The beginnings of absolute paths to home directories.
const HOMES: [(&str, &str); 3] = [("/ro", "ot/"), ("/ho", "me/"), ("/Us", "ers/")];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let marks = MARKS.map(|(a, b)| a.to_string() + b);
    let homes = HOMES.map(|(a, b)| a.to_string() + b);
    let mut problems = Vec::new();
    for file in &tree.files {
        let is_page = file.extension() == "md";
        for (line, text) in file.lines() {
            for mark in marks.iter().filter(|mark| !is_page && has_word(text, mark)) {
                problems.push(Problem::error(
                    &file.path,
                    line,
                    format!("{mark:?} marks unfinished work: finish it"),
                ));
            }
            for home in homes.iter().filter(|home| has_path(text, home)) {
                problems.push(Problem::error(
                    &file.path,
                    line,
                    format!("a path under {home} exists on one machine only"),
                ));
            }
            if tree.root.len() > 1 && names_root(text, &tree.root) {
                problems.push(Problem::error(
                    &file.path,
                    line,
                    "the path of this checkout exists on this machine only",
                ));
            }
        }
    }
    problems
}

/// Whether `word` occurs in `text` as a whole word.
fn has_word(text: &str, word: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, _)| {
        !part(text[..at].chars().next_back())
            && (word.ends_with('!') || !part(text[at + word.len()..].chars().next()))
    })
}

/// Whether `text` contains an absolute path that starts with `home`.
fn has_path(text: &str, home: &str) -> bool {
    let inner = |c: char| c.is_alphanumeric() || "_-.}/".contains(c);
    text.match_indices(home).any(|(at, _)| {
        let before = text[..at].chars().next_back().is_some_and(inner);
        !before && text[at + home.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '.' || c == '_')
    })
}

/// Whether `text` contains `root` or a path below it, and not as part of another path.
fn names_root(text: &str, root: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "_-.}/*".contains(c));
    text.match_indices(root).any(|(at, _)| {
        let next = text[at + root.len()..].chars().next();
        !part(text[..at].chars().next_back()) && (next == Some('/') || !part(next))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn each_mark_is_seen_in_sources() {
        for (a, b) in MARKS {
            assert_eq!(problems("a.rs", &format!("x {a}{b} y\n")), 1, "{a}{b}");
            assert_eq!(problems("a.hip", &format!("// {a}{b}: later\n")), 1, "{a}{b}");
            assert_eq!(problems("a.rs", &format!("MY{a}{b}\n")), 0, "part of a word: {a}{b}");
            assert_eq!(problems("a.md", &format!("{a}{b}\n")), 0, "a page may talk of {a}{b}");
        }
    }

    #[test]
    fn paths_of_one_machine_are_seen_everywhere() {
        for (a, b) in HOMES {
            assert_eq!(problems("a.md", &format!("see {a}{b}x/y\n")), 1, "{a}{b}");
            assert_eq!(problems("a.sh", &format!("cd \"{a}{b}x\"\n")), 1, "{a}{b}");
            assert_eq!(problems("a.rs", &format!("docs{a}{b}x\n")), 0, "a relative path: {a}{b}");
        }
    }

    #[test]
    fn the_checkout_itself_is_a_path_of_one_machine() {
        let mut tree =
            Tree::of(&[("a.rs", "let root = \"/opt/a checkout/crates\"; // crates/x/opt/a checkout\n")]);
        for (root, expected) in
            [("", 0), ("/opt/a checkout", 1), ("/opt/a", 1), ("/opt/a check", 0), ("/crates", 0)]
        {
            tree.root = root.into();
            assert_eq!(check(&tree).len(), expected, "{root}");
        }
    }
}
