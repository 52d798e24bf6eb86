//! Whether an object holds the kernels that it should.

use super::target::Platform;
use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;

/// Fails with the names of the kernels that the object lacks.
pub(super) fn check(platform: Platform, bytes: &[u8], kernels: &[String]) -> Result<(), String> {
    let file = object::File::parse(bytes).map_err(|e| format!("not an object file: {e}"))?;
    let symbols: BTreeSet<&str> =
        file.symbols().filter(ObjectSymbol::is_definition).filter_map(|symbol| symbol.name().ok()).collect();
    let present = |name: &str| match platform {
        // The kernel's descriptor; a plain function would have no such symbol.
        Platform::Amd => symbols.contains(format!("{name}.kd").as_str()),
        Platform::Nvidia => symbols.contains(name),
        // Host kernels are registered by name.
        Platform::Host => contains_string(bytes, name),
    };
    let missing: Vec<&str> = kernels.iter().map(String::as_str).filter(|name| !present(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("{} of {} kernels are missing: {}", missing.len(), kernels.len(), missing.join(" ")))
}

/// Whether the C string `text` stands in `bytes`.
fn contains_string(bytes: &[u8], text: &str) -> bool {
    let wanted = [b"\0".as_slice(), text.as_bytes(), b"\0"].concat();
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn something_else_is_no_object() {
        for bytes in [b"".as_slice(), b"\x7fELF", b"__CLANG_OFFLOAD_BUNDLE__"] {
            assert!(check(Platform::Amd, bytes, &[]).expect_err("not one").contains("not an object"));
        }
    }

    #[test]
    fn a_string_is_found_whole() {
        assert!(contains_string(b"x\0sum_f32\0", "sum_f32"));
        assert!(!contains_string(b"x\0cumsum_f32\0", "sum_f32"));
        assert!(!contains_string(b"x\0sum_f32_b\0", "sum_f32"));
    }
}
