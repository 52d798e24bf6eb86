//! Generates Rust tables from kernels.toml and the headers. It compiles nothing; the compiler of a device does that on demand.

use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The include folders, as in src/lib.rs.
const HEADER_FOLDERS: [&str; 2] = ["headers", "platform"];

#[derive(Deserialize)]
struct Kernels {
    family: Vec<Family>,
}

#[derive(Deserialize)]
struct Family {
    name: String,
    barriers: bool,
    waves: String,
    #[serde(default)]
    matrix_units: bool,
    dtypes: Vec<String>,
    group: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    name: String,
    ops: Vec<String>,
    dtypes: Option<Vec<String>>,
}

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=kernels.toml");
    let text = fs::read_to_string(root.join("kernels.toml")).expect("kernels.toml is readable");
    let kernels: Kernels = toml::from_str(&text).expect("kernels.toml has families with groups of kernels");
    write(&out.join("families.rs"), &families(&root, &kernels));
    write(&out.join("headers.rs"), &headers(&root));
}

/// The table of families, as an expression of type `&[Family]`.
fn families(root: &Path, kernels: &Kernels) -> String {
    let mut text = String::from("&[\n");
    for family in &kernels.family {
        let waves = if family.waves == "both" { "Both" } else { "Any" };
        assert!(["any", "both"].contains(&family.waves.as_str()), "waves of {} is any or both", family.name);
        let file = format!("{}.hip", family.name);
        let source = root.join("families").join(&file);
        println!("cargo::rerun-if-changed={}", source.display());
        text += &format!(
            "Family {{ name: {:?}, file: {file:?}, source: include_str!({source:?}), barriers: {:?}, waves: Waves::{waves}, \
             matrix_units: {:?}, dtypes: &{:?}, groups: &[\n",
            family.name, family.barriers, family.matrix_units, family.dtypes
        );
        for group in &family.group {
            let dtypes = group.dtypes.as_ref().unwrap_or(&family.dtypes);
            text +=
                &format!("Group {{ name: {:?}, ops: &{:?}, dtypes: &{dtypes:?} }},\n", group.name, group.ops);
        }
        text += "] },\n";
    }
    text + "]\n"
}

/// The table of headers, as an expression of type `&[(&str, &str)]`: name and text.
fn headers(root: &Path) -> String {
    let mut headers = Vec::new();
    for folder in HEADER_FOLDERS {
        let folder = root.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        let files = fs::read_dir(&folder).expect("the folder of the headers is readable");
        headers.extend(files.map(|file| file.expect("the folder of the headers is readable").path()));
    }
    headers.retain(|path| path.extension().is_some_and(|ending| ending == "hpp"));
    headers.sort();
    let mut text = String::from("&[\n");
    for path in headers {
        let name = path.file_name().expect("a file has a name").to_string_lossy();
        text += &format!("({name:?}, include_str!({path:?})),\n");
    }
    text + "]\n"
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|e| panic!("cannot write {}: {e}", path.display()));
}
