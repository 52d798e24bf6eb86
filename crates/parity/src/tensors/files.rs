//! Files and folders of named tensors: `.npy`, `.npz` and `.safetensors`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use reference::DType;
use tensor_core::{Device, Tensor, npy, npz, safetensors};

use crate::Error;
use crate::execute::known;

/// The endings of files that are read.
const ENDINGS: [&str; 3] = ["npy", "npz", "safetensors"];

/// The element type of a stored tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElementType {
    /// One that tensors have.
    Known(DType),
    /// Another one, by its name: "bool", "i8", "u16".
    Other(String),
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElementType::Known(dtype) => f.write_str(dtype.name()),
            ElementType::Other(name) => f.write_str(name),
        }
    }
}

/// A tensor that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its element type.
    pub element: ElementType,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its elements: dense, row-major, little-endian.
    pub bytes: Vec<u8>,
}

impl Stored {
    /// Dtype and shape, as text.
    pub(super) fn form(&self) -> String {
        format!("{} {:?}", self.element, self.shape)
    }

    fn of(tensor: &Tensor) -> tensor_core::Result<Stored> {
        let element = ElementType::Known(known(tensor.dtype()));
        Ok(Stored { element, shape: tensor.dims().to_vec(), bytes: tensor.to_bytes()? })
    }
}

/// An open file.
#[derive(Debug)]
enum Archive {
    Npy(PathBuf),
    Npz(npz::File),
    Safetensors(safetensors::File),
}

/// The tensors of a file, or of all files in a folder and the folders in it.
///
/// A tensor in an archive has its name there. A `.npy` file has its own name without the ending, and in a folder its
/// path below it: "layers/0". A name that several archives of a folder have is preceded by the archive's:
/// "step1/logits".
#[derive(Debug)]
pub struct TensorFiles {
    path: PathBuf,
    archives: Vec<Archive>,
    /// The archive of each name, and the name in it.
    locations: BTreeMap<String, (usize, String)>,
}

impl TensorFiles {
    /// Opens a file or a folder, and reads the names.
    ///
    /// # Errors
    /// [`Error::Tensors`] if there is no such file, it is damaged, or the folder has none that is read.
    pub fn open(path: &Path) -> Result<TensorFiles, Error> {
        let wrong = |what: String| Error::Tensors { path: path.to_path_buf(), what };
        let files = match path.is_dir() {
            true => list(path).map_err(|error| wrong(error.to_string()))?,
            false => vec![path.to_path_buf()],
        };
        if files.is_empty() {
            return Err(wrong(format!("it has no files that end in {}", ENDINGS.join(", "))));
        }
        let (mut archives, mut all) = (Vec::new(), Vec::new());
        for file in files {
            let below = file.strip_prefix(path).ok().filter(|below| !below.as_os_str().is_empty());
            let below = below.or(file.file_name().map(Path::new)).unwrap_or(&file).with_extension("");
            let below = below.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
            let (archive, names) = Archive::open(&file, &below).map_err(|what| match path == file {
                true => wrong(what),
                false => wrong(format!("{}: {what}", file.display())),
            })?;
            all.extend(names.into_iter().map(|name| (archives.len(), below.clone(), name)));
            archives.push(archive);
        }
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        all.iter().for_each(|(_, _, name)| *count.entry(name).or_default() += 1);
        let full = |(archive, below, name): &(usize, String, String)| {
            let full = if count[name.as_str()] > 1 { format!("{below}/{name}") } else { name.clone() };
            (full, (*archive, name.clone()))
        };
        let locations: BTreeMap<_, _> = all.iter().map(full).collect();
        if locations.len() < all.len() {
            return Err(wrong(
                "several of its tensors have the same name: compare its files one by one".into(),
            ));
        }
        Ok(TensorFiles { path: path.to_path_buf(), archives, locations })
    }

