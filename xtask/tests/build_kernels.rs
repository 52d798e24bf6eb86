//! `cargo xtask build-kernels` against compilers that fail in every way: scripts instead of real ones.
//!
//! Each test looks at the exit code, the message and what is in the folder afterwards.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The host's second wave size has the fewest units: those whose text depends on it.
const UNITS: usize = 71;

/// A folder with a compiler that is a script.
struct Workspace {
    dir: tempfile::TempDir,
}

impl Workspace {
    /// The script is given the object's file as `$out`, its name as `$unit`, and a good object as `$good`. Asked whether it knows an
    /// architecture, the compiler says yes for those in the file `known`.
    fn new(script: &str) -> Self {
        let workspace = Self { dir: tempfile::tempdir().expect("the temporary folder is writable") };
        std::fs::create_dir(workspace.path("good")).expect("writable");
        for unit in kernels_hip::units() {
            let names = unit.kernels().join("\0");
            std::fs::write(workspace.path("good").join(unit.name()), elf(&names)).expect("writable");
        }
        workspace.compiler(script);
        workspace
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn compiler(&self, script: &str) {
        let text = format!(
            "#!/bin/bash\n\
             if [ \"$1\" = --version ]; then echo 'fake version 1'; exit; fi\n\
             dir='{}'\n\
             if [[ \" $* \" == *\" -nogpulib \"* ]]; then grep -qsF -f \"$dir/known\" <<< \"$*\"; exit; fi\n\
             while [ $# -gt 0 ]; do if [ \"$1\" = -o ]; then out=$2; fi; shift; done\n\
             unit=$(basename \"$out\"); unit=${{unit%.*}}; good=$dir/good/$unit\n\
             echo \"$unit\" >> \"$dir/log\"\n\
             {script}\n",
            self.dir.path().display()
        );
        std::fs::write(self.path("cc"), text).expect("writable");
        xtask::workspace::executable(&self.path("cc")).expect("ours");
    }

    /// The compilers' runs so far.
    fn runs(&self) -> usize {
        std::fs::read_to_string(self.path("log")).unwrap_or_default().lines().count()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.arg("build-kernels").args(args).arg("--out").arg(self.path("out"));
        command.env("CXX", self.path("cc")).env("HIPCC", self.path("cc"));
        command
    }

    fn run(&self, args: &[&str]) -> Seen {
        Seen::of(self.command(args).output().expect("it starts"))
    }

    /// What lies in the folder of the second wave size.
    fn files(&self) -> Vec<String> {
        files(&self.path("out/host/host-w64"))
    }
}

/// What a run showed.
struct Seen {
    code: Option<i32>,
    text: String,
}

impl Seen {
    fn of(out: Output) -> Self {
        let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
        Self { code: out.status.code(), text }
    }

    /// In the words ALL stands for how many units there are, and REST for one less.
    fn must(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.text);
        for word in words {
            assert!(self.has(word), "{word:?} is not in:\n{}", self.text);
        }
    }

    fn has(&self, word: &str) -> bool {
        let word = word.replace("ALL", &UNITS.to_string()).replace("REST", &(UNITS - 1).to_string());
        self.text.contains(&word)
    }
}

/// The files of a folder by name, without the lock.
fn files(dir: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let names = entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name != ".lock").collect();
    names.sort();
    names
}

/// A header of an ELF file without sections, and words behind it.
fn elf(words: &str) -> Vec<u8> {
    let mut bytes = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend([1, 0, 62, 0, 1, 0, 0, 0]);
    bytes.resize(52, 0);
    bytes.extend([64, 0]);
    bytes.resize(64, 0);
    bytes.extend(format!("\0{words}\0").as_bytes());
    bytes
}

const COPY: &str = "cp \"$good\" \"$out\"";
const W64: [&str; 4] = ["--platform", "host", "--arch", "host-w64"];
const GFX: [&str; 4] = ["--platform", "amd", "--arch", "gfx90a"];

