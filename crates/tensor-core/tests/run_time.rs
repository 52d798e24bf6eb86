//! Kernels of every family through the run-time compiler of AMD's real library, which needs no GPU. Skipped with a word where no
//! libamdhip64 with hiprtc is installed. More than one family takes minutes, and is asked for:
//! `cargo test --workspace --test run_time -- --ignored every_family`, or `every_unit` for every dtype. `ci/run-time-compiler.sh` runs
//! them with an unpacked ROCm.

#[path = "../../code-object/tests/common/skip.rs"]
mod skip;

use hip_safe::{CodeObject, Error, Platform, Source};
use hip_sys::LoadError;
use kernels_hip::Unit;
use skip::without_rocm;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

/// An architecture, and how many lanes its waves have.
type Architecture = (&'static str, u32);

/// A chip of Instinct and one of Radeon, where the compiler knows both.
const NEW: [Architecture; 2] = [("gfx942", 64), ("gfx1201", 32)];

/// Else what every release since 5.2 knows.
const OLD: [Architecture; 3] = [("gfx906", 64), ("gfx90a", 64), ("gfx1030", 32)];

/// What the platform's compiler is asked for.
fn architectures(platform: &Platform) -> &'static [Architecture] {
    let known = platform.rtc_architectures().expect("AMD's has a list");
    if NEW.iter().all(|(arch, _)| known.contains(arch)) { &NEW } else { &OLD }
}

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

fn source(unit: &Unit, wave_size: u32) -> Source {
    Source::new(unit.family.source)
        .name(unit.family.file)
        .headers(kernels_hip::HEADERS.iter().copied())
        .options(unit.options("amd", wave_size).expect("AMD's GPUs have a compiler"))
}

/// The kernels of one unit for one architecture: how many there are, which is as many as the list has.
fn compile(platform: &Platform, unit: &Unit, (arch, wave_size): (&str, u32)) -> usize {
    let name = unit.name();
    let compiled = source(unit, wave_size).compile(platform, arch);
    let compiled = compiled.unwrap_or_else(|error| panic!("{name} for {arch}: {error}"));
    let object = CodeObject::parse(compiled.code()).expect("a whole code object").expect("with metadata");
    assert_eq!(object.target.map(|target| target.to_string()).as_deref(), Some(arch), "{name}");
    let mut found: Vec<&str> = object.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    let mut wanted = unit.kernels();
    found.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(found, wanted, "{name} for {arch}");
    found.len()
}

/// A unit and what it is compiled for.
type Work = (Unit, Architecture);

/// The unit for one of the architectures that have it: which one depends on the turn.
fn in_turn(architectures: &[Architecture], turn: usize, unit: Unit) -> Option<Work> {
    let known: Vec<_> = architectures.iter().filter(|(arch, _)| unit.is_for("amd", arch)).collect();
    known.get(turn % known.len().max(1)).map(|architecture| (unit, **architecture))
}

/// A family that compiles quickly.
#[test]
fn a_family_compiles_for_all_architectures() {
    let unit = kernels_hip::unit("transpose", "i32").expect("it ships");
    compile_all("a_family_compiles_for_all_architectures", |architectures| {
        architectures.iter().map(|architecture| (unit, *architecture)).collect()
    });
}

/// Every family once: for which architecture, and for which of its dtypes, turns from family to family.
#[test]
#[ignore = "takes two minutes; the step slow-tests runs it"]
fn every_family_compiles_for_an_architecture() {
    compile_all("every_family_compiles_for_an_architecture", |architectures| {
        let families = kernels_hip::families().iter().enumerate();
        let work = families.filter_map(|(turn, family)| {
            let dtype = family.dtypes[turn % family.dtypes.len()];
            in_turn(architectures, turn, Unit { family: *family, dtype })
        });
        work.collect()
    });
}

