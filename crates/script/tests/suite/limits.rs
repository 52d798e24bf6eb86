//! Scripts that would not end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use script::Options;

use crate::common::{Run, tiny_model};

#[test]
fn a_limit_ends_an_endless_loop() {
    let mut run = Run::new(Options { most_operations: 10_000, ..Options::default() });
    let found = run.error("let x = 0;\nloop { x += 1; }");
    assert!(found.starts_with("test:2:"), "{found}");
    assert!(found.ends_with("the script was ended after 10000 operations, the most it may take"), "{found}");
    // `try` does not catch it, and the next run may take as many again.
    assert!(run.error("try { loop {} } catch {}").contains("10000"));
    assert_eq!(run.value("1 + 1"), "2");
}

#[test]
fn an_interruption_ends_an_endless_loop() {
    static NOW: AtomicBool = AtomicBool::new(false);
    let mut run = Run::new(Options { interrupted: || NOW.load(Ordering::Relaxed), ..Options::default() });
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_millis(50));
        NOW.store(true, Ordering::Relaxed);
    });
    let found = run.error("fn f() { loop { try { ones([2]) + 1; } catch {} } }\nf()");
    assert!(found.contains("the script was interrupted"), "{found}");
}

#[test]
fn an_interruption_ends_a_sleep_and_an_answer() {
    static NOW: AtomicBool = AtomicBool::new(false);
    let folder = tempfile::tempdir().unwrap();
    tiny_model(folder.path());
    let mut run = Run::inside(
        folder.path(),
        Options { interrupted: || NOW.load(Ordering::Relaxed), ..Options::default() },
    );
    run.value("let s = language_model(\"tiny.gguf\").session();");
    let in_a_while = || {
        NOW.store(false, Ordering::Relaxed);
        std::thread::spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            NOW.store(true, Ordering::Relaxed);
        })
    };
    let start = Instant::now();
    let waiter = in_a_while();
    // `try` does not catch it.
    let found = run.error("try { sleep(1000) } catch {}");
    assert_eq!(found, "test:1:7: the script was interrupted");
    waiter.join().unwrap();
    assert!(start.elapsed() < Duration::from_secs(100));
    for text in ["sleep(-1)", "sleep(1e300)", "sleep(0.0 / 0.0)"] {
        NOW.store(false, Ordering::Relaxed);
        let found = run.error(text);
        assert!(found.starts_with("test:1:1: sleep: "), "{found}");
    }
    // An answer ends after the token that is made, and with it the script.
    let waiter = in_a_while();
    let found =
        run.error("let stop = 0; loop { s.truncate(0); s.generate(\"to\", #{ most: 400 }); stop += 1; }");
    assert!(found.ends_with("the script was interrupted"), "{found}");
    waiter.join().unwrap();
    NOW.store(false, Ordering::Relaxed);
    assert_eq!(run.value("s.length < s.capacity"), "true");
}

#[test]
fn calls_within_calls_are_limited() {
    let mut run = Run::new(Options::default());
    assert!(run.error("fn f(n) { f(n + 1) } f(0)").contains("Stack overflow"));
}

#[test]
fn values_that_lie_deep_in_each_other_are_printed_in_part() {
    let mut run = Run::new(Options::default());
    let deep = "let a = []; for i in 0..100 { a = [a]; }";
    run.value(&format!("{deep} print(a)"));
    let found = run.error(&format!("{deep} zeros(a)"));
    assert!(found.contains("[[[") && found.contains('…') && found.len() < 1000, "{found}");
    assert_eq!(run.value("[[1, 2], #{ a: [3] }]"), "[[1, 2], #{a: [3]}]");
}
