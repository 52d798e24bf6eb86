//! Bundles that LLVM's own bundler makes of the objects, compressed and not; `hipcc` packs code in the same way.

use super::base::Base;
use super::mutate::Container;
use std::path::Path;
use std::process::{Command, Stdio};

/// Only so many of the smallest objects are bundled, since each takes a process.
const MOST: usize = 48;

/// A bundle of one object, unchanged.
pub(super) struct Packed {
    pub(super) container: Container,
    pub(super) bytes: Vec<u8>,
}

/// Adds the bundles to the bases; an error if the bundler cannot make them.
pub(super) fn add(bases: &mut [Base], bundler: Option<&Path>, folder: &Path) -> Result<(), String> {
    let bundler = bundler.ok_or("without --bundler")?;
    let work =
        tempfile::tempdir_in(folder).map_err(|e| format!("cannot write in {}: {e}", folder.display()))?;
    for base in bases.iter_mut().take(MOST) {
        base.packed = vec![pack(bundler, work.path(), base, false)?, pack(bundler, work.path(), base, true)?];
    }
    Ok(())
}

fn pack(bundler: &Path, work: &Path, base: &Base, compress: bool) -> Result<Packed, String> {
    let (input, output) = (work.join("in"), work.join("out"));
    std::fs::write(&input, &base.bytes).map_err(|e| format!("cannot write {}: {e}", input.display()))?;
    let mut command = Command::new(bundler);
    command.args(["-type=o", "-bundle-align=4096", "-input=/dev/null"]);
    command.arg(format!("-targets=host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--{}", base.arch));
    command.arg(format!("-input={}", input.display())).arg(format!("-output={}", output.display()));
    if compress {
        command.arg("-compress");
    }
    let status = command.stdin(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(format!("{command:?}: {status}")),
        Err(error) => return Err(format!("cannot start {}: {error}", bundler.display())),
    }
    let bytes = std::fs::read(&output).map_err(|e| format!("cannot read {}: {e}", output.display()))?;
    // Without zstd and zlib, LLVM warns and writes a plain one.
    let compressed = bytes.starts_with(b"CCOB");
    let container = if compressed { Container::Compressed } else { Container::Bundle };
    Ok(Packed { container, bytes })
}

/// How many bundles of each kind the bases have.
pub(super) fn count(bases: &[Base], container: Container) -> usize {
    bases.iter().flat_map(|base| &base.packed).filter(|packed| packed.container == container).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_of_llvm_contains_the_object() {
        let bundler = crate::tool::tool("clang-offload-bundler");
        if !bundler.is_file() {
            return crate::skip::without_rocm("no clang-offload-bundler");
        }
        let work = tempfile::tempdir().expect("the temporary folder is writable");
        let mut object = b"\x7fELF".to_vec();
        object.extend((0..5000_u32).map(|n| (n / 70) as u8));
        let base = Base::bare("gfx90a:xnack-", object.clone());
        for compress in [false, true] {
            let packed = pack(&bundler, work.path(), &base, compress).expect("it bundles");
            assert_eq!(packed.container == Container::Compressed, compress);
            let bundle = code_object::Bundle::parse(&packed.bytes).expect("LLVM wrote it");
            let device = code_object::TargetId::parse("gfx90a:sramecc+:xnack-").expect("well formed");
            assert_eq!(bundle.best_for(&device).expect("an entry for it").bytes, object);
        }
    }
}
