//! Checks that a file that people write has at most 500 lines, with a warning from 400; exceptions are data with a
//! reason.

use super::{Problem, tree::File, tree::Tree};
use toml::{Table, Value};

const WARN: usize = 400;
const MOST: usize = 500;
const EXCEPTIONS: &str = "xtask/tidy.toml";

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let (exceptions, mut problems) = exceptions(tree);
    for file in tree.files.iter().filter(|file| is_written(file)) {
        let lines = file.text.lines().count();
        let most = exceptions.iter().find(|(path, _)| *path == file.path).map_or(MOST, |(_, most)| *most);
        if lines > most {
            let message = format!("{lines} lines, at most {most}: would two names tell more than one?");
            problems.push(Problem::error(&file.path, lines, message));
        } else if lines > WARN && most == MOST {
            problems.push(Problem::warning(&file.path, lines, format!("{lines} lines; aim for {WARN}")));
        }
    }
    for (path, _) in &exceptions {
        let needed = tree.file(path).is_some_and(|file| file.text.lines().count() > MOST);
        if !needed {
            problems.push(Problem::error(EXCEPTIONS, 1, format!("{path} needs no exception: take it out")));
        }
    }
    problems
}

/// Whether people write and read the file, as opposed to data and generated code.
fn is_written(file: &File) -> bool {
    let more = matches!(file.extension(), "py" | "cu" | "sh" | "md" | "css" | "js");
    (file.is_source() || more) && !file.is_generated()
}

/// The `[[length]]` entries, and the errors in them.
fn exceptions(tree: &Tree) -> (Vec<(String, usize)>, Vec<Problem>) {
    let Some(file) = tree.file(EXCEPTIONS) else { return Default::default() };
    let table: Table = match file.text.parse() {
        Ok(table) => table,
        Err(e) => {
            let e: toml::de::Error = e;
            return (Vec::new(), vec![Problem::error(EXCEPTIONS, 1, e.message())]);
        }
    };
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for entry in table.get("length").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or("");
        let lines = entry.get("lines").and_then(Value::as_integer).and_then(|n| usize::try_from(n).ok());
        match lines {
            Some(lines) if !text("path").is_empty() && !text("reason").trim().is_empty() => {
                found.push((text("path").to_string(), lines));
            }
            _ => problems.push(Problem::error(EXCEPTIONS, 1, "a [[length]] needs path, lines and reason")),
        }
    }
    (found, problems)
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn levels(path: &str, lines: usize, exceptions: &str) -> Vec<Level> {
        let tree = Tree::of(&[(path, &"x\n".repeat(lines)), (EXCEPTIONS, exceptions)]);
        check(&tree).into_iter().map(|p| p.level).collect()
    }

    #[test]
    fn the_limits_are_inclusive() {
        assert_eq!(levels("a.rs", 400, ""), []);
        assert_eq!(levels("a.rs", 401, ""), [Level::Warning]);
        assert_eq!(levels("a.hip", 500, ""), [Level::Warning]);
        assert_eq!(levels("a.hip", 501, ""), [Level::Error]);
        assert_eq!(levels("a.md", 501, ""), [Level::Error]);
    }

    #[test]
    fn generated_files_and_data_may_be_long() {
        assert_eq!(levels("x/generated/a.rs", 5000, ""), []);
        assert_eq!(levels("a.toml", 5000, ""), []);
    }

    #[test]
    fn an_exception_has_a_limit_a_reason_and_a_need() {
        let exception = "[[length]]\npath = \"a.rs\"\nlines = 700\nreason = \"one table\"\n";
        assert_eq!(levels("a.rs", 700, exception), []);
        assert_eq!(levels("a.rs", 701, exception), [Level::Error]);
        assert_eq!(levels("a.rs", 10, exception), [Level::Error], "stale");
        assert_eq!(levels("a.rs", 700, &exception.replace("one table", " ")), [Level::Error, Level::Error]);
        assert_eq!(levels("a.rs", 1, "= no toml"), [Level::Error]);
    }
}
