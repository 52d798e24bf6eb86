//! Checks that every relative link in a page leads to a file, and its anchor to a heading.

use super::{Problem, markdown, tree::File, tree::Tree};

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for page in tree.with_extension(&["md"]) {
        for (line, text) in markdown::prose(&page.text) {
            for target in markdown::link_targets(text) {
                if let Some(message) = broken(tree, page, &target) {
                    problems.push(Problem::error(&page.path, line, message));
                }
            }
        }
    }
    problems
}

fn broken(tree: &Tree, page: &File, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() { page.path.clone() } else { resolve(&page.path, path) };
    if !tree.exists(&path) {
        return Some(format!("the link {target:?} leads to {path:?}, which does not exist"));
    }
    let linked = tree.file(&path).filter(|file| file.extension() == "md")?;
    let mut headings = markdown::prose(&linked.text).filter_map(|(_, line)| markdown::heading(line));
    let found = anchor.is_empty() || headings.any(|(_, text)| markdown::anchor(text) == anchor);
    (!found).then(|| format!("{path} has no heading for the anchor of {target:?}"))
}

/// The path that `target` refers to on the page at `page`.
fn resolve(page: &str, target: &str) -> String {
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> usize {
        let tree = Tree::of(&[
            ("docs/a.md", text),
            ("docs/b.md", "# B\n## Two words\n"),
            ("README.md", "# R\n"),
            ("src/x.rs", ""),
        ]);
        check(&tree).len()
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        for link in [
            "b.md",
            "./b.md",
            "b.md#two-words",
            "../README.md",
            "../src",
            "../src/x.rs#L3",
            "https://x.org/y",
            "#a",
        ] {
            assert_eq!(problems(&format!("# A\n[t]({link})\n")), 0, "{link}");
        }
    }

    #[test]
    fn links_that_lead_nowhere_are_errors() {
        for link in ["c.md", "b.md#three", "README.md", "/b.mdx", "#two", ""] {
            let expected = usize::from(!link.is_empty());
            assert_eq!(problems(&format!("# A\n[t]({link})\n")), expected, "{link}");
        }
    }

    #[test]
    fn code_is_not_a_link() {
        assert_eq!(problems("`[t](gone.md)`\n```\n[t](gone.md)\n```\n"), 0);
    }
}
