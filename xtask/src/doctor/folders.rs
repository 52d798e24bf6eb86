//! Folders that programs read and write, and the environment variables that control them.

use super::Item;
use super::value::{Bad, Value};
use crate::workspace;
use std::ffi::OsStr;
use std::path::Path;

const SECTION: &str = "Folders and variables";

/// The environment variables that the workspace reads, with their purpose and valid values.
const VARIABLES: [(&str, &str, Value); 26] = [
    ("HIPSTACK_CACHE", "folder of compiled kernels, or off", Value::Text),
    ("HIPSTACK_CACHE_MB", "most that the cache keeps, 1024 if not set", Value::Number(0, u64::MAX)),
    ("HIPSTACK_CONFORMANCE_RTC_OPTIONS", "more options for hiprtc in `cargo xtask conformance`", Value::Text),
    ("HIPSTACK_CUBLAS", "libcublas for hip-nvidia's tests", Value::File),
    ("HIPSTACK_CUDNN", "libcudnn, looked for before the system's", Value::File),
    (
        "HIPSTACK_CUDNN_BACKEND",
        "0: convolutions by cuDNN's older functions, not by its backend",
        Value::OneOf(&["0", "1"]),
    ),
    (
        "HIPSTACK_HOST_ADVERSARY",
        "seed of the order in which the host does what HIP leaves open",
        Value::Number(0, u64::MAX),
    ),
    (
        "HIPSTACK_HOST_ADVERSARY_PATIENCE_MS",
        "how long the adversary holds back what nobody waits for",
        Value::Number(1, u64::MAX),
    ),
    (
        "HIPSTACK_HOST_CHECK",
        "whether the host reports operations without order",
        Value::Words(&["0", "1", "abort", "threads"]),
    ),
    ("HIPSTACK_HOST_CXXFLAGS", "more flags for the host's hiprtc", Value::Text),
    ("HIPSTACK_HOST_GUARD", "pages of its own for each host allocation", Value::PowerOfTwo(256)),
    ("HIPSTACK_HOST_MEMORY_MB", "memory of each host device", Value::Number(1, u64::MAX)),
    (
        "HIPSTACK_HOST_SANITIZE",
        "sanitizer that host kernels are compiled for",
        Value::OneOf(&["address", "thread"]),
    ),
    ("HIPSTACK_HOST_SANITIZER_LOG", "file that names the kernels that ran under a sanitizer", Value::NewFile),
    ("HIPSTACK_HOST_THREADS", "threads that run host kernels", Value::Number(1, 1024)),
    ("HIPSTACK_HOST_TRAPS", "0: faults in host kernels end the process", Value::OneOf(&["0", "1"])),
    ("HIPSTACK_HOST_WATCHDOG_MS", "how long a host launch may take", Value::Number(0, u64::MAX)),
    (
        "HIPSTACK_KERNELS",
        "folder of code objects for GPUs, or compile to look into none",
        Value::FolderOr("compile"),
    ),
    ("HIPSTACK_LIBRARIES", "0: rocBLAS and MIOpen are left alone", Value::OneOf(&["0", "1"])),
    (
        "HIPSTACK_MEMORY_CHECK",
        "whether buffers that live at exit are listed, and where they were allocated",
        Value::OneOf(&["0", "1", "backtrace"]),
    ),
    ("HIPSTACK_MODELS", "folder that ci/fetch-models.sh filled, for tests", Value::Folder),
    ("HIPSTACK_NVCC", "folder that pip installed cuda-toolkit into", Value::Folder),
    (
        "HIPSTACK_REQUIRE",
        "steps of `cargo xtask ci` that must not be skipped, rocm for tests, or all",
        Value::Text,
    ),
    ("HIPSTACK_RUST_KERNELS", "folder that `cargo xtask build-rust-kernels` filled", Value::Folder),
    (
        "HIPSTACK_TEST_PLATFORM",
        "platform that hip-safe's tests run on",
        Value::OneOf(&["host", "amd", "nvidia"]),
    ),
    ("HIPSTACK_WEIGHTS", "model.safetensors for `cargo xtask ci`", Value::File),
];

pub(super) fn look() -> Vec<Item> {
    let mut items = vec![kernels(), cache()];
    items.extend(set_variables());
    items
}

/// Where programs find code objects, and what is there.
fn kernels() -> Item {
    let (name, dir) = match (workspace::env("HIPSTACK_KERNELS"), workspace::root()) {
        (Some(word), _) if word.as_os_str() == "compile" => {
            return Item::found(SECTION, "kernels", "compiled at run time: HIPSTACK_KERNELS is compile");
        }
        (Some(dir), _) => ("HIPSTACK_KERNELS", dir),
        (None, Ok(root)) => ("target/kernels", root.join("target/kernels")),
        (None, Err(why)) => return Item::absent(SECTION, "kernels", why, "run it inside the workspace"),
    };
    let found = manifests(&dir);
    if found.is_empty() {
        let remedy = "only needed on GPUs: `cargo xtask build-kernels` compiles them for the compilers found, \
                      and HIPSTACK_KERNELS tells programs where they are";
        return Item::absent(SECTION, "kernels", format!("none in {name}"), remedy);
    }
    Item::found(SECTION, "kernels", format!("{name}: {}", found.join(", ")))
}

