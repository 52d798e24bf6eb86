//! Checks the code map: docs/ARCHITECTURE.md links to each of its pages, every member has a heading, every path exists.

use super::{Problem, manifests, markdown, tree::File, tree::Tree};

const PAGE: &str = "docs/ARCHITECTURE.md";
const SECTION: &str = "Code map";
/// The folder of the map's pages, from the folder of [`PAGE`].
const PAGES: &str = "architecture/";

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let Some(lines) = tree.file(PAGE).and_then(|page| markdown::section(&page.text, SECTION)) else {
        return vec![Problem::error(PAGE, 1, format!("the page needs a section {SECTION:?}"))];
    };
    let linked: Vec<String> = lines.iter().flat_map(|(_, line)| markdown::link_targets(line)).collect();
    let mut problems = Vec::new();
    let mut members = manifests::member_folders(tree);
    for page in tree.with_extension(&["md"]) {
        let Some(name) = page.path.strip_prefix("docs/").filter(|name| name.starts_with(PAGES)) else {
            continue;
        };
        if !linked.iter().any(|target| target == name) {
            problems.push(Problem::error(PAGE, 1, format!("{SECTION:?} has no link to {name}")));
        }
        problems.extend(missing_paths(tree, page));
        let titles: Vec<&str> = markdown::prose(&page.text).filter_map(|(_, line)| folder(line)).collect();
        members.retain(|member| !titles.contains(&member.as_str()));
    }
    for member in members {
        problems.push(Problem::error(PAGE, 1, format!("{SECTION:?} has no heading for `{member}`")));
    }
    problems
}

/// The paths on a page that do not exist. Those below a heading are relative to its folder, or to the root.
fn missing_paths(tree: &Tree, page: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut below = "";
    for (number, line) in markdown::prose(&page.text) {
        below = folder(line).unwrap_or(below);
        for path in markdown::code_spans(line).filter(|span| is_path(span)) {
            if !tree.exists(&format!("{below}/{path}")) && !tree.exists(path) {
                problems.push(Problem::error(&page.path, number, format!("`{path}` does not exist")));
            }
        }
    }
    problems
}

/// The folder that a heading names.
fn folder(line: &str) -> Option<&str> {
    markdown::heading(line).map(|(_, title)| title.trim_matches('`'))
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

    const MAP: &str = "docs/architecture/all.md";

    fn problems(index: &str, map: &str) -> Vec<String> {
        let page = format!("# A\n`no/such/path.rs`\n## Code map\n{index}\n## Rest\n`also/not.rs`\n");
        let tree = Tree::of(&[
            (PAGE, &page),
            (MAP, map),
            ("Cargo.toml", "[workspace]\nmembers = [\"crates/a\", \"b\"]\n"),
            ("crates/a/src/lib.rs", ""),
            ("b/main.rs", ""),
        ]);
        check(&tree).into_iter().map(|p| p.to_string()).collect()
    }

    #[test]
    fn a_whole_map_passes() {
        let map = "# All\n## `crates/a`\n`src/lib.rs`, `a::b`, `x = 1`, `crates/a/src`\n## `b`\n`main.rs`";
        assert_eq!(problems("[all](architecture/all.md)", map), Vec::<String>::new());
    }

    #[test]
    fn a_missing_crate_a_missing_path_and_a_missing_link_are_named() {
        let found = problems("", "# All\n## `crates/a`\n`src/gone.rs` and `old.hip`");
        assert_eq!(
            found,
            [
                "docs/ARCHITECTURE.md:1: error: \"Code map\" has no link to architecture/all.md",
                "docs/architecture/all.md:3: error: `src/gone.rs` does not exist",
                "docs/architecture/all.md:3: error: `old.hip` does not exist",
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