fn whole() -> Vec<String> {
    let units = kernels_hip::units().filter(|unit| unit.family.waves == kernels_hip::Waves::Both);
    let mut files: Vec<String> = units.map(|unit| format!("{}.so", unit.name())).collect();
    assert_eq!(files.len(), UNITS);
    files.push("manifest.json".into());
    files.sort();
    files
}

#[test]
fn current_objects_are_not_compiled_again() {
    let workspace = Workspace::new(COPY);
    workspace.run(&W64).must(0, &["0 current, ALL compiled"]);
    assert_eq!((workspace.files(), workspace.runs()), (whole(), UNITS));
    let start = Instant::now();
    workspace.run(&W64).must(0, &["ALL current, 0 compiled"]);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert_eq!(workspace.runs(), UNITS);

    let object = workspace.path("out/host/host-w64/reduce_f32.so");
    std::fs::write(&object, elf("damaged")).expect("writable");
    workspace.run(&[&W64[..], &["--check"]].concat()).must(1, &["reduce_f32.so", "without --check"]);
    workspace.run(&W64).must(0, &["REST current, 1 compiled"]);
    std::fs::remove_file(&object).expect("it was written");
    workspace.run(&W64).must(0, &["REST current, 1 compiled"]);
    workspace.run(&[&W64[..], &["--check"]].concat()).must(0, &["ALL objects checked"]);

    std::fs::write(workspace.path("out/host/host-w64/manifest.json"), "{ half").expect("writable");
    workspace.run(&W64).must(0, &["0 current, ALL compiled"]);
    workspace.run(&[&W64[..], &["--force"]].concat()).must(0, &["0 current, ALL compiled"]);
    workspace.compiler(&format!("# another compiler\n{COPY}"));
    workspace.run(&W64).must(0, &["ALL current"]);
    let moved = workspace.path("other");
    std::fs::copy(workspace.path("cc"), &moved).expect("writable");
    Seen::of(workspace.command(&W64).env("CXX", &moved).output().expect("it starts"))
        .must(0, &["0 current, ALL compiled"]);
}

#[test]
fn a_check_names_what_is_not_current() {
    let workspace = Workspace::new(COPY);
    let check = [&W64[..], &["--check"]].concat();
    workspace.run(&W64).must(0, &["ALL compiled"]);
    let moved = workspace.path("other");
    std::fs::copy(workspace.path("cc"), &moved).expect("writable");
    Seen::of(workspace.command(&check).env("CXX", &moved).output().expect("it starts"))
        .must(1, &["reduce_f32.so: it is not current: another compiler", "without --check"]);
    let manifest = workspace.path("out/host/host-w64/manifest.json");
    let text = std::fs::read_to_string(&manifest).expect("it was written");
    let entry = text.lines().find(|line| line.contains("reduce_i16.so")).expect("it is listed");
    let of_before = entry.replacen("\"source\":\"", "\"source\":\"0", 1);
    assert_ne!(entry, of_before);
    std::fs::write(&manifest, text.replace(entry, &of_before)).expect("writable");
    let seen = workspace.run(&check);
    seen.must(1, &["reduce_i16.so: it is not current: its texts have changed"]);
    assert_eq!(seen.text.matches("not current").count(), 1, "{}", seen.text);
    assert_eq!(workspace.runs(), UNITS);
    workspace.run(&W64).must(0, &["REST current, 1 compiled"]);
    workspace.run(&check).must(0, &["ALL objects checked"]);
}

#[test]
fn a_variable_that_names_no_compiler_is_an_error() {
    let workspace = Workspace::new(COPY);
    let with = |args: &[&str], name: &str, value: &Path| {
        Seen::of(workspace.command(args).env(name, value).output().expect("it starts"))
    };
    let gone = workspace.path("gone");
    let text = workspace.path("text");
    std::fs::write(&text, "no program").expect("writable");
    let sm = ["--platform", "nvidia", "--arch", "sm_90"];
    for (args, name) in [(&W64, "CXX"), (&GFX, "HIPCC"), (&sm, "NVCC")] {
        with(args, name, &gone).must(1, &[&format!("${name} is"), "no file", "unset it"]);
        with(args, name, &text).must(1, &[&format!("${name} is"), "cannot be run"]);
        // Nor is a platform passed over for it.
        with(&[], name, &gone).must(1, &[&format!("${name} is")]);
    }
    assert_eq!((workspace.runs(), workspace.path("out").exists()), (0, false));
}

