//! `hipstack drift` on a made-up model.

use std::process::{Command, Output};

fn drift(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hipstack"));
    command.args(["drift", "random:tiny:q8_0"]).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn devices_that_stay_together_and_a_tolerance_that_none_keeps() {
    let both = ["--device", "host:0", "--device", "cpu", "--tokens", "5"];
    let out = drift(&both);
    let shown = text(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{shown}{}", text(&out.stderr));
    assert!(shown.contains("blk.0") && shown.contains("no activation is off by more than 3.0e-2"), "{shown}");

    let out = drift(&[&both[..], &["--tolerance", "1e-12", "--json"]].concat());
    let found: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(1), "floats of two devices have no 12 digits in common");
    let first = found["first"].as_str().unwrap();
    let activations = found["activations"].as_array().unwrap();
    let index = activations.iter().position(|one| one["name"] == first).unwrap();
    assert!(activations[..index].iter().all(|one| one["error"].as_f64().unwrap() <= 1e-12), "{found}");
    assert!(activations[index]["error"].as_f64().unwrap() > 1e-12, "{found}");
}

#[test]
fn without_devices_it_is_a_hip_device_and_the_cpu() {
    let out = drift(&["--tokens", "2", "--json"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let found: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let devices = found["devices"].as_array().unwrap();
    assert_eq!((devices.len(), devices[1].as_str()), (2, Some("cpu")));
    assert!(devices[0].as_str().unwrap().contains(':'), "{devices:?}");
}

#[test]
fn one_device_is_too_few() {
    let out = drift(&["--device", "cpu"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stderr).contains("name it twice"), "{}", text(&out.stderr));
}
