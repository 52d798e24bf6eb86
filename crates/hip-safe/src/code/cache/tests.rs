//! The folder under everything that happens to folders.

mod files;

use super::entry;
use super::store::{Store, UNFINISHED};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

const LARGE: u64 = 1 << 40;
/// Names the folder to a process that a test started.
const CHILD: &str = "HIP_SAFE_TEST_CACHE";

/// The payload that belongs to an identity: another one for each, of that many bytes.
fn payload(identity: &[u8], bytes: usize) -> Vec<u8> {
    let seed: usize = identity.iter().map(|byte| usize::from(*byte)).sum();
    (0..bytes).map(|i| (i.wrapping_mul(31).wrapping_add(i >> 8).wrapping_add(seed)) as u8).collect()
}

fn files(folder: &Path, matches: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let listing = fs::read_dir(folder).into_iter().flatten().flatten();
    listing.filter(|file| matches(&file.file_name().to_string_lossy())).map(|file| file.path()).collect()
}

fn unfinished(folder: &Path) -> Vec<PathBuf> {
    files(folder, |name| name.starts_with(UNFINISHED))
}

/// Starts this program again for one test.
fn start(test: &str, folder: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    let test = format!("code::cache::tests::{test}");
    command.args(["--exact", &test, "--nocapture", "--test-threads=1"]).env(CHILD, folder);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("this program can start itself")
}

#[test]
fn an_entry_is_found_by_everything_that_its_code_depends_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("made/on/demand"), LARGE);
    assert_eq!(store.get(b"a"), None);
    assert!(store.entries().unwrap().is_empty());
    store.put(b"a", b"code of a");
    let (path, found) = store.get(b"a").unwrap();
    assert_eq!(found, b"code of a");
    assert!(path.starts_with(folder.path()));
    assert_eq!(store.get(b"b"), None);
    // Two whose names were the same would not be mixed up: the file says what it is of.
    fs::write(&path, [&entry::header(b"b", b"code")[..], b"b", b"code"].concat()).unwrap();
    assert_eq!(store.get(b"a"), None);
    let told = store.statistics();
    assert_eq!((told.hits, told.misses, told.damaged, told.stored, told.failures), (1, 3, 0, 1, 0));
    assert!(unfinished(&store.folder).is_empty());
}

#[test]
fn every_damage_is_found_removed_and_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().into(), LARGE);
    let good = payload(b"identity", 300);
    store.put(b"identity", &good);
    let (path, _) = store.get(b"identity").unwrap();
    let whole = fs::read(&path).unwrap();
    assert_eq!(whole.len(), entry::HEADER + 8 + 300);
    let mut damaged: Vec<Vec<u8>> = (0..whole.len()).map(|end| whole[..end].to_vec()).collect();
    for bit in 0..whole.len() * 8 {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        damaged.push(flipped);
    }
    damaged.push([&whole[..], b"x"].concat());
    damaged.push(vec![0; whole.len()]);
    damaged.push(vec![0xff; whole.len()]);
    for (number, bytes) in damaged.iter().enumerate() {
        fs::write(&path, bytes).unwrap();
        assert_eq!(store.get(b"identity"), None, "damage {number}");
        assert!(!path.exists(), "damage {number}");
    }
    assert_eq!(store.statistics().damaged, damaged.len() as u64);
    store.put(b"identity", &good);
    assert_eq!(store.get(b"identity").unwrap().1, good);
    assert_eq!(store.last_failure(), None);
}

