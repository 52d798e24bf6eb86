//! Writing the cases and their inputs to a folder, for another program to compute.
//!
//! The folder has `cases.json` (see [`manifest`]) and the stored arrays in `inputs-000.safetensors`, `inputs-001.safetensors`, ….
//! Arrays of the same dtype, shape and bytes are there once, whichever cases they belong to. `cases.json` is written last: a folder without
//! it is not complete.

pub mod manifest;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tensor_core::{Device, Tensor, safetensors};
use xxhash_rust::xxh3::xxh3_128;

use crate::Error;
use crate::case::{Case, Operand};
use crate::evaluate;
use crate::execute;
use crate::report;
use crate::run::{Prepared, batches, prepare};
use manifest::{CaseEntry, FORMAT, Manifest, ResultEntry};

/// Name of the file that describes the cases.
pub const CASES: &str = "cases.json";

/// A file of arrays is closed when it has this many bytes; one array may make it longer.
const FILE_BYTES: usize = 256 << 20;

/// What an export wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    /// Number of cases.
    pub cases: usize,
    /// Number of operands of all cases.
    pub operands: usize,
    /// Number of arrays in the files.
    pub arrays: usize,
    /// Their bytes.
    pub bytes: usize,
    /// Number of files of arrays.
    pub files: usize,
}

/// Writes `cases` and their inputs from `seed` to `folder`, which is made if it is not there. `filter` says which of the registry's
/// cases they are, for whoever reads results of them. `step` is called after each case. After an error the folder is as empty as it was.
///
/// # Errors
/// [`Error::NotEmpty`], [`Error::Export`]: the file system's; [`Error::NoReference`]: a case that the reference has no answer for.
pub fn export(
    cases: &[Case],
    filter: &str,
    seed: u64,
    folder: &Path,
    step: &mut dyn FnMut(),
) -> Result<Exported, Error> {
    let existed = make_empty(folder)?;
    let result = write_all(cases, filter, seed, folder, step);
    if result.is_err() {
        clear(folder, existed);
    }
    result
}

/// Makes the folder, or sees that it is empty. Whether it was there.
fn make_empty(folder: &Path) -> Result<bool, Error> {
    match fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            None => Ok(true),
            Some(_) => Err(Error::NotEmpty { folder: folder.to_path_buf() }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(folder).map_err(failed(folder))?;
            Ok(false)
        }
        Err(error) => Err(failed(folder)(error)),
    }
}

/// Takes away what an unfinished export left: the folder had nothing else. Another error on the way out would only hide the first.
fn clear(folder: &Path, existed: bool) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.for_each(|entry| drop(fs::remove_file(entry.path())));
    if !existed {
        let _ = fs::remove_dir(folder);
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> Error + use<> {
    let path = path.to_path_buf();
    move |source| Error::Export { path: path.clone(), source: Box::new(source) }
}

fn write_all(
    cases: &[Case],
    filter: &str,
    seed: u64,
    folder: &Path,
    step: &mut dyn FnMut(),
) -> Result<Exported, Error> {
    let mut store = Store {
        folder,
        open: BTreeMap::new(),
        open_bytes: 0,
        places: HashMap::new(),
        total: Exported::default(),
    };
    let mut entries = Vec::with_capacity(cases.len());
    for batch in batches(cases) {
        let prepared: Vec<Prepared<'_>> = batch.par_iter().map(|case| prepare(case, seed)).collect();
        for Prepared { case, inputs, arrays } in prepared {
            let no_reference = |what: String| Error::NoReference { case: case.id(), what };
            let arrays = arrays.map_err(no_reference)?;
            let arrays: Vec<_> = arrays.iter().collect();
            let outcome =
                evaluate::outcome(case, &arrays).map_err(|error| no_reference(error.to_string()))?;
            let result = ResultEntry { dtype: outcome.dtype().name(), shape: outcome.shape().to_vec() };
            let places = case.operands.iter().zip(&inputs).map(|(operand, bytes)| store.put(operand, bytes));
            let places = places.collect::<Result<Vec<_>, _>>()?;
            entries.push(CaseEntry::new(case, case.hash(&inputs), places, result));
            store.close_if_full()?;
            step();
        }
    }
    store.close()?;
    let total = Exported { cases: entries.len(), ..store.total };
    write_manifest(
        &Manifest { format: FORMAT, seed, filter: filter.to_string(), cases: entries },
        &folder.join(CASES),
    )?;
    Ok(total)
}

/// Under another name until it is whole: a folder with the file is complete.
fn write_manifest(manifest: &Manifest, path: &Path) -> Result<(), Error> {
    report::write(path, |file| Ok(serde_json::to_writer(file, manifest)?)).map_err(failed(path))
}

/// The files of arrays, the last of which is not written yet.
struct Store<'a> {
    folder: &'a Path,
    open: BTreeMap<String, Tensor>,
    open_bytes: usize,
    /// The file of each array, by the array's name.
    places: HashMap<String, String>,
    total: Exported,
}

impl Store<'_> {
    /// The file and the name of an array, which is stored if it is new.
    fn put(&mut self, operand: &Operand, bytes: &[u8]) -> Result<(String, String), Error> {
        self.total.operands += 1;
        let name = name(operand, bytes);
        if let Some(file) = self.places.get(&name) {
            return Ok((file.clone(), name));
        }
        let path = self.path();
        let tensor = execute::stored(operand, bytes, &Device::Cpu)
            .map_err(|source| Error::Export { path, source: Box::new(source) })?;
        let file = self.file();
        self.open.insert(name.clone(), tensor);
        self.open_bytes += bytes.len();
        self.total.arrays += 1;
        self.places.insert(name.clone(), file.clone());
        Ok((file, name))
    }

    fn close_if_full(&mut self) -> Result<(), Error> {
        if self.open_bytes < FILE_BYTES { Ok(()) } else { self.close() }
    }

    fn close(&mut self) -> Result<(), Error> {
        if self.open.is_empty() {
            return Ok(());
        }
        let path = self.path();
        safetensors::write(&path, &self.open, &BTreeMap::new())
            .map_err(|source| Error::Export { path, source: Box::new(source) })?;
        self.open.clear();
        self.total.bytes += std::mem::take(&mut self.open_bytes);
        self.total.files += 1;
        Ok(())
    }

    /// Name of the file that is not written yet.
    fn file(&self) -> String {
        format!("inputs-{:03}.safetensors", self.total.files)
    }

    fn path(&self) -> PathBuf {
        self.folder.join(self.file())
    }
}

/// Name of an array: dtype, shape, and a hash of the bytes.
fn name(operand: &Operand, bytes: &[u8]) -> String {
    let shape: Vec<String> = operand.stored.iter().map(usize::to_string).collect();
    format!("{}-{}-{:032x}", operand.dtype, shape.join("x"), xxh3_128(bytes))
}
