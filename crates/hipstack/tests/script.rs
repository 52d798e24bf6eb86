//! `hipstack run`: files, lines, limits and signals.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

fn hipstack(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hipstack"));
    command.arg("run").current_dir(folder).env("XDG_STATE_HOME", folder.join("state"));
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs a script with arguments before and behind it.
fn run(script: &str, before: &[&str], behind: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.rhai"), script).unwrap();
    hipstack(folder.path()).args(before).arg("x.rhai").args(behind).output().unwrap()
}

#[test]
fn a_script_prints_and_gets_its_arguments() {
    let output = run("print(tensor([1.5, 2.0]) * 2); print(args); 7", &[], &["a", "--device", "b"]);
    assert_eq!(text(&output.stderr), "");
    assert_eq!(text(&output.stdout), "tensor([3., 4.])\n[\"a\", \"--device\", \"b\"]\n");
}

#[test]
fn a_script_ends_with_json() {
    let output = run("print(\"one\"); #{ sum: tensor([1.5, 2.0]).sum_all(), n: 2 }", &["--json"], &[]);
    let found: Json = serde_json::from_slice(&output.stdout).unwrap();
    let sum = json!({ "dtype": "f32", "shape": [], "device": "cpu", "data": [3.5] });
    assert_eq!((&found["value"], &found["printed"]), (&json!({ "sum": sum, "n": 2 }), &json!("one\n")));
    assert!(found["seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn an_error_has_file_line_and_column() {
    let output = run("let x = ones([2, 3]);\nx.matmul(x)", &[], &[]);
    assert_eq!(output.status.code(), Some(1));
    let expected = "hipstack: x.rhai:2:3: matmul: inner dimensions differ: [2, 3] x [2, 3] on cpu\n";
    assert_eq!(text(&output.stderr), expected);
}

#[test]
fn memory_is_checked() {
    let output = run("let x = ones([8]); let y = [x, x];", &["--device", "host:0", "--memory-check"], &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("memory check: 0 B in use"), "{}", text(&output.stderr));
}

#[test]
fn a_limit_and_a_sandbox_hold() {
    let output = run("loop {}", &["--max-operations", "1000"], &[]);
    assert!(
        text(&output.stderr).contains("x.rhai:1:6: the script was ended after 1000 operations"),
        "{output:?}"
    );
    let output = run("save(ones([2]), \"../out.npy\")", &["--sandbox", "."], &[]);
    assert!(text(&output.stderr).contains("../out.npy is not in the sandbox"), "{output:?}");
}

#[test]
fn control_c_ends_a_script() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.rhai"), "print(\"begun\");\nloop {}").unwrap();
    let mut program = hipstack(folder.path());
    let mut program = program.arg("x.rhai").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut begun = [0; 6];
    std::io::Read::read_exact(program.stdout.as_mut().unwrap(), &mut begun).unwrap();
    let sent = Command::new("kill").args(["-INT", &program.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let start = Instant::now();
    let output = program.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(30));
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("x.rhai:2:"), "{output:?}");
    assert!(text(&output.stderr).contains("the script was interrupted"), "{output:?}");
}

#[test]
fn lines_are_run_one_by_one_and_kept_in_a_history() {
    let folder = tempfile::tempdir().unwrap();
    let session = |lines: &str| {
        let mut program = hipstack(folder.path());
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut program = program.spawn().unwrap();
        program.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        program.wait_with_output().unwrap()
    };
    let output = session(
        "let x = ones([2])\nfn twice(t) {\n t * 2\n}\ntwice(x)\nx.matmul(3)\nx.rank\n/names\n/clear\nx\n/exit\nx\n",
    );
    assert!(output.status.success(), "{output:?}");
    let out = text(&output.stdout);
    // The prompts of an input that is no terminal are not printed, or stand before the values.
    let values: Vec<&str> = out.lines().map(|line| line.trim_start_matches(['>', '.', ' '])).collect();
    assert!(values.contains(&"tensor([2., 2.])"), "{out}");
    assert!(values.contains(&"1"), "{out}");
    assert!(values.contains(&"x: the tensor [2] f32 on cpu"), "{out}");
    let errors = text(&output.stderr);
    assert!(errors.contains("line:1:3: matmul: other is 3; expected a tensor"), "{errors}");
    assert!(errors.contains("line:1:1: Variable not found: x"), "{errors}");
    session("1 + 1\n");
    let history = fs::read_to_string(folder.path().join("state/hipstack/history")).unwrap();
    assert!(history.contains("twice(x)") && history.contains("1 + 1"), "{history}");
}

#[test]
fn a_script_answers_as_the_commands_do() {
    let folder = tempfile::tempdir().unwrap();
    let example =
        |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scripts").join(name);
    assert!(hipstack(folder.path()).arg(example("05_tiny_model.rhai")).output().unwrap().status.success());
    let command = |name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hipstack"));
        command.args([name, "tiny.gguf", "--temperature", "0", "-n", "8"]).current_dir(folder.path());
        command
    };
    let script = "let s = language_model(\"tiny.gguf\").session();\n";
    let by_script = |text: &str| {
        fs::write(folder.path().join("x.rhai"), format!("{script}{text}")).unwrap();
        let output = hipstack(folder.path()).args(["--json", "x.rhai"]).output().unwrap();
        let found: Json = serde_json::from_slice(&output.stdout).unwrap();
        found["value"].clone()
    };

    let output = command("generate").args(["--prompt", "to be", "--json"]).output().unwrap();
    let generated: Json = serde_json::from_slice(&output.stdout).unwrap();
    let found = by_script("s.generate(\"to be\", #{ most: 8, temperature: 0 })");
    assert_eq!((&found["tokens"], &found["text"]), (&generated["tokens"], &generated["text"]));
    assert_eq!(found["tokens"].as_array().unwrap().len(), 8);

    let mut chat =
        command("chat").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    chat.stdin.take().unwrap().write_all(b"one\ntwo\n").unwrap();
    let chatted = text(&chat.wait_with_output().unwrap().stdout);
    let found = by_script(
        "let o = #{ most: 8, temperature: 0 }; s.chat(\"one\", o).text + \"\\n\" + s.chat(\"two\", o).text + \"\\n\"",
    );
    assert_eq!(found, chatted);
}
