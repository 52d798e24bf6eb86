//! The programs and files of this machine that a step uses: their versions, and the variables that affect them.

use crate::build_kernels::compiler;
use crate::build_kernels::contents;
use crate::{libraries, workspace};
use kernels_hip::{hash_bytes, hash_parts};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name and the version of one tool.
pub(super) type Version = (String, String);

/// A tool of a step, which is not a file of the tree.
pub(super) struct Tool {
    /// The variables that it reads; `*` at the end matches any suffix.
    pub(super) variables: &'static [&'static str],
    /// Its versions.
    pub(super) versions: fn() -> Result<Vec<Version>, String>,
}

/// Rust's compiler.
pub(super) const RUST: Tool = Tool {
    variables: &[
        "RUSTC*",
        "RUSTFLAGS",
        "RUST_TEST_THREADS",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_BUILD_*",
        "CARGO_PROFILE_*",
        "CARGO_TARGET_X86*",
        "CARGO_TARGET_AARCH64*",
    ],
    versions: || {
        let rustc = workspace::env("RUSTC").unwrap_or_else(|| "rustc".into());
        Ok(vec![of_program("rustc", &rustc, "-vV")?])
    },
};

/// The C++ compiler.
pub(super) const CXX: Tool = Tool {
    variables: &[
        "CXX",
        "CXXFLAGS*",
        "CXX_*",
        "CPATH",
        "CPLUS_INCLUDE_PATH",
        "LIBRARY_PATH",
        "GCC_EXEC_PREFIX",
    ],
    versions: || Ok(vec![of_program("C++ compiler", &compiler::host()?.program, "--version")?]),
};

const OF_AMD: &[&str] = &["HIPCC*", "HIP_*", "ROCM_PATH", "CCC_OVERRIDE_OPTIONS"];

/// AMD's compiler, with the tools that come with it.
pub(super) const AMD: Tool = Tool {
    variables: OF_AMD,
    versions: || {
        let compiler = compiler::amd()?;
        let (name, version) = of_program("AMD's compiler", &compiler.program, "--version")?;
        Ok(vec![(name, format!("{version} {}", &compiler.inputs()?[..16]))])
    },
};

/// LLVM's bundler, which packs the objects that the fuzzer mutates.
pub(super) const BUNDLER: Tool = Tool {
    variables: &["ROCM_PATH"],
    versions: || Ok(vec![of_program("clang-offload-bundler", &compiler::bundler()?, "--version")?]),
};

/// NVIDIA's compiler and disassembler.
pub(super) const NVIDIA: Tool = Tool {
    variables: &["NVCC*", "CUDA_*", "HIPSTACK_NVCC"],
    versions: || {
        let nvcc = compiler::nvidia()?.program;
        let mut versions = vec![of_program("nvcc", &nvcc, "--version")?];
        let disassembler = nvcc.with_file_name("nvdisasm");
        if disassembler.is_file() {
            versions.push(of_program("nvdisasm", &disassembler, "--version")?);
        }
        Ok(versions)
    },
};

/// The cross compiler for 64-bit ARM, and the emulator that runs its programs.
pub(super) const AARCH64: Tool = Tool {
    variables: &["QEMU_*", "CXXFLAGS*", "CARGO_TARGET_AARCH64*"],
    versions: || {
        let found = [in_path("aarch64-linux-gnu-g++")?, in_path("qemu-aarch64")?];
        Ok(found.into_iter().flatten().collect())
    },
};

/// Miri, of a toolchain of its own.
pub(super) const MIRI: Tool = Tool {
    variables: &["MIRI*", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"],
    versions: || {
        let script = workspace::root()?.join(super::steps::MIRI_SCRIPT);
        Ok(vec![of_program("miri", &script, "--version")?])
    },
};

/// AMD's libraries and their headers.
pub(super) const LIBRARIES: Tool = Tool {
    variables: &["ROCM_PATH", "LD_PRELOAD"],
    versions: || libraries::files().into_iter().map(|file| of_files("library", &file)).collect(),
};

/// What bindgen reads: HIP's headers, parsed by libclang.
pub(super) const HEADERS: Tool = Tool {
    variables: &[
        "HIP_INCLUDE",
        "ROCM_PATH",
        "LIBCLANG_PATH",
        "LLVM_CONFIG_PATH",
        "BINDGEN_EXTRA_CLANG_ARGS*",
    ],
    versions: || {
        let named = workspace::env("HIP_INCLUDE");
        let rocm = workspace::env("ROCM_PATH").map(|dir| dir.join("include"));
        let usual = ["/opt/rocm/include", "/usr/include"].map(PathBuf::from);
        let mut versions = libclang()?;
        for folder in named.into_iter().chain(rocm).chain(usual) {
            for part in ["hip", "hiprand", "rocrand", "rocblas", "miopen"] {
                let folder = folder.join(part);
                if folder.is_dir() {
                    versions.push(of_files("headers", &folder)?);
                }
            }
        }
        Ok(versions)
    },
};

/// The copies of libclang of which bindgen loads one.
fn libclang() -> Result<Vec<Version>, String> {
    let named = workspace::env("LIBCLANG_PATH");
    let installed = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let of_llvm = |folder: &PathBuf| {
        folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"llvm-"))
    };
    let folders = named.into_iter().chain(installed.filter(of_llvm).map(|folder| folder.join("lib")));
    let mut files: Vec<PathBuf> =
        folders.map(|folder| folder.join("libclang.so.1")).filter(|file| file.is_file()).collect();
    files.sort();
    let version = |file: PathBuf| Ok((format!("library {}", file.display()), hash_of(&file)?));
    files.into_iter().map(version).collect()
}

