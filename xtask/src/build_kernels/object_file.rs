//! Checks that an object contains its kernels, and that none of them does nothing.

use super::idle;
use super::target::{Platform, Target};
use code_object::CodeObject;
use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;

/// Fails if the object lacks kernels, if kernels do nothing, or if it is for another GPU. The error names them.
pub(super) fn check(target: &Target, bytes: &[u8], kernels: &[String]) -> Result<(), String> {
    let platform = target.platform;
    let file = object::File::parse(bytes).map_err(|e| format!("not an object file: {e}"))?;
    if platform == Platform::Amd {
        check_arch(target, bytes)?;
    }
    let symbols: BTreeSet<&str> =
        file.symbols().filter(ObjectSymbol::is_definition).filter_map(|symbol| symbol.name().ok()).collect();
    let present = |name: &str| match platform {
        // The kernel's descriptor; a plain function has no such symbol.
        Platform::Amd => symbols.contains(format!("{name}.kd").as_str()),
        Platform::Nvidia => symbols.contains(name),
        // Host kernels are registered by name.
        Platform::Host => contains_string(bytes, name),
    };
    let missing: Vec<&str> = kernels.iter().map(String::as_str).filter(|name| !present(name)).collect();
    if !missing.is_empty() {
        return Err(format!(
            "{} of {} kernels are missing: {}",
            missing.len(),
            kernels.len(),
            missing.join(" ")
        ));
    }
    let idle = idle::among(platform, &file, kernels)?;
    if idle.is_empty() {
        return Ok(());
    }
    Err(format!("{} of {} kernels do nothing: {}", idle.len(), kernels.len(), idle.join(" ")))
}

/// Whether the code is for the architecture, and for its wave size.
fn check_arch(target: &Target, bytes: &[u8]) -> Result<(), String> {
    let object = CodeObject::parse(bytes).map_err(|e| e.to_string())?;
    let object = object.ok_or("not a code object of AMD's: it has no metadata of kernels")?;
    let arch = object.target.as_ref().map_or("an unknown GPU", |target| target.processor.as_str());
    if arch != target.arch {
        return Err(format!("it is for {arch}, not for {}", target.arch));
    }
    let wave_size = u64::from(target.wave_size());
    match object.kernels.iter().find(|kernel| kernel.wave_size != wave_size) {
        Some(other) => Err(format!("{} has waves of {}, not of {wave_size}", other.name, other.wave_size)),
        None => Ok(()),
    }
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
    fn a_file_of_another_format_is_no_object() {
        for bytes in [b"".as_slice(), b"\x7fELF", b"__CLANG_OFFLOAD_BUNDLE__"] {
            let target = Target::new(Platform::Amd, "gfx90a").expect("known");
            assert!(check(&target, bytes, &[]).expect_err("not one").contains("not an object"));
        }
    }

    #[test]
    fn a_string_is_found_whole() {
        assert!(contains_string(b"x\0sum_f32\0", "sum_f32"));
        assert!(!contains_string(b"x\0cumsum_f32\0", "sum_f32"));
        assert!(!contains_string(b"x\0sum_f32_b\0", "sum_f32"));
    }
}
