//! Finding a compiler for a target, and its command line for a unit.

use super::target::{Platform, Target};
use super::toolchain::contents;
use crate::workspace;
use kernel_resources::{Disassembler, Vendor};
use kernels_hip::{HEADER_FOLDERS, Unit, hash_parts, options};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

// hip-host's list of flags, included as a file: building the crate takes minutes.
#[path = "../../../crates/hip-host/src/flags.rs"]
#[expect(unreachable_pub, reason = "hip-host exports it")]
mod flags;

/// Where ci/fetch-rocm-compiler.sh puts ROCm's tools, relative to the workspace's root.
const FETCHED_ROCM: &str = "target/ci/rocm";

/// The oldest release of ROCm that is used unless a variable names another.
const OLDEST_ROCM: u32 = 6;

/// Where pip puts CUDA's compiler, below the folder of its packages.
const PIP_NVCC: &str = "nvidia/cu13/bin/nvcc";

/// The kinds of compilers; each takes other options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// ROCm's hipcc.
    Hipcc,
    /// CUDA's.
    Nvcc,
    /// The C++ compiler of this machine.
    Host,
}

/// A compiler that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// Its file.
    pub program: PathBuf,
    /// Which options it takes.
    pub kind: Kind,
}

/// The compiler for a target; the error says where it was looked for and what to install.
pub fn find(target: &Target) -> Result<Compiler, String> {
    match target.platform {
        Platform::Amd => amd(),
        Platform::Nvidia => nvidia(),
        Platform::Host => host(),
    }
}

/// AMD's compiler.
pub fn amd() -> Result<Compiler, String> {
    let program = hipcc()?.ok_or_else(|| {
        format!("no hipcc of ROCm {OLDEST_ROCM} or later: looked for $HIPCC, $ROCM_PATH/bin/hipcc, /opt/rocm/bin/hipcc, \
                 {FETCHED_ROCM}/bin/hipcc and hipcc in PATH; install ROCm, or run ci/fetch-rocm-compiler.sh, which unpacks Debian's build of it")
    })?;
    Ok(Compiler { program, kind: Kind::Hipcc })
}

/// Fails if a variable names a compiler that does not exist. Callers that skip targets without a compiler check this first.
pub fn check_named() -> Result<(), String> {
    ["HIPCC", "NVCC", "CXX"].iter().try_for_each(|name| workspace::env_program(name).map(drop))
}

/// ROCm's hipcc, installed or fetched; an error if $HIPCC names no program. An hipcc in PATH must be of ROCm 6 or later.
fn hipcc() -> Result<Option<PathBuf>, String> {
    let named = workspace::env_program("HIPCC")?;
    let rocm = workspace::env("ROCM_PATH").map(|dir| dir.join("bin/hipcc"));
    let usual = PathBuf::from("/opt/rocm/bin/hipcc");
    let fetched = workspace::root().ok().map(|root| root.join(FETCHED_ROCM).join("bin/hipcc"));
    let in_path = workspace::in_path("hipcc").filter(|hipcc| {
        let include = hipcc.parent().and_then(Path::parent).map(|usr| usr.join("include"));
        !include.is_some_and(|include| has_old_headers(&include))
    });
    Ok(first_file([named, rocm, Some(usual), fetched, in_path]))
}

/// Candidates for a tool of LLVM: in ROCm's folder, in the fetched one and in PATH. The first two may not exist.
pub(crate) fn llvm_tools(name: &str) -> Vec<PathBuf> {
    let rocm = workspace::env("ROCM_PATH").unwrap_or_else(|| "/opt/rocm".into()).join("llvm/bin");
    let fetched = workspace::root().ok().map(|root| root.join(FETCHED_ROCM).join("bin"));
    let folders = [Some(rocm), fetched].into_iter().flatten();
    folders.map(|folder| folder.join(name)).chain(workspace::in_path(name)).collect()
}

