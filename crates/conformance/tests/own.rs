//! A platform of this program's own: hip-host with one function replaced. Cases in a process of their own use
//! it too.

use conformance::{Suite, Verdict};
use hip_sys::hip::hipError_t;
use hip_sys::{Extensions, LoadError, Miopen, Platform, PlatformKind, Rocblas};
use libtest_mimic::{Arguments, Failed, Trial};
use std::process::ExitCode;
use std::sync::Arc;

/// A name that `conformance::open` does not know.
const NAME: &str = "without-resets";

extern "C" fn no_reset() -> hipError_t {
    hipError_t::hipErrorNotSupported
}

fn open(name: &str) -> Result<Arc<Platform>, String> {
    if name != NAME {
        return conformance::open(name);
    }
    let host = hip_host::platform();
    let mut table = host.hip().clone();
    table.hipDeviceReset = no_reset;
    let rtc = Ok(host.rtc().map_err(ToString::to_string)?.clone());
    // SAFETY: S1: the functions are hip-host's, and one that only returns an error.
    let platform = unsafe {
        Platform::from_tables(PlatformKind::Host, host.raw_version, table, rtc, Extensions::default())
    };
    Ok(Arc::new(platform))
}

fn run(name: &str, case: &str) -> Result<Verdict, String> {
    let suite = Suite::on(open(name)?, name, name)?;
    let jobs = suite.jobs(Some(case), Some(0))?;
    assert!(jobs.len() == 1 && jobs[0].case.isolated, "{case} has a process of its own");
    Ok(suite.run(&jobs[0]))
}

fn expect(name: &str, case: &str, good: impl Fn(&Verdict) -> bool) -> Result<(), Failed> {
    let verdict = run(name, case)?;
    if good(&verdict) { Ok(()) } else { Err(format!("{case} on {name}: {verdict:?}").into()) }
}

fn main() -> ExitCode {
    if let Some(code) = conformance::child_with(open) {
        return code;
    }
    let assertion = "kernel/output/assertion_that_fails";
    let reset = "device/reset/of_an_idle_device_twice";
    let trials = vec![
        Trial::test("a_case_passes_on_it", move || expect(NAME, assertion, |it| *it == Verdict::Passed)),
        Trial::test("a_case_sees_its_function", move || {
            let holds = |it: &Verdict| matches!(it, Verdict::Failed(seen) if seen.contains("hipDeviceReset"));
            expect(NAME, reset, holds)
        }),
        Trial::test("amd_s_libraries_are_not_for_it", || {
            let platform = open(NAME)?;
            let none = |missing: Option<LoadError>| matches!(missing, Some(LoadError::NotProvided { .. }));
            assert!(none(Rocblas::load_for(&platform).err()) && none(Miopen::load_for(&platform).err()));
            Ok(())
        }),
        Trial::test("others_are_opened_by_name", move || expect("host", reset, |it| *it == Verdict::Passed)),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
