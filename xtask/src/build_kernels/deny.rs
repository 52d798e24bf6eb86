//! `--deny-spills`: fails with the kernels that spill and are not listed as exceptions.

use super::exceptions::Exceptions;
use super::manifest::Manifest;
use super::target::{Platform, Target};
use kernel_resources::KernelResources;
use std::path::PathBuf;

/// A kernel, and the target that it was built for.
type Built<'a> = (&'a Target, KernelResources);

/// Fails with the kernels that spill vector registers or use private memory and are not listed as exceptions. `is_chosen`
/// says which units' objects are examined.
pub(super) fn spills(
    targets: &[Target],
    folder: impl Fn(&Target) -> PathBuf,
    is_chosen: impl Fn(&Target, &str) -> bool,
) -> Result<(), String> {
    let exceptions = Exceptions::load()?;
    let names: Vec<String> = kernels_hip::units().flat_map(|unit| unit.kernels()).collect();
    let gone = exceptions.without_kernel(&names);
    if !gone.is_empty() {
        return Err(format!(
            "build-kernels: xtask/src/build_kernels/exceptions.toml names what no kernel is called: {}",
            gone.join(", ")
        ));
    }
    let mut kernels = Vec::new();
    for target in targets {
        let objects = Manifest::read(&folder(target))?.objects;
        let chosen = objects.into_iter().filter(|object| is_chosen(target, &object.unit));
        kernels.extend(chosen.flat_map(|object| object.resources).map(|kernel| (target, kernel)));
    }
    for platform in Platform::ALL {
        warn_of_unused(&exceptions, platform, targets, &kernels);
    }
    denied(&exceptions, &kernels)
}

fn denied(exceptions: &Exceptions, kernels: &[Built<'_>]) -> Result<(), String> {
    let named = kernels.iter().filter_map(|(target, kernel)| {
        let why = exceptions.denied(target.platform.name(), &target.arch, kernel)?;
        Some(format!("  {target}: {why}"))
    });
    let named: Vec<String> = named.collect();
    let (count, said) = (kernels.len(), "spill vector registers or use memory of their own");
    if named.is_empty() {
        println!("build-kernels: none of {count} kernels {said} beyond the exceptions");
        return Ok(());
    }
    Err(format!("build-kernels: {} of {count} kernels {said}:\n{}", named.len(), named.join("\n")))
}

/// Names the exceptions that no kernel of a platform needs any more, if all its architectures were built.
fn warn_of_unused(exceptions: &Exceptions, platform: Platform, targets: &[Target], kernels: &[Built<'_>]) {
    if !platform.all_targets().iter().all(|target| targets.contains(target)) {
        return;
    }
    let of_platform = kernels.iter().filter(|(target, _)| target.platform == platform);
    let of_platform: Vec<_> = of_platform.map(|(target, kernel)| (target.arch.as_str(), kernel)).collect();
    for pattern in exceptions.unused(platform.name(), &of_platform) {
        println!(
            "build-kernels: warning: no kernels spill any more under the exception {pattern:?}: remove it from \
             xtask/src/build_kernels/exceptions.toml"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_named_with_its_target_and_figures() {
        let gfx90a = Target::new(Platform::Amd, "gfx90a").expect("known");
        let built = |vector_spills: u64| {
            let text = format!(
                r#"{{"kernel": "a_x", "vector_registers": 70, "accumulation_registers": 0, "scalar_registers": 8,
                    "shared_bytes": 0, "scratch_bytes": 0, "vector_spills": {vector_spills}, "scalar_spills": 3,
                    "wave_size": 64, "waves_per_simd": 7, "limit": "vector registers", "loops": null}}"#
            );
            vec![(&gfx90a, serde_json::from_str(&text).expect("whole"))]
        };
        let exceptions = Exceptions::default();
        assert_eq!(denied(&exceptions, &built(0)), Ok(()));
        let wanted = "build-kernels: 1 of 1 kernels spill vector registers or use memory of their own:\n  \
                      amd gfx90a: a_x: 2 vector registers spilled, 0 bytes of scratch";
        assert_eq!(denied(&exceptions, &built(2)).expect_err("it spills"), wanted);
    }
}