/// LLVM's bundler, which writes the bundles that hipcc packs code in.
pub(crate) fn bundler() -> Result<PathBuf, String> {
    let found = llvm_tools("clang-offload-bundler").into_iter().find(|file| file.is_file());
    found.ok_or_else(|| "no clang-offload-bundler: install ROCm, or run ci/fetch-rocm-compiler.sh".into())
}

/// The disassembler for a platform's objects, if there is one.
pub(crate) fn disassembler(platform: Platform) -> Option<Disassembler> {
    let vendor = platform.vendor()?;
    let candidates = match vendor {
        Vendor::Amd => llvm_tools("llvm-objdump"),
        Vendor::Nvidia => {
            let beside = nvidia().ok().map(|nvcc| nvcc.program.with_file_name("nvdisasm"));
            beside.into_iter().chain(workspace::in_path("nvdisasm")).collect()
        }
    };
    Disassembler::find(vendor, candidates)
}

/// Whether a folder has HIP's headers of a release before [`OLDEST_ROCM`]. Debian 12 has those of 5.2.
pub(crate) fn has_old_headers(include: &Path) -> bool {
    let major = |line: &str| line.strip_prefix("#define HIP_VERSION_MAJOR")?.trim().parse::<u32>().ok();
    std::fs::read_to_string(include.join("hip/hip_version.h"))
        .is_ok_and(|text| text.lines().find_map(major).is_some_and(|major| major < OLDEST_ROCM))
}

/// CUDA's compiler.
pub fn nvidia() -> Result<Compiler, String> {
    let cuda = workspace::env("CUDA_HOME").map(|dir| dir.join("bin/nvcc"));
    let pip = workspace::env("HIPSTACK_NVCC").map(|dir| dir.join(PIP_NVCC));
    let toolkit = workspace::env("HIPSTACK_NVCC").map(|dir| dir.join("bin/nvcc"));
    let fetched = workspace::root().ok().map(|root| root.join("target/ci/nvcc").join(PIP_NVCC));
    let program = first_file([
        workspace::env_program("NVCC")?,
        cuda,
        workspace::in_path("nvcc"),
        pip,
        toolkit,
        fetched,
    ])
    .ok_or(
        "no nvcc: looked for $NVCC, $CUDA_HOME/bin/nvcc, nvcc in PATH, $HIPSTACK_NVCC and target/ci/nvcc; \
             ci/fetch-nvcc.sh fetches NVIDIA's from PyPI",
    )?;
    Ok(Compiler { program, kind: Kind::Nvcc })
}

/// The C++ compiler of this machine.
pub fn host() -> Result<Compiler, String> {
    let named = workspace::env_program("CXX")?;
    first_file([named, workspace::in_path("c++"), workspace::in_path("g++")])
        .map(|program| Compiler { program, kind: Kind::Host })
        .ok_or_else(|| {
            format!("no C++ compiler: looked for $CXX, c++ and g++ in PATH; {}", flags::NO_COMPILER)
        })
}

fn first_file<const N: usize>(candidates: [Option<PathBuf>; N]) -> Option<PathBuf> {
    candidates.into_iter().flatten().find(|file| file.is_file())
}

impl Compiler {
    /// The version that it reports, in one line.
    pub fn version(&self) -> String {
        let text = self.version_text();
        let line =
            |words: &[&str]| text.lines().map(str::trim).find(|line| words.iter().any(|w| line.contains(w)));
        line(&["version", "release"]).or_else(|| line(&[" ("])).unwrap_or("version unknown").to_string()
    }

    /// Everything that it reports about its version.
    pub(super) fn version_text(&self) -> String {
        workspace::output_of(Command::new(&self.program).arg("--version")).unwrap_or_default()
    }

    /// The folder of bitcode that comes with the compiler and is linked into its objects, if it has one.
    pub(super) fn own_bitcode(&self) -> Option<PathBuf> {
        match self.kind {
            Kind::Hipcc => {
                let named = workspace::env("HIP_DEVICE_LIB_PATH");
                let rocm = workspace::env("ROCM_PATH").map(|dir| dir.join("amdgcn/bitcode"));
                let beside = self.program.parent().map(|bin| bin.join("../amdgcn/bitcode"));
                [named, rocm, beside].into_iter().flatten().find(|dir| dir.is_dir())
            }
            Kind::Nvcc | Kind::Host => None,
        }
    }

