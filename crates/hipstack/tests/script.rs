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
fn a_failed_memory_check_says_what_is_kept() {
    // A closure in a value that a function made uses that value: nothing drops it.
    let script =
        "fn f() { let m = #{ x: ones([8]), y: zeros([2]) }; m.x.set_name(\"mine\"); m.f = || m.x; }\nf();";
    let output = run(script, &["--device", "host:0", "--memory-check"], &[]);
    assert_eq!(output.status.code(), Some(1));
    let found = text(&output.stderr);
    let lines: Vec<&str> = found.lines().collect();
    assert!(lines[0].starts_with("memory check: 40 B in use, "), "{found}");
    assert_eq!(lines[1], "hipstack: 40 bytes of host:0 (host-w32) were not given back");
    assert!(lines[2].starts_with("  32 bytes on ") && lines[2].ends_with(": \"mine\""), "{found}");
    assert!(lines[3].starts_with("  8 bytes on ") && lines[3].ends_with(", without a name"), "{found}");
    assert!(lines[4].contains("never dropped if it holds a closure"), "{found}");
    // As it says, and as it is in a variable of the script.
    for script in [
        "fn f() { let m = #{ x: ones([8]) }; m.f = || m.x; m = (); }\nf();",
        "let m = #{ x: ones([8]) }; m.f = || m.x;",
    ] {
        let output = run(script, &["--device", "host:0", "--memory-check"], &[]);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}

#[test]
fn json_of_what_json_does_not_have() {
    let output = run("#{ n: 0.0 / 0.0, i: -1.0 / 0.0, f: |x| x + 1, d: device(), u: () }", &["--json"], &[]);
    let found: Json = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let value = &found["value"];
    assert_eq!((&value["n"], &value["i"], &value["u"]), (&Json::Null, &Json::Null, &Json::Null));
    assert_eq!(value["d"], "cpu");
    assert!(value["f"].as_str().unwrap().contains("Fn"), "{value}");
    // Without a value standard output is empty: the error and what was printed are on the other one.
    for script in
        ["print(\"one\");\nones([2]).foo()", "print(\"one\"); let a = []; for i in 0..99 { a = [a]; } a"]
    {
        let output = run(script, &["--json"], &[]);
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(1), ""), "{output:?}");
        assert!(text(&output.stderr).starts_with("one\nhipstack: "), "{output:?}");
    }
    // Lines that are typed have no end with a value.
    let output = Command::new(env!("CARGO_BIN_EXE_hipstack")).args(["run", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_limit_and_a_sandbox_hold() {
    let output = run("loop {}", &["--max-operations", "1000"], &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("x.rhai:1:6: the script was ended after 1000 operations"),
        "{output:?}"
    );
    // Functions and `eval` count as well, and `try` does not catch it.
    for script in ["fn f() { loop { try { eval(\"1 + 1\"); } catch {} } } f();", "try { loop {} } catch {}"] {
        let output = run(script, &["--max-operations", "1000"], &[]);
        assert!(text(&output.stderr).contains("the script was ended after 1000 operations"), "{output:?}");
    }
    let output = run("save(ones([2]), \"../out.npy\")", &["--sandbox", "."], &[]);
    assert!(text(&output.stderr).contains("../out.npy is not in the sandbox"), "{output:?}");
}

#[test]
fn a_sandbox_is_a_folder_whatever_the_program_runs_in() {
    let folder = tempfile::tempdir().unwrap();
    let (work, out) = (folder.path().join("work"), folder.path().join("out"));
    fs::create_dir(&work).unwrap();
    fs::create_dir(&out).unwrap();
    fs::write(out.join("secret.npy"), "").unwrap();
    std::os::unix::fs::symlink(&out, work.join("link")).unwrap();
    std::os::unix::fs::symlink(out.join("secret.npy"), work.join("secret.npy")).unwrap();
    // The script itself is outside; what it opens is inside, from the sandbox on.
    let script = |script: &str| {
        fs::write(folder.path().join("x.rhai"), script).unwrap();
        let output = hipstack(folder.path()).args(["--sandbox", "work", "x.rhai"]).output().unwrap();
        (output.status.success(), text(&output.stderr))
    };
    assert_eq!(
        script("save(ones([2]), \"x.npy\"); if load(\"./x.npy\").elements != 2 { throw 1 }"),
        (true, String::new())
    );
    assert!(work.join("x.npy").is_file());
    let absolute = out.join("secret.npy").display().to_string();
    for path in [
        "../out/secret.npy",
        "link/secret.npy",
        "secret.npy",
        "work/../../out/secret.npy",
        "/etc/passwd",
        &absolute,
    ] {
        for call in ["load({})", "tokenizer({})", "encoder({})", "language_model({})"] {
            let (done, error) = script(&call.replace("{}", &format!("{path:?}")));
            assert!(!done && error.contains("is not in the sandbox"), "{call} {path}: {error}");
        }
    }
    for path in [
        "../new.npy",
        "link/new.npy",
        "secret.npy",
        "/tmp/new.npy",
        "..",
        "",
        "none/../../new.npy",
        &absolute,
    ] {
        let (done, error) = script(&format!("save(ones([2]), {path:?})"));
        assert!(!done && error.contains("sandbox"), "{path}: {error}");
    }
    assert_eq!(fs::read(out.join("secret.npy")).unwrap(), b"");
    assert_eq!((fs::read_dir(&out).unwrap().count(), folder.path().join("new.npy").exists()), (1, false));
    // There is no other way out: no modules, and no functions for processes or the network.
    for text in
        ["import \"x\" as y;", "open(\"/etc/passwd\")", "system(\"ls\")", "exec(\"ls\")", "env(\"HOME\")"]
    {
        assert!(!script(text).0, "{text}");
    }
}

#[test]
fn control_c_ends_a_script() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.rhai"), "print(\"begun\");\nloop {}").unwrap();
    let mut program = hipstack(folder.path());
    let mut program = program.arg("x.rhai").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    interrupt(&mut program);
    let start = Instant::now();
    let output = program.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(30));
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("x.rhai:2:"), "{output:?}");
    assert!(text(&output.stderr).contains("the script was interrupted"), "{output:?}");
}

/// Sends Ctrl-C to a program that has printed `begun`.
fn interrupt(program: &mut std::process::Child) {
    let mut begun = [0; 6];
    std::io::Read::read_exact(program.stdout.as_mut().unwrap(), &mut begun).unwrap();
    assert_eq!(&begun, b"begun\n");
    assert!(Command::new("kill").args(["-INT", &program.id().to_string()]).status().unwrap().success());
}

#[test]
fn control_c_ends_a_line_and_not_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = hipstack(folder.path());
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = program.spawn().unwrap();
    let mut lines = program.stdin.take().unwrap();
    lines.write_all(b"let x = 41\nprint(\"begun\"); loop {}\n").unwrap();
    interrupt(&mut program);
    lines.write_all(b"x + 1\nprint(\"begun\"); sleep(1000)\n").unwrap();
    let mut answer = [0; 3];
    std::io::Read::read_exact(program.stdout.as_mut().unwrap(), &mut answer).unwrap();
    assert_eq!(&answer, b"42\n");
    interrupt(&mut program);
    drop(lines);
    let output = program.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(text(&output.stderr).matches("the script was interrupted").count(), 2, "{output:?}");
    // What was typed was kept before it ran.
    let history = fs::read_to_string(folder.path().join("state/hipstack/history")).unwrap();
    assert!(history.contains("sleep(1000)") && history.contains("x + 1"), "{history}");
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
