//! The glibc version that a program needs: it must not be newer than that of the target machines.

use object::{Object, ObjectSection};
use std::path::Path;

/// An error if the program needs a glibc newer than `most`.
pub(super) fn check(program: &Path, most: (u32, u32)) -> Result<(), String> {
    let bytes = std::fs::read(program).map_err(|error| format!("bundle: {}: {error}", program.display()))?;
    let needed = needed(&bytes).map_err(|error| format!("bundle: {}: {error}", program.display()))?;
    match needed {
        Some(version) if version > most => Err(format!(
            "bundle: {} needs glibc {}.{}, newer than {}.{}: build on an older system, such as Debian 12",
            program.display(),
            version.0,
            version.1,
            most.0,
            most.1
        )),
        _ => Ok(()),
    }
}

/// The newest glibc version that the program's symbols need.
fn needed(program: &[u8]) -> Result<Option<(u32, u32)>, object::Error> {
    let file = object::File::parse(program)?;
    let names =
        file.section_by_name(".dynstr").map(|section| section.data()).transpose()?.unwrap_or_default();
    Ok(names.split(|byte| *byte == 0).filter_map(version).max())
}

/// Parses "GLIBC_2.34"; `None` for other names, including GLIBC_PRIVATE.
fn version(name: &[u8]) -> Option<(u32, u32)> {
    let (major, minor) = std::str::from_utf8(name).ok()?.strip_prefix("GLIBC_")?.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers() {
        let names = ["GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_PRIVATE", "GLIBCXX_3.4", "memcpy"];
        let found: Vec<_> = names.iter().filter_map(|name| version(name.as_bytes())).collect();
        assert_eq!(found, [(2, 34), (2, 2)]);
    }

    #[test]
    fn a_program_that_needs_a_newer_glibc_is_refused() {
        let this = std::env::current_exe().expect("a path");
        let needed = needed(&std::fs::read(&this).expect("readable")).expect("an ELF file");
        assert!(needed.is_some_and(|version| version >= (2, 17)), "{needed:?}");
        let error = check(&this, (2, 1)).expect_err("no Rust program runs on glibc 2.1");
        assert!(error.contains("newer than 2.1"), "{error}");
    }
}
