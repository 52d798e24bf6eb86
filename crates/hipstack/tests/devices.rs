//! `hipstack devices` on a library of AMD SMI whose values are known: `crates/amd-smi-safe/tests/suite/fake.c`.

use serde_json::{Value as Json, json};
use std::path::Path;
use std::process::Command;

/// What the program prints when the folder is its ROCm.
fn devices(rocm: &Path, more: &[&str]) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_hipstack"));
    program.arg("devices").args(more).env("ROCM_PATH", rocm);
    for python in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
        program.env_remove(python);
    }
    let output = program.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A folder with the library, compiled with these macros.
fn rocm(defines: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lib = folder.path().join("lib");
    std::fs::create_dir(&lib).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../amd-smi-safe/tests/suite/fake.c");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", "-w", "-o"])
        .arg(lib.join("libamd_smi.so.27"))
        .arg(source)
        .args(defines);
    assert!(compiler.status().unwrap().success());
    folder
}

#[test]
fn gpus_are_a_table_or_json() {
    let rocm = rocm(&["-DMAJOR=27"]);
    let text = devices(rocm.path(), &[]);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        lines[0].join(" "),
        "name device bus °C W of W busy memory of processes driver",
        "thirteen GPUs follow: {text}"
    );
    assert_eq!(
        lines[1].join(" "),
        "AMD Instinct MI300X amd:0 0000:c1:00.0 41 749 750 97 % 1.1 GB 17.2 GB 1 amdgpu 6.16.6"
    );
    assert!(lines[2].join(" ").ends_with("… - abcde:07:1f.5 40 33 - - - - 70 -"), "{text}");
    assert!(text.contains("permission denied: run as root"), "what was not read is said: {text}");
    let json: Json = serde_json::from_str(&devices(rocm.path(), &["--json"])).unwrap();
    assert_eq!((&json[0]["vendor"], json[0]["gpus"].as_array().map(Vec::len)), (&json!("AMD"), Some(13)));
    assert_eq!(
        json[0]["gpus"][0],
        json!({
            "name": "AMD Instinct MI300X", "device": "amd:0", "bus_id": "0000:c1:00.0", "driver": "amdgpu 6.16.6",
            "temperature_celsius": 41, "power_watts": 749, "power_cap_watts": 750, "busy_percent": 97,
            "memory_used_bytes": 1_073_741_824, "memory_total_bytes": 17_179_869_184_u64, "processes": 1, "failures": [],
        })
    );
}

#[test]
fn without_a_driver_it_says_so() {
    let rocm = rocm(&["-DMAJOR=27", "-DNO_DRIVER"]);
    let text = devices(rocm.path(), &[]);
    assert!(
        text.starts_with("AMD: AMD SMI has no GPU to read: the kernel driver amdgpu is not loaded"),
        "{text}"
    );
    let json: Json = serde_json::from_str(&devices(rocm.path(), &["--json"])).unwrap();
    assert_eq!((&json[0]["library"], &json[0]["gpus"]), (&Json::Null, &json!([])));
    assert!(json[0]["missing"].as_str().is_some_and(|missing| missing.contains("modprobe amdgpu")), "{json}");
}
