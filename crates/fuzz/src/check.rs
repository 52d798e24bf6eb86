//! Reads one input, and checks what was read against what its users rely on.

use super::walk::walk;
use code_object::KernelInfo;
use hip_sys::{Image, ImageError};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of reading an input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    /// It was read completely.
    Read,
    /// It was read completely, and has no kernel metadata.
    WithoutKernels,
    /// It was rejected, because of this part.
    Refused(&'static str),
    /// The reader made a mistake; the text says which.
    Wrong(String),
}

/// Reads an input for a device. `kernels` are the expected kernels if the input was not changed.
pub(super) fn check(bytes: &[u8], arch: &str, kernels: Option<&[String]>) -> Outcome {
    match (catch_unwind(AssertUnwindSafe(|| Image::new(bytes, arch))), kernels) {
        (Ok(Ok(image)), _) => accepted(&image, kernels).unwrap_or_else(Outcome::Wrong),
        (Ok(Err(error)), Some(_)) => Outcome::Wrong(format!("nothing is wrong with it: {error}")),
        (Ok(Err(error)), None) => refused(&error),
        (Err(panic), _) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
            Outcome::Wrong(format!("panic: {}", text.unwrap_or_default()))
        }
    }
}

/// Checks an accepted image with a walk that shares no code with the reader.
fn accepted(image: &Image, kernels: Option<&[String]>) -> Result<Outcome, String> {
    if image.bytes().starts_with(b"\x7fELF") {
        walk(image.bytes()).map_err(|what| format!("a runtime is led outside: {what}"))?;
    }
    let found = image.code_object().map(|code| &code.kernels[..]);
    for kernel in found.unwrap_or_default() {
        params_fit(kernel).map_err(|what| format!("kernel {:?}: {what}", kernel.name))?;
    }
    let names: Vec<&str> = found.unwrap_or_default().iter().map(|kernel| &kernel.name[..]).collect();
    if kernels.is_some_and(|kernels| kernels != names) {
        return Err(format!("nothing is wrong with it, and its kernels are {names:?}"));
    }
    Ok(if found.is_some() { Outcome::Read } else { Outcome::WithoutKernels })
}

/// Checks that a kernel's parameters do not overlap and stay inside its arguments: a launch writes at these offsets.
fn params_fit(kernel: &KernelInfo) -> Result<(), String> {
    let mut written = vec![false; usize::try_from(kernel.kernarg_bytes.min(1 << 20)).unwrap_or(0)];
    for param in &kernel.params {
        let end = param.offset.checked_add(param.size);
        let Some(bytes) = end.and_then(|end| written.get_mut(param.offset..end)) else {
            return Err(format!("{param:?} lies outside of {} bytes", kernel.kernarg_bytes));
        };
        if bytes.iter().any(|byte| *byte) {
            return Err(format!("{param:?} lies over another"));
        }
        bytes.fill(true);
    }
    Ok(())
}

fn refused(error: &ImageError) -> Outcome {
    match error {
        error if error.to_string().is_empty() => Outcome::Wrong("a refusal without a reason".into()),
        ImageError::Code(error) => Outcome::Refused(error.stage()),
        ImageError::OtherDevice { .. } => Outcome::Refused("other device"),
        ImageError::NoMetadata { .. } => Outcome::Refused("no metadata"),
        _ => Outcome::Refused("kind of file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_names_the_rejected_part() {
        assert_eq!(check(b".version 7.0", "sm_90", None), Outcome::WithoutKernels);
        assert_eq!(check(b"\x7fELF", "gfx90a", None), Outcome::Refused("ELF"));
        assert_eq!(check(b"__CLANG_OFFLOAD_BUNDLE__", "gfx90a", None), Outcome::Refused("bundle"));
        assert_eq!(check(b"CCOB\x02\0", "gfx90a", None), Outcome::Refused("compressed"));
        assert_eq!(check(b"text", "gfx90a", None), Outcome::Refused("kind of file"));
    }

    #[test]
    fn an_unchanged_input_must_be_read() {
        let names = ["k".to_string()];
        for (bytes, arch) in [(&b"\x7fELF"[..], "gfx90a"), (b".version 7.0", "sm_90")] {
            let Outcome::Wrong(why) = check(bytes, arch, Some(&names)) else { panic!("it has no kernel k") };
            assert!(why.starts_with("nothing is wrong with it"), "{why}");
        }
    }
}
