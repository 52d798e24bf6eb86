//! Loading: what is found, what is missing, and how that is said. Needs no ROCm.

use hip_sys::{AmdSmi, LoadError, Miopen, Optional, Platform, Rocblas, Rocrand, Unsupported};
use std::path::Path;
use std::process::Command;

#[test]
fn a_missing_library_names_what_was_tried() {
    // SAFETY: S1: there is no such file.
    let error = unsafe { Platform::load_amd_from(Path::new("/nowhere/libamdhip64.so.6")) }.unwrap_err();
    let LoadError::NotFound { tried, .. } = &error else { panic!("{error:?}") };
    assert_eq!(tried.len(), 1);
    assert_eq!(tried[0].0, "/nowhere/libamdhip64.so.6");
    assert!(
        tried[0].1.contains("cannot open shared object file"),
        "the loader's own answer is kept: {}",
        tried[0].1
    );
    let text = error.to_string();
    assert!(text.contains("/nowhere/libamdhip64.so.6") && text.contains("ROCM_PATH"), "{text}");
}

#[test]
fn a_library_that_is_not_hip_is_refused_by_the_missing_function() {
    // SAFETY: S1: the C library is loaded already, and has no function of the first name looked for.
    let error = unsafe { Platform::load_amd_from(Path::new("libc.so.6")) }.unwrap_err();
    assert_eq!(error, LoadError::MissingSymbol { library: "libc.so.6".into(), symbol: "hipInit".into() });
}

#[test]
fn a_library_that_is_not_rocrand_is_refused() {
    // SAFETY: S1: there is no such file.
    let error = unsafe { Rocrand::load_from(Path::new("/nowhere/librocrand.so.1")) }.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("/nowhere/librocrand.so.1") && text.contains("librocrand1"), "{text}");
    // SAFETY: S1: the C library is loaded already, and has no function of the first name looked for.
    let error = unsafe { Rocrand::load_from(Path::new("libc.so.6")) }.unwrap_err();
    let symbol = "rocrand_get_version".into();
    assert_eq!(error, LoadError::MissingSymbol { library: "libc.so.6".into(), symbol });
}

#[test]
fn an_absent_function_says_since_when_it_exists() {
    let absent: Optional<fn()> = Optional::absent("hipLaunchHostFunc", "5.3");
    assert!(!absent.is_present());
    let error = absent.get().unwrap_err();
    assert_eq!(error, Unsupported { symbol: "hipLaunchHostFunc", since: "5.3" });
    assert_eq!(
        error.to_string(),
        "hipLaunchHostFunc is not in this platform's library: ROCm has it since 5.3"
    );
}

/// The search order, seen by a process whose ROCM_PATH is a folder without libraries: that folder comes first, with
/// every name, then the bare names.
#[test]
fn rocm_path_comes_first() {
    if std::env::var_os("HIP_SYS_TEST_SEARCH").is_some() {
        if let Err(LoadError::NotFound { tried, .. }) = Platform::load_amd() {
            for (name, _) in tried {
                println!("tried {name}");
            }
        }
        return;
    }
    let none = [("VIRTUAL_ENV", ""), ("CONDA_PREFIX", "")];
    let only = [("HIP_SYS_TEST_SEARCH", "1"), ("ROCM_PATH", "/nowhere"), none[0], none[1]];
    let out = rerun("rocm_path_comes_first", &only);
    let tried: Vec<_> =
        out.lines().filter_map(|line| line.split_once("tried ").map(|(_, name)| name)).collect();
    if tried.is_empty() {
        return println!("skipped: this machine has a libamdhip64, so nothing is reported as tried");
    }
    assert_eq!(
        tried[..6],
        [
            "/nowhere/lib/libamdhip64.so.7",
            "/nowhere/lib/libamdhip64.so.6",
            "/nowhere/lib/libamdhip64.so.5",
            "/nowhere/lib/libamdhip64.so",
            "libamdhip64.so.7",
            "libamdhip64.so.6",
        ]
    );
}

