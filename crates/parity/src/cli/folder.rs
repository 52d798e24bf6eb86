//! The default folder of output files.

use std::path::{Path, PathBuf};

/// The folder `parity` in cargo's target folder, or in `./target` if cargo did not build this program.
pub(super) fn of_reports() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    in_target_of(&program).unwrap_or_else(|| Path::new("target").to_path_buf()).join("parity")
}

/// The target folder of a program, which cargo marks with a file. The path is relative if it is below the current
/// folder.
fn in_target_of(program: &Path) -> Option<PathBuf> {
    let target = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file())?;
    let here = std::env::current_dir().unwrap_or_default();
    Some(target.strip_prefix(here).unwrap_or(target).to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_folder_is_the_marked_one_around_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("elsewhere");
        std::fs::create_dir_all(target.join("debug")).unwrap();
        assert_eq!(in_target_of(&target.join("debug/parity")), None, "a folder that cargo did not make");
        std::fs::write(target.join("CACHEDIR.TAG"), "").unwrap();
        assert_eq!(in_target_of(&target.join("debug/parity")), Some(target));
    }
}
