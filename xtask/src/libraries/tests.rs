//! Tests of the check with generated libraries and headers that each have one error.

use super::{Finding, in_folder, kind::Kind};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Builds a library with these functions in a folder, with the given SONAME.
fn library(folder: &Path, file: &str, soname: &str, functions: &BTreeSet<&str>) {
    let lib = folder.join("usr/lib");
    std::fs::create_dir_all(&lib).expect("it is writable");
    let text: String = functions.iter().map(|name| format!("int {name}(void) {{ return 0; }}\n")).collect();
    let source = lib.join("library.c");
    std::fs::write(&source, text).expect("it is writable");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", &format!("-Wl,-soname,{soname}"), "-o"])
        .arg(lib.join(file))
        .arg(&source);
    assert!(compiler.status().expect("a C compiler").success());
}

/// A folder with a library of these functions that is HIP 6.4 according to its name.
fn hip_with(functions: &BTreeSet<&str>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    library(folder.path(), "libamdhip64.so.6.4.43484", "libamdhip64.so.6", functions);
    folder
}

/// Every function of the table that ROCm 6.4 has, and one that the table lacks.
fn all_of_6_4() -> BTreeSet<&'static str> {
    let here = Kind::Hip.symbols().iter().filter(|symbol| symbol.since.is_none_or(|since| since < "7"));
    here.map(|symbol| symbol.name).chain(["hipArrayCreate", "unrelated"]).collect()
}

fn hip(folder: &Path) -> Finding {
    let mut findings = in_folder(folder).expect("a library is in it");
    assert_eq!(findings[0].kind, Kind::Hip);
    findings.remove(0)
}

#[test]
fn a_complete_library_passes() {
    let folder = hip_with(&all_of_6_4());
    let finding = hip(folder.path());
    assert_eq!(finding.errors, Vec::<String>::new());
    let json = super::report::json(std::slice::from_ref(&finding), &[]);
    assert_eq!(json[0]["functions"]["required_found"], json[0]["functions"]["required"]);
    assert_eq!(json[0]["layouts"]["not_checked"], "no hip/hip_runtime_api.h here");
    let text = super::report::text(std::slice::from_ref(&finding), &[]);
    assert!(text.contains("version    6.4.43484, by the file's name\n"), "{text}");
    assert!(text.contains("SONAME     libamdhip64.so.6\n") && !text.contains("release"), "{text}");
    assert_eq!(finding.version.expect("the name tells").0, "6.4.43484");
    let symbols = finding.symbols.expect("it was read");
    assert_eq!((symbols.required.0, symbols.unwrapped), (symbols.required.1, 1));
    assert!(finding.layouts.is_err(), "there are no headers");
}

#[test]
fn a_missing_required_function_fails() {
    let mut functions = all_of_6_4();
    functions.remove("hipMalloc");
    let folder = hip_with(&functions);
    let errors = hip(folder.path()).errors;
    assert!(super::report::text(&[hip(folder.path())], &[]).contains("  ERROR      hipMalloc is absent"));
    assert_eq!(errors, ["hipMalloc is absent, and [hip] in functions.toml requires it"]);
    let args = super::LibrariesArgs { folder: vec![folder.path().into()], json: false };
    assert!(super::run(&args).expect_err("the command fails too").contains("1 error"));
}

#[test]
fn an_optional_function_at_the_wrong_time_fails() {
    let mut functions = all_of_6_4();
    functions.remove("hipExtGetLastError");
    let folder = hip_with(&functions);
    let errors = hip(folder.path()).errors;
    assert_eq!(errors, ["hipExtGetLastError is absent from ROCm 6.4: since = \"6.0\" is wrong"]);

    functions.insert("hipExtGetLastError");
    let folder = hip_with(&functions);
    let lib = folder.path().join("usr/lib");
    std::fs::rename(lib.join("libamdhip64.so.6.4.43484"), lib.join("libamdhip64.so.5.5.1")).expect("ours");
    let errors = hip(folder.path()).errors;
    let early = ["hipGetDevicePropertiesR0600", "hipExtGetLastError"];
    assert_eq!(errors, early.map(|name| format!("{name} is in ROCm 5.5 already: since = \"6.0\" is wrong")));
}

