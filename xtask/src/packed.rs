//! `cargo xtask packed`: packs the published crates, and checks each lockfile.
//!
//! A packed lockfile must not take a crate of this workspace from a registry, where the name may belong to
//! somebody else.

use crate::packages::{self, Package};
use crate::workspace;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of `cargo xtask packed`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:
  cargo xtask packed    pack every published crate, and refuse a lockfile that takes one of ours from elsewhere

The packages are in target/package.")]
pub struct PackedArgs {}

/// Runs the command; the error is the text to show.
pub fn run(_: &PackedArgs) -> Result<(), String> {
    let root = workspace::root()?;
    let packages = packages::all(&root)?;
    let published: Vec<&Package> = packages.iter().filter(|package| package.published).collect();
    let mut cargo = workspace::cargo(&root);
    // Compiling them again would show nothing that other steps do not.
    cargo.args(["package", "--workspace", "--no-verify", "--allow-dirty"]);
    for package in packages.iter().filter(|package| !package.published) {
        cargo.args(["--exclude", &package.name]);
    }
    let status = cargo.status().map_err(|e| format!("packed: cannot start cargo: {e}"))?;
    if !status.success() {
        return Err("packed: cargo package failed; see above".into());
    }
    let mut problems = Vec::new();
    for package in &published {
        let lock = lockfile(&packed_file(&root, package), package)?;
        problems.extend(
            strangers(&lock, &published, &root)?.iter().map(|problem| format!("{}: {problem}", package.name)),
        );
    }
    println!("packed: {} packages, {} problems", published.len(), problems.len());
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// The Cargo.lock of a packed crate.
fn lockfile(file: &Path, package: &Package) -> Result<String, String> {
    let member = format!("{}-{}/Cargo.lock", package.name, package.version);
    let mut tar = Command::new("tar");
    workspace::stdout_of(tar.arg("-xzOf").arg(file).arg(&member))
        .map_err(|why| format!("packed: {}: {why}", file.display()))
}

/// The packages of `ours` that a lockfile takes from a registry with another checksum than that of the file
/// packed here.
fn strangers(lock: &str, ours: &[&Package], root: &Path) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for locked in read(lock)? {
        let Some(package) = ours.iter().find(|package| package.is_called(&locked.name)) else { continue };
        let Some(source) = locked.source else { continue };
        let file = packed_file(root, package);
        if locked.name != package.name || locked.checksum != Some(checksum(&file)?) {
            found.push(format!(
                "Cargo.lock takes {} from {source}, which is not ours: its dependency needs `package = {:?}`",
                locked.name, package.name
            ));
        }
    }
    Ok(found)
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    source: Option<String>,
    checksum: Option<String>,
}

fn read(lock: &str) -> Result<Vec<Locked>, String> {
    #[derive(Deserialize)]
    struct Lockfile {
        package: Vec<Locked>,
    }
    let lock: Lockfile =
        toml::from_str(lock).map_err(|e| format!("packed: a Cargo.lock is not as expected: {e}"))?;
    Ok(lock.package)
}

/// The SHA-256 of a file, in the format of lockfiles.
fn checksum(file: &Path) -> Result<String, String> {
    let said =
        workspace::stdout_of(Command::new("sha256sum").arg(file)).map_err(|why| format!("packed: {why}"))?;
    said.split_whitespace().next().map(str::to_owned).ok_or_else(|| "packed: sha256sum says nothing".into())
}

fn packed_file(root: &Path, package: &Package) -> PathBuf {
    root.join(format!("target/package/{}-{}.crate", package.name, package.version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_foreign_packages_with_our_names_are_found() {
        let folder = tempfile::tempdir().expect("the temporary folder is writable");
        let ours = crate::packages::read(
            r#"{"packages": [{"name": "hipstack-hip-sys", "version": "0.1.0", "manifest_path": "/w/Cargo.toml", "dependencies": [],
            "targets": [{"name": "hip_sys", "kind": ["lib"], "src_path": "/w/src/lib.rs"}]}]}"#,
        )
        .expect("as cargo writes it");
        let file = packed_file(folder.path(), &ours[0]);
        workspace::write_whole(&file, b"abc").expect("just made");
        // From NIST: the SHA-256 of "abc".
        let right = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let problems = |name: &str, checksum: &str| {
            let lock = format!(
                "[[package]]\nname = {name:?}\nsource = \"registry+https://index\"\nchecksum = {checksum:?}\n"
            );
            strangers(&lock, &[&ours[0]], folder.path()).expect("it can be read").len()
        };
        assert_eq!(problems("hipstack-hip-sys", right), 0);
        assert_eq!(problems("hipstack-hip-sys", "00"), 1, "another package of our name");
        assert_eq!(problems("hip-sys", right), 1, "a stranger's crate under our library's name");
        assert_eq!(problems("libc", "00"), 0);
        assert_eq!(
            strangers("[[package]]\nname = \"hip-sys\"\n", &[&ours[0]], folder.path()),
            Ok(vec![]),
            "a path"
        );
    }
}