#[test]
fn a_compile_error_shows_the_unit_the_command_and_the_compilers_message() {
    let workspace = Workspace::new(&format!(
        "if [ $unit = reduce_i64 ]; then echo half > $out; echo 'reduce.hip:1: error: no such thing' >&2; exit 3; fi\n{COPY}"
    ));
    workspace.run(&W64).must(
        1,
        &[
            "host host-w64",
            "reduce_i64",
            "exit status: 3",
            "to repeat it",
            "-DDTYPE_i64",
            "error: no such thing",
        ],
    );
    let left = workspace.files();
    assert!(!left.iter().any(|file| file.contains("reduce_i64") || file.contains("work")), "{left:?}");
    let before = workspace.runs();
    workspace.compiler(COPY);
    workspace.run(&W64).must(0, &["host host-w64: ALL objects"]);
    assert_eq!(workspace.files(), whole());
    assert!(workspace.runs() - before < UNITS, "what was finished before the error is kept");
}

#[test]
fn an_error_leaves_the_object_of_before() {
    let workspace = Workspace::new(COPY);
    workspace.run(&W64).must(0, &["ALL compiled"]);
    let object = workspace.path("out/host/host-w64/reduce_u8.so");
    let before = std::fs::read(&object).expect("it was written");
    workspace.compiler("echo half > $out; exit 1");
    workspace.run(&[&W64[..], &["--force"]].concat()).must(1, &["exit status: 1"]);
    assert_eq!(std::fs::read(&object).expect("still there"), before);
    workspace.run(&[&W64[..], &["--check"]].concat()).must(0, &["ALL objects checked"]);
}

#[test]
fn garbage_is_no_object() {
    for (script, words) in [
        ("echo garbage > $out", "not an object file"),
        (": > $out", "not an object file"),
        (":", "wrote no file"),
        ("cp $dir/good/matmul_f32 $out", "18 of 18 kernels are missing: reduce_sum_"),
    ] {
        let workspace = Workspace::new(script);
        workspace.run(&W64).must(1, &["reduce_", words]);
        assert_eq!(workspace.files(), Vec::<String>::new(), "{script}");
    }
    // What AMD's compiler writes is held against the architecture as well.
    let workspace = Workspace::new(COPY);
    workspace.run(&GFX).must(1, &["amd gfx90a"]);
    assert_eq!(files(&workspace.path("out/amd/gfx90a")), Vec::<String>::new());
}

#[test]
fn a_wrong_architecture_is_named_with_the_known_ones() {
    let workspace = Workspace::new(COPY);
    workspace
        .run(&["--platform", "amd", "--arch", "gfx1031"])
        .must(1, &["\"gfx1031\"", "is gfx1030 meant?", "gfx90a gfx942"]);
    workspace.run(&["--arch", "pentium"]).must(1, &["\"pentium\"", "gfx", "sm_"]);
    assert_eq!((workspace.runs(), workspace.path("out").exists()), (0, false));
}

#[test]
fn an_architecture_that_only_the_compiler_knows_is_built_with_a_note() {
    let workspace = Workspace::new(COPY);
    std::fs::write(workspace.path("known"), "--offload-arch=gfx1310\n").expect("writable");
    // The script's objects are none of AMD's: where there is a disassembler, it fails at the first; else they are checked.
    let words = ["note: amd gfx1310 is not in our list", "amd gfx1310: "];
    workspace.run(&["--platform", "amd", "--arch", "gfx1310"]).must(1, &words);
    assert!(workspace.runs() > 0);
}

