//! Opening a page in Chromium, acting on it, and reading what was seen.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// What every script may use: see, key, wait.
const TOOLS: &str = include_str!("tools.js");

/// The longest that the browser may take.
const LIMIT: Duration = Duration::from_secs(120);

/// Opens a page in a window of this width, runs a script in it, and returns what the script saw by name. Returns `None`
/// with a message if there is no Chromium.
pub(crate) fn act(page: &str, width: u32, script: &str) -> Option<Value> {
    let program = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|folder| folder.join("chromium"))
        .find(|program| program.is_file());
    let Some(program) = program else {
        let required = std::env::var("HIPSTACK_REQUIRE").unwrap_or_default();
        let asked = required.split(',').map(str::trim).any(|word| word == "chromium" || word == "all");
        assert!(!asked, "HIPSTACK_REQUIRE is {required:?}, and there is no chromium in PATH");
        println!("skipped: no chromium in PATH; Debian's package of this name has it");
        return None;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("page.html");
    let (before, after) = page.rsplit_once("</body>").expect("a page has a body");
    let script = format!("<script>{{{TOOLS}\nrun(async () => {{{script}\n}});}}</script>");
    let page = framed(format!("{before}{script}</body>{after}"), width);
    std::fs::write(&path, page).expect("it can be written");
    let text = dump(&program, folder.path(), &path, width);
    let seen = between(&text, "<pre id=\"seen\">", "</pre>").unwrap_or_else(|| {
        panic!("the script wrote nothing; the page ends with {:?}", &text[text.len().saturating_sub(300)..])
    });
    let seen =
        seen.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
    let seen: Value = serde_json::from_str(&seen).expect("the script writes JSON");
    assert_eq!(seen["error"], Value::Null, "the script failed");
    Some(seen)
}

/// The narrowest window that Chromium opens.
const NARROWEST: u32 = 500;

/// The page itself, or for a width that no window has, a page with it in a frame of that width. The frame's page has its
/// own width, and what the script saw there is copied out of it.
fn framed(page: String, width: u32) -> String {
    if width >= NARROWEST {
        return page;
    }
    let inner = page.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!doctype html><title>frame</title><body><iframe style=\"width:{width}px;height:844px;border:0\" \
         srcdoc=\"{inner}\"></iframe><script>setInterval(() => {{
            const found = frames[0].document.getElementById('seen');
            if (found && !document.getElementById('seen')) document.body.append(document.importNode(found, true));
         }}, 50);</script></body>"
    )
}

/// The document after the script, as text.
fn dump(program: &Path, folder: &Path, page: &Path, width: u32) -> String {
    let out = folder.join("out");
    let mut browser = Command::new(program)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--disable-background-networking", "--disable-component-update"])
        .args(["--disable-sync", "--hide-scrollbars", "--virtual-time-budget=20000", "--dump-dom"])
        .arg(format!("--window-size={width},844"))
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .stdout(File::create(&out).expect("it can be written"))
        .stderr(Stdio::null())
        .spawn()
        .expect("chromium starts");
    let start = Instant::now();
    let status = loop {
        match browser.try_wait().expect("chromium can be waited for") {
            Some(status) => break status,
            None if start.elapsed() > LIMIT => {
                let _ = browser.kill();
                let _ = browser.wait();
                panic!("chromium did not end within {LIMIT:?}");
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    assert!(status.success(), "chromium ended with {status}");
    std::fs::read_to_string(&out).expect("chromium writes text")
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    // The last one, because the script's own text comes before it.
    let (_, rest) = text.rsplit_once(start)?;
    Some(rest.split_once(end)?.0)
}
