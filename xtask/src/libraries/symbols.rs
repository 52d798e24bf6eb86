//! Compares a file's exports with a table's list of functions. The file is read, never loaded.

use super::kind::Kind;
use super::version::{Release, Releases, release};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol, SymbolKind, elf};
use std::collections::BTreeSet;
use std::path::Path;

/// The functions of a table in a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Symbols {
    /// Number of required functions found, and expected.
    pub required: (usize, usize),
    /// Optional functions found.
    pub optional: Vec<&'static str>,
    /// Optional functions missing, with the release that introduced them.
    pub absent: Vec<(&'static str, &'static str)>,
    /// Number of C functions of this library that the file exports beyond the table.
    pub unwrapped: usize,
    /// Contradictions to functions.toml.
    pub errors: Vec<String>,
}

/// The exports of a shared library.
pub(super) struct Exports {
    /// The names of the functions that it exports.
    pub functions: BTreeSet<String>,
    /// Its SONAME, by which the system's search finds it.
    pub soname: Option<String>,
}

/// Reads a shared library.
pub(super) fn exports(file: &Path) -> Result<Exports, String> {
    let bytes = std::fs::read(file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
    let parsed = ElfFile64::<Endianness>::parse(&*bytes)
        .map_err(|e| format!("{}: no library: {e}", file.display()))?;
    let names = parsed.dynamic_symbols().filter(is_function);
    let functions = names.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect();
    let soname = parsed.elf_dynamic_table().ok().and_then(|table| {
        let entry = table.iter().find(|entry| entry.tag == elf::DT_SONAME)?;
        Some(String::from_utf8_lossy(table.string(entry).ok()?).into_owned())
    });
    Ok(Exports { functions, soname })
}

fn is_function<'data>(symbol: &impl ObjectSymbol<'data>) -> bool {
    symbol.is_definition() && symbol.is_global() && symbol.kind() == SymbolKind::Text
}

/// Compares the exports with the table, for a library that belongs to one of these releases.
pub(super) fn check(kind: Kind, exports: &BTreeSet<String>, releases: Releases) -> Symbols {
    let mut found = Symbols::default();
    for symbol in kind.symbols() {
        let there = exports.contains(symbol.name);
        let (name, section) = (symbol.name, kind.module());
        let Some(since) = symbol.since else {
            found.required.1 += 1;
            found.required.0 += usize::from(there);
            if !there {
                found.errors.push(format!("{name} is absent, and [{section}] in functions.toml requires it"));
            }
            continue;
        };
        let Some(came) = release(since) else {
            found.errors.push(format!("{name}: functions.toml has no release in since = {since:?}"));
            continue;
        };
        if there {
            found.optional.push(name);
        } else {
            found.absent.push((name, since));
        }
        if there && releases.last < came {
            let last = text(releases.last);
            found.errors.push(format!("{name} is in ROCm {last} already: since = {since:?} is wrong"));
        } else if !there && releases.first >= came {
            let first = text(releases.first);
            found.errors.push(format!("{name} is absent from ROCm {first}: since = {since:?} is wrong"));
        }
    }
    let wrapped = |name: &str| kind.symbols().iter().any(|symbol| symbol.name == name);
    found.unwrapped = exports.iter().filter(|name| kind.owns(name) && !wrapped(name)).count();
    found
}

fn text(release: Release) -> String {
    format!("{}.{}", release.0, release.1)
}
