//! The options of hiprtcCompileProgram: which are accepted, and what each becomes.

use super::compiler_options;
use std::path::{Path, PathBuf};

/// The parsed options.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Wave sizes of the requested architectures; 0 for `host`, whose code serves both.
    pub(crate) waves: Vec<u32>,
    /// The source is C++ that includes `hiphost/device.hpp` and registers its kernels itself: it is not
    /// rewritten.
    pub(crate) host_source: bool,
    /// Lines to put before the program's source: macros and files to include.
    pub(crate) prologue: String,
    /// Flags for the preprocessor only.
    pub(crate) preprocess: Vec<String>,
    /// Flags for the compiler.
    pub(crate) compile: Vec<String>,
}

/// Flags of AMD's compiler that mean nothing on a CPU.
const OF_GPUS: [&str; 16] = [
    "-fgpu-rdc",
    "-fno-gpu-rdc",
    "-fgpu-flush-denormals-to-zero",
    "-fno-gpu-flush-denormals-to-zero",
    "-fcuda-flush-denormals-to-zero",
    "-fno-cuda-flush-denormals-to-zero",
    "-fgpu-approx-transcendentals",
    "-fhip-fp32-correctly-rounded-divide-sqrt",
    "-munsafe-fp-atomics",
    "-mno-unsafe-fp-atomics",
    "-mcumode",
    "-mno-cumode",
    "-famd-opt",
    "-fno-amd-opt",
    "-nogpulib",
    "-nogpuinc",
];

/// The option for sources written against `hiphost/device.hpp`, such as this project's kernels.
const HOST_SOURCE: &str = "--host-source";

/// The oldest C++ standard that the headers support.
const OLDEST_STANDARD: u32 = 17;

impl Options {
    /// Parses a list of options. Relative paths are relative to `folder`.
    ///
    /// # Errors
    /// The text for the log, which names the option.
    pub(crate) fn parse(options: &[String], folder: &Path) -> Result<Self, String> {
        let mut read = Self::default();
        let mut rest = options.iter().map(|option| option.trim());
        while let Some(option) = rest.next() {
            read.option(option, &mut rest, folder)?;
        }
        Ok(read)
    }

    fn option<'a>(
        &mut self,
        option: &'a str,
        rest: &mut impl Iterator<Item = &'a str>,
        folder: &Path,
    ) -> Result<(), String> {
        let mut value = |names: &[&str]| value_of(option, names, rest);
        if let Some(arch) = value(&["--offload-arch", "--gpu-architecture", "-arch"]) {
            return self.architecture(option, &arch?);
        }
        if let Some(standard) = value(&["--std", "-std"]) {
            self.compile.push(standard_flag(&standard?));
        } else if let Some(path) = value(&["-include"]) {
            self.prologue += &format!("#include \"{}\"\n", path?);
        } else if let Some(path) = value(&["--include-path", "-I"]) {
            let path = absolute(folder, &path?);
            self.preprocess.push(format!("-I{}", path.display()));
        } else if let Some(define) = value(&["--define-macro", "-D"]) {
            self.define(&define?);
        } else if let Some(name) = value(&["--undefine-macro", "-U"]) {
            self.prologue += &format!("#undef {}\n", name?);
        } else if option == HOST_SOURCE {
            self.host_source = true;
        } else if option.is_empty() || OF_GPUS.contains(&option) || value(&["-mllvm"]).is_some() {
            // No effect on a CPU.
        } else if compiler_options::is_known(option) {
            self.compile.push(option.into());
        } else {
            return Err(format!(
                "unknown option {option}: hip-host takes --offload-arch=, --host-source, -D, -U, -I, -include, -std=, and of the C++ compiler's \
                 -O, -g, -W, -w, -pedantic and those of -f and -m that decide about the language, optimisation, messages and instructions; \
                 whoever starts the program can put other flags into HIPSTACK_HOST_CXXFLAGS"
            ));
        }
        Ok(())
    }

    fn architecture(&mut self, option: &str, arch: &str) -> Result<(), String> {
        let wave = match arch {
            "host" => 0,
            "host-w32" => 32,
            "host-w64" => 64,
            _ => {
                return Err(format!(
                    "unknown architecture {arch} in option {option}: hip-host's devices are host-w32 and host-w64, and host is code for both"
                ));
            }
        };
        if !self.waves.contains(&wave) {
            self.waves.push(wave);
        }
        Ok(())
    }

    /// A macro is defined after our headers, where it cannot change them, except for macros that are meant
    /// for the headers.
    fn define(&mut self, define: &str) {
        if define.starts_with("HIPHOST_") || define == "NDEBUG" || define.starts_with("NDEBUG=") {
            return self.preprocess.push(format!("-D{define}"));
        }
        let (name, value) = define.split_once('=').unwrap_or((define, "1"));
        self.prologue += &format!("#define {name} {value}\n");
    }
}

