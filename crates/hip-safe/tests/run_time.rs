//! AMD's real hiprtc, which compiles without a GPU. Skipped with a word where no libamdhip64 with hiprtc is installed.

#[path = "../../code-object/tests/common/skip.rs"]
mod skip;

use hip_safe::{CodeObject, Error, Platform, Source};
use hip_sys::LoadError;
use skip::without_rocm;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::ptr::null_mut;

const KERNEL: &str = "extern \"C\" __global__ void fill(float* a) { a[threadIdx.x] = 1; }";
/// Tells a process that it was started to call the library itself.
const CHILD: &str = "HIP_SAFE_TEST_RAW_ARCH";

fn real() -> Option<Platform> {
    let platform = match Platform::load_amd() {
        Ok(platform) => platform,
        Err(missing @ LoadError::NotFound { .. }) => {
            without_rocm(missing);
            return None;
        }
        Err(other) => panic!("libamdhip64 is there and does not load: {other}"),
    };
    if let Err(missing) = platform.rtc() {
        without_rocm(missing);
        return None;
    }
    Some(platform)
}

/// hiprtc itself, without a check in front.
fn raw_compile(platform: &Platform, arch: &str) {
    let rtc = platform.rtc().expect("it has hiprtc");
    let text = std::ffi::CString::new(KERNEL).expect("no zero byte");
    let option = std::ffi::CString::new(format!("--offload-arch={arch}")).expect("no zero byte");
    let (mut program, none) = (null_mut(), null_mut());
    // SAFETY: S1: live strings and out-pointers; that the library may end this process is what is to be seen.
    unsafe {
        let status = (rtc.hiprtcCreateProgram)(&mut program, text.as_ptr(), c"k.hip".as_ptr(), 0, none, none);
        assert_eq!(status.0, 0);
        let status = (rtc.hiprtcCompileProgram)(program, 1, [option.as_ptr()].as_mut_ptr());
        println!("answered {}", status.0);
    }
}

#[test]
fn an_unknown_architecture_ends_the_process_in_the_library_and_is_refused_before() {
    const TEST: &str = "an_unknown_architecture_ends_the_process_in_the_library_and_is_refused_before";
    let Some(platform) = real() else { return };
    if let Some(arch) = std::env::var_os(CHILD) {
        raw_compile(&platform, arch.to_str().expect("it is a text"));
        return;
    }
    let raw = |arch: &str| {
        let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
        command.args(["--exact", TEST, "--nocapture"]).env(CHILD, arch);
        command.output().expect("it can start itself").status
    };
    assert!(raw("gfx906").success());
    let known = platform.rtc_architectures().expect("AMD's has a list");
    for (arch, words) in [
        ("gfx999", "does not know the architecture \"gfx999\"; it knows gfx600, "),
        ("gfx906:xnack", "\"gfx906:xnack\" with these features"),
        ("sm_90", "Check the name, or load code that was compiled ahead of time"),
    ] {
        let status = raw(arch);
        assert_eq!(status.signal(), Some(libc::SIGABRT), "{arch}: {status}");
        let refused = Source::new(KERNEL).compile(&platform, arch).expect_err("it is unknown");
        assert!(matches!(&refused, Error::UnknownArchitecture(why) if why.known == known), "{refused}");
        let text = refused.to_string();
        assert!(text.contains(words) && text.contains(&platform.version().to_string()), "{text}");
    }
}

#[test]
#[ignore = "takes half a minute; the step slow-tests runs it"]
fn every_architecture_in_the_list_compiles() {
    let Some(platform) = real() else { return };
    let known = platform.rtc_architectures().expect("AMD's has a list");
    assert!(known.len() >= 33);
    let with_features = ["gfx906:sramecc+:xnack-", "gfx90a:xnack+", "gfx1010:xnack-"];
    for arch in known.iter().chain(&with_features) {
        let compiled = Source::new(KERNEL).compile(&platform, arch).unwrap_or_else(|e| panic!("{arch}: {e}"));
        let object = CodeObject::parse(compiled.code()).expect("a whole file").expect("with metadata");
        assert_eq!(object.target.as_ref().map(ToString::to_string).as_deref(), Some(*arch));
        assert!(object.kernel("fill").is_some(), "{arch}");
    }
}

#[test]
fn texts_headers_options_warnings_and_names() {
    let Some(platform) = real() else { return };
    let source = Source::new(
        "#include \"types/size.h\"\n#warning look here\n\
         template <class T> __global__ void scale(T* a) { a[threadIdx.x] *= SIZE * FACTOR; }",
    )
    .name("scale.hip")
    .header("types/size.h", "#define SIZE 4\n")
    .options(["-O2", "-DFACTOR=2"])
    .name_expression("scale<float>")
    .name_expression("scale<double>");
    let compiled = source.compile(&platform, "gfx90a").expect("it compiles");
    assert!(compiled.log().contains("look here"), "{}", compiled.log());
    let object = CodeObject::parse(compiled.code()).expect("a whole file").expect("with metadata");
    for (expression, lowered) in [("scale<float>", "_Z5scaleIfEvPT_"), ("scale<double>", "_Z5scaleIdEvPT_")] {
        assert_eq!(compiled.lowered_name(expression), Some(lowered));
        assert!(object.kernel(lowered).is_some());
    }
    assert_eq!(compiled.lowered_name("scale<int>"), None);

    let wrong = source.clone().name_expression("scale<nothing>").compile(&platform, "gfx90a").unwrap_err();
    assert!(matches!(&wrong, Error::Compilation { name, .. } if name == "scale.hip"), "{wrong}");
    let wrong = source.clone().option("-no-such-option").compile(&platform, "gfx90a").unwrap_err();
    assert!(wrong.to_string().contains("unknown argument: '-no-such-option'"), "{wrong}");
}

/// The library is called by one thread at a time, whoever asks.
#[test]
fn threads_may_compile_at_once() {
    let Some(platform) = real() else { return };
    std::thread::scope(|scope| {
        for n in 0..4 {
            let platform = &platform;
            scope.spawn(move || {
                let source = Source::new(KERNEL).option(format!("-DN={n}"));
                for arch in ["gfx906", "gfx90a", "gfx1030"] {
                    let compiled = source.compile(platform, arch).expect("it compiles");
                    assert!(CodeObject::is_for_amd(compiled.code()));
                    assert!(source.compile(platform, "gfx1").is_err());
                }
            });
        }
    });
}
