//! The files of a checkout. Nothing is written until every edit fits.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::file::{Edit, File, Misfit};

/// A folder, and the files that were read and edited or made.
pub struct Tree {
    folder: PathBuf,
    files: BTreeMap<String, File>,
}

impl Tree {
    /// The folder of a crate.
    pub fn new(folder: &Path) -> Tree {
        Tree { folder: folder.to_owned(), files: BTreeMap::new() }
    }

    /// Edits a file, which must be there.
    pub fn edit(&mut self, name: &str, edit: impl FnOnce(&mut File) -> Edit) -> Edit {
        if !self.files.contains_key(name) {
            let text = std::fs::read_to_string(self.folder.join(name))
                .map_err(|error| Misfit(format!("{name}: {error}")))?;
            self.files.insert(name.to_owned(), File::new(name, text));
        }
        self.files.get_mut(name).map_or(Ok(()), edit)
    }

    /// As [`Tree::edit`], but does nothing if the file is not there.
    pub fn edit_if_there(&mut self, name: &str, edit: impl FnOnce(&mut File) -> Edit) -> Edit {
        if self.folder.join(name).exists() { self.edit(name, edit) } else { Ok(()) }
    }

    /// Adds a file.
    pub fn add(&mut self, name: &str, text: String) {
        self.files.insert(name.to_owned(), File::new(name, text));
    }

    /// Writes everything, or says which file failed.
    pub fn write(&self) -> Result<(), String> {
        self.files.iter().try_for_each(|(name, file)| {
            let path = self.folder.join(name);
            path.parent()
                .map_or(Ok(()), std::fs::create_dir_all)
                .and_then(|()| std::fs::write(&path, file.text()))
                .map_err(|error| format!("{} cannot be written: {error}", path.display()))
        })
    }
}
