//! A precompiled header for the header that kernel sources begin with.
//!
//! Parsing the header takes GCC 0.6 s of the 1 s that most units take. Precompiling it costs as much, so it
//! is done for the third source with the same flags. GCC uses it only if flags and macros match, and
//! otherwise reads the header itself.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// The header to precompile, which includes ours. The precompiled form is next to it, with `.gch` appended to
/// its name.
const TEXT: &str = "#include <hiphost/device.hpp>\n";

/// How many sources are compiled before the header is precompiled.
const WITHOUT: usize = 2;

/// The state of the precompiled header for one set of flags.
enum State {
    /// This many sources had these flags.
    Asked(usize),
    /// A thread precompiles it.
    Begun,
    /// It exists at this path.
    Made(PathBuf),
    /// The compiler cannot precompile it.
    Failed,
}

static KNOWN: Mutex<BTreeMap<Vec<String>, State>> = Mutex::new(BTreeMap::new());

/// The header to include before a source with these flags, if there is one. `besides`: what else the
/// precompiled form depends on. `make` precompiles a header with such flags, and returns whether that worked.
pub(super) fn header(
    flags: &[String],
    besides: &[String],
    make: impl FnOnce(&Path, &[String]) -> bool,
) -> Option<PathBuf> {
    let flags: Vec<String> = flags.iter().filter(|flag| decides(flag)).cloned().collect();
    let key = [&flags, besides].concat();
    {
        let mut known = KNOWN.lock();
        match known.entry(key.clone()).or_insert(State::Asked(0)) {
            State::Made(header) => return Some(header.clone()),
            State::Begun | State::Failed => return None,
            State::Asked(count) if *count < WITHOUT => {
                *count += 1;
                return None;
            }
            asked => *asked = State::Begun,
        }
    }
    let header = written().filter(|header| make(header, &flags));
    KNOWN.lock().insert(key, header.clone().map_or(State::Failed, State::Made));
    header
}

/// Whether the precompiled form depends on a flag. It does not depend on the element type.
fn decides(flag: &str) -> bool {
    !flag.starts_with("-DDTYPE_")
}

/// Writes a new header, not yet precompiled. All are removed when the process exits.
fn written() -> Option<PathBuf> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let header = ours()?.join(format!("{}.hpp", NUMBER.fetch_add(1, Ordering::Relaxed)));
    std::fs::write(&header, TEXT).ok()?;
    Some(header)
}

/// The directory of this process.
fn ours() -> Option<&'static Path> {
    struct Ours {
        folder: TempDir,
        process: u32,
    }
    static OURS: OnceLock<Option<Ours>> = OnceLock::new();
    extern "C" fn remove() {
        // A forked child leaves it to its parent.
        let ours = OURS.get().and_then(Option::as_ref).filter(|ours| ours.process == std::process::id());
        if let Some(ours) = ours {
            // What cannot be removed stays in the temporary directory.
            let _ = std::fs::remove_dir_all(ours.folder.path());
        }
    }
    let make = || {
        let folder = tempfile::Builder::new().prefix("hiphost-header-").tempdir().ok()?;
        hip_sys::at_exit(remove).then(|| Ours { folder, process: std::process::id() })
    };
    OURS.get_or_init(make).as_ref().map(|ours| ours.folder.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_text_with_the_same_flags_makes_it_and_later_ones_use_it() {
        let ask = |dtype: &str, made: &mut Vec<String>| {
            let flags = ["-DTEST_OF_PRECOMPILED".to_owned(), format!("-DDTYPE_{dtype}")];
            header(&flags, &["g++".into()], |header, flags| {
                made.push(format!("{} {}", header.display(), flags.join(" ")));
                true
            })
        };
        let mut made = Vec::new();
        assert_eq!((ask("f32", &mut made), ask("f16", &mut made), made.len()), (None, None, 0));
        let header = ask("i32", &mut made).expect("the folder for temporary files is writable");
        assert_eq!(std::fs::read_to_string(&header).expect("just written"), TEXT);
        assert_eq!(made, [format!("{} -DTEST_OF_PRECOMPILED", header.display())]);
        assert_eq!((ask("u8", &mut made), made.len()), (Some(header), 1));
    }

    #[test]
    fn a_compiler_that_cannot_is_asked_once() {
        let mut asked = 0;
        let mut fail = |_: &Path, _: &[String]| {
            asked += 1;
            false
        };
        for _ in 0..WITHOUT + 3 {
            assert_eq!(header(&["-DTEST_OF_FAILURE".to_owned()], &[], &mut fail), None);
        }
        assert_eq!(asked, 1);
    }
}
