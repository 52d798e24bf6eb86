//! A chat script is as fast as `hipstack chat`.
//!
//! `cargo test --release -p hipstack-cli --test chat_speed -- --ignored --nocapture` measures it with SmolLM2 of the folder
//! HIPSTACK_MODELS, and without that folder, or without `--release`, with a model of random weights.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How many times each is run. The programs take turns.
const ROUNDS: usize = 20;
const QUESTION: &str = "Tell me a story about the sea.\n";

/// A program's tokens, and how many it made a second: both print `answer 64 tokens, 86.2/s`.
fn answer(text: &str) -> (usize, f64) {
    let (_, found) = text.rsplit_once("answer ").unwrap_or_else(|| panic!("no figures: {text}"));
    let (tokens, rest) = found.split_once(" tokens, ").unwrap();
    (tokens.parse().unwrap(), rest.split_once("/s").unwrap().0.parse().unwrap())
}

fn model(folder: &Path) -> PathBuf {
    let real = std::env::var_os("HIPSTACK_MODELS")
        .map(|models| Path::new(&models).join("SmolLM2-135M-Instruct.Q4_1.gguf"))
        .filter(|path| !cfg!(debug_assertions) && path.is_file());
    real.unwrap_or_else(|| {
        let made =
            hipstack("run").arg(project("examples/scripts/05_tiny_model.rhai")).current_dir(folder).output();
        assert!(made.unwrap().status.success());
        folder.join("tiny.gguf")
    })
}

fn hipstack(command: &str) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_hipstack"));
    program.arg(command);
    program
}

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

#[test]
#[ignore = "measures for half a minute; the step slow-tests runs it"]
fn a_script_is_as_fast_as_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let (model, question) = (model(folder.path()), folder.path().join("question"));
    fs::write(&question, QUESTION).unwrap();
    let command = || {
        let output = hipstack("chat")
            .arg(&model)
            .args(["-n", "64", "--temperature", "0"])
            .stdin(fs::File::open(&question).unwrap())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        answer(&String::from_utf8_lossy(&output.stderr))
    };
    let script = || {
        let mut program = hipstack("run");
        program.arg(project("benches/scripts/chat.rhai")).arg(&model).stdin(Stdio::null());
        let output = program.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        answer(&String::from_utf8_lossy(&output.stdout))
    };
    // The best of each: other programs of the machine make a run slower and never faster.
    let mut best = [0f64; 2];
    for round in 1..=ROUNDS {
        // Each comes first as often as the other.
        let mut found = if round % 2 == 0 { [command(), script()] } else { [script(), command()] };
        if round % 2 == 1 {
            found.swap(0, 1);
        }
        assert_eq!(found[0].0, found[1].0, "both make the same tokens");
        assert!(found[0].0 >= 16, "{} tokens are too few to measure", found[0].0);
        best = [best[0].max(found[0].1), best[1].max(found[1].1)];
        println!("{round}: command {:.1} tokens a second, script {:.1}", found[0].1, found[1].1);
    }
    let [command, script] = best;
    assert!(
        script >= 0.95 * command,
        "a script makes {script:.1} tokens a second at best, the command {command:.1}"
    );
}
