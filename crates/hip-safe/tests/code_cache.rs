//! The cache of compiled code where several programs share its folder, and where there is none.

use hip_safe::{CacheAnswer, CodeCache, Source};

fn source(name: &str) -> Source {
    Source::new(format!("extern \"C\" __global__ void {name}(int* a) {{ *a = 1; }}"))
}

/// Two caches of one folder share only its files, as two processes would.
#[test]
fn concurrent_requests_for_the_same_code_compile_it_once() {
    let folder = tempfile::tempdir().unwrap();
    let caches = [0, 1].map(|_| CodeCache::at(folder.path(), 64 << 20));
    let source = source("shared");
    let answers: Vec<CacheAnswer> = std::thread::scope(|scope| {
        let compile =
            |cache: &CodeCache| cache.compile(&source, &hip_host::platform(), "host-w32").unwrap().1;
        let threads: Vec<_> = caches.iter().map(|cache| scope.spawn(move || compile(cache))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let compiled = answers.iter().filter(|answer| **answer == CacheAnswer::Compiled).count();
    assert_eq!(compiled, 1, "{answers:?}");
    assert_eq!(caches.iter().map(|cache| cache.statistics().stored).sum::<u64>(), 1);
    assert_eq!(caches[0].usage().unwrap().entries, 1);
}

#[test]
fn without_a_folder_code_is_remembered() {
    let platform = hip_host::platform();
    let cache = CodeCache::in_memory();
    let source = source("remembered");
    let (first, answer) = cache.compile(&source, &platform, "host-w32").unwrap();
    assert_eq!(answer, CacheAnswer::Compiled);
    assert_eq!(cache.compile(&source, &platform, "host-w32").unwrap(), (first, CacheAnswer::Remembered));
    // Another wave size is another code.
    assert_eq!(cache.compile(&source, &platform, "host-w64").unwrap().1, CacheAnswer::Compiled);
    // A cache that keeps nothing compiles each time.
    let off = CodeCache::off();
    for _ in 0..2 {
        assert_eq!(off.compile(&source, &platform, "host-w32").unwrap().1, CacheAnswer::Compiled);
    }
}

#[test]
fn without_a_writable_folder_code_stays_in_memory_and_the_reason_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "no folder").unwrap();
    let cache = CodeCache::at(file.join("cache"), 64 << 20);
    let (platform, source) = (hip_host::platform(), source("unwritten"));
    assert_eq!(cache.compile(&source, &platform, "host-w32").unwrap().1, CacheAnswer::Compiled);
    assert_eq!(cache.compile(&source, &platform, "host-w32").unwrap().1, CacheAnswer::Remembered);
    let failure = cache.last_failure().expect("the system refused");
    assert!(failure.contains("file/cache"), "{failure}");
}
