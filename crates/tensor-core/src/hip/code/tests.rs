//! The order in which code is looked for. AMD's compiler stands in where a compilation is needed; without it, what can be said
//! without one is.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hip_sys::{Extensions, LoadError, PlatformKind};
use kernels_hip::{hash_bytes, unit};

use super::*;

const ARCH: &str = "gfx906:sramecc+:xnack-";

/// A platform of AMD's kind that has no compiler.
fn without_compiler() -> Platform {
    let host = hip_host::platform();
    let rtc = LoadError::NotProvided { library: "hiprtc", reason: "it is a test" };
    // SAFETY: S1: the tables are those of a platform.
    unsafe {
        Platform::from_tables(
            PlatformKind::Amd,
            60_000_000,
            host.hip().clone(),
            Err(rtc),
            Extensions::default(),
        )
    }
}

/// AMD's own, if it is installed.
fn with_compiler() -> Option<Platform> {
    let platform = Platform::load_amd().ok().filter(|platform| platform.rtc().is_ok());
    if platform.is_none() {
        println!("skipped: no libamdhip64 with hiprtc is installed");
    }
    platform
}

fn target(platform: &Platform) -> Target<'_> {
    Target { platform, arch: ARCH, wave_size: 64 }
}

fn the_unit() -> Unit {
    unit("matmul", "f32").expect("it ships")
}

/// Writes an object and its manifest below `root`; the path of the object.
fn build_into(root: &Path, image: &[u8], source: &str) -> PathBuf {
    let folder = root.join("amd/gfx906");
    fs::create_dir_all(&folder).unwrap();
    let manifest = serde_json::json!({
        "compiler_version": "clang of a test",
        "objects": [{ "file": "matmul_f32.hsaco", "source": source, "hash": hash_bytes(b"the code") }],
    });
    fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
    let object = folder.join("matmul_f32.hsaco");
    fs::write(&object, image).unwrap();
    object
}

fn search(named: Option<&Path>, beside: &[&Path], cache: &Path) -> Search {
    let beside = beside.iter().map(|path| path.to_path_buf()).collect();
    Search::new(named.map(Path::to_path_buf), beside, Cache::Own(CodeCache::at(cache, 1 << 30)))
}

#[test]
fn a_current_object_is_taken_from_the_first_folder_that_has_it() {
    let root = tempfile::tempdir().unwrap();
    let [named, beside, empty] = ["named", "beside", "empty"].map(|name| root.path().join(name));
    let (platform, unit) = (without_compiler(), the_unit());
    let found = |search: &Search| search.find(&target(&platform), &unit);
    let current = unit.source_hash();
    let in_beside = build_into(&beside, b"the code", &current);
    let search_both = search(Some(&named), &[&empty, &beside], root.path());
    assert_eq!(found(&search_both), Ok((b"the code".to_vec(), CodeOrigin::Folder(in_beside))));
    let in_named = build_into(&named, b"the code", &current);
    assert_eq!(found(&search_both), Ok((b"the code".to_vec(), CodeOrigin::Folder(in_named))));
    // The word that stands for none.
    let word = search(Some(Path::new("compile")), &[&beside], root.path());
    let why = found(&word).unwrap_err();
    assert!(why.contains("no code of matmul_f32 for gfx906: no run-time compiler"), "{why}");
    assert!(
        word.check(&target(&platform), &unit).is_err()
            && search_both.check(&target(&platform), &unit).is_ok()
    );
}

