//! Options that are passed on to the host's C++ compiler. A text and its options may come from an untrusted
//! source, so no option is accepted that loads a plugin, runs or replaces a program, reads or writes other
//! files, or is passed to the linker.

/// Names after `-f` and `-fno-`: the language, numeric semantics, optimisation, and the format of messages.
const SWITCHES: [&str; 68] = [
    "aligned-new",
    "approx-func",
    "associative-math",
    "builtin",
    "caret-diagnostics",
    "char8_t",
    "coalesce",
    "color-diagnostics",
    "common",
    "concepts",
    "cx-fortran-rules",
    "cx-limited-range",
    "declspec",
    "delete-null-pointer-checks",
    "diagnostics-color",
    "diagnostics-show-caret",
    "diagnostics-show-option",
    "elide-constructors",
    "exceptions",
    "fast-math",
    "finite-loops",
    "finite-math-only",
    "fold-simple-intrinsics",
    "gcse",
    "gnu-keywords",
    "honor-infinities",
    "honor-nans",
    "implicit-constexpr",
    "inline",
    "inline-functions",
    "inline-small-functions",
    "ivopts",
    "jump-tables",
    "math-errno",
    "ms-extensions",
    "new-ttp-matching",
    "omit-frame-pointer",
    "optimize-sibling-calls",
    "peel-loops",
    "permissive",
    "prefetch-loop-arrays",
    "reciprocal-math",
    "rounding-math",
    "rtti",
    "schedule-insns",
    "schedule-insns2",
    "short-enums",
    "show-column",
    "signed-char",
    "signed-zeros",
    "single-precision-constant",
    "sized-deallocation",
    "slp-vectorize",
    "spell-checking",
    "split-loops",
    "strict-aliasing",
    "strict-enums",
    "strict-overflow",
    "strict-return",
    "trapping-math",
    "trapv",
    "tree-loop-distribution",
    "tree-slp-vectorize",
    "tree-vectorize",
    "unroll-loops",
    "unsafe-math-optimizations",
    "unsigned-char",
    "wrapv",
];
/// Names after `-f` with a value, which is a word or a number.
const VALUES: [&str; 18] = [
    "bracket-depth",
    "constexpr-backtrace-limit",
    "constexpr-depth",
    "constexpr-loop-limit",
    "constexpr-ops-limit",
    "constexpr-steps",
    "denormal-fp-math",
    "diagnostics-color",
    "error-limit",
    "excess-precision",
    "fp-contract",
    "fp-model",
    "max-errors",
    "message-length",
    "simd-cost-model",
    "template-backtrace-limit",
    "template-depth",
    "vect-cost-model",
];
/// Other names after `-f` that have no `no-` form here.
const OTHERS: [&str; 3] = ["fPIC", "fpic", "fvectorize"];
/// Instruction sets, after `-m` and `-mno-`.
const INSTRUCTIONS: [&str; 24] = [
    "3dnow",
    "adx",
    "aes",
    "bmi",
    "bmi2",
    "f16c",
    "fma",
    "fma4",
    "fsgsbase",
    "gfni",
    "lzcnt",
    "mmx",
    "movbe",
    "pclmul",
    "popcnt",
    "rdrnd",
    "rdseed",
    "sha",
    "ssse3",
    "vaes",
    "vpclmulqdq",
    "xop",
    "xsave",
    "xsaveopt",
];
/// Prefixes of the names of further instruction sets: `avx512vl`, `sse4.1`.
const FAMILIES: [&str; 2] = ["avx", "sse"];
/// Names after `-m` with a value: processors, and how vectors and divisions are computed.
const MACHINE: [&str; 6] = ["arch", "cpu", "fpmath", "prefer-vector-width", "recip", "tune"];
const LEVELS: [&str; 10] = ["", "0", "1", "2", "3", "fast", "g", "s", "z", "4"];
const DEBUG: [&str; 18] = [
    "",
    "0",
    "1",
    "2",
    "3",
    "gdb",
    "gdb0",
    "gdb1",
    "gdb2",
    "gdb3",
    "dwarf",
    "dwarf-2",
    "dwarf-3",
    "dwarf-4",
    "dwarf-5",
    "line-tables-only",
    "no-column-info",
    "column-info",
];

