//! Words for whoever waits for a compiler, on standard error.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::sync::Once;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use hip_safe::CodeCache;
use parking_lot::Mutex;

/// How long nothing is said.
const QUIET: Duration = Duration::from_secs(1);

/// While this lives, a compilation is waited for.
pub(super) struct Waiting {
    _done: Sender<()>,
}

/// Says which unit is compiled, if that takes longer than a second: once for all threads that wait for it. Where nobody watches, the first
/// one stands for all.
pub(super) fn waiting(unit: &str, arch: &str) -> Waiting {
    static FIRST: Once = Once::new();
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let (done, ended) = channel();
    let text = format!("hipstack: compiling {unit} for {arch}, which was not asked for before");
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
    // Without a thread for it nothing is said.
    let _ = std::thread::Builder::new().name("compiler notice".into()).spawn(tell);
    Waiting { _done: done }
}

/// Says once that the next program compiles everything again, if the cache keeps nothing on disk.
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
