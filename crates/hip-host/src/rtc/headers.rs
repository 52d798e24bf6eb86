//! The headers that kernels include, embedded in the library, so that a program still has them after it was
//! moved.

use std::io;
use std::path::Path;

include!(concat!(env!("OUT_DIR"), "/headers.rs"));

/// Writes all headers below a directory.
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

/// A hash of all headers: code compiled with other headers gets another hash.
pub(crate) fn hash() -> u128 {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    for text in HEADERS.iter().flat_map(|(name, text)| [name, text]) {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.digest128()
}
