//! Checks that every sentence of docs/MEANING.md names tests, and that these tests exist.

use super::{Problem, tree::Tree};

const PAGE: &str = "docs/MEANING.md";
/// The test program whose tests the page names, as `file::test`.
const SUITE: &str = "crates/tensor-core/tests/suite";

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let Some(page) = tree.files.iter().find(|file| file.path == PAGE) else {
        return vec![Problem::error(PAGE, 1, "the page is missing")];
    };
    let mut problems = Vec::new();
    for (line, text) in page.lines() {
        let Some(cell) = last_cell(text) else { continue };
        let tests: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        if tests.is_empty() {
            problems.push(Problem::error(PAGE, line, "no test holds this sentence"));
        }
        for test in tests.into_iter().filter(|test| !exists(tree, test)) {
            problems.push(Problem::error(PAGE, line, format!("there is no test {test} in {SUITE}")));
        }
    }
    problems
}

/// The last cell of a table row; `None` if the line is not a row, or is a header.
fn last_cell(line: &str) -> Option<&str> {
    let row = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let (_, last) = row.rsplit_once('|')?;
    let head = last.trim() == "tests" || last.contains("---");
    (!head).then_some(last)
}

/// Whether `file::test` is a test function of the suite.
fn exists(tree: &Tree, test: &str) -> bool {
    let Some((file, name)) = test.split_once("::") else { return false };
    let path = format!("{SUITE}/{}.rs", file);
    let function = format!("fn {name}()");
    tree.files.iter().filter(|file| file.path == path).any(|file| {
        let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
        let here = lines.iter().position(|line| line.starts_with(&function));
        let attributes = |end: usize| lines[..end].iter().rev().take_while(|line| line.starts_with("#["));
        here.is_some_and(|end| attributes(end).any(|line| *line == "#[test]"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTS: &str = "//! Tests.\n#[test]\nfn nan_wins() {}\n#[test]\n#[ignore = \"long\"]\nfn long() {}\nfn no_test() {}\n";

    fn messages(rows: &str) -> Vec<String> {
        let page = format!("# Meaning\n\n| sentence | tests |\n|---|---|\n{rows}");
        let tree = Tree::of(&[(PAGE, &page), ("crates/tensor-core/tests/suite/meaning.rs", TESTS)]);
        check(&tree).into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn a_test_that_exists_is_no_problem() {
        assert!(messages("| NaN wins. | `meaning::nan_wins` |\n").is_empty());
        assert!(messages("| NaN wins. | `meaning::long` |\n").is_empty());
    }

    #[test]
    fn missing_tests_are_named() {
        assert_eq!(messages("| NaN wins. | |\n"), ["no test holds this sentence"]);
        for test in ["meaning::gone", "other::nan_wins", "meaning::no_test", "nan_wins"] {
            let found = messages(&format!("| NaN wins. | `{test}` |\n"));
            assert_eq!(found, [format!("there is no test {test} in {SUITE}")]);
        }
    }

    #[test]
    fn a_missing_page_is_a_problem() {
        assert_eq!(check(&Tree::of(&[])).len(), 1);
    }
}
