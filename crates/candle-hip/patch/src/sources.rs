//! The adapter's sources as a module of candle-core: the same files, but for those that candle's closed types need otherwise.

use std::io;
use std::path::Path;

use crate::tree::Tree;

const MODULE: &str = "src/hip_backend";

/// Adds the files of `sources`, and in place of some those of `inside`.
pub fn copy(sources: &Path, inside: &Path, tree: &mut Tree) -> io::Result<()> {
    add(sources, MODULE, tree)?;
    add(inside, MODULE, tree)
}

fn add(folder: &Path, module: &str, tree: &mut Tree) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            add(&path, &format!("{module}/{name}"), tree)?;
        } else {
            let name = if name == "lib.rs" { "mod.rs".to_owned() } else { name };
            // The examples in the documentation name the crate.
            let text = std::fs::read_to_string(&path)?.replace("candle_hip::", "candle_core::hip_backend::");
            tree.add(&format!("{module}/{name}"), text);
        }
    }
    Ok(())
}
