//! Pages with examples: README.md, and crates' front pages.

use crate::packages::Package;
use std::path::Path;

/// A page, and the dependencies of its examples.
#[derive(Debug)]
pub(super) struct Page {
    /// The name of the program generated from it.
    pub(super) name: String,
    /// Markdown.
    pub(super) text: String,
    /// The `toml` blocks that a reader is told to write into Cargo.toml; `None` for a crate's front page.
    pub(super) told: Option<String>,
}

impl Page {
    /// README.md with the dependencies that it names.
    pub(super) fn readme(root: &Path) -> Result<Self, String> {
        let text = read(&root.join("README.md"))?;
        let told = blocks(&text, "toml").concat();
        Ok(Self { name: "readme".into(), text, told: Some(told) })
    }

    /// The front page of a library, if it has examples.
    pub(super) fn front(package: &Package) -> Result<Option<Self>, String> {
        let Some(file) = &package.front_page else { return Ok(None) };
        let source = read(file)?;
        let lines = source.lines().filter_map(|line| line.strip_prefix("//!"));
        let text: String =
            lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect();
        let page = Self { name: format!("front-{}", package.name), text, told: None };
        Ok(Some(page).filter(|page| page.examples() > 0))
    }

    /// The number of Rust examples: those marked as Rust and, as in rustdoc, unmarked ones of a front page.
    pub(super) fn examples(&self) -> usize {
        let unmarked = if self.told.is_none() { blocks(&self.text, "").len() } else { 0 };
        blocks(&self.text, "rust").len() + unmarked
    }

    /// Whether an example names a library.
    pub(super) fn names(&self, library: &str) -> bool {
        let code = blocks(&self.text, "rust").into_iter().chain(blocks(&self.text, ""));
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        code.into_iter().any(|code| code.split(|c| !is_part(c)).any(|word| word == library))
    }
}

/// The fenced blocks of a language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(bool, String)> = None;
    for line in text.lines() {
        match (line.trim().strip_prefix("```"), &mut open) {
            (Some(marked), None) => open = Some((marked == language, String::new())),
            (Some(_), Some(_)) => {
                found.extend(open.take().filter(|(wanted, _)| *wanted).map(|(_, code)| code))
            }
            (None, Some((_, code))) => code.extend([line, "\n"]),
            (None, None) => {}
        }
    }
    found
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_blocks_are_distinguished_by_their_language() {
        let text = "a\n```rust\nuse hip_sys;\n```\n```toml\nx = 1\n```\n```\nplain\n```\n";
        assert_eq!(blocks(text, "rust"), ["use hip_sys;\n"]);
        assert_eq!(blocks(text, "toml"), ["x = 1\n"]);
        assert_eq!(blocks(text, ""), ["plain\n"]);
        let page = |told| Page { name: "a".into(), text: text.into(), told };
        assert_eq!((page(None).examples(), page(Some(String::new())).examples()), (2, 1));
        assert!(page(None).names("hip_sys") && !page(None).names("hip"));
    }
}