    /// The variables from which it takes more options, beside the command line.
    pub(super) fn option_variables(&self) -> &'static [&'static str] {
        match self.kind {
            Kind::Hipcc => &["HIPCC_COMPILE_FLAGS_APPEND", "HIPCC_LINK_FLAGS_APPEND"],
            Kind::Nvcc => &["NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"],
            Kind::Host => &[],
        }
    }

    /// The header that holds the version of the headers that it puts into every object. That version may differ from the
    /// compiler's own.
    pub(super) fn version_header(&self) -> Option<PathBuf> {
        let beside = |header: &str| {
            let program = self.program.canonicalize().ok()?;
            Some(program.parent()?.parent()?.join("include").join(header))
        };
        let header = match self.kind {
            Kind::Hipcc => beside("hip/hip_version.h"),
            Kind::Nvcc => beside("cuda_runtime_api.h"),
            Kind::Host => None,
        };
        header.filter(|header| header.is_file())
    }

    /// A hash of what it puts into objects: its bitcode, and the version of the headers.
    pub(crate) fn inputs(&self) -> Result<String, String> {
        let bitcode = self.own_bitcode().map(|folder| contents(&folder)).transpose()?.unwrap_or_default();
        let header = self.version_header().and_then(|file| std::fs::read(file).ok()).unwrap_or_default();
        Ok(hash_parts([bitcode.as_bytes(), &header]))
    }

    /// Whether it compiles for an architecture: it parses an empty file for it.
    pub(super) fn knows(&self, target: &Target) -> bool {
        let mut command = self.for_target(target);
        command.args(["-nogpuinc", "-nogpulib", "-fsyntax-only", "-x", "hip", "/dev/null"]);
        workspace::output_of(&mut command).is_some()
    }

    /// The command that compiles a unit to `object`, with the headers in `sources`. `source` is the unit's file, or another
    /// file that is compiled with the same options.
    pub(super) fn command(
        &self,
        target: &Target,
        unit: &Unit,
        sources: &Path,
        source: &Path,
        object: &Path,
    ) -> Command {
        let mut command = self.for_target(target);
        let wave_size = target.wave_size();
        if self.kind == Kind::Host {
            command.args(flags::KERNEL_FLAGS).args(flags::HOST_SOURCE_FLAGS).args(flags::LINK_FLAGS);
            command.arg("-I").arg(sources.with_file_name("crates").join("hip-host/include"));
            command.arg(format!("-DHIPHOST_WAVE_SIZE={wave_size}"));
        }
        // This option is hip-host's own: compilers do not know it.
        let options = unit.options(target.platform.name(), wave_size).unwrap_or_default();
        command.args(options.iter().filter(|option| *option != "--host-source"));
        for folder in HEADER_FOLDERS {
            command.arg("-I").arg(sources.join(folder));
        }
        command.arg("-o").arg(object).arg(source);
        command
    }

    /// The command that parses the header `source` into `parsed`, for all units of a target; [`with_parsed`] uses the result.
    /// `None` if the compiler cannot do this.
    pub(super) fn parse_command(&self, target: &Target, source: &Path, parsed: &Path) -> Option<Command> {
        if self.kind != Kind::Hipcc {
            return None;
        }
        let mut command = self.for_target(target);
        command.args(options::AMD).args([
            "-fsyntax-only",
            "-Xclang",
            "-emit-pch",
            "-Xclang",
            "-o",
            "-Xclang",
        ]);
        command.arg(parsed).arg(source);
        Some(command)
    }

    /// The arguments that every command for a target begins with.
    fn for_target(&self, target: &Target) -> Command {
        let mut command = Command::new(&self.program);
        let arch = &target.arch;
        match self.kind {
            Kind::Hipcc => {
                command.args(["--genco", "--no-gpu-bundle-output"]).arg(format!("--offload-arch={arch}"))
            }
            Kind::Nvcc => command.args(["-x", "cu", "-cubin", "-Xptxas", "-v"]).arg(format!("-arch={arch}")),
            Kind::Host => command.args(["-x", "c++"]),
        };
        command
    }
}

