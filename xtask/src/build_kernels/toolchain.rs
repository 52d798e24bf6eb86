//! A compiler that is ready to build, and the hash that identifies it.

use super::compiler::{Compiler, Kind};
use super::target::Target;
use crate::workspace;
use kernels_hip::{FAMILIES, Unit, hash_bytes, hash_parts};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

/// A compiler, with its version and what it puts into objects.
pub(super) struct Toolchain {
    /// The compiler.
    pub(super) compiler: Compiler,
    /// What it says of its own version, in one line.
    pub(super) version: String,
    /// The hash of the compiler and of the files that it puts into every object.
    identity: String,
}

/// The toolchains of one run. They are kept, since asking a compiler for its version starts a process.
#[derive(Default)]
pub(super) struct Toolchains(Vec<Rc<Toolchain>>);

impl Toolchains {
    /// The toolchain of a compiler.
    pub(super) fn of(&mut self, compiler: Compiler, root: &Path) -> Result<Rc<Toolchain>, String> {
        if let Some(known) = self.0.iter().find(|known| known.compiler == compiler) {
            return Ok(known.clone());
        }
        self.0.push(Rc::new(Toolchain::new(compiler, root)?));
        Ok(self.0[self.0.len() - 1].clone())
    }
}

impl Toolchain {
    fn new(compiler: Compiler, root: &Path) -> Result<Self, String> {
        let mut parts =
            vec![compiler.program.display().to_string().into_bytes(), compiler.version_text().into_bytes()];
        let host_headers =
            (compiler.kind == Kind::Host).then(|| root.join("crates/hip-host/include")).into_iter();
        for folder in compiler.own_bitcode().into_iter().chain(host_headers) {
            parts.push(contents(&folder)?.into_bytes());
        }
        if let Some(header) = compiler.version_header() {
            let text =
                std::fs::read(&header).map_err(|e| format!("cannot read {}: {e}", header.display()))?;
            parts.push(text);
        }
        parts.extend(options_of(compiler.option_variables(), |name| workspace::env(name).map(Into::into)));
        let identity = hash_parts(parts.iter().map(Vec::as_slice));
        Ok(Self { version: compiler.version(), compiler, identity })
    }

    /// The command that compiles a unit, or `source` like that unit, to `object`.
    pub(super) fn command(
        &self,
        target: &Target,
        unit: &Unit,
        sources: &Path,
        source: &Path,
        object: &Path,
    ) -> Command {
        self.compiler.command(target, unit, sources, source, object)
    }

    /// Parses HIP's headers once for all units of a target, in the folder `work`: they take more than half of a small unit's
    /// time. Returns the file for [`super::compiler::with_parsed`], if the compiler can write one.
    pub(super) fn parse_headers(&self, target: &Target, work: &Path) -> Result<Option<PathBuf>, String> {
        let (source, parsed) = (work.join("headers.hip"), work.join("headers.pch"));
        let Some(mut command) = self.compiler.parse_command(target, &source, &parsed) else {
            return Ok(None);
        };
        workspace::write_whole(&source, b"#include <hip/hip_runtime.h>\n")?;
        let out = command
            .env("TMPDIR", work)
            .output()
            .map_err(|e| format!("cannot start {}: {e}", self.compiler.program.display()))?;
        if !out.status.success() {
            // If hipcc does not know the option, units are compiled without it.
            return Ok(None);
        }
        Ok(Some(parsed))
    }

    /// The hash of everything that decides the object: source, options, compiler, headers and bitcode.
    pub(super) fn key(&self, target: &Target, unit: &Unit) -> String {
        // Paths are left out: they do not change an object.
        let sources = Path::new("kernels-hip");
        let command = self.compiler.command(
            target,
            unit,
            sources,
            &sources.join(FAMILIES).join(unit.family.file),
            "object".as_ref(),
        );
        let parse = self.compiler.parse_command(target, "headers".as_ref(), "parsed".as_ref());
        let all = command.get_args().chain(parse.iter().flat_map(Command::get_args));
        let args: Vec<&[u8]> = all.map(|arg| arg.as_encoded_bytes()).collect();
        let options = hash_parts(args);
        hash_parts([unit.source_hash().as_bytes(), options.as_bytes(), self.identity.as_bytes()])
    }
}

/// The options that variables add; unset and empty variables add nothing.
fn options_of(names: &[&str], value: impl Fn(&str) -> Option<OsString>) -> Vec<Vec<u8>> {
    let set = |name: &&str| value(name).filter(|text| !text.is_empty());
    let part = |name: &&str, text: OsString| [name.as_bytes(), b"=", text.as_encoded_bytes()].concat();
    names.iter().filter_map(|name| Some(part(name, set(name)?))).collect()
}