/// Every unit: by a new library for each architecture that has it, by an old one for one of them, in turns.
#[test]
#[ignore = "takes tens of minutes; ci/run-time-compiler.sh runs it"]
fn every_unit_compiles() {
    compile_all("every_unit_compiles", |architectures| {
        if architectures == NEW {
            let all = kernels_hip::units().flat_map(|unit| NEW.map(|architecture| (unit, architecture)));
            return all.filter(|(unit, (arch, _))| unit.is_for("amd", arch)).collect();
        }
        let units = kernels_hip::units().enumerate();
        units.filter_map(|(turn, unit)| in_turn(architectures, turn, unit)).collect()
    });
}

/// The command that started this program, up to its own arguments: with unpacked libraries (`ci/run-unpacked.sh`) that is a loader with
/// options, then the program.
fn this_program() -> Command {
    let line = std::fs::read("/proc/self/cmdline").expect("a process can read its own command line");
    let words: Vec<&[u8]> = line.strip_suffix(b"\0").unwrap_or(&line).split(|byte| *byte == 0).collect();
    let own = std::env::args_os().count() - 1;
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args(words[1..words.len() - own].iter().map(|word| OsStr::from_bytes(word)));
    command
}

/// Within a process the library compiles one text at a time, so there is a process for each core, and each takes its share of
/// what the test of this name compiles.
fn compile_all(test: &str, work: impl Fn(&[Architecture]) -> Vec<Work>) {
    const CHILD: &str = "TENSOR_CORE_TEST_SHARE";
    let Some(platform) = real() else { return };
    let architectures = architectures(&platform);
    let work = work(architectures);
    if let Some(share) = std::env::var_os(CHILD) {
        let share = share.to_str().and_then(|share| share.split_once('/')).expect("as below");
        let [first, step] = [share.0, share.1].map(|number| number.parse::<usize>().expect("a number"));
        for (unit, target) in work.iter().skip(first).step_by(step) {
            println!("compiled {} {} {}", unit.name(), target.0, compile(&platform, unit, *target));
        }
        return;
    }
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let start = |share: usize| {
        let mut command = this_program();
        command
            .args(["--exact", test, "--nocapture", "--include-ignored"])
            .env(CHILD, format!("{share}/{cores}"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can start itself")
    };
    let children: Vec<_> = (0..cores).map(start).collect();
    let mut compiled = Vec::new();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {errors}", output.status);
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        compiled.extend(lines.lines().filter_map(|line| line.split("compiled ").nth(1).map(str::to_owned)));
    }
    compiled.sort_unstable();
    let listed = |(unit, (arch, _)): &Work| format!("{} {arch} {}", unit.name(), unit.kernels().len());
    let mut wanted: Vec<String> = work.iter().map(listed).collect();
    wanted.sort_unstable();
    assert_eq!(compiled, wanted);
    let kernels: usize = work.iter().map(|(unit, _)| unit.kernels().len()).sum();
    let names: Vec<&str> = architectures.iter().map(|(arch, _)| *arch).collect();
    let (count, names, version) = (work.len(), names.join(", "), platform.version());
    println!("hiprtc of HIP {version}: {count} objects of {kernels} kernels, for {names}");
}

#[test]
fn an_error_in_a_kernel_has_the_compilers_message() {
    let Some(platform) = real() else { return };
    let unit = kernels_hip::unit("reduce", "f32").expect("it ships");
    let text = format!("{}\n__global__ void broken() {{ no_such_function(); }}\n", unit.family.source);
    let wrong = Source::new(text)
        .name("broken.hip")
        .headers(kernels_hip::HEADERS.iter().copied())
        .options(unit.options("amd", 32).expect("AMD's GPUs have a compiler"))
        .compile(&platform, "gfx1030")
        .expect_err("it calls what does not exist");
    let Error::Compilation { name, arch, log } = &wrong else { panic!("{wrong}") };
    assert_eq!((name.as_str(), arch.as_str()), ("broken.hip", "gfx1030"));
    assert!(log.contains("use of undeclared identifier 'no_such_function'"), "{log}");
    assert!(wrong.to_string().contains(log.as_str()));
}