/// The checkpoint that HIPSTACK_WEIGHTS names. Its contents are the input, not its path.
pub(super) const WEIGHTS: Tool = Tool {
    variables: &[],
    versions: || {
        let file = workspace::env("HIPSTACK_WEIGHTS").ok_or("HIPSTACK_WEIGHTS names no file")?;
        Ok(vec![("weights".into(), hash_of(&file)?)])
    },
};

/// The checkpoint for tests that are skipped without it: the one in CI's folder, or the one that HIPSTACK_WEIGHTS names.
pub(super) const WEIGHTS_IF_ANY: Tool = Tool {
    variables: &[],
    versions: || {
        let usual = workspace::root()?.join("target/ci/weights/model.safetensors");
        let model = workspace::env("HIPSTACK_WEIGHTS").unwrap_or(usual);
        let files = [model.with_file_name("tokenizer.json"), model];
        let version = if files.iter().all(|file| file.is_file()) {
            hash_parts([hash_of(&files[0])?.as_bytes(), hash_of(&files[1])?.as_bytes()])
        } else {
            "none".into()
        };
        Ok(vec![("weights".into(), version)])
    },
};

/// A program's version, as the program prints it.
fn of_program(name: &str, program: &Path, ask: &str) -> Result<Version, String> {
    let text = workspace::output_of(Command::new(program).arg(ask))
        .ok_or_else(|| format!("ci: `{} {ask}` fails", program.display()))?;
    Ok((name.to_owned(), short_version(&without_folders(&text, program))))
}

/// The same for a program that is optional.
fn in_path(name: &str) -> Result<Option<Version>, String> {
    workspace::in_path(name).map(|program| of_program(name, &program, "--version")).transpose()
}

/// Removes the lines that name the program's folder: its location must not change the version.
fn without_folders(text: &str, program: &Path) -> String {
    let folder = program.parent().map(|folder| folder.to_string_lossy()).unwrap_or_default();
    let lines = text.lines().filter(|line| folder.is_empty() || !line.contains(folder.as_ref()));
    lines.map(|line| format!("{line}\n")).collect()
}

/// The line with the version number, and a hash of the whole output. The lines that name a folder are left out.
pub(super) fn short_version(text: &str) -> String {
    let names_a_folder =
        |line: &&str| line.starts_with("InstalledDir:") || line.starts_with("Configuration file:");
    let all: Vec<&str> = text.lines().filter(|line| !names_a_folder(line)).collect();
    let known = |line: &&&str| ["version", "release", " ("].iter().any(|word| line.contains(word));
    let line = all.iter().find(known).or(all.first()).map_or("", |line| line.trim());
    let hash = hash_parts(all.iter().map(|line| line.as_bytes()));
    format!("{line}, {}", &hash[..16])
}

/// A hash of a file, or of all files below a folder.
fn of_files(kind: &str, path: &Path) -> Result<Version, String> {
    let name = path.file_name().unwrap_or_default().display();
    Ok((format!("{kind} {name}"), hash_of(path)?))
}

fn hash_of(path: &Path) -> Result<String, String> {
    if path.is_dir() {
        return contents(path);
    }
    let bytes = std::fs::read(path).map_err(|e| format!("ci: cannot read {}: {e}", path.display()))?;
    Ok(hash_bytes(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_s_location_does_not_change_its_version() {
        let text = |folder: &str| format!("clang 22\nsh: 1: {folder}/helper: not found\n");
        let of = |folder: &str| without_folders(&text(folder), &Path::new(folder).join("clang"));
        assert_eq!(of("/here/bin"), "clang 22\n");
        assert_eq!(of("/here/bin"), of("/there/bin"));
        assert_eq!(without_folders("rustc 1.95\n", Path::new("rustc")), "rustc 1.95\n");
    }

    #[test]
    fn a_version_is_its_line_and_a_hash_of_the_output() {
        let first = short_version("clang version 19.1\nTarget: a\nInstalledDir: /here\n");
        assert!(first.starts_with("clang version 19.1, "), "{first}");
        assert_eq!(first, short_version("clang version 19.1\nTarget: a\nInstalledDir: /there\n"));
        assert_ne!(first, short_version("clang version 19.1\nTarget: b\nInstalledDir: /here\n"));
        assert!(short_version("g++ (Debian 12) 12.2.0\nCopyright").starts_with("g++ (Debian 12) 12.2.0, "));
        assert!(
            short_version("nvcc: NVIDIA\nCuda compilation tools, release 13.0, V1")
                .starts_with("Cuda compilation")
        );
    }

    #[test]
    fn rust_and_the_compiler_say_their_versions() {
        let rust = (RUST.versions)().expect("tests are built by it");
        assert!(rust[0].1.starts_with("rustc 1."), "{rust:?}");
        assert_eq!((CXX.versions)().map(|versions| versions.len()), Ok(1));
        assert!(of_program("none", Path::new("no-such-program"), "-v").is_err());
    }

    #[test]
    fn a_folder_s_hash_depends_on_its_files() {
        let dir = tempfile::tempdir().expect("the temporary folder is writable");
        std::fs::write(dir.path().join("a.h"), "1").expect("writable");
        let before = of_files("headers", dir.path()).expect("readable");
        std::fs::write(dir.path().join("a.h"), "2").expect("writable");
        let after = of_files("headers", dir.path()).expect("readable");
        assert!(before.0 == after.0 && before.1 != after.1);
        assert_eq!(of_files("library", &dir.path().join("a.h")).expect("readable").0, "library a.h");
    }
}
