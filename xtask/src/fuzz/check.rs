//! One input: read, and what was read held against what its users rely on.

use code_object::{Argument, CodeObject, KernelInfo, Param, ValueKind};
use hip_sys::{Image, ImageError};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How an input ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    /// It was read to its end.
    Read,
    /// It was read to its end, and has no kernel metadata.
    WithoutKernels,
    /// It was refused, in this part of it.
    Refused(&'static str),
    /// The reader is wrong: why.
    Wrong(String),
}

/// Reads an input for a device.
pub(super) fn check(bytes: &[u8], arch: &str) -> Outcome {
    match catch_unwind(AssertUnwindSafe(|| Image::new(bytes, arch))) {
        Ok(Ok(image)) => match image.code_object().map(relied_on) {
            None => Outcome::WithoutKernels,
            Some(Ok(())) => Outcome::Read,
            Some(Err(what)) => Outcome::Wrong(what),
        },
        Ok(Err(error)) if error.to_string().is_empty() => Outcome::Wrong("a refusal without a reason".into()),
        Ok(Err(ImageError::Code(error))) => Outcome::Refused(error.stage()),
        Ok(Err(ImageError::OtherDevice { .. })) => Outcome::Refused("other device"),
        Ok(Err(_)) => Outcome::Refused("kind of file"),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
            Outcome::Wrong(format!("panic: {}", text.unwrap_or_default()))
        }
    }
}

/// What those who launch kernels rely on.
fn relied_on(code: &CodeObject) -> Result<(), String> {
    let mut names = BTreeMap::new();
    for kernel in &code.kernels {
        kernel_holds(kernel).map_err(|what| format!("kernel {:?}: {what}", kernel.name))?;
        if names.insert(&kernel.name, ()).is_some() {
            return Err(format!("two kernels {:?}", kernel.name));
        }
    }
    Ok(())
}

fn kernel_holds(kernel: &KernelInfo) -> Result<(), String> {
    let holds = |what: &str, it: bool| if it { Ok(()) } else { Err(what.to_string()) };
    let ends = |a: &Argument| a.offset as u128 + a.size as u128;
    let within = |a| ends(a) <= u128::from(kernel.kernarg_bytes);
    let shown: Vec<_> = kernel.arguments.iter().filter(|a| !matches!(a.kind, ValueKind::Hidden(_))).collect();
    let same = |(p, a): (&Param, &&Argument)| (p.offset, p.size) == (a.offset, a.size);
    holds("arguments outside", kernel.arguments.iter().all(within))?;
    holds(
        "arguments overlap",
        kernel.arguments.windows(2).all(|two| ends(&two[0]) <= two[1].offset as u128),
    )?;
    holds(
        "params are others",
        kernel.params.len() == shown.len() && kernel.params.iter().zip(&shown).all(same),
    )?;
    holds("wave size", [32, 64].contains(&kernel.wave_size))?;
    holds("threads", kernel.max_threads_per_block > 0)?;
    holds("alignment", kernel.kernarg_align.is_power_of_two())?;
    holds("no name", !kernel.name.is_empty())?;
    let threads = kernel.required_block.map(|block| block.iter().map(|&n| u128::from(n)).product::<u128>());
    holds("required block", threads.is_none_or(|n| n > 0 && n <= u128::from(kernel.max_threads_per_block)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_name_the_part_that_was_refused() {
        assert_eq!(check(b".version 7.0", "sm_90"), Outcome::WithoutKernels);
        assert_eq!(check(b"\x7fELF", "gfx90a"), Outcome::Refused("ELF"));
        assert_eq!(check(b"__CLANG_OFFLOAD_BUNDLE__", "gfx90a"), Outcome::Refused("bundle"));
        assert_eq!(check(b"CCOB\x02\0", "gfx90a"), Outcome::Refused("compressed"));
        assert_eq!(check(b"text", "gfx90a"), Outcome::Refused("kind of file"));
    }
}
