//! What can be wrong with a request for a parity run.

use std::io;
use std::path::PathBuf;

use crate::record::Damage;

/// A run that could not be made, or whose report could not be written. A mismatch is no error: it is a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A device that does not exist here.
    #[error("device {name:?} cannot be used: {reason}; devices here: {available}")]
    Device {
        /// The name asked for.
        name: String,
        /// Why not.
        reason: String,
        /// What there is instead.
        available: String,
    },
    /// A device has no code of its kernels, and none can be made.
    #[error("kernels cannot be compiled: {source}")]
    Kernels {
        /// Where they were looked for, and the compiler's log.
        source: tensor_core::Error,
    },
    /// No case has such an id.
    #[error(
        "no case matches {filter:?}: see `cargo xtask parity --list` for the ids; a filter is a part of an id, or a pattern with * and ?"
    )]
    NoCase {
        /// The filter.
        filter: String,
    },
    /// No chosen case is one that errors are planted in.
    #[error(
        "no case that {filter:?} matches takes planted errors: leave the filter out, or name an operation, such as exp/f32"
    )]
    NothingToSabotage {
        /// The filter.
        filter: String,
    },
    /// A checkpoint without a tensor of a dtype that there are operations on.
    #[error("{path} has no tensors that there are operations on: there is nothing to run")]
    NoTensors {
        /// The file.
        path: PathBuf,
    },
    /// A report whose page would have its own name.
    #[error("--json {path}: the page beside the report ends in .html, so the report cannot")]
    ReportName {
        /// The path given.
        path: PathBuf,
    },
    /// A checkpoint that cannot be read.
    #[error("the checkpoint cannot be used: {source}")]
    Weights {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<tensor_core::Error>,
    },
    /// A record that cannot be read.
    #[error("the record {path} cannot be read: {source}")]
    ReadRecord {
        /// The file.
        path: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
    /// A record that is damaged.
    #[error("{name}, {damage}; `cargo xtask parity record` makes such a file")]
    Record {
        /// The file, or the name of an embedded record.
        name: String,
        /// What is wrong.
        damage: Damage,
    },
    /// Two records that have no case in common.
    #[error(
        "{left} and {right} have no case with the same inputs in common (seeds {seeds}): record both with the same version and seed"
    )]
    NothingInCommon {
        /// The first record's name.
        left: String,
        /// The second's.
        right: String,
        /// Their seeds.
        seeds: String,
    },
    /// A list of known differences that cannot be used.
    #[error("{path}: {reason}")]
    Differences {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A report or record that cannot be written.
    #[error("{path} cannot be written: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
    /// One record, and nothing to hold it against.
    #[error("{path} is a record: name a second file to compare it with")]
    Alone {
        /// The file.
        path: PathBuf,
    },
    /// Results of another program that cannot be used.
    #[error("the results {path} cannot be used: {what}; benches/witness/torch_witness.py makes such a file")]
    Results {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A folder that an export would mix with what is there.
    #[error("{folder} is not empty: name a folder that is empty or does not exist")]
    NotEmpty {
        /// The folder.
        folder: PathBuf,
    },
    /// Exported cases or inputs that cannot be written.
    #[error(
        "the cases cannot be exported to {path}: {source}; nothing is left there: make room or name another folder"
    )]
    Export {
        /// The file or folder.
        path: PathBuf,
        /// What the file system said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A case that the reference cannot judge.
    #[error("the reference has no answer for {case}: {what}")]
    NoReference {
        /// The case's id.
        case: String,
        /// Why not.
        what: String,
    },
    /// Threads that cannot be made.
    #[error("the thread pool cannot be made: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}