/// Whether the compiler may be given this option.
pub(crate) fn is_known(option: &str) -> bool {
    let Some(name) = option.strip_prefix('-') else { return false };
    if matches!(name, "w" | "pedantic" | "pedantic-errors") || OTHERS.contains(&name) {
        return true;
    }
    match name.split_at_checked(1) {
        Some(("O", level)) => LEVELS.contains(&level),
        Some(("g", level)) => DEBUG.contains(&level),
        // `-Wl,`, `-Wa,` and `-Wp,` pass options to other programs.
        Some(("W", warning)) => is_value(warning),
        Some(("f", name)) => {
            named(name, &VALUES) || SWITCHES.contains(&name.strip_prefix("no-").unwrap_or(name))
        }
        Some(("m", name)) => {
            let set = name.strip_prefix("no-").unwrap_or(name);
            let family =
                FAMILIES.iter().any(|start| set.starts_with(start)) && is_value(set) && !set.contains('=');
            named(name, &MACHINE) || INSTRUCTIONS.contains(&set) || family
        }
        _ => false,
    }
}

/// Whether the option is one of the names with a value.
fn named(option: &str, names: &[&str]) -> bool {
    option.split_once('=').is_some_and(|(name, value)| names.contains(&name) && is_value(value))
}

/// Whether it is a word, a number, or several of these joined by signs: neither a path nor a list of options.
fn is_value(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_+=.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn options_for_code_and_messages_are_accepted() {
        for option in [
            "-O",
            "-O2",
            "-Ofast",
            "-g",
            "-ggdb3",
            "-w",
            "-Wall",
            "-Wno-unused",
            "-Werror=return-type",
            "-pedantic",
            "-ffast-math",
            "-fno-math-errno",
            "-ffp-contract=off",
            "-fvect-cost-model=dynamic",
            "-ftree-vectorize",
            "-fno-strict-aliasing",
            "-fPIC",
            "-ftemplate-depth=1000",
            "-mavx2",
            "-mno-avx512vl",
            "-msse4.1",
            "-mfma",
            "-march=x86-64-v3",
            "-mcpu=neoverse-n1+sve",
            "-mtune=native",
        ] {
            assert!(is_known(option), "{option}");
        }
    }

    #[test]
    fn options_that_reach_programs_and_files_are_refused() {
        for option in [
            "-fplugin=evil.so",
            "-fplugin-arg-evil-x=1",
            "-Wl,-rpath,/tmp",
            "-Wl,--wrap=malloc",
            "-Wa,-a=/tmp/x",
            "-Wp,-MD,/tmp/x",
            "-B/tmp",
            "-specs=/tmp/x",
            "--specs=/tmp/x",
            "-wrapper",
            "-Xlinker",
            "-Xclang",
            "-Xassembler",
            "-l/tmp/x",
            "-L/tmp",
            "-o",
            "-o/tmp/x",
            "-fuse-ld=/tmp/ld",
            "-fdump-tree-all",
            "-fdump-tree-all=/tmp/x",
            "-fprofile-use=/tmp/x",
            "-fprofile-dir=/tmp",
            "-fmodule-file=/tmp/x",
            "-fmodules",
            "-fmodule-mapper=|sh",
            "-fpass-plugin=/tmp/x.so",
            "-fsanitize=address",
            "-fsanitize-blacklist=/tmp/x",
            "-flto",
            "-fopt-info-all=/tmp/x",
            "-fcrash-diagnostics-dir=/tmp",
            "-fstack-usage",
            "-save-temps",
            "-MD",
            "-MF",
            "-imacros",
            "-isystem",
            "-iprefix",
            "-nostdlib",
            "-static",
            "-shared",
            "-S",
            "-E",
            "-c",
            "-x",
            "-pipe",
            "-v",
            "-###",
            "@/tmp/options",
            "-",
            "",
            "--param=x=1",
            "-m32",
            "-mwavefrontsize64",
            "-mllvm",
            "-gsplit-dwarf",
            "-O9",
            "-Wall -o/tmp/x",
            "-march=/tmp/x",
            "-mrelocatable-lib",
            "file.o",
            "-T/tmp/script",
            "-fdebug-prefix-map=a=b",
            "-frandom-seed=1",
            "-foffload=x",
            "-fcall-used-eax",
            "-mstack-protector-guard=global",
        ] {
            assert!(!is_known(option), "{option}");
        }
    }
}