#[test]
fn least_recently_used_entries_are_evicted() {
    let folder = tempfile::tempdir().unwrap();
    let entry_bytes = (entry::HEADER + 1 + 1000) as u64;
    let store = Store::new(folder.path().into(), 4 * entry_bytes);
    let put = |name: u8| {
        store.put(&[name], &payload(&[name], 1000));
    };
    let there = || {
        let known = Store::new(folder.path().into(), LARGE);
        let paths: Vec<PathBuf> = known.entries().unwrap().into_iter().map(|entry| entry.path).collect();
        (1..=9_u8).filter(|name| paths.contains(&known.path_of(&[*name]))).collect::<Vec<_>>()
    };
    let age = |name: u8, seconds: u64| {
        let file = File::open(store.path_of(&[name])).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    };
    (1..=4).for_each(put);
    assert_eq!(there(), [1, 2, 3, 4]);
    (1..=4).for_each(|name| age(name, 1000 - 100 * u64::from(name)));
    // A read is a use.
    assert!(store.get(&[1]).is_some());
    put(5);
    assert_eq!(there(), [1, 3, 4, 5]);
    put(6);
    assert_eq!(there(), [1, 4, 5, 6]);
    assert_eq!(store.statistics().evicted, 2);
    // Larger than everything: it is not kept, and nothing is removed for it.
    store.put(&[7], &payload(&[7], 5000));
    assert_eq!(there(), [1, 4, 5, 6]);
    assert!(store.last_failure().unwrap().contains("was not kept"), "{:?}", store.last_failure());
    // A writer that was killed long ago has left this; one that writes now has made the other.
    let (old, new) = (folder.path().join(".writing-old"), folder.path().join(".writing-new"));
    let other = folder.path().join("somebody's notes");
    for path in [&old, &new, &other] {
        fs::write(path, "half").unwrap();
    }
    let long_ago = SystemTime::now() - Duration::from_secs(100_000);
    for path in [&old, &other] {
        File::open(path).unwrap().set_modified(long_ago).unwrap();
    }
    put(8);
    assert_eq!((old.exists(), new.exists(), other.exists()), (false, true, true));
}

/// Bytes of an entry of the writer that is killed: its write takes some milliseconds.
const KILLED_BYTES: usize = 4 << 20;
const KILLED_NAMES: u8 = 3;

#[test]
fn writers_killed_in_the_middle_leave_no_bad_entry() {
    if let Some(folder) = std::env::var_os(CHILD) {
        let store = Store::new(folder.into(), LARGE);
        let payloads: Vec<Vec<u8>> = (0..KILLED_NAMES).map(|name| payload(&[name], KILLED_BYTES)).collect();
        loop {
            for name in 0..KILLED_NAMES {
                store.put(&[name], &payloads[usize::from(name)]);
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().into(), LARGE);
    let payloads: Vec<Vec<u8>> = (0..KILLED_NAMES).map(|name| payload(&[name], KILLED_BYTES)).collect();
    let whole = (entry::HEADER + 1 + KILLED_BYTES) as u64;
    let (mut killed, mut started, mut good) = (0, 0, 0);
    while killed < 25 {
        started += 1;
        assert!(started < 2000, "only {killed} writers could be killed while they wrote");
        let mut child = start("writers_killed_in_the_middle_leave_no_bad_entry", folder.path());
        let half_written = || {
            let size = |path: &PathBuf| fs::metadata(path).map_or(0, |known| known.len());
            unfinished(folder.path()).iter().map(size).any(|size| 0 < size && size < whole)
        };
        let since = Instant::now();
        while !half_written() {
            assert!(since.elapsed() < Duration::from_secs(60), "the writer writes nothing");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // Only if it was in the middle: its file is still there, and not whole.
        killed += usize::from(half_written());
        for (name, payload) in payloads.iter().enumerate() {
            if let Some((_, found)) = store.get(&[name as u8]) {
                assert!(found == *payload, "entry {name} after {killed} kills");
                good += 1;
            }
        }
        assert_eq!(store.statistics().damaged, 0, "after {killed} kills");
        unfinished(folder.path()).iter().for_each(|path| fs::remove_file(path).unwrap());
        store.put(b"ours", b"good");
        assert_eq!(store.get(b"ours").unwrap().1, b"good");
    }
    assert_eq!(store.last_failure(), None);
    println!(
        "{killed} of {started} writers were killed in the middle; {good} good entries were read in between"
    );
}

#[test]
fn many_writers_and_readers_at_once_see_whole_entries_only() {
    const TEST: &str = "many_writers_and_readers_at_once_see_whole_entries_only";
    let names = 0..6_u8;
    let bytes = |name: u8| 20_000 + usize::from(name) * 1000;
    let work = |store: &Store, rounds: usize| {
        for round in 0..rounds {
            for name in names.clone() {
                if round % 2 == 0 {
                    store.put(&[name], &payload(&[name], bytes(name)));
                } else if let Some((_, found)) = store.get(&[name]) {
                    assert!(found == payload(&[name], bytes(name)), "entry {name}");
                }
            }
        }
        let told = store.statistics();
        assert_eq!((told.damaged, store.last_failure()), (0, None));
        told
    };
    // Room for four of six: they are removed by one while others read them.
    let open = |folder: &Path| Store::new(folder.into(), 100_000);
    if let Some(folder) = std::env::var_os(CHILD) {
        work(&open(Path::new(&folder)), 100);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut children: Vec<Child> = (0..3).map(|_| start(TEST, folder.path())).collect();
    let told = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| work(&store, 100))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).next_back().unwrap()
    });
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    assert!(told.hits > 0 && told.evicted > 0, "{told:?}");
    assert!(unfinished(folder.path()).is_empty());
}

