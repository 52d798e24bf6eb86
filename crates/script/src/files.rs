//! Which files a script may read and write.

use std::path::{Path, PathBuf};

/// The files of a sandbox, or all.
#[derive(Debug)]
pub(crate) struct Files {
    /// The folder, without links in its path.
    sandbox: Option<PathBuf>,
}

impl Files {
    /// # Errors
    /// That the folder is none.
    pub(crate) fn new(sandbox: Option<&Path>) -> Result<Files, String> {
        let real = |folder: &Path| match folder.canonicalize() {
            Ok(real) if real.is_dir() => Ok(real),
            Ok(_) => Err(format!("the sandbox {} is no folder", folder.display())),
            Err(error) => Err(format!("the sandbox {}: {error}", folder.display())),
        };
        Ok(Files { sandbox: sandbox.map(real).transpose()? })
    }

    /// The file or folder at `path`, which a script may read. In a sandbox relative paths begin at its folder, and the result has
    /// no links in it.
    ///
    /// # Errors
    /// That it is not in the sandbox. Whether something is there outside is not said.
    pub(crate) fn readable(&self, path: &str) -> Result<PathBuf, String> {
        let Some(sandbox) = &self.sandbox else { return Ok(path.into()) };
        match sandbox.join(path).canonicalize() {
            Ok(real) if real.starts_with(sandbox) => Ok(real),
            _ => Err(format!("{path} is not in the sandbox {}", sandbox.display())),
        }
    }

    /// As [`Files::readable`], for a model, which may be several files of a folder: no link in the folder may lead out.
    ///
    /// # Errors
    /// As there, and the name of such a link.
    pub(crate) fn model(&self, path: &str) -> Result<PathBuf, String> {
        let found = self.readable(path)?;
        let Some(sandbox) = &self.sandbox else { return Ok(found) };
        let folder = if found.is_dir() { &found } else { found.parent().unwrap_or(sandbox) };
        for entry in folder.read_dir().map_err(|error| format!("{}: {error}", folder.display()))? {
            let entry = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
            // A link that leads nowhere cannot be read.
            if entry.canonicalize().is_ok_and(|real| !real.starts_with(sandbox)) {
                return Err(format!("{} leads out of the sandbox {}", entry.display(), sandbox.display()));
            }
        }
        Ok(found)
    }

    /// The file at `path`, which a script may write. In a sandbox its folder must be there, and it must not be a link.
    ///
    /// # Errors
    /// That it is not in the sandbox, or is a link or no file.
    pub(crate) fn writable(&self, path: &str) -> Result<PathBuf, String> {
        let Some(sandbox) = &self.sandbox else { return Ok(path.into()) };
        let outside = || format!("{path} is not in the sandbox {}", sandbox.display());
        let joined = sandbox.join(path);
        let (folder, name) = (joined.parent().ok_or_else(outside)?, joined.file_name().ok_or_else(outside)?);
        let folder =
            folder.canonicalize().ok().filter(|real| real.starts_with(sandbox)).ok_or_else(outside)?;
        let target = folder.join(name);
        match target.symlink_metadata() {
            Ok(there) if !there.is_file() => {
                Err(format!("{path} is a link, a folder or a device, which are not written in a sandbox"))
            }
            _ => Ok(target),
        }
    }
}