#[test]
fn a_missing_compiler_is_said_with_the_remedy() {
    let workspace = Workspace::new(COPY);
    let bare = |args: &[&str]| {
        let mut command = workspace.command(args);
        command
            .env_clear()
            .env("PATH", workspace.dir.path())
            .env("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR"));
        Seen::of(command.output().expect("it starts"))
    };
    bare(&W64).must(1, &["no C++ compiler", "$CXX", "install g++"]);
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/ci/rocm/bin/hipcc");
    if !Path::new("/opt/rocm/bin/hipcc").exists() && !fetched.exists() {
        bare(&GFX).must(1, &["no hipcc of ROCm 6", "$HIPCC", "$ROCM_PATH", "ci/fetch-rocm-compiler.sh"]);
    }
    assert!(!workspace.path("out").exists());
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let workspace = Workspace::new(COPY);
    std::fs::write(workspace.path("out"), "a file").expect("writable");
    workspace.run(&W64).must(1, &["cannot write in", "out/host/host-w64", "--out"]);
    assert_eq!(workspace.runs(), 0);
}

#[test]
fn a_stopped_build_goes_on_where_it_was() {
    // Those after the third, as they began, take very long.
    let workspace = Workspace::new(&format!(
        "number=$(grep -n -x \"$unit\" \"$dir/log\" | cut -d: -f1)\n[ \"$number\" -le 3 ] || exec sleep 20\n{COPY}"
    ));
    let mut child = quiet(workspace.command(&W64));
    let listed =
        || std::fs::read_to_string(workspace.path("out/host/host-w64/manifest.json")).unwrap_or_default();
    wait_for(|| workspace.runs() > 3 && listed().matches("\"hash\"").count() == 3);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let left = workspace.files();
    assert!(left.contains(&".work".to_string()), "{left:?}");
    workspace.compiler(COPY);
    workspace.run(&W64).must(0, &[&format!("3 current, {} compiled", UNITS - 3)]);
    assert_eq!(workspace.files(), whole());
}

#[test]
fn two_builds_in_one_folder_take_turns() {
    let workspace = Workspace::new(&format!("sleep 0.2\n{COPY}"));
    let children = [quiet(workspace.command(&W64)), quiet(workspace.command(&W64))];
    let seen = children.map(|child| Seen::of(child.wait_with_output().expect("it ends")));
    let compiled = seen.iter().filter(|seen| seen.has("0 current, ALL compiled")).count();
    let current = seen.iter().filter(|seen| seen.has("ALL current, 0 compiled")).count();
    let texts = seen.iter().map(|seen| seen.text.as_str()).collect::<String>();
    assert_eq!((compiled, current, workspace.runs()), (1, 1, UNITS), "{texts}");
    assert_eq!(workspace.files(), whole());
}

/// In a name space of its own a test may mount a small disk.
#[test]
fn a_full_disk_is_named_and_left_tidy() {
    let workspace = Workspace::new(
        "head -c 500000 /dev/zero > \"$out\" || { echo 'cannot write' >&2; exit 1; }\ncp \"$good\" \"$out\"",
    );
    let may =
        Command::new("unshare").args(["--mount", "--map-root-user", "true"]).stderr(Stdio::null()).status();
    if !may.is_ok_and(|status| status.success()) {
        println!("skipped: this user may not mount");
        return;
    }
    std::fs::create_dir(workspace.path("out")).expect("writable");
    let script = "mount -t tmpfs -o size=400k none \"$OUT\" && \"$@\"; code=$?; echo; find \"$OUT\" -type f; exit $code";
    let inner = workspace.command(&W64);
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c", script, "sh"]).env("OUT", workspace.path("out"));
    command.arg(inner.get_program()).args(inner.get_args());
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let seen = Seen::of(command.output().expect("it starts"));
    if seen.text.contains("mount:") {
        println!("skipped: this user may not mount");
        return;
    }
    seen.must(1, &["no space left for", "out/host/host-w64", "MiB must be free", "--out"]);
    assert!(!seen.text.contains(".work/"), "{}", seen.text);
}

fn quiet(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

fn wait_for(done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(60), "it takes too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}
