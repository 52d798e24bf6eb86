//! Exporting cases and their inputs to a folder, for another program to compute.
//!
//! The folder has `cases.json` (see [`manifest`]) and the stored arrays in `inputs-000.safetensors`,
//! `inputs-001.safetensors`, …. Arrays with equal dtype, shape and bytes are stored once, even for several cases.
//! `cases.json` is written last: without it the folder is incomplete.

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

/// Name of the file with the cases.
pub const CASES: &str = "cases.json";

/// A file of arrays is closed when it has this many bytes. The last array may exceed it.
const FILE_BYTES: usize = 256 << 20;

/// A summary of an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    /// Number of cases.
    pub cases: usize,
    /// Number of operands of all cases.
    pub operands: usize,
    /// Number of arrays in the files.
    pub arrays: usize,
    /// Bytes of these arrays.
    pub bytes: usize,
    /// Number of files of arrays.
    pub files: usize,
}

/// Writes `cases` and their inputs from `seed` to `folder`, which is created if necessary. `filter` is recorded for
/// readers of the results: it says which of the registry's cases these are. `step` is called after each case. After an
/// error the folder is empty again, or removed if it was created.
///
/// # Errors
/// [`Error::NotEmpty`]; [`Error::Export`] for errors of the file system; [`Error::NoReference`] if the reference cannot
/// compute a case.
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

/// Creates the folder, or checks that it is empty. Returns whether it existed.
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

/// Removes what an unfinished export wrote. Errors are ignored, because they would hide the original one.
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
        files: HashMap::new(),
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
            let locations =
                case.operands.iter().zip(&inputs).map(|(operand, bytes)| store.put(operand, bytes));
            let locations = locations.collect::<Result<Vec<_>, _>>()?;
            entries.push(CaseEntry::new(case, case.hash(&inputs), locations, result));
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

/// Writes the manifest atomically, so that a folder with this file is complete.
fn write_manifest(manifest: &Manifest, path: &Path) -> Result<(), Error> {
    report::write(path, |file| Ok(serde_json::to_writer(file, manifest)?)).map_err(failed(path))
}

/// The files of arrays. The last one is not written yet.
struct Store<'a> {
    folder: &'a Path,
    open: BTreeMap<String, Tensor>,
    open_bytes: usize,
    /// The file of each array, by the array's name.
    files: HashMap<String, String>,
    total: Exported,
}

impl Store<'_> {
    /// Stores an array unless it is stored already. Returns its file and name.
    fn put(&mut self, operand: &Operand, bytes: &[u8]) -> Result<(String, String), Error> {
        self.total.operands += 1;
        let name = name(operand, bytes);
        if let Some(file) = self.files.get(&name) {
            return Ok((file.clone(), name));
        }
        let path = self.path();
        let tensor = execute::stored(operand, bytes, &Device::Cpu)
            .map_err(|source| Error::Export { path, source: Box::new(source) })?;
        let file = self.file();
        self.open.insert(name.clone(), tensor);
        self.open_bytes += bytes.len();
        self.total.arrays += 1;
        self.files.insert(name.clone(), file.clone());
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

/// Name of an array: dtype, shape, and a hash of its bytes.
fn name(operand: &Operand, bytes: &[u8]) -> String {
    let shape: Vec<String> = operand.stored.iter().map(usize::to_string).collect();
    format!("{}-{}-{:032x}", operand.dtype, shape.join("x"), xxh3_128(bytes))
}
