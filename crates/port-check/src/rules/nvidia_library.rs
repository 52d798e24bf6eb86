//! Libraries of NVIDIA's in headers.

use super::{Found, Look, Rule};

pub(super) const RULE: Rule =
    Rule { name: "nvidia-library", about: "headers of CUB, Thrust, CUTLASS and CuTe", check };

fn check(look: &Look<'_>, found: &mut Found) {
    for include in look.file.shared_includes() {
        let folder = include.path.split('/').next().unwrap_or_default();
        match folder {
            "cub" => found.breaks(
                include.at,
                "ROCm has no CUB.",
                "Use hipCUB: `hipcub/hipcub.hpp` and the namespace `hipcub`; blocks and warps of it depend on the wave size.",
            ),
            "cutlass" | "cute" => found.breaks(
                include.at,
                "ROCm has no CUTLASS and no CuTe.",
                "Use Composable Kernel, hipBLASLt or rocWMMA, or keep a plain kernel for AMD's GPUs.",
            ),
            "thrust" => found.check(
                include.at,
                "Thrust comes with ROCm as rocThrust, a package of its own.",
                "Install rocThrust, and write `thrust::hip` where `thrust::cuda` is named.",
            ),
            _ => {}
        }
    }
    for scene in &look.scenes {
        for at in scene.words().filter(|at| {
            scene.text(*at) == "thrust" && scene.is(at + 1, "::") && scene.text(at + 2) == "cuda"
        }) {
            found.breaks(
                scene.tokens[at].at,
                "rocThrust defines `thrust::hip` for AMD's GPUs, and not `thrust::cuda`.",
                "Write `thrust::hip`.",
            );
        }
    }
}