    /// The file or folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.locations.keys().map(String::as_str)
    }

    /// The name, if there is only one.
    pub fn only_name(&self) -> Option<&str> {
        self.names().next().filter(|_| self.locations.len() == 1)
    }

    /// Whether this is a `.npy` file.
    pub(super) fn is_npy(&self) -> bool {
        matches!(self.archives.as_slice(), [Archive::Npy(path)] if *path == self.path)
    }

    /// Reads a tensor.
    ///
    /// # Errors
    /// The reason in words: there is none of that name, it is damaged, or its dtype is not read from this format.
    pub fn load(&mut self, name: &str) -> Result<Stored, String> {
        let (archive, inner) = self
            .locations
            .get(name)
            .ok_or_else(|| format!("there is no tensor {name:?} in {}", self.path.display()))?;
        self.archives[*archive].load(inner)
    }
}

impl Archive {
    /// The archive, and the names in it. `below` is that of a `.npy` file.
    fn open(path: &Path, below: &str) -> Result<(Archive, Vec<String>), String> {
        let words = |error: tensor_core::Error| error.to_string();
        let ending = path.extension().unwrap_or_default();
        if ending == "safetensors" {
            let file = safetensors::File::open(path).map_err(words)?;
            let names = file.names().map(str::to_owned).collect();
            Ok((Archive::Safetensors(file), names))
        } else if ending == "npz" {
            let file = npz::File::open(path).map_err(words)?;
            let names = file.names().map(str::to_owned).collect();
            Ok((Archive::Npz(file), names))
        } else if ending == "npy" {
            std::fs::metadata(path).map_err(|error| error.to_string())?;
            Ok((Archive::Npy(path.to_path_buf()), vec![below.to_owned()]))
        } else {
            Err(format!("it does not end in {}", ENDINGS.join(", ")))
        }
    }

    fn load(&mut self, name: &str) -> Result<Stored, String> {
        let words = |error: tensor_core::Error| error.to_string();
        match self {
            Archive::Safetensors(file) => match file.info(name).filter(|info| info.dtype.is_none()) {
                None => file.load(name, &Device::Cpu).and_then(|tensor| Stored::of(&tensor)).map_err(words),
                Some(info) => {
                    let bytes = file.bytes(name).map_err(words)?.into_owned();
                    let element = ElementType::Other(info.dtype_name.to_lowercase());
                    Ok(Stored { element, shape: info.shape.dims().to_vec(), bytes })
                }
            },
            Archive::Npz(file) => {
                file.load(name, &Device::Cpu).and_then(|tensor| Stored::of(&tensor)).map_err(words)
            }
            Archive::Npy(path) => {
                let read = npy::read(&*path, &Device::Cpu).and_then(|tensor| Stored::of(&tensor));
                read.or_else(|error| raw(path).ok_or_else(|| error.to_string()))
            }
        }
    }
}

/// An array of a dtype that tensors do not have; `None` if it is not stored dense, row-major and little-endian.
fn raw(path: &Path) -> Option<Stored> {
    let npy::Raw { descr, shape, fortran_order, bytes } = npy::read_raw(path).ok()?;
    let name = match descr.as_str() {
        "|b1" => "bool".to_owned(),
        "|i1" => "i8".to_owned(),
        other => {
            let (kind, size) = other.strip_prefix('<')?.split_at_checked(1)?;
            let size: usize = size.parse().ok()?;
            format!("{kind}{}", 8 * size)
        }
    };
    let dense = !fortran_order || shape.dims().len() < 2;
    dense.then(|| Stored { element: ElementType::Other(name), shape: shape.dims().to_vec(), bytes })
}

/// The files in a folder and the folders in it that are read, in alphabetical order.
fn list(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::path);
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.path();
        // Links to folders are not followed, because they may lead in a circle.
        if entry.file_type()?.is_dir() {
            files.extend(list(&path)?);
        } else if path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known)) {
            files.push(path);
        }
    }
    Ok(files)
}
