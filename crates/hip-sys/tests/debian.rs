//! AMD's real libamdhip64, as Debian 12 packages it (5.2.3), on a machine without a GPU. Skipped with a word where no
//! libamdhip64 is installed.

use hip_sys::hip::hipError_t;
use hip_sys::{HipTable, LoadError, Platform, RtcTable, Symbol, Version};
use std::ffi::CStr;

fn real() -> Option<Platform> {
    match Platform::load_amd() {
        Ok(platform) => Some(platform),
        Err(missing @ LoadError::NotFound { .. }) => {
            println!("skipped: {missing}");
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
    if version.major == 5 {
        assert_eq!(platform.raw_version, 50_221_153, "Debian 12 has 5.2.21153");
    }
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
    let expected = if platform.version().major == 5 {
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
