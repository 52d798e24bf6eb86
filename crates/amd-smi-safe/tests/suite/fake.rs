//! Builds the library of `fake.c`. Each name is a library of its own, with a state of its own.

use amd_smi_safe::{AmdSmi, Processor, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The library with these macros defined.
pub(crate) fn build(name: &str, defines: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/fake.c");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // Where the program was not built it is missing.
    std::fs::create_dir_all(folder).expect("a folder can be made");
    let made = folder.join(format!("libamd_smi_{name}.{}", std::process::id()));
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-w", "-o"]).arg(&made).arg(source);
    compiler.args(defines.iter().map(|define| format!("-D{define}")));
    let output = compiler.output().expect("a C compiler can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Another run of this program may have the file open.
    let file = folder.join(format!("libamd_smi_{name}.so"));
    std::fs::rename(&made, &file).expect("the folder is cargo's own");
    file
}

pub(crate) fn open(file: &Path) -> Result<AmdSmi> {
    // SAFETY: S1: fake.c has the signatures of amdsmi.h.
    unsafe { AmdSmi::open_from(file) }
}

/// Version 27, all of it.
pub(crate) fn whole(name: &str) -> AmdSmi {
    open(&build(name, &["MAJOR=27"])).expect("it opens")
}

/// The GPU with every value, and the first of the second socket.
pub(crate) fn both(name: &str) -> [Processor; 2] {
    let all = whole(name).processors().expect("there are some");
    [all[0], all[1]]
}