#[test]
fn what_is_stale_damaged_or_unlisted_is_an_error_where_named_and_passed_over_elsewhere() {
    let root = tempfile::tempdir().unwrap();
    let (platform, unit) = (without_compiler(), the_unit());
    let current = unit.source_hash();
    let refused = |folder: &Path, words: &str| {
        let path = folder.join("amd/gfx906/matmul_f32.hsaco");
        let named = search(Some(folder), &[], root.path()).find(&target(&platform), &unit).unwrap_err();
        assert!(named.starts_with(&format!("{} {words}", path.display())), "{named}");
        assert!(named.contains("cargo xtask build-kernels --platform amd --arch gfx906"), "{named}");
        assert!(named.contains("unset HIPSTACK_KERNELS"), "{named}");
        let beside = search(None, &[folder], root.path()).find(&target(&platform), &unit).unwrap_err();
        assert!(beside.contains(&format!("{} {words}", path.display())), "{beside}");
        assert!(beside.starts_with("no code of matmul_f32 for gfx906: "), "{beside}");
    };
    let folder = |name: &str| root.path().join(name);
    build_into(&folder("stale"), b"the code", "another hash");
    refused(&folder("stale"), "is stale");
    build_into(&folder("damaged"), b"the cods", &current);
    refused(&folder("damaged"), "is damaged");
    let bare = build_into(&folder("bare"), b"the code", &current);
    fs::remove_file(bare.with_file_name("manifest.json")).unwrap();
    refused(&folder("bare"), "has no manifest.json beside it");
    let old = build_into(&folder("old"), b"the code", &current);
    let manifest =
        r#"{ "compiler_version": "old", "objects": [{ "file": "matmul_f32.hsaco", "hash": "1" }] }"#;
    fs::write(old.with_file_name("manifest.json"), manifest).unwrap();
    refused(&folder("old"), "has a manifest.json beside it that is damaged or old");
    let unlisted = build_into(&folder("unlisted"), b"the code", &current);
    fs::write(unlisted.with_file_name("manifest.json"), r#"{ "compiler_version": "c", "objects": [] }"#)
        .unwrap();
    refused(&folder("unlisted"), "is not in the manifest.json beside it");
}

#[test]
fn what_no_folder_has_is_compiled_once_and_kept() {
    let Some(platform) = with_compiler() else { return };
    let root = tempfile::tempdir().unwrap();
    let (unit, cache, beside) = (the_unit(), root.path().join("cache"), root.path().join("beside"));
    build_into(&beside, b"the code", "another hash");
    let find = |search: &Search| search.find(&target(&platform), &unit).unwrap();
    let (code, origin) = find(&search(None, &[&beside], &cache));
    assert_eq!(origin, CodeOrigin::Compiled);
    let object = hip_safe::CodeObject::parse(&code).unwrap().unwrap();
    let arch = object.target.map(|target| target.to_string());
    assert_eq!((object.kernels.len(), arch.as_deref()), (unit.kernels().len(), Some(ARCH)));
    // Another process, as far as the cache can tell.
    let (again, origin) = find(&search(None, &[&beside], &cache));
    let CodeOrigin::Cache(file) = origin else { panic!("{origin:?}") };
    assert!(again == code && file.starts_with(&cache));
    // Another unit is not taken for it, and damage is compiled again.
    fs::write(&file, b"damaged").unwrap();
    assert_eq!(find(&search(None, &[], &cache)), (code, CodeOrigin::Compiled));
    let told = search(None, &[], &cache).compiler(&target(&platform)).unwrap();
    assert!(
        told.starts_with("at run time by hiprtc ") && told.contains(&platform.version().to_string()),
        "{told}"
    );
    // A folder comes first.
    build_into(&beside, b"the code", &unit.source_hash());
    assert!(matches!(find(&search(None, &[&beside], &cache)).1, CodeOrigin::Folder(_)));
}

#[test]
fn an_architecture_that_the_compiler_does_not_know_is_not_asked_for() {
    let Some(platform) = with_compiler() else { return };
    let root = tempfile::tempdir().unwrap();
    let target = Target { platform: &platform, arch: "gfx9999", wave_size: 64 };
    let search = search(None, &[], root.path());
    for why in
        [search.find(&target, &the_unit()).unwrap_err(), search.check(&target, &the_unit()).unwrap_err()]
    {
        assert!(why.contains("does not know the architecture \"gfx9999\""), "{why}");
        assert!(why.contains("build-kernels --platform amd --arch gfx9999"), "{why}");
    }
    assert_eq!(search.compiler(&target), None);
}

#[test]
fn the_hosts_kernels_are_linked_in() {
    let platform: Arc<Platform> = hip_host::platform();
    let target = Target { platform: &platform, arch: "host-w32", wave_size: 32 };
    let search = search(Some(Path::new("compile")), &[], Path::new("nowhere"));
    assert_eq!(search.find(&target, &the_unit()).unwrap().1, CodeOrigin::Linked);
    assert_eq!(search.compiler(&target).as_deref(), Some("linked into the program"));
}
