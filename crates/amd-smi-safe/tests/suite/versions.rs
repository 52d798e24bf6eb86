//! Versions of the library, and functions that one lacks.

use crate::fake::{build, open};
use amd_smi_safe::{Error, Gpu};
use hip_sys::LoadError;

#[test]
fn version_26_is_read_without_the_fields_that_it_lacks() {
    let smi = open(&build("26", &["MAJOR=26"])).expect("it opens");
    assert_eq!(smi.version().major, 26);
    let gpu = smi.processors().expect("some")[0];
    let links = gpu.links().expect("told");
    assert_eq!(links.len(), 2);
    assert!(links.iter().all(|link| link.status.is_none()), "{links:?}");
    assert_eq!(gpu.name().as_deref(), Ok("AMD Instinct MI300X"));
}

#[test]
fn a_link_count_beyond_the_structure_ends_with_it() {
    let smi = open(&build("links_beyond", &["MAJOR=27"])).expect("it opens");
    assert_eq!(smi.processors().expect("some")[1].links().expect("told").len(), 64);
}

#[test]
fn other_versions_are_refused() {
    let old = open(&build("25", &["MAJOR=25"])).unwrap_err();
    assert!(matches!(old, Error::NoLibrary(LoadError::TooOld { .. })), "{old}");
    let text = old.to_string();
    assert!(text.contains("is version 25.1.5, and at least 26 (ROCm 7.0) is needed: update it"), "{text}");
    let new = open(&build("28", &["MAJOR=28"])).unwrap_err();
    assert!(matches!(new, Error::NoLibrary(LoadError::TooNew { first: 28, .. })), "{new}");
}

#[test]
fn a_missing_function_is_named() {
    let gpu =
        open(&build("no_video", &["MAJOR=27", "NO_VIDEO"])).expect("it opens").processors().expect("some")[0];
    let error = gpu.video_percent().unwrap_err();
    assert!(error.is_absence());
    assert_eq!(
        error.to_string(),
        "amdsmi_get_vcn_busy_percent is not in this platform's library: ROCm has it since 7.14"
    );
    let error = open(&build("no_sensors", &["MAJOR=27", "NO_SENSORS"])).unwrap_err();
    let Error::NoLibrary(LoadError::MissingSymbol { library, symbol }) = &error else { panic!("{error}") };
    assert!(library.ends_with("libamd_smi_no_sensors.so"), "{library}");
    assert_eq!(symbol, "amdsmi_get_temp_metric");
}

#[test]
fn no_library_is_an_error_with_the_names_and_the_remedy() {
    let error = open(std::path::Path::new("/nowhere/libamd_smi.so.27")).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("/nowhere/libamd_smi.so.27") && text.contains("Install AMD SMI"), "{text}");
}