/// HIP has a version number of its own; the release of ROCm is recorded in another file.
#[test]
fn a_release_is_read_from_the_installer_s_files() {
    let folder = hip_with(&all_of_6_4());
    std::fs::create_dir(folder.path().join("usr/.info")).expect("it is writable");
    std::fs::write(folder.path().join("usr/.info/version"), "10.0.0-80\n").expect("it is writable");
    let finding = hip(folder.path());
    assert_eq!(
        (finding.release.as_deref(), &*finding.version.as_ref().expect("known").0),
        (Some("10.0.0-80"), "6.4.43484")
    );
    assert!(super::report::text(&[finding], &[]).contains("  release    ROCm 10.0.0-80\n"));
}

#[test]
fn a_library_under_a_name_that_nobody_looks_for_fails() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    library(folder.path(), "libamdhip64.so.6.4.43484", "libamdhip64.so.9", &all_of_6_4());
    let errors = hip(folder.path()).errors;
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].starts_with("its SONAME is libamdhip64.so.9, and looked for are libamdhip64.so.7, "),
        "{errors:?}"
    );
}

#[test]
fn a_library_without_a_table_is_found_and_named() {
    let none = BTreeSet::new();
    let folder = hip_with(&all_of_6_4());
    let absent = super::others::in_folder(folder.path()).expect("a folder");
    assert!(absent.iter().all(|other| other.file.is_none() && other.error.is_none()), "{absent:?}");
    assert!(super::report::text(&[], &absent).contains("RCCL: absent from "));

    library(folder.path(), "librccl.so.1.0.70204", "librccl.so.1", &none);
    let found = super::others::in_folder(folder.path()).expect("a folder");
    let [rccl] = &*found else { panic!("{found:?}") };
    assert_eq!((rccl.soname.as_deref(), &rccl.error), (Some("librccl.so.1"), &None));
    assert!(rccl.file.as_ref().is_some_and(|file| file.ends_with("usr/lib/librccl.so.1.0.70204")));

    let folder = hip_with(&all_of_6_4());
    library(folder.path(), "librccl.so.2.0", "librccl.so.2", &none);
    let others = super::others::in_folder(folder.path()).expect("a folder");
    let wrong = others[0].error.as_deref().expect("it is another one");
    assert_eq!(wrong, "its SONAME is librccl.so.2, and looked for are librccl.so.1");
    let text = super::report::text(&[], &others);
    assert!(text.contains("  ERROR      its SONAME is "), "{text}");
    let args = super::LibrariesArgs { folder: vec![folder.path().into()], json: false };
    assert!(super::run(&args).expect_err("the command fails too").contains("1 error"));
}

#[test]
fn something_else_of_that_name_and_nothing_at_all_fail() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert!(in_folder(folder.path()).expect_err("it is empty").contains("none of libamdhip64.so"));
    std::fs::write(folder.path().join("libamdhip64.so.6.4.1"), "text").expect("it is writable");
    let errors = hip(folder.path()).errors;
    assert!(errors[0].contains("no library"), "{errors:?}");
    std::fs::write(folder.path().join("libamdhip64.so.6.3.1"), "text").expect("it is writable");
    assert!(in_folder(folder.path()).expect_err("which one?").contains("more than one HIP"));
}

/// Minimal headers of rocRAND that match the bindings.
fn rocrand_headers(folder: &Path, version: u32, change: impl Fn(&str) -> String) {
    let include = folder.join("usr/include/rocrand");
    std::fs::create_dir_all(&include).expect("it is writable");
    let mut text = "typedef struct { unsigned short data; } __half;\n".to_owned();
    for constant in Kind::Rocrand.bindings().constants {
        text += &format!("#define {} {}\n", constant.name, constant.value);
    }
    std::fs::write(include.join("rocrand.h"), change(&text)).expect("it is writable");
    let text = format!("#define ROCRAND_VERSION {version}\n");
    std::fs::write(include.join("rocrand_version.h"), text).expect("it is writable");
}

