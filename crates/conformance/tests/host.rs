//! Every case on every device of hip-host, as a test of its own. The second device differs from the first in its wave size alone: its
//! tests are ignored, and CI's step slow-tests runs them.

use conformance::{Suite, Verdict};
use libtest_mimic::{Arguments, Failed, Trial};
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    if let Some(code) = conformance::child() {
        return code;
    }
    let mut arguments = Arguments::from_args();
    // Cases observe the whole device, so they run one at a time.
    arguments.test_threads = Some(1);
    let suite = Arc::new(Suite::new("host", None).expect("hip-host has devices"));
    let jobs = suite.jobs(None, None).expect("there are cases");
    let trial = |job: conformance::Job| {
        let suite = Arc::clone(&suite);
        let name = format!("device{}/{}", job.device, job.case.name);
        let is_second = job.device > 0;
        Trial::test(name, move || match suite.run(&job) {
            Verdict::Passed | Verdict::Known { .. } => Ok(()),
            Verdict::Failed(seen) => Err(Failed::from(seen)),
            // hip-host has everything that cases need.
            Verdict::Skipped(why) => Err(Failed::from(format!("skipped: {why}"))),
            Verdict::Stale(reason) => {
                Err(Failed::from(format!("passes; remove it from differences.toml: {reason}")))
            }
        })
        .with_ignored_flag(is_second)
    };
    libtest_mimic::run(&arguments, jobs.into_iter().map(trial).collect()).exit_code()
}
