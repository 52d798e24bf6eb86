//! Kernels that start kernels.

use super::{Found, Look, Rule};

pub(super) const RULE: Rule =
    Rule { name: "device-launch", about: "launches, graphs and waits in device code", check };

const REASON: &str =
    "HIP has no dynamic parallelism: device code cannot launch kernels or graphs, nor wait for them.";
const REMEDY: &str = "Launch from the host, or let the blocks take their work from a queue in memory.";

/// Functions of the runtime that CUDA also has on the device, and constants of launches from there.
const RUNTIME: [&str; 6] = [
    "cudaGraphLaunch",
    "cudaDeviceSynchronize",
    "cudaLaunchDevice",
    "cudaGetCurrentGraphExec",
    "cudaStreamCreateWithFlags",
    "cudaLaunchKernel",
];
const ANYWHERE: [&str; 4] = [
    "cudaStreamTailLaunch",
    "cudaStreamFireAndForget",
    "cudaStreamGraphTailLaunch",
    "cudaGraphInstantiateFlagDeviceLaunch",
];

fn check(look: &Look<'_>, found: &mut Found) {
    for scene in &look.scenes {
        for at in 0..scene.tokens.len() {
            let launch = scene.is(at, "<<<") || (scene.is_word(at) && RUNTIME.contains(&scene.text(at)));
            if (launch && only_device(scene, at))
                || (scene.is_word(at)
                    && ANYWHERE.contains(&scene.text(at))
                    && !look.macros.is_provided(scene.text(at)))
            {
                found.breaks(scene.tokens[at].at, REASON, REMEDY);
            }
        }
    }
}

/// Whether the function is not also one of the host.
fn only_device(scene: &crate::scene::Scene<'_>, at: usize) -> bool {
    let function = scene.function_at(at).filter(|function| function.on_device);
    function.is_some_and(|function| {
        !scene.tokens[function.header.clone()].iter().any(|token| token.is("__host__"))
    })
}