/// Makes a command for a unit use the result of [`Compiler::parse_command`], if there is one.
pub(super) fn with_parsed(command: &mut Command, parsed: Option<&Path>) {
    if let Some(parsed) = parsed {
        command.args(["-Xclang", "-include-pch", "-Xclang"]).arg(parsed);
    }
}

impl fmt::Display for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.program.display(), self.version())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: Kind, platform: Platform, arch: &str) -> String {
        let compiler = Compiler { program: "cc".into(), kind };
        let unit = kernels_hip::unit("reduce", "f32").expect("it ships");
        let target = Target::new(platform, arch).expect("known");
        let command =
            compiler.command(&target, &unit, Path::new("w/kernels-hip"), "in".as_ref(), "o".as_ref());
        let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
        args.join(" ")
    }

    #[test]
    fn every_compiler_gets_the_unit_the_wave_size_and_no_contraction() {
        for (kind, platform, arch, wave) in [
            (Kind::Hipcc, Platform::Amd, "gfx90a", 64),
            (Kind::Hipcc, Platform::Amd, "gfx1030", 32),
            (Kind::Hipcc, Platform::Amd, "gfx1250", 32),
            (Kind::Nvcc, Platform::Nvidia, "sm_90", 32),
            (Kind::Host, Platform::Host, "host-w64", 64),
        ] {
            let line = line(kind, platform, arch);
            assert!(line.contains("-std=c++17"), "{line}");
            assert!(line.contains("-fmad=false") || line.contains("-ffp-contract=off"), "{line}");
            let end = format!(
                "-DDTYPE_f32 -DWAVE_SIZE={wave} -I w/kernels-hip/headers -I w/kernels-hip/platform -o o in"
            );
            assert!(line.ends_with(&end), "{line}");
            assert!(kind == Kind::Host || line.contains(arch), "{line}");
        }
    }

    #[test]
    fn bitcode_and_headers_beside_a_compiler_are_inputs() {
        let dir = tempfile::tempdir().expect("the temporary folder is writable");
        for folder in ["bin", "include/hip", "amdgcn/bitcode"] {
            std::fs::create_dir_all(dir.path().join(folder)).expect("writable");
        }
        let compiler = Compiler { program: dir.path().join("bin/hipcc"), kind: Kind::Hipcc };
        let write = |file: &str, text: &str| {
            std::fs::write(dir.path().join(file), text).expect("writable");
            compiler.inputs().expect("all is readable")
        };
        let header = "include/hip/hip_version.h";
        let first = write("bin/hipcc", "");
        let six = write(header, "6");
        let seven = write(header, "7");
        assert!(first != six && six != seven);
        assert_eq!(write(header, "6"), six);
        // $ROCM_PATH would be asked first.
        if workspace::env("ROCM_PATH").is_none() && workspace::env("HIP_DEVICE_LIB_PATH").is_none() {
            assert_ne!(write("amdgcn/bitcode/ocml.bc", "1"), six);
        }
    }

    #[test]
    fn headers_before_6_are_old() {
        let dir = tempfile::tempdir().expect("the temporary folder is writable");
        assert!(!has_old_headers(dir.path()), "there are none");
        std::fs::create_dir(dir.path().join("hip")).expect("writable");
        for (major, old) in [("5", true), ("6", false), ("7 ", false)] {
            let text = format!("#define HIP_VERSION_H\n#define HIP_VERSION_MAJOR {major}\n");
            std::fs::write(dir.path().join("hip/hip_version.h"), text).expect("writable");
            assert_eq!(has_old_headers(dir.path()), old, "{major}");
        }
    }
}
