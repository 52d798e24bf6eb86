//! The names of the crate's public methods, read from its source.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Every method of the crate's types, from its source: `Type::method`, and functions by their names.
pub fn methods() -> BTreeSet<String> {
    fn read(folder: &Path, names: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && !["pool", "raw", "tests"].contains(&name) {
                read(&path, names);
            } else if name.ends_with(".rs")
                && !["misuse.rs", "mutation.rs", "kernel.rs", "sync.rs", "tests.rs"].contains(&name)
            {
                read_file(&fs::read_to_string(&path).unwrap(), names);
            }
        }
    }
    fn read_file(text: &str, names: &mut BTreeSet<String>) {
        let mut of = String::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("impl") {
                // Behind its parameters.
                let mut depth = 0;
                let start = rest.find(|c| {
                    depth += i32::from(c == '<') - i32::from(c == '>');
                    depth == 0 && c == ' '
                });
                let rest = rest[start.unwrap_or(0)..].trim_start();
                of = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned() + "::";
            } else if line.starts_with('}') {
                of.clear();
            }
            let inner = line.strip_prefix("    ").unwrap_or(line);
            let Some(rest) = inner.strip_prefix("pub ").filter(|_| !inner.starts_with(' ')) else { continue };
            let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
            if let Some(rest) = rest.strip_prefix("fn ") {
                let name = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap();
                names.insert(format!("{of}{name}"));
            }
        }
    }
    let mut names = BTreeSet::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut names);
    names
}
