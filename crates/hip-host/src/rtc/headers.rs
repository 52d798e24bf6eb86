//! The headers that kernels include, carried in the library: a program that moved finds them still.

use std::io;
use std::path::Path;

include!(concat!(env!("OUT_DIR"), "/headers.rs"));

/// Writes all of them under a folder.
pub(crate) fn write_to(folder: &Path) -> io::Result<()> {
    for (name, text) in HEADERS {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}

/// A number for all of them: code that was compiled with others has another.
pub(crate) fn hash() -> u128 {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    for text in HEADERS.iter().flat_map(|(name, text)| [name, text]) {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.digest128()
}