/// pip spreads a ROCm over sibling packages. Here they contain the C library under other names; the functions that it lacks show which file
/// was opened.
#[test]
fn packages_of_pip_are_found() {
    if std::env::var_os("HIP_SYS_TEST_PIP").is_some() {
        for error in [Platform::load_amd().map(drop), Rocblas::load().map(drop)] {
            let Err(LoadError::MissingSymbol { library, .. }) = error else { panic!("{error:?}") };
            println!("opened {library}");
        }
        return;
    }
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux has it");
    let libc =
        maps.lines().find_map(|line| line.find('/').map(|at| &line[at..]).filter(|f| f.contains("/libc.so")));
    let libc = libc.expect("this process has the C library");
    let root = std::env::temp_dir().join(format!("hip-sys-loading-{}", std::process::id()));
    let packages = root.join("lib/python3.12/site-packages");
    let hip = packages.join("_rocm_sdk_core/lib/libamdhip64.so.7");
    let blas = packages.join("_rocm_sdk_libraries_gfx120X_all/lib/librocblas.so.5");
    for library in [&hip, &blas] {
        std::fs::create_dir_all(library.parent().expect("it has one"))
            .expect("temporary folders are writable");
        std::os::unix::fs::symlink(libc, library).expect("it is new");
    }
    let (environment, path) =
        (root.display().to_string(), packages.join("_rocm_sdk_core").display().to_string());
    for (variable, value) in
        [("VIRTUAL_ENV", &environment), ("CONDA_PREFIX", &environment), ("ROCM_PATH", &path)]
    {
        let mut variables =
            vec![("HIP_SYS_TEST_PIP", "1"), ("VIRTUAL_ENV", ""), ("CONDA_PREFIX", ""), ("ROCM_PATH", "")];
        variables.push((variable, value));
        let out = rerun("packages_of_pip_are_found", &variables);
        let found: Vec<_> = out
            .lines()
            .filter_map(|line| line.split_once("opened ").map(|(_, file)| Path::new(file)))
            .collect();
        assert_eq!(found, [&*hip, &*blas], "by {variable}");
    }
    std::fs::remove_dir_all(&root).expect("it is this test's own");
}

/// A handler registered before the watch runs after it, and sees that exit has begun.
#[test]
fn exit_is_seen_by_handlers_that_run_later() {
    extern "C" fn late() {
        println!("exiting {}", hip_sys::exiting());
    }
    if std::env::var_os("HIP_SYS_TEST_EXIT").is_some() {
        // SAFETY: S1: `late` is a static function that only prints.
        assert_eq!(unsafe { libc::atexit(late) }, 0);
        hip_sys::watch_exit();
        println!("exiting {}", hip_sys::exiting());
        std::process::exit(0);
    }
    let out = rerun("exit_is_seen_by_handlers_that_run_later", &[("HIP_SYS_TEST_EXIT", "1")]);
    let seen: Vec<_> =
        out.lines().filter_map(|line| line.split_once("exiting ").map(|(_, value)| value)).collect();
    assert_eq!(seen, ["false", "true"], "{out}");
}

fn rerun(test: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().expect("this test has a path"));
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).envs(variables.iter().copied());
    let output = command.output().expect("this test can start itself");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn libraries_beside_hip_are_looked_for_under_their_names() {
    let here = Path::new("libc.so.6");
    // SAFETY: S1: the C library is loaded already, and has no function of the first name looked for.
    let [blas, dnn, smi] = unsafe {
        [
            Rocblas::load_from(here).map(drop),
            Miopen::load_from(here).map(drop),
            AmdSmi::load_from(here).map(drop),
        ]
    };
    let missing =
        |symbol: &str| Err(LoadError::MissingSymbol { library: "libc.so.6".into(), symbol: symbol.into() });
    assert_eq!((blas, dnn), (missing("rocblas_create_handle"), missing("miopenActivationBackward")));
    assert_eq!(smi, missing("amdsmi_init"));
    let nowhere = Path::new("/nowhere/librocblas.so.5");
    // SAFETY: S1: there is no such file.
    let text = unsafe { Rocblas::load_from(nowhere) }.unwrap_err().to_string();
    assert!(text.contains("/nowhere/librocblas.so.5") && text.contains("Install rocBLAS"), "{text}");
}
