//! Notices on standard error for users who wait for a compiler.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::sync::Once;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use hip_safe::CodeCache;
use parking_lot::Mutex;

/// How long to wait before printing.
const QUIET: Duration = Duration::from_secs(1);

/// Represents a running compilation; dropping it ends the notice.
pub(super) struct Waiting {
    _done: Sender<()>,
}

/// Says which unit is compiled, if that takes longer than a second: once for all threads that wait for it. Where nobody watches, the first
/// one stands for all.
pub(super) fn waiting(unit: &str, arch: &str) -> Waiting {
    static FIRST: Once = Once::new();
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let (done, ended) = channel();
    let text = format!("hipstack: compiling {unit} for {arch} on first use");
    let tell = move || {
        if ended.recv_timeout(QUIET) == Err(RecvTimeoutError::Timeout) {
            if std::io::stderr().is_terminal() {
                if SAID.lock().insert(text.clone()) {
                    eprintln!("{text}");
                }
            } else {
                FIRST.call_once(|| eprintln!("{text}; others may follow"));
            }
        }
    };
    // If no thread can be started, nothing is printed.
    let _ = std::thread::Builder::new().name("compiler notice".into()).spawn(tell);
    Waiting { _done: done }
}

/// If the cache cannot write to disk, prints once that the next program will compile everything again.
pub(super) fn kept(cache: &CodeCache) {
    static TOLD: Once = Once::new();
    let why = match (cache.folder(), cache.last_failure()) {
        (None, _) => "there is no cache folder".to_owned(),
        (Some(_), Some(failure)) => failure,
        (Some(_), None) => return,
    };
    TOLD.call_once(|| {
        eprintln!("hipstack: compiled kernels are kept until this program ends ({why}): set HIPSTACK_CACHE to a folder to keep them");
    });
}
