//! `cargo xtask snippets`: compiles and runs the Rust examples that a newcomer copies, in a program outside
//! the workspace.
//!
//! Doctests of a crate see its dev-dependencies and features; another program does not. README.md's examples
//! get exactly the dependencies that README.md tells to write into Cargo.toml. Those of a crate's front page
//! get the crates that they name.

mod manifest;
mod pages;

use crate::{packages, workspace};
use pages::Page;
use std::path::Path;

/// Options of `cargo xtask snippets`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:
  cargo xtask snippets    compile and run every example of README.md and of the crates' front pages as a stranger would

The programs are in target/snippets.")]
pub struct SnippetsArgs {}

/// Runs the command; the error is the text to show.
pub fn run(_: &SnippetsArgs) -> Result<(), String> {
    let root = workspace::root()?;
    let packages = packages::all(&root)?;
    let mut pages = vec![Page::readme(&root)?];
    for package in packages.iter().filter(|package| package.published) {
        pages.extend(Page::front(package)?);
    }
    let examples: usize = pages.iter().map(Page::examples).sum();
    println!("snippets: {examples} examples on {} pages", pages.len());

    let folder = root.join("target/snippets");
    let mut members = Vec::new();
    for page in &pages {
        let manifest = manifest::of_page(page, &packages, &root)?;
        let member = folder.join(&page.name);
        workspace::write_whole(&member.join("Cargo.toml"), manifest.as_bytes())?;
        workspace::write_whole(&member.join("page.md"), page.text.as_bytes())?;
        workspace::write_whole(&member.join("src/lib.rs"), b"#![doc = include_str!(\"../page.md\")]\n")?;
        members.push(page.name.clone());
    }
    let manifest = manifest::of_all(&members, &packages, &root)?;
    workspace::write_whole(&folder.join("Cargo.toml"), manifest.as_bytes())?;
    // The same dependency versions as the rest of the workspace, so that compiled dependencies are reused.
    copy(&root.join("Cargo.lock"), &folder.join("Cargo.lock"))?;

    let mut cargo = workspace::cargo(&folder);
    let status = cargo
        .args(["test", "--doc", "--workspace", "--no-fail-fast", "--target-dir"])
        .arg(root.join("target"))
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("snippets: an example does not work outside of the workspace; see above".into()),
        Err(error) => Err(format!("snippets: cannot start cargo: {error}")),
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    std::fs::copy(from, to)
        .map(drop)
        .map_err(|e| format!("cannot copy {} to {}: {e}", from.display(), to.display()))
}
