//! The files that the checks read.

use std::collections::BTreeSet;
use std::path::Path;

/// Extensions of files that are read as text; for other files only their existence matters.
const TEXT: [&str; 13] = ["rs", "hip", "hpp", "h", "c", "cpp", "cu", "md", "toml", "sh", "py", "css", "js"];

/// Folders with nothing of the project.
const SKIPPED: [&str; 2] = ["target", ".git"];

/// Dot files and folders that belong to the project.
const DOTTED: [&str; 3] = [".ci", ".cargo", ".gitignore"];

/// A text file.
#[derive(Debug)]
pub(crate) struct File {
    /// Path from the root, with `/`.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
}

impl File {
    /// The part of the name after the last dot.
    pub(crate) fn extension(&self) -> &str {
        self.path.rsplit_once('.').map_or("", |(_, ext)| ext)
    }

    /// Whether a command generates it: it is below a folder `generated`.
    pub(crate) fn is_generated(&self) -> bool {
        self.path.split('/').any(|part| part == "generated")
    }

    /// Whether it is Rust, C or C++.
    pub(crate) fn is_source(&self) -> bool {
        matches!(self.extension(), "rs" | "hip" | "hpp" | "h" | "c" | "cpp")
    }

    /// The lines with their numbers, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(i, line)| (i + 1, line))
    }

    /// The number of the first line that sets `key` in a TOML file, or else 1.
    pub(crate) fn line_of_key(&self, key: &str) -> usize {
        let sets = |line: &str| {
            line.trim_start().strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '.', '=']))
        };
        self.lines().find(|(_, line)| sets(line)).map_or(1, |(n, _)| n)
    }
}

/// All files of the workspace.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// The absolute path of the root; empty for a tree in memory.
    pub(crate) root: String,
    /// The text files, ordered by path.
    pub(crate) files: Vec<File>,
    paths: BTreeSet<String>,
}

impl Tree {
    /// Reads the files below `root`.
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let mut tree = Self { root: root.display().to_string(), ..Self::default() };
        tree.walk(root, "")?;
        Ok(tree)
    }

    /// A tree in memory.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            tree.paths.insert(path.to_string());
            tree.files.push(File { path: path.to_string(), text: text.to_string() });
        }
        tree
    }

    fn walk(&mut self, dir: &Path, prefix: &str) -> Result<(), String> {
        let fail = |e: std::io::Error| format!("cannot read {}: {e}", dir.display());
        let mut entries: Vec<_> =
            std::fs::read_dir(dir).map_err(fail)?.collect::<Result<_, _>>().map_err(fail)?;
        entries.sort_by_key(|entry| entry.file_name());
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            if SKIPPED.contains(&name.as_str()) || (name.starts_with('.') && !DOTTED.contains(&name.as_str()))
            {
                continue;
            }
            let path = format!("{prefix}{name}");
            if entry.file_type().map_err(fail)?.is_dir() {
                self.walk(&entry.path(), &format!("{path}/"))?;
                continue;
            }
            self.paths.insert(path.clone());
            let is_text =
                path == ".ci/run" || TEXT.contains(&path.rsplit_once('.').map_or("", |(_, ext)| ext));
            if is_text {
                let text =
                    std::fs::read_to_string(entry.path()).map_err(|e| format!("cannot read {path}: {e}"))?;
                self.files.push(File { path, text });
            }
        }
        Ok(())
    }

    /// Whether a file or folder of this name exists.
    pub(crate) fn exists(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let folder = format!("{path}/");
        self.paths.contains(path)
            || self.paths.range(folder.clone()..).next().is_some_and(|p| p.starts_with(&folder))
    }

    /// The text file of this name.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The text files with one of these extensions.
    pub(crate) fn with_extension<'a>(&'a self, extensions: &'a [&str]) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(|file| extensions.contains(&file.extension()))
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;

    #[test]
    fn folders_exist_when_a_file_is_in_them() {
        let tree = Tree::of(&[("a/b/c.rs", ""), ("a-b/d.rs", "")]);
        for path in ["a", "a/", "a/b", "a/b/c.rs", "a-b"] {
            assert!(tree.exists(path), "{path}");
        }
        for path in ["a/b/c", "b", "a/b/c.rs/d", "a-"] {
            assert!(!tree.exists(path), "{path}");
        }
    }
}
