//! Tests of the search order for code. Where a compilation is needed, they use AMD's compiler; without it, they check
//! what does not need one.

#[path = "../../../../code-object/tests/common/skip.rs"]
mod skip;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hip_sys::{Extensions, LoadError, PlatformKind};
use kernels_hip::{hash_bytes, unit};

use super::*;

const ARCH: &str = "gfx906:sramecc+:xnack-";

/// A platform of AMD's kind without a compiler.
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

/// AMD's platform, if it is installed.
fn with_compiler() -> Option<Platform> {
    let platform = Platform::load_amd().ok().filter(|platform| platform.rtc().is_ok());
    if platform.is_none() {
        skip::without_rocm("no libamdhip64 with hiprtc is installed");
    }
    platform
}

fn target(platform: &Platform) -> Target<'_> {
    Target { platform, arch: ARCH, wave_size: 64, device: None }
}

fn the_unit() -> Unit {
    unit("matmul", "f32").expect("it ships")
}

/// Writes an object and its manifest below `root`, and returns the object's path.
fn build_into(root: &Path, image: &[u8], source: &str) -> PathBuf {
    let folder = root.join("amd/gfx906");
    fs::create_dir_all(&folder).unwrap();
    let manifest = serde_json::json!({
        "platform": "amd", "arch": "gfx906", "wave_size": 64,
        "compiler_version": "clang of a test",
        "objects": [{ "file": "matmul_f32.hsaco", "source": source, "options": the_unit().options_hash("amd", 64), "hash": hash_bytes(b"the code") }],
    });
    fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
    let object = folder.join("matmul_f32.hsaco");
    fs::write(&object, image).unwrap();
    object
}

fn search(named: Option<&Path>, beside: &[&Path], cache: &Path) -> Search {
    let beside = beside.iter().map(|path| path.to_path_buf()).collect();
    Search::new(named.map(Path::to_path_buf), beside, Cache::Own(Box::new(CodeCache::at(cache, 1 << 30))))
}

#[test]
fn a_current_object_is_taken_from_the_first_folder_that_has_it() {
    let root = tempfile::tempdir().unwrap();
    let [named, beside, empty] = ["named", "beside", "empty"].map(|name| root.path().join(name));
    let (platform, unit) = (without_compiler(), the_unit());
    let found = |search: &Search| search.find(&target(&platform), &unit);
    let current = unit.source_hash();
    let in_beside = build_into(&beside, b"the code", &current);
    fs::create_dir(&named).unwrap();
    let search_both = search(Some(&named), &[&empty, &beside], root.path());
    assert_eq!(found(&search_both), Ok((b"the code".to_vec(), CodeOrigin::Folder(in_beside))));
    let in_named = build_into(&named, b"the code", &current);
    assert_eq!(found(&search_both), Ok((b"the code".to_vec(), CodeOrigin::Folder(in_named))));
    // The value that disables folders.
    let word = search(Some(Path::new("compile")), &[&beside], root.path());
    let why = found(&word).unwrap_err();
    assert!(why.contains("no code of matmul_f32 for gfx906: no run-time compiler"), "{why}");
    assert!(
        word.check(&target(&platform), &unit).is_err()
            && search_both.check(&target(&platform), &unit).is_ok()
    );
}

#[test]
fn unusable_objects_are_errors_in_a_named_folder_and_skipped_elsewhere() {
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
    fs::write(
        unlisted.with_file_name("manifest.json"),
        r#"{ "platform": "amd", "arch": "gfx906", "wave_size": 64, "compiler_version": "c", "objects": [] }"#,
    )
    .unwrap();
    refused(&folder("unlisted"), "is not in the manifest.json beside it");
    for (name, from, to, words) in [
        ("arch", "gfx906", "gfx90a", "was built for amd gfx90a with waves of 64"),
        ("platform", "\"amd\"", "\"nvidia\"", "was built for nvidia gfx906"),
        ("wave", ":64", ":32", "was built for amd gfx906 with waves of 32"),
        ("options", &unit.options_hash("amd", 64), "0", "is stale: it was built with other options"),
    ] {
        let path = build_into(&folder(name), b"the code", &current).with_file_name("manifest.json");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replace(from, to)).unwrap();
        refused(&folder(name), words);
    }
}

#[test]
fn a_named_folder_must_exist_and_be_complete_for_an_architecture() {
    let root = tempfile::tempdir().unwrap();
    let (platform, unit) = (without_compiler(), the_unit());
    let why =
        |named: &Path| search(Some(named), &[], root.path()).find(&target(&platform), &unit).unwrap_err();
    let missing = why(&root.path().join("missing"));
    assert!(missing.contains("missing is no folder; run `cargo xtask"), "{missing}");
    assert!(why(root.path()).contains("nothing in "), "{}", why(root.path()));
    fs::create_dir_all(root.path().join("amd/gfx906")).unwrap();
    assert!(why(root.path()).contains("gfx906 has no matmul_f32; run `cargo xtask"), "{}", why(root.path()));
}

