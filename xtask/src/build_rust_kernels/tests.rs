//! Tests of the command.

use super::*;
use crate::workspace;

#[test]
fn architectures_are_told_apart() {
    let flags = |name: &str| Architecture::of(name).map(|one| one.flags(Panics::Trap).join(" "));
    assert_eq!(flags("gfx90a"), Ok("-Ctarget-cpu=gfx90a --cfg hip_kernel_gfx=\"9\"".into()));
    assert_eq!(
        flags("gfx1100"),
        Ok("-Ctarget-cpu=gfx1100 --cfg hip_kernel_gfx=\"11\" -Ctarget-feature=+cumode".into())
    );
    assert_eq!(flags("sm_90"), Ok("-Ctarget-cpu=sm_90".into()));
    let location = Architecture::of("sm_90").map(|one| one.flags(Panics::Location).join(" "));
    assert_eq!(location, Ok("-Ctarget-cpu=sm_90 --cfg hip_kernel_panic=\"location\"".into()));
    for unknown in ["gfx", "gfx90z", "gfx803", "gfx1250", "gfx1299", "gfx1300", "sm_60", "sm_", "pentium"] {
        assert!(flags(unknown).is_err(), "{unknown}");
    }
}

#[test]
fn a_folder_without_a_library_is_named() {
    let error = Crate::find(Path::new("no such folder")).err().expect("there is none");
    assert!(error.contains("no such folder"), "{error}");
    let root = workspace::root().expect("tests run in the workspace");
    let found = Crate::find(&root.join("kernels-rust")).expect("it has a library");
    assert_eq!(found.library, "kernels_rust");
}

#[test]
fn a_library_may_be_of_any_kind() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let manifest =
        "[package]\nname = \"one\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"rlib\"]\n[workspace]\n";
    std::fs::create_dir(folder.path().join("src")).expect("a folder can be made");
    std::fs::write(folder.path().join("src/lib.rs"), "").expect("it can be written");
    std::fs::write(folder.path().join("Cargo.toml"), manifest).expect("it can be written");
    assert_eq!(Crate::find(folder.path()).map(|found| found.library), Ok("one".to_owned()));
}

#[test]
fn a_missing_compiler_is_an_error_with_the_remedy() {
    let error = toolchain::check("nightly-1999-01-01").expect_err("there is none");
    assert!(error.contains("rustup toolchain install") || error.contains("cannot start rustup"), "{error}");
}

/// Builds the kernels of this repository, if the compiler is there.
#[test]
#[ignore = "slow: it compiles core for a GPU, in half a minute"]
fn kernels_compile() {
    if let Err(why) = compiler() {
        println!("skipped: {why}");
        return;
    }
    let root = workspace::root().expect("tests run in the workspace");
    let out = tempfile::tempdir().expect("a folder can be made");
    let arch = vec!["gfx942".to_owned()];
    let args = RustKernelsArgs {
        folder: root.join("kernels-rust"),
        arch,
        panics: Panics::Location,
        out: Some(out.path().to_path_buf()),
    };
    run(&args).expect("the kernels compile");
    let file = std::fs::read(out.path().join("gfx942/kernels_rust.co")).expect("it was written");
    let code = code_object::CodeObject::parse(&file).expect("it is sound").expect("it is AMD's");
    let mut names: Vec<&str> = code
        .kernels
        .iter()
        .map(|kernel| kernel.name.rsplit_once("__").map_or("", |(name, _)| name))
        .collect();
    names.sort_unstable();
    let expected = [
        "block_sum",
        "histogram",
        "matmul",
        "ranks",
        "saxpy",
        "saxpy_wide",
        "scale_f32",
        "scale_f64",
        "scale_halves",
        "scale_u32",
        "softmax",
        "softplus",
        "sort_tiles",
    ];
    assert_eq!(names, expected);
    // What `load` looks for, to refuse code that was built for other sizes.
    let mark = b"hklayout";
    let marks = file.windows(mark.len()).filter(|bytes| bytes == mark).count();
    assert_eq!(marks, expected.len());
}
