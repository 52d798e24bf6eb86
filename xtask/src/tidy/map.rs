//! Checks the code map of docs/ARCHITECTURE.md: every member has a heading, every path exists.

use super::{Problem, manifests, markdown, tree::Tree};

const PAGE: &str = "docs/ARCHITECTURE.md";
const SECTION: &str = "Code map";

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let Some(lines) = tree.file(PAGE).and_then(|page| markdown::section(&page.text, SECTION)) else {
        return vec![Problem::error(PAGE, 1, format!("the page needs a section {SECTION:?}"))];
    };
    let mut problems = Vec::new();
    let mut members = manifests::member_folders(tree);
    // Paths in a crate's section are relative to the crate's folder.
    let mut folder = String::new();
    for (number, line) in lines {
        if let Some((_, title)) = markdown::heading(line) {
            folder = title.trim_matches('`').to_string();
            members.retain(|member| *member != folder);
        }
        for path in markdown::code_spans(line).filter(|span| is_path(span)) {
            if !tree.exists(&format!("{folder}/{path}")) && !tree.exists(path) {
                problems.push(Problem::error(PAGE, number, format!("`{path}` does not exist")));
            }
        }
    }
    for member in members {
        problems.push(Problem::error(PAGE, 1, format!("{SECTION:?} has no heading for `{member}`")));
    }
    problems
}

/// Whether a code span is a path: it contains a slash or has a known extension, and has no characters that
/// paths here lack.
fn is_path(span: &str) -> bool {
    let plain = span.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
    let ending = [".rs", ".hip", ".hpp", ".md", ".toml", ".sh"].iter().any(|end| span.ends_with(end));
    plain && (span.contains('/') || ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(map: &str) -> Vec<String> {
        let page = format!("# A\n`no/such/path.rs`\n## Code map\n{map}\n## Rest\n`also/not.rs`\n");
        let tree = Tree::of(&[
            (PAGE, &page),
            ("Cargo.toml", "[workspace]\nmembers = [\"crates/a\", \"b\"]\n"),
            ("crates/a/src/lib.rs", ""),
            ("b/main.rs", ""),
        ]);
        check(&tree).into_iter().map(|p| p.to_string()).collect()
    }

    #[test]
    fn a_whole_map_passes() {
        let map = "### `crates/a`\n`src/lib.rs`, `a::b`, `x = 1`, `crates/a/src`\n### `b`\n`main.rs`";
        assert_eq!(problems(map), Vec::<String>::new());
    }

    #[test]
    fn a_missing_crate_and_a_missing_path_are_named() {
        let found = problems("### `crates/a`\n`src/gone.rs` and `old.hip`");
        assert_eq!(
            found,
            [
                "docs/ARCHITECTURE.md:5: error: `src/gone.rs` does not exist",
                "docs/ARCHITECTURE.md:5: error: `old.hip` does not exist",
                "docs/ARCHITECTURE.md:1: error: \"Code map\" has no heading for `b`",
            ]
        );
    }

    #[test]
    fn the_section_itself_must_be_there() {
        assert_eq!(check(&Tree::of(&[(PAGE, "# A\n")])).len(), 1);
        assert_eq!(check(&Tree::of(&[])).len(), 1);
    }
}
