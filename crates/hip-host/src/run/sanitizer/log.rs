//! A log of the kernels that have run, for the command that lists which kernels a sanitizer has seen.

use parking_lot::Mutex;
use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::LazyLock;

/// Appends a line for each kernel and wave size to the file that `HIPSTACK_HOST_SANITIZER_LOG` names: both,
/// separated by a space.
pub(super) fn note(kernel: &str, wave: u32) {
    static FILE: LazyLock<Option<PathBuf>> =
        LazyLock::new(|| std::env::var_os("HIPSTACK_HOST_SANITIZER_LOG").map(PathBuf::from));
    static SEEN: LazyLock<Mutex<HashSet<(String, u32)>>> = LazyLock::new(Default::default);
    let Some(file) = &*FILE else { return };
    let mut seen = SEEN.lock();
    if seen.insert((kernel.to_owned(), wave)) {
        let opened = OpenOptions::new().create(true).append(true).open(file);
        // The command that asked for the log reports a missing file.
        let _ = opened.and_then(|mut file| writeln!(file, "{kernel} {wave}"));
    }
}
