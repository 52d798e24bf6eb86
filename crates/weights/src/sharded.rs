//! Models in several safetensors files, and the search for a model in a folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tensor_core::file::Source;
use tensor_core::{Result, safetensors};

use crate::gguf::split;

/// How the names of indices end.
pub(crate) const INDEX_SUFFIX: &str = ".safetensors.index.json";
const OPEN: &str = "checkpoint";

/// What an index says; other fields are not used.
#[derive(serde::Deserialize)]
struct Index {
    /// The file that each tensor lies in.
    weight_map: BTreeMap<String, String>,
}

/// Opens all files of an index, which lie in its folder, and finds the tensors in them.
pub(crate) fn open(path: &Path) -> Result<(Vec<safetensors::File>, BTreeMap<String, usize>)> {
    let source = Source::open(path, OPEN)?;
    let json = source.bytes(0..source.length(), OPEN)?;
    let index: Index = serde_json::from_slice(&json)
        .map_err(|error| source.error(OPEN, format!("it is no index of safetensors files: {error}")))?;
    let (mut files, mut file_indices) = (Vec::new(), BTreeMap::new());
    let mut opened: BTreeMap<String, usize> = BTreeMap::new();
    for (name, file) in index.weight_map {
        let file_index = match opened.get(&file) {
            Some(&file_index) => file_index,
            None => {
                // An index from anywhere must not lead to files anywhere.
                if Path::new(&file).file_name() != Some(file.as_ref()) {
                    let what = format!(
                        "tensor {name:?} is said to lie in {file:?}, which is no name of a file beside the index"
                    );
                    return Err(source.error(OPEN, what));
                }
                files.push(safetensors::File::open(path.with_file_name(&file))?);
                opened.insert(file.clone(), files.len() - 1);
                files.len() - 1
            }
        };
        if files[file_index].info(&name).is_none() {
            let what =
                format!("tensor {name:?} is said to lie in {file}, which does not have it: fetch both again");
            return Err(source.error(OPEN, what));
        }
        file_indices.insert(name, file_index);
    }
    Ok((files, file_indices))
}

/// The file that stands for the model in a folder.
pub(crate) fn model_in(folder: &Path) -> Result<PathBuf> {
    let failed = |source| {
        let kind = tensor_core::ErrorKind::Io { path: folder.to_owned(), source };
        tensor_core::Error::new(OPEN, kind)
    };
    let mut found: [Vec<PathBuf>; 3] = Default::default();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let kind = if name.ends_with(INDEX_SUFFIX) {
            0
        } else if name == "model.safetensors" {
            1
        } else if name.ends_with(".gguf") && !is_later_file(&path) {
            2
        } else {
            continue;
        };
        found[kind].push(path);
    }
    let what = match found.into_iter().find(|paths| !paths.is_empty()).as_deref() {
        Some([path]) => return Ok(path.clone()),
        Some(paths) => {
            format!("it has {} models; name one of them, such as {}", paths.len(), paths[0].display())
        }
        None => format!("it has no model: neither *{INDEX_SUFFIX}, nor model.safetensors, nor *.gguf"),
    };
    Err(tensor_core::Error::new(OPEN, tensor_core::ErrorKind::File { path: folder.to_owned(), what }))
}

/// Whether this is a file of a split model, and not its first one.
fn is_later_file(path: &Path) -> bool {
    split::files(path).is_some_and(|files| files.first().is_none_or(|first| first != path))
}