/// The value of an option if it is one of these names: joined to it, after `=`, or the next option.
fn value_of<'a>(
    option: &str,
    names: &[&str],
    rest: &mut impl Iterator<Item = &'a str>,
) -> Option<Result<String, String>> {
    let (name, joined) = names.iter().find_map(|name| Some((name, option.strip_prefix(name)?)))?;
    let takes_joined = name.len() == 2;
    if joined.is_empty() {
        let missing =
            || format!("option {option} has no value: write {option}=VALUE, or VALUE as the next option");
        return Some(rest.next().map(str::to_owned).ok_or_else(missing));
    }
    match joined.strip_prefix('=').filter(|_| !takes_joined) {
        Some(value) => Some(Ok(value.to_owned())),
        None if takes_joined => Some(Ok(joined.trim_start().to_owned())),
        None => None,
    }
}

/// The flag for the requested standard, or for the oldest that the headers support. Raising it is harmless:
/// newer standards still have what `c++14` has.
fn standard_flag(standard: &str) -> String {
    let (family, year) =
        standard.split_at(standard.find(|c: char| c.is_ascii_digit()).unwrap_or(standard.len()));
    // 98 and 03 are older than 11.
    let too_old = matches!(year, "98" | "03" | "0x" | "1y" | "1z")
        || year.parse::<u32>().is_ok_and(|year| year < OLDEST_STANDARD);
    if too_old { format!("-std={family}{OLDEST_STANDARD}") } else { format!("-std={standard}") }
}

fn absolute(folder: &Path, path: &str) -> PathBuf {
    folder.join(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(options: &[&str]) -> Result<Options, String> {
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        Options::parse(&options, Path::new("/here"))
    }

    #[test]
    fn options_are_sorted_by_use() {
        let read = parse(&[
            "-DN=4",
            "-D",
            "A",
            "-UB",
            "-Iinc",
            "-I",
            "/abs",
            "-O1",
            "--std=c++20",
            "-include",
            "x.h",
        ]);
        let expected = Options {
            waves: vec![],
            host_source: false,
            prologue: "#define N 4\n#define A 1\n#undef B\n#include \"x.h\"\n".into(),
            preprocess: vec!["-I/here/inc".into(), "-I/abs".into()],
            compile: vec!["-O1".into(), "-std=c++20".into()],
        };
        assert_eq!(read, Ok(expected));
    }

    #[test]
    fn architectures_are_those_of_the_devices() {
        let waves = |options: &[&str]| parse(options).map(|read| read.waves);
        assert_eq!(waves(&["--offload-arch=host-w64", "--gpu-architecture=host-w32"]), Ok(vec![64, 32]));
        assert_eq!(waves(&["--gpu-architecture", "host-w32", "--offload-arch=host-w32"]), Ok(vec![32]));
        assert_eq!(waves(&["--offload-arch=host"]), Ok(vec![0]));
        let error = waves(&["--offload-arch=gfx90a"]).expect_err("not ours");
        assert!(error.contains("gfx90a") && error.contains("host-w32"), "{error}");
        let error = waves(&["--offload-arch"]).expect_err("no value");
        assert!(error.contains("--offload-arch has no value"), "{error}");
    }

    #[test]
    fn an_unknown_option_is_named() {
        let error = parse(&["-O2", "--nonsense"]).expect_err("unknown");
        assert!(error.starts_with("unknown option --nonsense"), "{error}");
        assert!(parse(&["-o"]).is_err() && parse(&["file.o"]).is_err() && parse(&["-includes=x"]).is_err());
    }

    #[test]
    fn flags_of_gpus_are_left_out() {
        let read = parse(&["-fgpu-rdc", "-munsafe-fp-atomics", "-mllvm", "-amdgpu-x", "-ffast-math", ""]);
        assert_eq!(read.map(|read| read.compile), Ok(vec!["-ffast-math".to_owned()]));
    }

    #[test]
    fn texts_for_the_host_are_marked_and_may_name_its_instructions() {
        let read = parse(&["--host-source", "-mavx2"]).expect("known");
        assert!(read.host_source && read.compile == ["-mavx2"]);
        assert!(!parse(&["-O2"]).expect("known").host_source);
    }

    #[test]
    fn standards_that_are_too_old_are_raised() {
        let flags = ["c++98", "c++0x", "gnu++14", "c++17", "c++2a", "c++23"].map(standard_flag);
        assert_eq!(
            flags,
            ["-std=c++17", "-std=c++17", "-std=gnu++17", "-std=c++17", "-std=c++2a", "-std=c++23"]
        );
    }

    #[test]
    fn macros_of_the_headers_come_before_them() {
        let read = parse(&["-DHIPHOST_NO_BARRIERS", "-DNDEBUG"]).expect("known");
        assert_eq!((read.prologue.as_str(), read.preprocess.len()), ("", 2));
    }
}