/// The targets that have a manifest, as `platform/arch`.
fn manifests(dir: &Path) -> Vec<String> {
    let folders = |dir: &Path| {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let mut found = Vec::new();
    for platform in folders(dir) {
        let archs = folders(&dir.join(&platform)).into_iter();
        let built = archs.filter(|arch| dir.join(&platform).join(arch).join("manifest.json").is_file());
        found.extend(built.map(|arch| format!("{platform}/{arch}")));
    }
    found
}

/// The cache folder for code compiled at run time.
fn cache() -> Item {
    let folder = match hip_sys::cache_folder() {
        Ok(folder) => folder,
        Err(why) => {
            let remedy = "every process compiles anew: set HIPSTACK_CACHE to a folder";
            return Item::absent(SECTION, "cache", why, remedy);
        }
    };
    match usage(&folder) {
        Ok((files, bytes)) => {
            let state = format!("{}: {files} files, {} MiB", folder.display(), bytes.div_ceil(1 << 20));
            Item::found(SECTION, "cache", state)
        }
        Err(error) => {
            let remedy = "make it readable, or set HIPSTACK_CACHE to another folder";
            Item::absent(SECTION, "cache", format!("{} cannot be read: {error}", folder.display()), remedy)
        }
    }
}

/// The number of files in a folder and their total size; zero if the folder does not exist.
fn usage(folder: &Path) -> std::io::Result<(u64, u64)> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((0, 0)),
        entries => entries?,
    };
    let mut usage = (0, 0);
    for entry in entries {
        // Another process may have removed it meanwhile.
        let Ok(known) = entry?.metadata() else { continue };
        if known.is_file() {
            usage = (usage.0 + 1, usage.1 + known.len());
        }
    }
    Ok(usage)
}

/// The variables that are set, including those that nothing reads.
fn set_variables() -> Vec<Item> {
    let set = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let mut ours: Vec<_> = set.filter(|(name, _)| name.starts_with("HIPSTACK_")).collect();
    ours.sort();
    ours.into_iter().map(|(name, value)| variable(name, &value)).collect()
}

fn variable(name: String, value: &OsStr) -> Item {
    let Some((_, about, values)) = VARIABLES.iter().find(|(known, ..)| *known == name) else {
        let known: Vec<&str> = VARIABLES.iter().map(|(known, ..)| *known).collect();
        let remedy = format!("there are {}", known.join(", "));
        return Item::bad(SECTION, name, "set, and nothing reads it", remedy);
    };
    let text = value.to_string_lossy();
    match values.check(value) {
        Ok(()) => Item::found(SECTION, name, format!("{text} ({about})")),
        Err(Bad { why, instead }) => {
            let remedy = format!("set it to {instead}, or unset it ({about})");
            Item::bad(SECTION, name, format!("bad value {text:?}: {why}"), remedy)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::State;
    use crate::tidy::tree::Tree;

    #[test]
    fn the_variables_are_those_that_sources_name() {
        let tree =
            Tree::read(&workspace::root().expect("tests run inside the workspace")).expect("it is readable");
        let mut named = std::collections::BTreeSet::new();
        // A variable that only this file names is not read by anything.
        for file in
            tree.files.iter().filter(|file| file.path != "xtask/src/doctor/folders.rs" && file.is_source())
        {
            for (at, prefix) in file.text.match_indices("HIPSTACK_") {
                let rest = &file.text[at + prefix.len()..];
                let end = rest.find(|c: char| !(c.is_ascii_uppercase() || c == '_')).unwrap_or(rest.len());
                let name = format!("{prefix}{}", &rest[..end]);
                // A test passes these variables to its own child process.
                if !name.starts_with("HIPSTACK_TEST_") || name == "HIPSTACK_TEST_PLATFORM" {
                    named.insert(name);
                }
            }
        }
        let known = VARIABLES.iter().map(|(name, ..)| name.to_string()).collect();
        assert_eq!(named, known);
    }

    #[test]
    fn a_bad_value_is_named_with_what_to_set() {
        let item = variable("HIPSTACK_HOST_MEMORY_MB".into(), OsStr::new("abc"));
        assert_eq!(item.state, State::Bad);
        assert_eq!(item.detail, "bad value \"abc\": no whole number");
        assert!(
            item.remedy
                .expect("there is one")
                .starts_with("set it to a whole number, 1 or more, or unset it")
        );
        assert_eq!(variable("HIPSTACK_HOST_MEMORY_MB".into(), OsStr::new("512")).state, State::Found);
        assert_eq!(variable("HIPSTACK_HOST_MEMORY".into(), OsStr::new("512")).state, State::Bad);
        assert_eq!(variable("HIPSTACK_KERNELS".into(), OsStr::new("/no/such/folder")).state, State::Bad);
    }

    #[test]
    fn files_of_the_cache_are_counted() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(dir.path().join("a"), [0; 5]).expect("it is writable");
        std::fs::create_dir(dir.path().join("b")).expect("it is writable");
        assert_eq!(usage(dir.path()).expect("it is readable"), (1, 5));
        assert_eq!(usage(&dir.path().join("none")).expect("it may be absent"), (0, 0));
        assert!(usage(&dir.path().join("a")).is_err());
    }

    #[test]
    fn only_folders_with_a_manifest_count() {
        let dir = std::env::temp_dir().join(format!("xtask-kernels-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("amd/gfx90a")).expect("the temporary folder is writable");
        std::fs::create_dir_all(dir.join("amd/gfx1100")).expect("the temporary folder is writable");
        std::fs::write(dir.join("amd/gfx90a/manifest.json"), "{}").expect("the temporary folder is writable");
        assert_eq!(manifests(&dir), ["amd/gfx90a"]);
        std::fs::remove_dir_all(&dir).expect("ours");
        assert_eq!(manifests(&dir), Vec::<String>::new());
    }
}
