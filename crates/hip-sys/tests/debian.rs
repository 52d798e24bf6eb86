//! AMD's real libamdhip64 and librocrand on a machine without a GPU: as Debian 12 packages them (5.2.3 and 5.3.3), or newer
//! ones that `ci/run-unpacked.sh` gives this program. Skipped with a word where there are none.

#[path = "../../code-object/tests/common/skip.rs"]
mod skip;

use hip_sys::hip::hipError_t;
use hip_sys::rocrand::{rocrand_rng_type, rocrand_status};
use hip_sys::{
    Extensions, HipTable, LoadError, Miopen, Platform, PlatformKind, Rocblas, Rocrand, RtcTable, Symbol,
    Unsupported, Version,
};
use skip::without_rocm;
use std::ffi::CStr;

fn real() -> Option<Platform> {
    match Platform::load_amd() {
        Ok(platform) => Some(platform),
        Err(missing @ LoadError::NotFound { .. }) => {
            without_rocm(missing);
            None
        }
        Err(other) => panic!("libamdhip64 is there and does not load: {other}"),
    }
}

fn since(symbol: &Symbol) -> Version {
    let Some((major, minor)) = symbol.since.and_then(|s| s.split_once('.')) else { panic!("{symbol:?}") };
    Version { major: major.parse().expect("a number"), minor: minor.parse().expect("a number"), patch: 0 }
}

#[test]
fn it_loads_and_answers_its_version() {
    let Some(platform) = real() else { return };
    let version = platform.version();
    assert!(version.major >= 5, "{version}");
    let debian = match (version.major, version.minor) {
        (5, 2) => 50_221_153,
        (5, 7) => 50_731_921,
        (6, 4) => 60_443_484,
        (7, 2) => 70_253_211,
        _ => return println!("skipped: Debian packages no HIP {version}"),
    };
    assert_eq!(platform.raw_version, debian);
}

#[test]
fn without_a_gpu_it_says_so() {
    let Some(platform) = real() else { return };
    let mut count = -1;
    // SAFETY: S1: the table was filled by name; the count is live and writable.
    let status = unsafe { (platform.hip().hipGetDeviceCount)(&mut count) };
    if status == hipError_t::hipSuccess {
        return println!("skipped: this machine has {count} AMD device(s)");
    }
    assert_eq!(status, hipError_t::hipErrorNoDevice);
    // SAFETY: S1: the function returns a static string for every code.
    let name = unsafe { CStr::from_ptr((platform.hip().hipGetErrorName)(status)) };
    assert_eq!(name.to_str(), Ok("hipErrorNoDevice"));
    // SAFETY: S1: as above.
    let status = unsafe { (platform.hip().hipInit)(0) };
    // 5.2 answers this to almost everything, 5.7 no more.
    let version = platform.version();
    let expected = if (version.major, version.minor) == (5, 2) {
        hipError_t::hipErrorInvalidDevice
    } else {
        hipError_t::hipErrorNoDevice
    };
    assert_eq!(status, expected);
}

#[test]
fn every_required_function_is_there_and_each_missing_one_is_newer() {
    let Some(platform) = real() else { return };
    // An independent look-up: the file's own dynamic symbols, not what the table's loader made of them.
    let file = platform.library.as_ref().expect("a loaded platform has a file");
    // SAFETY: S1: the library is loaded already; this only adds a reference to it.
    let library = unsafe { libloading::Library::new(file) }.expect("it was opened a moment ago");
    let version = platform.version();
    // SAFETY: S1: the address is looked up and compared with nothing, never called.
    let found = |symbol: &Symbol| unsafe { library.get::<*const ()>(symbol.name) }.is_ok();
    let (mut required, mut missing) = (0, Vec::new());
    let rtc = if version.major == 5 { RtcTable::SYMBOLS } else { &[] };
    for symbol in HipTable::SYMBOLS.iter().chain(rtc) {
        match symbol.since {
            None => {
                assert!(found(symbol), "{} is required and absent", symbol.name);
                required += 1;
            }
            Some(_) if found(symbol) => assert!(since(symbol) <= version, "{symbol:?} in {version}"),
            Some(_) => {
                assert!(since(symbol) > version, "{symbol:?} is absent from {version}");
                missing.push(symbol.name);
            }
        }
    }
    println!("{version}: {required} required functions found; newer and absent: {missing:?}");
    assert!(required >= 100);
}

#[test]
fn hiprtc_is_found_where_this_version_keeps_it() {
    let Some(platform) = real() else { return };
    let rtc = match platform.rtc() {
        Ok(rtc) => rtc,
        Err(LoadError::NotFound { library, .. }) if platform.version().major >= 6 => {
            return println!("skipped: {library} is a package of its own from ROCm 6 on");
        }
        Err(other) => panic!("{other}"),
    };
    let (mut major, mut minor) = (-1, -1);
    // SAFETY: S1: the table was filled by name; both numbers are live and writable.
    let status = unsafe { (rtc.hiprtcVersion)(&mut major, &mut minor) };
    assert_eq!(status, hip_sys::rtc::hiprtcResult::HIPRTC_SUCCESS);
    assert!(major >= 5, "hiprtc {major}.{minor}");
}

fn rocrand() -> Option<Rocrand> {
    match Rocrand::load() {
        Ok(rocrand) => Some(rocrand),
        Err(missing @ LoadError::NotFound { .. }) => {
            without_rocm(missing);
            None
        }
        Err(other) => panic!("librocrand is there and does not load: {other}"),
    }
}