#[test]
fn a_folder_that_cannot_be_written_is_reported_and_code_is_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file");
    fs::write(&file, "not a folder").unwrap();
    let store = Store::new(file.join("cache"), LARGE);
    store.put(b"a", b"code");
    assert_eq!(store.get(b"a"), None);
    assert!(store.statistics().failures >= 1);
    let told = store.last_failure().unwrap();
    assert!(told.starts_with("cannot ") && told.contains("a file/cache"), "{told}");
}

/// A file that may not grow any more, as on a full disk.
#[test]
fn a_full_disk_is_reported_and_leaves_no_file() {
    if let Some(folder) = std::env::var_os(CHILD) {
        let limit = libc::rlimit { rlim_cur: 64 << 10, rlim_max: 64 << 10 };
        // SAFETY: S1: a live value; the signal is ignored so that writes answer an error.
        unsafe {
            assert_ne!(libc::signal(libc::SIGXFSZ, libc::SIG_IGN), libc::SIG_ERR);
            assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
        }
        fill(Path::new(&folder), 100_000);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let status = start("a_full_disk_is_reported_and_leaves_no_file", folder.path()).wait().unwrap();
    assert!(status.success());
    // The real thing, where we may make a small disk.
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let mount =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs"]).arg(&disk).output();
    if mount.is_ok_and(|output| output.status.success()) {
        let filled = std::panic::catch_unwind(|| fill(&disk, 100_000));
        assert!(Command::new("umount").arg(&disk).status().unwrap().success());
        filled.unwrap();
    } else {
        println!("skipped: no right to mount a small disk");
    }
}

/// Puts an entry that does not fit, then one that does.
fn fill(folder: &Path, bytes: usize) {
    let store = Store::new(folder.into(), LARGE);
    store.put(b"large", &payload(b"large", bytes));
    assert_eq!(store.get(b"large"), None);
    let told = store.last_failure().unwrap();
    assert!(told.starts_with("cannot write ") && told.contains(&folder.display().to_string()), "{told}");
    assert!(unfinished(folder).is_empty() && store.entries().unwrap().is_empty());
    store.put(b"small", b"code");
    assert_eq!(store.get(b"small").unwrap().1, b"code");
}

/// Threads that want the same at once get one compilation.
#[test]
fn one_of_several_threads_compiles() {
    let folder = tempfile::tempdir().unwrap();
    let cache = super::CodeCache::at(folder.path(), LARGE);
    let source = crate::Source::new("extern \"C\" __global__ void k(int* a) { a[0] = 1; }");
    let platform = hip_host::platform();
    let started = AtomicBool::new(false);
    let answers: Vec<_> = std::thread::scope(|scope| {
        let ask = || {
            while !started.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
            cache.compile(&source, &platform, "host-w32").unwrap()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        started.store(true, Ordering::Release);
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|(compiled, _)| *compiled == answers[0].0));
    assert_eq!((cache.statistics().misses, cache.statistics().stored), (1, 1));
    assert!(cache.flights.is_idle());
    // Whatever decides about the code is another entry.
    for other in [source.clone().option("-DX"), source.clone().name("x.hip"), source.clone().header("a", "")]
    {
        assert_eq!(cache.compile(&other, &platform, "host-w32").unwrap().1, super::CacheAnswer::Compiled);
    }
    assert_eq!(cache.compile(&source, &platform, "host-w64").unwrap().1, super::CacheAnswer::Compiled);
    assert_eq!(cache.usage().unwrap().entries, 5);
}

/// A platform with another way to give out what was compiled.
fn with_rtc(change: impl FnOnce(&mut hip_sys::RtcTable)) -> std::sync::Arc<hip_sys::Platform> {
    let host = hip_host::platform();
    let mut rtc = host.rtc().expect("the host compiles").clone();
    change(&mut rtc);
    let ext = *host.ext();
    let (kind, version) = (hip_sys::PlatformKind::Amd, 60_000_000);
    // SAFETY: S1: the functions are those of a platform, but for those of a test that only read.
    let platform = unsafe { hip_sys::Platform::from_tables(kind, version, host.hip().clone(), Ok(rtc), ext) };
    std::sync::Arc::new(platform.guard_rtc())
}

const KERNEL: &str = "extern \"C\" __global__ void k(int* a) { a[0] = 1; }";

#[test]
fn only_images_are_cached_and_entries_are_validated() {
    unsafe extern "C" fn spoiled(
        _: hip_sys::rtc::hiprtcProgram,
        out: *mut std::ffi::c_char,
    ) -> hip_sys::rtc::hiprtcResult {
        // SAFETY: S11: the caller has room for the code, which is longer.
        unsafe { out.cast::<[u8; 4]>().write(*b"junk") };
        hip_sys::rtc::hiprtcResult::HIPRTC_SUCCESS
    }
    let folder = tempfile::tempdir().unwrap();
    let cache = super::CodeCache::at(folder.path(), LARGE);
    let source = crate::Source::new(KERNEL);
    let platform = with_rtc(|rtc| rtc.hiprtcGetCode = spoiled);
    let device = crate::Device::new(&platform, 0).unwrap();
    assert!(cache.compile_for(&source, &device).unwrap().0.code().starts_with(b"junk"));
    assert_eq!(cache.usage().unwrap().entries, 0);
    assert!(cache.last_failure().unwrap().contains("was not kept"), "{:?}", cache.last_failure());
    // Kept by somebody with a good checksum: it is compiled anew, and replaced.
    let platform = hip_host::platform();
    let get = |name: &str| std::env::var_os(name);
    let identity = super::identity::of(&source, &platform, "host-w32", &get).unwrap();
    let junk = crate::Compiled {
        code: b"\x7fELFjunk".to_vec(),
        log: String::new(),
        names: Default::default(),
        text: Default::default(),
    };
    let store = cache.store.as_ref().unwrap();
    store.put(&identity, &super::identity::encode(&junk));
    let (good, origin) = cache.compile(&source, &platform, "host-w32").unwrap();
    assert!(origin == super::CacheAnswer::Compiled && good != junk);
    let (again, origin) = cache.compile(&source, &platform, "host-w32").unwrap();
    let super::CacheAnswer::Kept(file) = origin else { panic!("{origin:?}") };
    assert_eq!(again, good);
    // And what the device does not take can be forgotten, but nothing else.
    let other = folder.path().join("notes");
    fs::write(&other, "").unwrap();
    [&file, &other].into_iter().for_each(|path| cache.forget(path));
    assert_eq!((file.exists(), other.exists()), (false, true));
}

#[test]
fn code_is_compiled_for_a_device_newer_than_the_list() {
    let platform = with_rtc(|_| {});
    let device = crate::Device::new(&platform, 0).unwrap();
    let (source, cache) = (crate::Source::new(KERNEL), super::CodeCache::off());
    let arch = &device.properties().arch;
    let by_name = source.compile(&platform, arch).unwrap_err();
    assert!(matches!(by_name, crate::Error::UnknownArchitecture(_)), "{by_name}");
    assert!(!source.compile_for(&device).unwrap().code().is_empty());
    assert!(!cache.compile_for(&source, &device).unwrap().0.code().is_empty());
    assert!(cache.compile(&source, &platform, arch).is_err());
}

#[test]
fn sources_that_read_files_are_not_kept() {
    let (folder, headers) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let cache = super::CodeCache::at(folder.path(), LARGE);
    let platform = hip_host::platform();
    let text = format!("#include <size.h>\n{}", KERNEL.replace("= 1", "= SIZE"));
    let source = crate::Source::new(text).option(format!("-I{}", headers.path().display()));
    let compiled = ["1", "2"].map(|size| {
        fs::write(headers.path().join("size.h"), format!("#define SIZE {size}\n")).unwrap();
        cache.compile(&source, &platform, "host-w32").unwrap()
    });
    assert_eq!(compiled[1].1, super::CacheAnswer::Compiled);
    assert_ne!(compiled[0].0.code(), compiled[1].0.code());
    assert_eq!(cache.usage().unwrap().entries, 0);
}

#[test]
fn variables_and_the_compiler_are_part_of_the_key() {
    let (host, source) = (hip_host::platform(), crate::Source::new(KERNEL));
    let of = |platform: &hip_sys::Platform, get: &dyn Fn(&str) -> Option<std::ffi::OsString>| {
        super::identity::of(&source, platform, "host-w32", get).unwrap()
    };
    let plain = of(&host, &|_| None);
    assert_eq!(plain, of(&host, &|_| None));
    for name in
        ["HIPRTC_COMPILE_OPTIONS_APPEND", "HIPRTC_LINK_OPTIONS_APPEND", "CXX", "HIPSTACK_HOST_CXXFLAGS"]
    {
        assert_ne!(plain, of(&host, &|asked| (asked == name).then(|| "-O1".into())), "{name}");
    }
    let version =
        std::process::Command::new(std::env::var("CXX").unwrap_or("c++".into())).arg("--version").output();
    let version = String::from_utf8(version.unwrap().stdout).unwrap();
    assert!(String::from_utf8_lossy(&plain).contains(version.trim()));
}

/// All who wait for a text that does not compile get the one answer.
#[test]
fn a_failing_compilation_runs_once_for_all_waiting_threads() {
    use std::sync::atomic::AtomicUsize;
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let cache = super::CodeCache::off();
    let slow: super::Compile = |_, _, _| {
        RUNS.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_secs(1));
        Err(crate::Error::Exiting)
    };
    let (platform, source) = (hip_host::platform(), crate::Source::new("x"));
    let begun = std::sync::Barrier::new(4);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                begun.wait();
                assert!(cache.fly(&source, &platform, "host-w32", slow).is_err());
            });
        }
    });
    assert_eq!(RUNS.load(Ordering::SeqCst), 1);
    assert!(cache.flights.is_idle());
}

#[test]
fn entries_with_future_times_are_evicted_first_and_temporary_files_count() {
    let folder = tempfile::tempdir().unwrap();
    let entry_bytes = (entry::HEADER + 1 + 1000) as u64;
    let store = Store::new(folder.path().into(), 3 * entry_bytes);
    let put = |name: u8| {
        store.put(&[name], &payload(&[name], 1000));
    };
    let there = |name: u8| store.path_of(&[name]).exists();
    let future = SystemTime::now() + Duration::from_secs(1_000_000);
    (1..=3).for_each(put);
    File::open(store.path_of(&[2])).unwrap().set_modified(future).unwrap();
    put(4);
    assert_eq!([1, 2, 3, 4].map(there), [true, false, true, true]);
    let half = folder.path().join(format!("{UNFINISHED}x"));
    fs::write(&half, vec![0; entry_bytes as usize]).unwrap();
    put(4);
    assert_eq!(store.entries().unwrap().len(), 2);
    File::open(&half).unwrap().set_modified(future).unwrap();
    put(4);
    assert!(!half.exists());
}
