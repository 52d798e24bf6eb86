//! Checks that each SAFETY comment cites a rule of docs/SAFETY.md, and that each rule is cited.

use super::{Problem, markdown, tree::Tree};
use std::collections::BTreeMap;

const PAGE: &str = "docs/SAFETY.md";

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let Some(page) = tree.file(PAGE) else {
        return vec![Problem::error(PAGE, 1, "the page is missing")];
    };
    let mut problems = Vec::new();
    // Rule -> (line, number of citations).
    let mut rules: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for (line, text) in markdown::prose(&page.text) {
        let Some((2, title)) = markdown::heading(text) else { continue };
        let Some(rule) = title.split_whitespace().next().and_then(rule_number) else { continue };
        if rules.insert(rule, (line, 0)).is_some() {
            problems.push(Problem::error(PAGE, line, format!("S{rule} is defined twice")));
        }
    }
    for file in tree.with_extension(&["rs"]) {
        for (line, text) in file.lines() {
            let Some(comment) = text.trim_start().strip_prefix("// SAFETY:") else { continue };
            let mut error = |message: String| problems.push(Problem::error(&file.path, line, message));
            match cited(comment) {
                None => error("write `// SAFETY: S<n>: why it holds`, with rules of docs/SAFETY.md".into()),
                Some(numbers) => {
                    for number in numbers {
                        match rules.get_mut(&number) {
                            Some((_, count)) => *count += 1,
                            None => error(format!("docs/SAFETY.md has no rule S{number}")),
                        }
                    }
                }
            }
        }
    }
    for (rule, (line, _)) in rules.iter().filter(|(_, (_, count))| *count == 0) {
        problems.push(Problem::error(
            PAGE,
            *line,
            format!("no SAFETY comment cites S{rule}: take the rule out or cite it"),
        ));
    }
    problems
}

/// `S7` -> 7.
fn rule_number(word: &str) -> Option<u32> {
    word.strip_prefix('S')?.parse().ok()
}

/// The rules in `S1, S2: why`; `None` if there are none or the reason is missing.
fn cited(comment: &str) -> Option<Vec<u32>> {
    let (rules, reason) = comment.split_once(':')?;
    let words = rules.split([',', ' ']).filter(|word| !word.is_empty() && *word != "and");
    let numbers: Vec<u32> = words.map(rule_number).collect::<Option<_>>()?;
    (!numbers.is_empty() && reason.chars().any(char::is_alphabetic)).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(code: &str) -> Vec<String> {
        let tree = Tree::of(&[(PAGE, "# Safety\n## S1 — calls\n## S2 — ranges\n"), ("a.rs", code)]);
        check(&tree).into_iter().map(|p| p.to_string()).collect()
    }

    #[test]
    fn comments_that_cite_every_rule_pass() {
        assert_eq!(problems("// SAFETY: S1: so.\n  // SAFETY: S1, S2: and so.\n"), Vec::<String>::new());
        assert_eq!(problems("// SAFETY: S1 and S2: so.\n"), Vec::<String>::new());
    }

    #[test]
    fn a_comment_without_a_rule_or_a_reason_is_an_error() {
        for comment in
            ["// SAFETY: trust me", "// SAFETY: S1", "// SAFETY: S1:", "// SAFETY: X1: why", "// SAFETY:"]
        {
            let found = problems(&format!("// SAFETY: S1, S2: fine.\n{comment}\n"));
            assert_eq!(found.len(), 1, "{comment}");
            assert!(found[0].starts_with("a.rs:2: error: write"), "{found:?}");
        }
    }

    #[test]
    fn a_rule_that_does_not_exist_is_an_error() {
        let found = problems("// SAFETY: S1, S2: fine.\n// SAFETY: S9: why\n");
        assert_eq!(found, ["a.rs:2: error: docs/SAFETY.md has no rule S9"]);
    }

    #[test]
    fn a_rule_that_nobody_cites_is_an_error() {
        let found = problems("// SAFETY: S1: fine.\n");
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("docs/SAFETY.md:3: error: no SAFETY comment cites S2"), "{found:?}");
    }

    #[test]
    fn a_rule_defined_twice_and_a_missing_page_are_errors() {
        let tree = Tree::of(&[(PAGE, "## S1 — a\n## S1 — b\n"), ("a.rs", "// SAFETY: S1: fine.\n")]);
        assert_eq!(check(&tree).len(), 1);
        assert_eq!(check(&Tree::of(&[])).len(), 1);
    }
}