#[test]
fn a_constant_of_another_value_fails_and_a_newer_one_does_not() {
    let check = |version, change: fn(&str) -> String| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        rocrand_headers(folder.path(), version, change);
        super::layouts::check(Kind::Rocrand, &[folder.path().join("usr/include")]).expect("it compiles")
    };
    let whole = check(400_200, str::to_owned);
    assert_eq!((whole.errors.len(), whole.newer.len()), (0, 0), "{whole:?}");
    let other =
        check(400_200, |text| text.replace("ROCRAND_STATUS_TYPE_ERROR 103", "ROCRAND_STATUS_TYPE_ERROR 113"));
    assert_eq!(other.errors, ["ROCRAND_STATUS_TYPE_ERROR is 103 in hip-sys and 113 in the headers"]);
    let without = |text: &str| text.replace("define ROCRAND_RNG_PSEUDO_MT19937 ", "define OTHER ");
    assert_eq!(check(201_009, without).newer, ["ROCRAND_RNG_PSEUDO_MT19937"]);
    assert_eq!(check(400_200, without).errors, ["ROCRAND_RNG_PSEUDO_MT19937 is not in the headers"]);
}

/// Headers of HIP generated from the bindings, with one structure replaced by `changed`.
fn hip_headers(folder: &Path, changed: &str) {
    let include = folder.join("hip");
    std::fs::create_dir_all(&include).expect("it is writable");
    let bindings = Kind::Hip.bindings();
    let mut text = String::from("#include <stddef.h>\n");
    for structure in bindings.structures.iter().filter(|structure| !changed.contains(structure.name)) {
        text += &format!("struct alignas({}) {} {{\n", structure.align, structure.name);
        let ends = structure.fields.iter().skip(1).map(|field| field.1).chain([structure.size]);
        for ((field, start), end) in structure.fields.iter().zip(ends) {
            text += &format!("char {field}[{}];\n", end - start);
        }
        // Only the structure with bit fields has no fields here.
        if structure.fields.is_empty() {
            text += &format!("char bits[{}];\n", structure.size);
        }
        text += "};\n";
    }
    for constant in bindings.constants {
        text += &format!("#define {} {}LL\n", constant.name, constant.value);
    }
    std::fs::write(include.join("hip_runtime_api.h"), text + changed).expect("it is writable");
    // The release that the bindings were generated from, so no differences are known.
    let numbers = [("MAJOR", 7), ("MINOR", 2), ("PATCH", 0)];
    let text: String = numbers.iter().map(|(part, n)| format!("#define HIP_VERSION_{part} {n}\n")).collect();
    std::fs::write(include.join("hip_version.h"), text).expect("it is writable");
}

#[test]
fn a_structure_of_another_layout_fails() {
    let check = |changed: &str| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        hip_headers(folder.path(), changed);
        super::layouts::check(Kind::Hip, &[folder.path().into()]).expect("it compiles").errors
    };
    assert_eq!(check(""), Vec::<String>::new());
    assert_eq!(
        check("struct hipMemLocation { int type; int added; int id; };"),
        [
            "the size of hipMemLocation is 8 in hip-sys and 12 in the headers",
            "the offset of hipMemLocation::id is 4 in hip-sys and 8 in the headers"
        ]
    );
    assert_eq!(
        check("struct hipMemLocation { int type; int number; };"),
        ["the offset of hipMemLocation::id is not in the headers"]
    );
}

#[test]
fn headers_that_do_not_compile_are_an_error_of_their_own() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    rocrand_headers(folder.path(), 400_200, |_| "#error too old\n".into());
    let why = super::layouts::check(Kind::Rocrand, &[folder.path().join("usr/include")]).expect_err("#error");
    assert!(why.starts_with("the headers do not compile: ") && why.contains("too old"), "{why}");
}

/// Checks Debian 12's libraries, if they are installed.
#[test]
fn installed_libraries_match_the_bindings() {
    let findings = super::system();
    for finding in findings.iter().filter(|finding| finding.file.is_some()) {
        assert_eq!(finding.errors, Vec::<String>::new(), "{finding:?}");
        let symbols = finding.symbols.as_ref().expect("the file was read");
        assert_eq!(symbols.required.0, finding.kind.symbols().iter().filter(|s| s.since.is_none()).count());
    }
    if findings.iter().all(|finding| finding.file.is_none()) {
        crate::skip::without_rocm(super::available().expect_err("nothing was found"));
    }
}
