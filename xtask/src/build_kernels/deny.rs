//! `--deny-spills` and `--deny-slow`: fails with the kernels that have a fault and no exception.

use super::manifest::Manifest;
use super::target::{Platform, Target};
use crate::resources::KernelResources;
use crate::resources::rules::{Fault, Rules};
use std::path::PathBuf;

/// A kernel, and the target that it was built for.
type Built<'a> = (&'a Target, KernelResources);

/// Fails with the kernels of the targets that have one of these faults and no exception.
pub(super) fn deny(
    faults: &[Fault],
    targets: &[Target],
    folder: impl Fn(&Target) -> PathBuf,
) -> Result<(), String> {
    if faults.is_empty() {
        return Ok(());
    }
    let rules = Rules::load()?;
    let names: Vec<String> = kernels_hip::units().flat_map(|unit| unit.kernels()).collect();
    let gone = rules.without_kernel(&names);
    if !gone.is_empty() {
        return Err(format!(
            "build-kernels: what no kernel is called stands in xtask/src/resources: {}",
            gone.join(", ")
        ));
    }
    let mut kernels = Vec::new();
    for target in targets {
        let objects = Manifest::read(&folder(target))?.objects;
        kernels
            .extend(objects.into_iter().flat_map(|object| object.resources).map(|kernel| (target, kernel)));
    }
    if faults.contains(&Fault::Narrow) {
        all_loops_are_known(&rules, targets, &kernels)?;
        warn_of_undecided(&rules, &names);
    }
    let mut errors = Vec::new();
    for fault in faults {
        for platform in Platform::ALL {
            warn_of_unused(&rules, *fault, platform, targets, &kernels);
        }
        errors.extend(denied(&rules, *fault, &kernels).err());
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

fn denied(rules: &Rules, fault: Fault, kernels: &[Built<'_>]) -> Result<(), String> {
    let named = kernels.iter().filter_map(|(target, kernel)| {
        let why = rules.denied(fault, target.platform.name(), &target.arch, kernel)?;
        Some(format!("  {target}: {why}"))
    });
    let named: Vec<String> = named.collect();
    let (count, said) = (kernels.len(), fault.said());
    if named.is_empty() {
        println!("build-kernels: none of {count} kernels {said} beyond the exceptions");
        return Ok(());
    }
    Err(format!("build-kernels: {} of {count} kernels {said}:\n{}", named.len(), named.join("\n")))
}

/// What is not known must not pass for good.
fn all_loops_are_known(rules: &Rules, targets: &[Target], kernels: &[Built<'_>]) -> Result<(), String> {
    if !targets.iter().any(|target| target.platform == Platform::Amd) {
        return Err(
            "build-kernels: --deny-slow looks at AMD's kernels, and none are asked for: add --arch gfx90a"
                .into(),
        );
    }
    let unknown = |(target, kernel): &&Built<'_>| rules.needs_loops(target.platform.name(), kernel);
    let count = kernels.iter().filter(unknown).count();
    let Some((target, kernel)) = kernels.iter().find(unknown) else { return Ok(()) };
    Err(format!(
        "build-kernels: the loops of {count} kernels are not known, {} for {target} the first: there was no disassembler when \
         they were built; on Debian 12 apt-get install llvm-19, then build again (no kernel is compiled anew)",
        kernel.kernel
    ))
}

fn warn_of_undecided(rules: &Rules, names: &[String]) {
    let undecided = rules.undecided(names);
    if !undecided.is_empty() {
        println!(
            "build-kernels: warning: xtask/src/resources/memory.toml does not say whether these wait for memory: {}",
            undecided.join(" ")
        );
    }
}

/// Names the exceptions that a platform needs no more, if all its architectures were built.
fn warn_of_unused(
    rules: &Rules,
    fault: Fault,
    platform: Platform,
    targets: &[Target],
    kernels: &[Built<'_>],
) {
    if !platform.all_targets().iter().all(|target| targets.contains(target)) {
        return;
    }
    let of_platform = kernels.iter().filter(|(target, _)| target.platform == platform);
    let of_platform: Vec<_> =
        of_platform.map(|(target, kernel)| (target.arch.clone(), kernel.clone())).collect();
    for pattern in rules.unused(fault, platform.name(), &of_platform) {
        println!(
            "build-kernels: warning: no kernels {} any more under the exception {pattern:?}: remove it from \
             xtask/src/resources/exceptions.toml",
            fault.said()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: &str = "[[kernels]]\nnames = [\"a_*\"]\nmemory = true\nwide = \"loads\"\nreason = \"why\"";

    fn built<'a>(target: &'a Target, loops: &str) -> Vec<Built<'a>> {
        let text = format!(
            r#"{{"kernel": "a_x", "vector_registers": 70, "accumulation_registers": 0, "scalar_registers": 8,
                "shared_bytes": 0, "scratch_bytes": 0, "vector_spills": 0, "scalar_spills": 0, "wave_size": 64,
                "waves_per_simd": 7, "limit": "vector registers", "loops": {loops}}}"#
        );
        vec![(target, serde_json::from_str(&text).expect("whole"))]
    }

    #[test]
    fn a_kernel_is_named_with_its_target_and_figures() {
        let gfx90a = Target::new(Platform::Amd, "gfx90a").expect("known");
        let rules = Rules::of(MEMORY, "");
        let error = denied(&rules, Fault::FewWaves, &built(&gfx90a, "null")).expect_err("7 waves");
        let wanted = "build-kernels: 1 of 1 kernels wait for memory in fewer than 8 waves a SIMD:\n  \
                      amd gfx90a: a_x: 7 waves a SIMD by vector registers";
        assert_eq!(error, wanted);
    }

    #[test]
    fn without_a_disassembler_nothing_passes() {
        let gfx90a = Target::new(Platform::Amd, "gfx90a").expect("known");
        let rules = Rules::of(MEMORY, "");
        let known =
            |kernels: &[Built<'_>]| all_loops_are_known(&rules, std::slice::from_ref(&gfx90a), kernels);
        let error = known(&built(&gfx90a, "null")).expect_err("no loops");
        assert!(error.contains("the loops of 1 kernels are not known, a_x for amd gfx90a"), "{error}");
        assert!(error.contains("apt-get install llvm-19"), "{error}");
        let loops = r#"{"count": 1, "wide_loads": 0, "wide_stores": 0, "innermost_wide_loads": 0, "innermost_wide_stores": 0}"#;
        assert_eq!(known(&built(&gfx90a, loops)), Ok(()));
        let sm_90 = Target::new(Platform::Nvidia, "sm_90").expect("known");
        assert!(
            all_loops_are_known(&rules, &[sm_90], &[]).expect_err("none of AMD's").contains("--arch gfx90a")
        );
    }
}
