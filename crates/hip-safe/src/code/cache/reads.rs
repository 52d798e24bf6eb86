//! Whether a compilation may read files that are not part of the key.

use crate::Source;
use std::ffi::OsString;

/// Environment variables that affect the code: those of AMD's hiprtc, of clang and gcc, and of hip-host.
pub(super) const VARIABLES: [&str; 12] = [
    "HIPRTC_COMPILE_OPTIONS_APPEND",
    "HIPRTC_LINK_OPTIONS_APPEND",
    "HIPSTACK_HOST_CXXFLAGS",
    "CXX",
    "CCC_OVERRIDE_OPTIONS",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "C_INCLUDE_PATH",
    "HIP_PATH",
    "ROCM_PATH",
    "LLVM_PATH",
    "GCC_EXEC_PREFIX",
];
/// How many of these contain options. They come first.
const OPTIONS: usize = 3;

/// Prefixes of options that name no file.
const PLAIN: [&str; 13] = [
    "-D",
    "-U",
    "-O",
    "-std=",
    "--std=",
    "-g",
    "-w",
    "-fmad=",
    "--fmad=",
    "-ffp-contract=",
    "-mcode-object-version=",
    "-fvect-cost-model=",
    "--host-source",
];
/// Prefixes of options without a value that read a file.
const READING: [&str; 4] = ["-fprofile", "-fmodule", "-fplugin", "-fauto-profile"];

/// Whether a text, an option or a variable may make the compiler read files.
pub(super) fn files(source: &Source, get: &dyn Fn(&str) -> Option<OsString>) -> bool {
    let added: Vec<OsString> = VARIABLES[..OPTIONS].iter().filter_map(|name| get(name)).collect();
    let added = added.iter().map(|value| value.to_string_lossy().into_owned());
    let mut words = source.options.iter().cloned().chain(added);
    words.any(|option| option.split_whitespace().any(|word| !is_plain(word)))
        || std::iter::once(&source.text)
            .chain(source.headers.iter().map(|(_, text)| text))
            .any(|text| text.lines().any(|line| includes_a_file(source, line)))
}

/// An unknown option counts as reading files.
fn is_plain(option: &str) -> bool {
    let switch = ["-f", "-m", "-W"].iter().any(|start| option.starts_with(start));
    let switch = switch
        && !option.contains(['=', ','])
        && option != "-mllvm"
        && !READING.iter().any(|start| option.starts_with(start));
    switch || PLAIN.iter().any(|start| option.starts_with(start))
}

/// Whether a line includes something that is neither one of the source's headers nor, in angle brackets or below `hip/`, one that
/// comes with the compiler.
fn includes_a_file(source: &Source, line: &str) -> bool {
    let Some(directive) = line.trim_start().strip_prefix('#').map(str::trim_start) else { return false };
    let Some(rest) =
        ["include_next", "include", "import", "embed"].iter().find_map(|w| directive.strip_prefix(w))
    else {
        return false;
    };
    let rest = rest.trim_start();
    let name = |open, close| rest.strip_prefix(open).and_then(|rest: &str| rest.split(close).next());
    let given = |name: &str| source.headers.iter().any(|(known, _)| known == name);
    match (name('"', '"'), name('<', '>')) {
        (Some(name), _) => !given(name) && !name.starts_with("hip/"),
        (None, Some(name)) => !given(name) && (name.starts_with('/') || name.contains("..")),
        // A macro: it can be any name.
        (None, None) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_texts_that_read_files_are_recognised() {
        let none = |_: &str| None;
        let base = Source::new("#include \"a.h\"\n # include <cmath>\n#include <hip/hip_runtime.h>")
            .header("a.h", "");
        assert!(!files(&base, &none));
        for plain in [
            "-DN=4",
            "-UX",
            "-O3",
            "-std=c++17",
            "-ffp-contract=off",
            "-ffast-math",
            "-mcumode",
            "-Wall",
            "-g",
            "-fvect-cost-model=dynamic",
            "--host-source",
        ] {
            assert!(!files(&base.clone().option(plain), &none), "{plain}");
        }
        for reading in [
            "-I/tmp",
            "-I",
            "/tmp",
            "-include",
            "-includex.h",
            "--include=x.h",
            "-isystem/x",
            "-iquote",
            "@file",
            "-idirafter",
            "-imacros",
            "--sysroot=/x",
            "-fprofile-use",
            "-fplugin=x.so",
            "-Wp,-Ix",
            "-mllvm",
            "-O2 -Ix",
            "--pre-include=x",
        ] {
            assert!(files(&base.clone().option(reading), &none), "{reading}");
        }
        for text in [
            "#include \"b.h\"",
            "#include </etc/x>",
            "#include NAME",
            "# include_next \"b.h\"",
            "#embed \"b\"",
        ] {
            assert!(files(&Source::new(text), &none), "{text}");
            assert!(files(&base.clone().header("c.h", text), &none), "{text}");
        }
        for name in &VARIABLES[..OPTIONS - 1] {
            assert!(files(&base, &|asked| (asked == *name).then(|| "-O2 -I/x".into())), "{name}");
        }
    }
}
