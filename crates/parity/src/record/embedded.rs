//! The records that every run is compared with. They are embedded in the program, which thus needs no repository.

use std::path::Path;

use super::Record;
use crate::Error;

/// Name and text of every record in `records/`. `cargo xtask parity record` makes records.
pub const EMBEDDED: &[(&str, &str)] = &[("cuda-h200", include_str!("../../records/cuda-h200.tsv"))];

/// A record with its name in messages.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedRecord {
    /// The file's name without extension: "cuda-h200".
    pub name: String,
    /// The record.
    pub record: Record,
}

impl NamedRecord {
    /// Reads a file and names the record after it.
    ///
    /// # Errors
    /// As [`Record::read`].
    pub fn read(path: &Path) -> Result<NamedRecord, Error> {
        let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(NamedRecord { name, record: Record::read(path)? })
    }
}

/// All records of [`EMBEDDED`].
///
/// # Errors
/// [`Error::Record`] if one of them is damaged, which a test of this crate rules out.
pub fn embedded() -> Result<Vec<NamedRecord>, Error> {
    let read = |(name, text): &(&str, &str)| {
        let record =
            Record::parse(text).map_err(|damage| Error::Record { name: name.to_string(), damage })?;
        Ok(NamedRecord { name: name.to_string(), record })
    };
    EMBEDDED.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_of_the_folder_is_embedded_and_whole() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("records");
        let files = std::fs::read_dir(&folder).into_iter().flatten();
        let mut files: Vec<String> = files
            .map(|file| {
                file.expect("the folder can be listed").file_name().into_string().expect("a plain name")
            })
            .filter(|name| name.ends_with(".tsv"))
            .collect();
        files.sort();
        let names: Vec<String> = EMBEDDED.iter().map(|(name, _)| format!("{name}.tsv")).collect();
        assert_eq!(files, names, "records/ and EMBEDDED, which is sorted by name");
        for (named, (_, text)) in embedded().expect("every record can be read").iter().zip(EMBEDDED) {
            assert!(named.record.to_text() == *text, "{} is not as it is written", named.name);
        }
    }
}
