//! Generates Rust tables from kernels.toml and the headers. It compiles nothing; the compiler of a device does that on demand.

use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::{env, fs};

#[macro_use]
#[path = "src/operations.rs"]
mod operations;

/// The name of each row of a table of operations, and its dtypes: `all` or `floats`.
macro_rules! rows {
    ($($(#[$doc:meta])* $variant:ident, $name:ident $(($($more:tt)*))?, $($text:literal,)? $dtypes:ident;)+) => {
        &[$((stringify!($name), stringify!($dtypes))),+]
    };
}

/// Names of operations, each with its dtypes.
type Rows = &'static [(&'static str, &'static str)];

/// The tables by the names that kernels.toml gives them.
const TABLES: [(&str, Rows); 5] = [
    ("unary", unary_operations!(rows!)),
    ("scalar", scalar_operations!(rows!)),
    ("binary", binary_operations!(rows!)),
    ("compare", compare_operations!(rows!)),
    ("reduce", reduce_operations!(rows!)),
];

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
    #[serde(default)]
    ops: Vec<String>,
    #[serde(default)]
    tables: Vec<String>,
    dtypes: Option<Vec<String>>,
}

impl Group {
    /// The operations that have all dtypes of the group, those of tables too.
    fn ops(&self) -> Vec<&str> {
        self.ops.iter().map(String::as_str).chain(self.rows("all")).collect()
    }

    /// The operations of its tables with these dtypes.
    fn rows(&self, wanted: &'static str) -> impl Iterator<Item = &str> {
        let table = |name: &String| {
            let found = TABLES.iter().find(|(table, _)| table == name);
            found.unwrap_or_else(|| panic!("src/operations.rs has no table {name}")).1
        };
        let rows = self.tables.iter().flat_map(table);
        rows.filter(move |(_, dtypes)| *dtypes == wanted).map(|(name, _)| *name)
    }
}

fn is_float(dtype: &str) -> bool {
    dtype.starts_with(['f', 'b'])
}

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=kernels.toml");
    println!("cargo::rerun-if-changed=src/operations.rs");
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
            let floats: Vec<&String> = dtypes.iter().filter(|dtype| is_float(dtype)).collect();
            let of_floats: Vec<&str> = group.rows("floats").collect();
            let (name, ops) = (&group.name, group.ops());
            text += &format!("Group {{ name: {name:?}, ops: &{ops:?}, dtypes: &{dtypes:?} }},\n");
            if !of_floats.is_empty() {
                text += &format!("Group {{ name: {name:?}, ops: &{of_floats:?}, dtypes: &{floats:?} }},\n");
            }
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
