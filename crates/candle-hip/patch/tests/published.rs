//! The program on the sources of candle as published, which cargo has.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A copy of both crates, which goes when it is dropped.
struct Checkout(PathBuf);

impl Checkout {
    fn new(name: &str) -> Checkout {
        let folder = std::env::temp_dir().join(format!("candle-hip-patch-{}-{name}", std::process::id()));
        for of in ["candle-core", "candle-nn"] {
            copy(&published(of), &folder.join(of));
        }
        Checkout(folder)
    }

    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.0.join(file)).unwrap()
    }

    fn change(&self, file: &str, from: &str, to: &str) {
        let text = self.text(file);
        assert!(text.contains(from), "{file} has no {from}");
        std::fs::write(self.0.join(file), text.replacen(from, to, 1)).unwrap();
    }

    fn patch(&self) -> Output {
        Command::new(env!("CARGO_BIN_EXE_candle-hip-patch"))
            .args(["candle-core", "candle-nn"].map(|of| self.0.join(of)))
            .output()
            .unwrap()
    }

    /// What the program says about a checkout that does not fit. It changes nothing.
    fn misfit(&self) -> String {
        let before = files(&self.0);
        let output = self.patch();
        assert!(!output.status.success());
        assert!(before == files(&self.0), "a file was changed");
        String::from_utf8(output.stderr).unwrap()
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The folder of a crate's sources.
fn published(name: &str) -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let end = format!("{name}-0.11.1/Cargo.toml\"");
    let at = text.find(&end).unwrap_or_else(|| panic!("cargo has no {name}: {:?}", output.stderr));
    let start = text[..at].rfind('"').unwrap() + 1;
    Path::new(&text[start..at + end.len() - 1]).parent().unwrap().to_owned()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to);
        } else {
            // Not the permissions: the registry's copy may be read-only.
            std::fs::write(to, std::fs::read(&path).unwrap()).unwrap();
        }
    }
}

fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn the_published_version_is_patched_once() {
    let checkout = Checkout::new("fits");
    let output = checkout.patch();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(checkout.text("candle-core/src/device.rs").contains("Hip(crate::HipDevice),"));
    assert!(checkout.text("candle-core/src/hip_backend/location.rs").contains("DeviceLocation::Hip"));
    assert!(checkout.text("candle-core/src/hip_backend/ops/unary.rs").contains("UnaryOpT"));
    assert!(checkout.text("candle-nn/src/ops.rs").contains("hip_backend::nn::softmax_last_dim"));
    let again = checkout.misfit();
    assert!(again.contains("is patched already"), "{again}");
}

#[test]
fn another_version_is_named() {
    let checkout = Checkout::new("version");
    checkout.change("candle-core/Cargo.toml", "version = \"0.11.1\"", "version = \"0.12.0\"");
    let said = checkout.misfit();
    assert!(said.contains("candle-core has version 0.12.0"), "{said}");
}

#[test]
fn other_failures_say_no_more_than_they_know() {
    let checkout = Checkout::new("other");
    let core = checkout.0.join("candle-core").display().to_string();
    let said = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_candle-hip-patch")).args(arguments).output().unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let before = files(&checkout.0);
    let missing = said(&["no/such/folder"]);
    assert!(missing.contains("nothing was changed: no/such/folder/Cargo.toml: "), "{missing}");
    let elsewhere = said(&[&core, "--tensor-core", "no/such/folder"]);
    assert!(elsewhere.contains("nothing was changed: tensor-core in no/such/folder: "), "{elsewhere}");
    assert!(said(&[&core, "--dry-run"]).contains("there is no option --dry-run"));
    assert!(said(&[&core, "--tensor-core"]).contains("--tensor-core needs a path"));
    assert!(before == files(&checkout.0), "a file was changed");
    // A folder is where one of the new files goes: those before it are written.
    std::fs::create_dir_all(checkout.0.join("candle-core/src/hip_backend/quant.rs")).unwrap();
    let written = said(&[&core]);
    assert!(written.contains("quant.rs cannot be written: "), "{written}");
    assert!(!written.contains("nothing was changed"), "{written}");
}

#[test]
fn a_file_that_does_not_fit_is_named() {
    let checkout = Checkout::new("arm");
    checkout.change("candle-core/src/storage.rs", "Self::Metal(storage) => storage.dtype(),", "");
    let said = checkout.misfit();
    assert!(said.contains("src/storage.rs: expected 34 of \"match arms for `Metal`\", found 33"), "{said}");

    let checkout = Checkout::new("nn");
    checkout.change(
        "candle-nn/src/ops.rs",
        "impl candle::CustomOp1 for Sigmoid {",
        "impl candle::CustomOp1 for Logistic {",
    );
    let said = checkout.misfit();
    assert!(
        said.contains("src/ops.rs: expected 1 of \"impl candle::CustomOp1 for Sigmoid \", found 0"),
        "{said}"
    );
}
