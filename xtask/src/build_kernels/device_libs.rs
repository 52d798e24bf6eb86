//! The bitcode that clang-19 needs for architectures newer than Debian 12's package of it.
//!
//! Of each architecture the package has one file with one constant, the number of the instruction set; everything else
//! in it is shared. So for a newer architecture the missing constant is compiled here from a line of LLVM's text.

use crate::workspace;
use std::path::Path;
use std::process::Command;

/// Architectures that the package lacks, with the constant of each: major, minor and stepping in decimal, two digits each.
const STUBS: [(&str, u32); 9] = [
    ("942", 9402),
    ("1100", 11000),
    ("1101", 11001),
    ("1102", 11002),
    ("1103", 11003),
    ("1150", 11500),
    ("1151", 11501),
    ("1200", 12000),
    ("1201", 12001),
];

/// Whether the bitcode folder has a file for the architecture `gfx…`.
pub(super) fn knows(bitcode: &Path, arch: &str) -> bool {
    bitcode.join(file_name(arch.trim_start_matches("gfx"))).is_file()
}

/// Whether [`make`] makes one.
pub(super) fn has_stub(arch: &str) -> bool {
    STUBS.iter().any(|(number, _)| arch.strip_prefix("gfx") == Some(number))
}

fn file_name(number: &str) -> String {
    format!("oclc_isa_version_{number}.bc")
}

/// Fills `dir` with the package's files and what it lacks; what is there already and the same stays.
pub(super) fn make(clang: &Path, bitcode: &Path, dir: &Path) -> Result<(), String> {
    let fail = |e: std::io::Error| format!("cannot write bitcode in {}: {e}", dir.display());
    std::fs::create_dir_all(dir).map_err(fail)?;
    for entry in std::fs::read_dir(bitcode).map_err(|e| format!("cannot read {}: {e}", bitcode.display()))? {
        let file = entry.map_err(fail)?.path();
        let copy = dir.join(file.file_name().unwrap_or_default());
        let bytes = std::fs::read(&file).map_err(fail)?;
        if !std::fs::read(&copy).is_ok_and(|old| old == bytes) {
            workspace::write_whole(&copy, &bytes)?;
        }
    }
    for (number, version) in STUBS {
        let stub = dir.join(file_name(number));
        if !stub.exists() {
            compile(clang, version, &stub)?;
        }
    }
    Ok(())
}

fn compile(clang: &Path, version: u32, stub: &Path) -> Result<(), String> {
    let text = format!(
        "target triple = \"amdgcn-amd-amdhsa\"\n\
         @__oclc_ISA_version = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i32 {version}, align 4\n"
    );
    let object = workspace::temporary_name(stub);
    let source = object.with_extension("ll");
    workspace::write_whole(&source, text.as_bytes())?;
    let out = Command::new(clang)
        .args(["--target=amdgcn-amd-amdhsa", "-nogpulib", "-x", "ir", "-c", "-emit-llvm"])
        .arg(&source)
        .arg("-o")
        .arg(&object)
        .output()
        .map_err(|e| format!("cannot start {}: {e}", clang.display()));
    let made = out.and_then(|out| {
        if !out.status.success() {
            return Err(format!("{}: no bitcode: {}", clang.display(), String::from_utf8_lossy(&out.stderr)));
        }
        std::fs::rename(&object, stub).map_err(|e| format!("cannot write {}: {e}", stub.display()))
    });
    // Of a failed run there may be half a file, or none.
    let _ = std::fs::remove_file(&object);
    std::fs::remove_file(&source).map_err(|e| format!("cannot remove {}: {e}", source.display()))?;
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stubs_are_for_whole_names() {
        assert!(has_stub("gfx1100"));
        assert!(has_stub("gfx942"));
        for other in ["gfx110", "1100", "gfx90a", "sm_90", "gfx"] {
            assert!(!has_stub(other), "{other}");
        }
    }

    #[test]
    fn a_stub_compiles_where_clang_is() {
        let bitcode = Path::new(super::super::compiler::DEBIAN_BITCODE);
        let Some(clang) = workspace::in_path("clang++-19").filter(|_| bitcode.is_dir()) else {
            return crate::skip::without_rocm("no clang-19 with Debian's bitcode here");
        };
        let dir = std::env::temp_dir().join(format!("xtask-bitcode-{}", std::process::id()));
        make(&clang, bitcode, &dir).expect("it compiles");
        for arch in ["gfx90a", "gfx942", "gfx1201"] {
            assert!(knows(&dir, arch), "{arch}");
        }
        let stub = std::fs::read(dir.join("oclc_isa_version_1201.bc")).expect("made above");
        assert_eq!(&stub[..4], b"BC\xC0\xDE", "LLVM's magic number");
        assert!(
            std::fs::read_dir(&dir)
                .expect("made above")
                .all(|entry| { entry.expect("readable").path().extension().is_some_and(|ext| ext == "bc") })
        );
        std::fs::remove_dir_all(&dir).expect("ours");
    }
}
