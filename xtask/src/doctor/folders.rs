//! Folders that programs read and write, and the variables that steer them.

use super::Item;
use crate::workspace;
use hip_safe::CodeCache;
use std::path::Path;

const SECTION: &str = "Folders and variables";

/// The variables that something in the workspace reads, and what each is for.
const VARIABLES: [(&str, &str); 18] = [
    ("HIPSTACK_CACHE", "folder of compiled kernels, or off"),
    ("HIPSTACK_CACHE_MB", "most that the cache keeps, 1024 if not set"),
    ("HIPSTACK_CONFORMANCE_RTC_OPTIONS", "more options for hiprtc in `cargo xtask conformance`"),
    ("HIPSTACK_HOST_ADVERSARY", "seed of the order in which the host does what HIP leaves open"),
    ("HIPSTACK_HOST_ADVERSARY_PATIENCE_MS", "how long the adversary holds back what nobody waits for"),
    ("HIPSTACK_HOST_CHECK", "whether the host reports operations without order"),
    ("HIPSTACK_HOST_CXXFLAGS", "more flags for the host's hiprtc"),
    ("HIPSTACK_HOST_GUARD", "pages of its own for each host allocation"),
    ("HIPSTACK_HOST_MEMORY_MB", "memory of each host device"),
    ("HIPSTACK_HOST_SANITIZE", "sanitizer that host kernels are built for"),
    ("HIPSTACK_HOST_SANITIZER_LOG", "file that names the kernels that ran under a sanitizer"),
    ("HIPSTACK_HOST_THREADS", "threads that run host kernels"),
    ("HIPSTACK_HOST_TRAPS", "0: faults in host kernels end the process"),
    ("HIPSTACK_HOST_WATCHDOG_MS", "how long a host launch may take"),
    ("HIPSTACK_KERNELS", "folder of code objects for GPUs, or compile to look into none"),
    ("HIPSTACK_NVCC", "folder that pip installed cuda-toolkit into"),
    ("HIPSTACK_TEST_PLATFORM", "platform that hip-safe's tests run on"),
    ("HIPSTACK_WEIGHTS", "model.safetensors for `cargo xtask ci`"),
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

/// The folder where what was compiled at run time is kept.
fn cache() -> Item {
    let cache = match CodeCache::default_folder() {
        Ok(_) => CodeCache::process(),
        Err(why) => {
            let remedy = "every process compiles anew: set HIPSTACK_CACHE to a folder";
            return Item::absent(SECTION, "cache", why, remedy);
        }
    };
    let folder = cache.folder().map(|folder| folder.display().to_string()).unwrap_or_default();
    match cache.usage() {
        Ok(usage) => {
            let (kept, limit) = (usage.bytes.div_ceil(1 << 20), cache.limit() >> 20);
            let state = format!("{folder}: {} entries, {kept} of {limit} MiB", usage.entries);
            Item::found(SECTION, "cache", state)
        }
        Err(error) => {
            let remedy = "make it readable, or set HIPSTACK_CACHE to another folder";
            Item::absent(SECTION, "cache", format!("{folder} cannot be read: {error}"), remedy)
        }
    }
}

/// What is set, and what is set and read by nothing.
fn set_variables() -> Vec<Item> {
    let set = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let mut ours: Vec<_> = set.filter(|(name, _)| name.starts_with("HIPSTACK_")).collect();
    ours.sort();
    ours.into_iter()
        .map(|(name, value)| {
            let value = value.to_string_lossy().into_owned();
            match VARIABLES.iter().find(|(known, _)| *known == name) {
                Some((_, about)) => Item::found(SECTION, name, format!("{value} ({about})")),
                None => {
                    let known: Vec<&str> = VARIABLES.iter().map(|(known, _)| *known).collect();
                    Item::absent(
                        SECTION,
                        name,
                        "set, and nothing reads it",
                        format!("there are {}", known.join(", ")),
                    )
                }
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::Tree;

    #[test]
    fn the_variables_are_those_that_sources_name() {
        let tree =
            Tree::read(&workspace::root().expect("tests run inside the workspace")).expect("it is readable");
        let mut named = std::collections::BTreeSet::new();
        // What only this file names is read by nothing.
        for file in
            tree.files.iter().filter(|file| file.path != "xtask/src/doctor/folders.rs" && file.is_source())
        {
            for (at, prefix) in file.text.match_indices("HIPSTACK_") {
                let rest = &file.text[at + prefix.len()..];
                let end = rest.find(|c: char| !(c.is_ascii_uppercase() || c == '_')).unwrap_or(rest.len());
                let name = format!("{prefix}{}", &rest[..end]);
                // By these a test tells its own child process what to do.
                if !name.starts_with("HIPSTACK_TEST_") || name == "HIPSTACK_TEST_PLATFORM" {
                    named.insert(name);
                }
            }
        }
        let known = VARIABLES.iter().map(|(name, _)| name.to_string()).collect();
        assert_eq!(named, known);
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