#[cfg(unix)]
#[test]
fn folders_beside_the_program_that_others_may_write_are_passed_over() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let (platform, unit) = (without_compiler(), the_unit());
    let object = build_into(root.path(), b"the code", &unit.source_hash());
    let find = || search(None, &[root.path()], Path::new("nowhere")).find(&target(&platform), &unit);
    assert!(find().is_ok());
    for part in [root.path(), &root.path().join("amd"), &object] {
        let before = fs::metadata(part).unwrap().permissions();
        fs::set_permissions(part, fs::Permissions::from_mode(0o777)).unwrap();
        let why = find().unwrap_err();
        assert!(why.contains("everyone may write to it"), "{why}");
        fs::set_permissions(part, before).unwrap();
    }
}

#[test]
fn a_build_that_is_between_object_and_manifest_is_waited_for() {
    let root = tempfile::tempdir().unwrap();
    let (platform, unit) = (without_compiler(), the_unit());
    let object = build_into(root.path(), b"an old one", &unit.source_hash());
    let read = |pause: &dyn Fn()| {
        folder::read_twice(object.parent().unwrap(), &target(&platform), &unit, pause)
            .map(|found| found.is_some())
    };
    assert!(read(&|| ()).unwrap_err().contains("is damaged"));
    assert_eq!(read(&|| fs::write(&object, b"the code").unwrap()), Ok(true));
}

#[test]
fn code_that_the_device_rejects_is_removed_from_the_cache_and_compiled_once() {
    let Some(platform) = with_compiler() else { return };
    let root = tempfile::tempdir().unwrap();
    let (unit, target, search) = (the_unit(), target(&platform), search(None, &[], root.path()));
    let (code, _) = search.find(&target, &unit).unwrap();
    let CodeOrigin::Cache(file) = search.find(&target, &unit).unwrap().1 else { panic!("it was kept") };
    let tries = std::cell::Cell::new(0);
    let refuse_once = |image: &[u8]| {
        assert!(image == code);
        tries.set(tries.get() + 1);
        if tries.get() == 1 { Err("refused".into()) } else { Ok(()) }
    };
    let taken = search.find_for(&target, &unit, |why: String| why, refuse_once);
    assert_eq!((taken, tries.get()), (Ok(((), CodeOrigin::Compiled)), 2));
    assert!(file.exists());
    // A permanent failure is tried twice, not forever.
    let refused = search.find_for(&target, &unit, |why: String| why, |_| Err::<(), _>(String::from("no")));
    assert_eq!(refused, Err("no".into()));
}

#[test]
fn a_unit_without_an_object_is_compiled_once_and_cached() {
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
    // To the cache this looks like another process.
    let (again, origin) = find(&search(None, &[&beside], &cache));
    let CodeOrigin::Cache(file) = origin else { panic!("{origin:?}") };
    assert!(again == code && file.starts_with(&cache));
    // Another unit is not mistaken for it, and a damaged entry is compiled again.
    fs::write(&file, b"damaged").unwrap();
    assert_eq!(find(&search(None, &[], &cache)), (code, CodeOrigin::Compiled));
    let text = search(None, &[], &cache).compiler(&target(&platform)).unwrap();
    assert!(
        text.starts_with("at run time by hiprtc ") && text.contains(&platform.version().to_string()),
        "{text}"
    );
    // A folder takes precedence.
    build_into(&beside, b"the code", &unit.source_hash());
    assert!(matches!(find(&search(None, &[&beside], &cache)).1, CodeOrigin::Folder(_)));
}

#[test]
fn an_architecture_that_the_compiler_does_not_know_is_not_asked_for() {
    let Some(platform) = with_compiler() else { return };
    let root = tempfile::tempdir().unwrap();
    let target = Target { platform: &platform, arch: "gfx9999", wave_size: 64, device: None };
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
fn host_kernels_without_a_wave_size_are_compiled_once() {
    let platform: Arc<Platform> = hip_host::platform();
    let root = tempfile::tempdir().unwrap();
    let search = search(Some(Path::new("compile")), &[], root.path());
    let find = |arch, wave_size, family| {
        let target = Target { platform: &platform, arch, wave_size, device: None };
        search.find(&target, &unit(family, "f32").unwrap()).unwrap().1
    };
    assert_eq!(find("host-w32", 32, "matmul"), CodeOrigin::Compiled);
    assert!(matches!(find("host-w64", 64, "matmul"), CodeOrigin::Cache(_)));
    assert_eq!(find("host-w32", 32, "stat"), CodeOrigin::Compiled);
    assert_eq!(find("host-w64", 64, "stat"), CodeOrigin::Compiled);
    let target = Target { platform: &platform, arch: "host-w32", wave_size: 32, device: None };
    let text = search.compiler(&target).unwrap();
    assert!(text.starts_with("at run time by ") && text.contains("++"), "{text}");
}