#[test]
fn rocrand_answers_its_version_and_what_it_lacks() {
    let Some(rocrand) = rocrand() else { return };
    let version = rocrand.version();
    println!("rocRAND {version} from {}", rocrand.library().display());
    assert!((2..10).contains(&version.major), "{version}");
    let table = rocrand.table();
    let absent = Unsupported { symbol: "rocrand_set_ordering", since: "5.5" };
    match (version.major, version.minor, version.patch) {
        (2, 10, 9) => assert_eq!(table.rocrand_set_ordering.get().err(), Some(absent)),
        (2, 10, 17) | (3.., ..) => assert!(table.rocrand_set_ordering.is_present()),
        _ => {}
    }
    assert_eq!(table.rocrand_create_generator_host.is_present(), (version.major, version.minor) >= (3, 1));
}

/// A generator touches no device before it is used, so it is made without one. The caller's memory stays as it was.
#[test]
fn rocrand_generates_nothing_without_a_gpu() {
    let Some(rocrand) = rocrand() else { return };
    let Some(platform) = real() else { return };
    let mut count = 0;
    // SAFETY: S1: the table was filled by name; the count is live and writable.
    if unsafe { (platform.hip().hipGetDeviceCount)(&mut count) } == hipError_t::hipSuccess {
        return println!("skipped: this machine has {count} AMD device(s)");
    }
    let table = rocrand.table();
    let mut generator = std::ptr::null_mut();
    let mut numbers = [7.0_f32; 4];
    // SAFETY: S1: the table was filled by name; the handle is live and writable.
    let status = unsafe { (table.rocrand_create_generator)(&mut generator, rocrand_rng_type(7)) };
    assert_eq!(status, rocrand_status::ROCRAND_STATUS_TYPE_ERROR);
    // SAFETY: S1: a null generator is what the function looks for first.
    let status = unsafe { (table.rocrand_generate_uniform)(generator, numbers.as_mut_ptr(), 4) };
    assert_eq!(status, rocrand_status::ROCRAND_STATUS_NOT_CREATED);
    let kind = rocrand_rng_type::ROCRAND_RNG_PSEUDO_PHILOX4_32_10;
    // SAFETY: S1: as above.
    let status = unsafe { (table.rocrand_create_generator)(&mut generator, kind) };
    assert_eq!(status, rocrand_status::ROCRAND_STATUS_SUCCESS);
    // Which step fails first: the launch, and from 3.0 on the memory.
    let failure = match rocrand.version().major {
        ..3 => rocrand_status::ROCRAND_STATUS_LAUNCH_FAILURE,
        3.. => rocrand_status::ROCRAND_STATUS_ALLOCATION_FAILED,
    };
    // SAFETY: S1: the generator was just made; there are four numbers, and no device that could write them.
    let statuses = unsafe {
        [
            (table.rocrand_set_seed)(generator, 42),
            (table.rocrand_generate_uniform)(generator, numbers.as_mut_ptr(), 4),
        ]
    };
    assert_eq!(statuses, [rocrand_status::ROCRAND_STATUS_SUCCESS, failure]);
    assert_eq!(numbers, [7.0; 4]);
    if rocrand.version().major >= 3 {
        return println!(
            "rocRAND {} aborts when a generator is destroyed without a device",
            rocrand.version()
        );
    }
    // SAFETY: S1: the generator is not used any more.
    let status = unsafe { (table.rocrand_destroy_generator)(generator) };
    assert_eq!(status, rocrand_status::ROCRAND_STATUS_SUCCESS);
}

/// rocBLAS and MIOpen come with newer suites only. Neither does anything without a GPU, but for its version.
#[test]
fn rocblas_and_miopen_are_those_of_the_hip_in_use() {
    let Some(platform) = real() else { return };
    let found = [
        Rocblas::load_for(&platform).map(|library| (library.library().to_owned(), library.version())),
        Miopen::load_for(&platform).map(|library| (library.library().to_owned(), library.version())),
    ];
    for found in found {
        match found {
            Ok((file, version)) => println!("{} {version}", file.display()),
            Err(missing @ LoadError::NotFound { .. }) => println!("skipped: {missing}"),
            Err(other) => panic!("it is there and does not load: {other}"),
        }
    }
}

/// Their streams and memory would mean nothing to it.
#[test]
fn a_rocblas_of_another_hip_is_refused() {
    unsafe extern "C" fn other(version: *mut i32) -> hipError_t {
        // SAFETY: S11: the caller's out-pointer.
        unsafe { version.write(60_443_484) };
        hipError_t::hipSuccess
    }
    let Some(platform) = real() else { return };
    let mut table = platform.hip().clone();
    table.hipRuntimeGetVersion = other;
    let none = LoadError::NotProvided { library: "hiprtc", reason: "nobody asks for it" };
    // SAFETY: S1: AMD's functions, and one that answers a number.
    let apart = unsafe {
        Platform::from_tables(
            PlatformKind::Amd,
            platform.raw_version,
            table,
            Err(none),
            Extensions::default(),
        )
    };
    match Rocblas::load_for(&apart) {
        Err(LoadError::OtherHip { library }) => assert!(library.contains("librocblas"), "{library}"),
        Err(LoadError::NotFound { .. }) => println!("skipped: there is no rocBLAS here"),
        other => panic!("{other:?}"),
    }
}
