//! Errors in requests for a parity run.

use std::io;
use std::path::PathBuf;

use crate::record::Damage;

hip_sys::debug_by_display!(Error);

/// The run could not be made, or its report not written. A mismatch is not an error but a result.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device does not exist here.
    #[error("device {name:?} cannot be used: {reason}; devices here: {available}")]
    Device {
        /// The name asked for.
        name: String,
        /// The reason.
        reason: String,
        /// The devices that exist.
        available: String,
    },
    /// A device has no kernel code, and none can be compiled.
    #[error("kernels cannot be compiled: {source}")]
    Kernels {
        /// Where they were looked for, and the compiler's log.
        source: tensor_core::Error,
    },
    /// No case has a matching id.
    #[error(
        "no case matches {filter:?}: see `cargo xtask parity --list` for the ids; a filter is part of an id, or a pattern with * and ?"
    )]
    NoCase {
        /// The filter.
        filter: String,
    },
    /// Errors cannot be planted in any of the chosen cases.
    #[error(
        "no case that {filter:?} matches takes planted errors: leave the filter out, or name an operation, such as exp/f32"
    )]
    NothingToSabotage {
        /// The filter.
        filter: String,
    },
    /// A checkpoint without a tensor of a supported dtype.
    #[error("{path} has no tensors that there are operations on: there is nothing to run")]
    NoTensors {
        /// The file.
        path: PathBuf,
    },
    /// An earlier report cannot be read.
    #[error("the report {path} cannot be read: {what}; `cargo xtask parity --json FILE` writes such a file")]
    ReadReport {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The report's path ends in .html, which its page would overwrite.
    #[error("--json {path}: the report cannot end in .html, because its HTML page does")]
    ReportName {
        /// The path given.
        path: PathBuf,
    },
    /// The checkpoint cannot be read.
    #[error("the checkpoint cannot be used: {source}")]
    Weights {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<tensor_core::Error>,
    },
    /// The record cannot be read.
    #[error("the record {path} cannot be read: {source}")]
    ReadRecord {
        /// The file.
        path: PathBuf,
        /// The file system's error.
        source: io::Error,
    },
    /// The record is damaged.
    #[error("{name}, {damage}; `cargo xtask parity record` makes such a file")]
    Record {
        /// The file, or the name of an embedded record.
        name: String,
        /// What is wrong.
        damage: Damage,
    },
    /// Two records without common cases.
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
    /// An invalid list of known differences.
    #[error("{path}: {reason}")]
    Differences {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The report or record cannot be written.
    #[error("{path} cannot be written: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The file system's error.
        source: io::Error,
    },
    /// A single record, without a file to compare it with.
    #[error("{path} is a record: name a second file to compare it with")]
    Alone {
        /// The file.
        path: PathBuf,
    },
    /// Invalid results of another program.
    #[error("the results {path} cannot be used: {what}; benches/witness/torch_witness.py makes such a file")]
    Results {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The export's folder is not empty.
    #[error("{folder} is not empty: name a folder that is empty or does not exist")]
    NotEmpty {
        /// The folder.
        folder: PathBuf,
    },
    /// Exported cases or inputs cannot be written.
    #[error(
        "the cases cannot be exported to {path}: {source}; nothing is left there: make room or name another folder"
    )]
    Export {
        /// The file or folder.
        path: PathBuf,
        /// The file system's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A case that the reference cannot compute.
    #[error("the reference has no answer for {case}: {what}")]
    NoReference {
        /// The case's id.
        case: String,
        /// The reason.
        what: String,
    },
    /// Files of tensors that cannot be read or compared.
    #[error("{path} cannot be used: {what}")]
    Tensors {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A model, which this program does not compute.
    #[error(
        "--model: models are computed by another program: `hipstack drift MODEL --device A --device B`, which `cargo xtask parity --model` starts"
    )]
    Model,
    /// Cases of one's own that cannot be run.
    #[error("these cases cannot be run: {what}")]
    Cases {
        /// What is wrong with them.
        what: String,
    },
    /// An operation without a bound of its own in ulp.
    #[error("no bound is known for {name:?}: use --ulp, or --rtol and --atol; bounds are known for {known}")]
    NoBound {
        /// The name asked for.
        name: String,
        /// The operations that have one.
        known: String,
    },
    /// The thread pool cannot be made.
    #[error("the thread pool cannot be made: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}
