//! A mutation build leaves out each wait of the crate once. This has to be detected: by the checker in a random program, or by
//! another test of this suite.

use crate::again;
use hip_safe::mutation::Wait;
use std::process::{Command, Output};
use std::sync::Mutex;

/// The random program under the checker and the adversary, without this wait.
fn program(wait: &str, seed: &str) -> Output {
    let variables = [
        ("HIP_SAFE_DROP_WAIT", wait),
        ("HIPSTACK_HOST_ADVERSARY", seed),
        ("HIPSTACK_HOST_CHECK", "abort"),
        ("HIP_SAFE_TEST_SEED", seed),
        ("HIP_SAFE_TEST_MILLISECONDS", "1000"),
    ];
    again("order::workload::program", &variables)
}

/// All other tests without this wait.
fn others(wait: &str) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args(["--skip", "mutations", "--skip", "workload"]).env("HIP_SAFE_DROP_WAIT", wait);
    command.output().expect("it starts")
}

/// What a process ended with, if it failed.
fn caught(output: &Output) -> Option<String> {
    let text =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    let telling = |line: &&str| line.starts_with("hip-host: ") || line.contains("... FAILED");
    (!output.status.success()).then(|| text.lines().find(telling).unwrap_or("a failure").to_owned())
}

/// What detects that this wait is left out.
fn missed_by(wait: &str) -> Option<String> {
    let by_program = (1..=3).find_map(|seed| caught(&program(wait, &seed.to_string())));
    by_program.or_else(|| caught(&others(wait)))
}

#[test]
fn every_wait_is_needed() {
    for output in [program("none", "1"), others("none")] {
        let said = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "nothing is left out: {}", String::from_utf8_lossy(&said));
    }
    // Two at once, since most of a program's time is waiting.
    let (waits, unnoticed) = (Mutex::new(Wait::ALL.into_iter()), Mutex::new(Vec::new()));
    let next = || waits.lock().expect("no thread panics").next();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(wait) = next() {
                    match missed_by(&format!("{wait:?}")) {
                        Some(by) => println!("{wait:?}: {by}"),
                        None => unnoticed.lock().expect("no thread panics").push(wait),
                    }
                }
            });
        }
    });
    assert_eq!(unnoticed.into_inner().expect("no thread panics"), [], "waits that no test misses");
}