/// A hash of the names and contents of all files below a folder.
pub(crate) fn contents(folder: &Path) -> Result<String, String> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    let mut parts = Vec::new();
    for file in files {
        let bytes = std::fs::read(&file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
        let name = file.strip_prefix(folder).unwrap_or(&file);
        parts.push(format!("{} {}", name.display(), hash_bytes(&bytes)).into_bytes());
    }
    Ok(hash_parts(parts.iter().map(Vec::as_slice)))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let fail = |e: std::io::Error| format!("cannot read {}: {e}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::target::Platform;
    use super::*;

    fn toolchain(program: &str, identity: &str) -> Toolchain {
        Toolchain {
            compiler: Compiler { program: program.into(), kind: Kind::Hipcc },
            version: "7".into(),
            identity: identity.into(),
        }
    }

    #[test]
    fn the_key_depends_on_sources_and_options_but_not_on_paths() {
        let target = |arch| Target::new(Platform::Amd, arch).expect("known");
        let unit = |family, dtype| kernels_hip::unit(family, dtype).expect("it ships");
        let key = |program, identity, arch, family, dtype| {
            toolchain(program, identity).key(&target(arch), &unit(family, dtype))
        };
        let first = key("/here/hipcc", "a", "gfx90a", "reduce", "f32");
        assert_eq!(first, key("/there/hipcc", "a", "gfx90a", "reduce", "f32"));
        for other in [
            key("/here/hipcc", "b", "gfx90a", "reduce", "f32"),
            key("/here/hipcc", "a", "gfx942", "reduce", "f32"),
            key("/here/hipcc", "a", "gfx90a", "matmul", "f32"),
            key("/here/hipcc", "a", "gfx90a", "reduce", "f16"),
        ] {
            assert_ne!(first, other);
        }
    }

    #[test]
    fn options_in_variables_are_inputs_unless_empty() {
        let of = |kind| {
            let compiler = Compiler { program: "cc".into(), kind };
            let value =
                |name: &str| (name != "NVCC_PREPEND_FLAGS").then(|| format!("-D{}", name.len()).into());
            options_of(compiler.option_variables(), value)
        };
        let texts = |parts: Vec<Vec<u8>>| -> Vec<String> {
            parts.into_iter().map(|part| String::from_utf8_lossy(&part).into_owned()).collect()
        };
        let hipcc = ["HIPCC_COMPILE_FLAGS_APPEND=-D26", "HIPCC_LINK_FLAGS_APPEND=-D23"];
        assert_eq!(texts(of(Kind::Hipcc)), hipcc);
        assert_eq!(texts(of(Kind::Nvcc)), ["NVCC_APPEND_FLAGS=-D17"]);
        assert_eq!(texts(of(Kind::Host)), [""; 0]);
        assert!(options_of(&["A"], |_| Some("".into())).is_empty());
    }

    #[test]
    fn the_version_of_a_compiler_s_headers_is_an_input() {
        let dir = tempfile::tempdir().expect("the temporary folder is writable");
        for folder in ["bin", "include/hip"] {
            std::fs::create_dir_all(dir.path().join(folder)).expect("writable");
        }
        let program = dir.path().join("bin/hipcc");
        std::fs::write(&program, "#!/bin/sh\necho fake version 1\n").expect("writable");
        workspace::executable(&program).expect("ours");
        let identity = || {
            let compiler = Compiler { program: program.clone(), kind: Kind::Hipcc };
            Toolchain::new(compiler, dir.path()).expect("it needs nothing more").identity
        };
        let without = identity();
        std::fs::write(dir.path().join("include/hip/hip_version.h"), "6").expect("writable");
        let six = identity();
        std::fs::write(dir.path().join("include/hip/hip_version.h"), "7").expect("writable");
        assert!(without != six && six != identity());
        std::fs::write(dir.path().join("include/hip/hip_version.h"), "6").expect("writable");
        assert_eq!(six, identity());
    }

    #[test]
    fn the_hash_of_a_folder_depends_on_names_and_bytes() {
        let dir = tempfile::tempdir().expect("the temporary folder is writable");
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("writable");
        std::fs::create_dir(dir.path().join("below")).expect("writable");
        write("below/a.bc", "1");
        let before = contents(dir.path()).expect("readable");
        assert_eq!(contents(dir.path()), Ok(before.clone()));
        write("below/a.bc", "2");
        let changed = contents(dir.path()).expect("readable");
        write("b.bc", "");
        let more = contents(dir.path()).expect("readable");
        assert!(before != changed && changed != more && before != more);
        assert!(contents(&dir.path().join("none")).expect_err("not there").contains("none"));
    }
}
