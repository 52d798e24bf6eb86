//! Cooperative groups.

use super::{Found, Look, Rule};

pub(super) const RULE: Rule = Rule {
    name: "cooperative-groups",
    about: "cooperative groups that HIP lacks, or that are otherwise than in CUDA",
    check,
};

/// What HIP 7.2 has not, with what to do.
const MISSING: [(&str, &str); 10] = [
    ("reduce", "Write the reduction with `shfl_down` or `shfl_xor` of the group."),
    ("inclusive_scan", "Write the scan with `shfl_up` of the group, or use hipCUB."),
    ("exclusive_scan", "Write the scan with `shfl_up` of the group, or use hipCUB."),
    ("memcpy_async", "Copy with plain loads and stores, then synchronise the group."),
    ("wait_prior", "Copy with plain loads and stores, then synchronise the group."),
    ("labeled_partition", "Use `binary_partition`, or `__match_any_sync` with 64-bit masks."),
    ("this_cluster", "Leave clusters out for AMD's GPUs, which have none."),
    ("cluster_group", "Leave clusters out for AMD's GPUs, which have none."),
    ("invoke_one", "Ask `thread_rank() == 0`."),
    ("invoke_one_broadcast", "Ask `thread_rank() == 0`, and share the result with `shfl`."),
];

fn check(look: &Look<'_>, found: &mut Found) {
    for include in look.file.shared_includes() {
        if let Some(part) = include.path.strip_prefix("cooperative_groups/") {
            let reason =
                format!("HIP has no `cooperative_groups/{part}`, only hip/hip_cooperative_groups.h.");
            found.breaks(include.at, reason, "Write what it gives with the shuffles and `sync` of groups.");
        }
    }
    let spaces = namespaces(look);
    for scene in &look.scenes {
        for at in scene.words() {
            let name = scene.text(at);
            let position = scene.tokens[at].at;
            let qualified = at >= 2 && scene.is(at - 1, "::") && spaces.contains(&scene.text(at - 2));
            if let Some((_, remedy)) = MISSING.iter().find(|(missing, _)| *missing == name && qualified) {
                found.breaks(position, format!("HIP 7.2's cooperative groups have no `{name}`."), *remedy);
            } else if ["barrier_arrive", "barrier_wait"].contains(&name)
                && at > 0
                && scene.is(at - 1, ".")
                && !spaces.is_empty()
            {
                found.breaks(position, format!("HIP 7.2's groups have no `{name}`."), "Use `sync()`.");
            } else if name == "tiled_partition" && scene.is(at + 1, "<") {
                let size = scene.tokens.get(at + 2).and_then(|token| token.integer());
                tile(size.or_else(|| look.macros.integer(scene.text(at + 2))), position, found);
            } else if name == "coalesced_threads" && scene.call(at).is_some() {
                let reason = "The group of active lanes has up to 64 of them on CDNA GPUs.";
                found.check(
                    position,
                    reason,
                    "See that nothing counts on 32, such as masks and arrays by rank.",
                );
            } else if ["this_multi_grid", "multi_grid_group"].contains(&name) && qualified {
                found.check(
                    position,
                    "Groups over several GPUs are gone from CUDA 13, and deprecated in HIP.",
                    "Synchronise the GPUs from the host.",
                );
            } else if (name == "this_grid" && scene.call(at).is_some())
                || name == "cudaLaunchCooperativeKernel"
            {
                let reason = "A grid synchronises only if all its blocks run at once, and how many do differs with AMD's registers, shared memory and compute units.";
                let remedy = "Ask hipOccupancyMaxActiveBlocksPerMultiprocessor for the number of blocks, and launch with hipLaunchCooperativeKernel.";
                found.check(position, reason, remedy);
            }
        }
    }
}

/// The names by which a file calls the namespace.
fn namespaces<'a>(look: &Look<'a>) -> Vec<&'a str> {
    let mut names = Vec::new();
    for scene in &look.scenes {
        for at in scene.words().filter(|at| scene.text(*at) == "cooperative_groups") {
            names.push("cooperative_groups");
            if at >= 3 && scene.is(at - 1, "=") && scene.is(at - 3, "namespace") {
                names.push(scene.text(at - 2));
            }
        }
    }
    names
}

fn tile(size: Option<i64>, at: usize, found: &mut Found) {
    match size {
        Some(32) => {
            let reason =
                "A tile of 32 lanes is half of a wave on CDNA GPUs, so that the tile is not the warp.";
            found.check(
                at,
                reason,
                "Keep it if the code only speaks of tiles; ask for 64 where it means whole waves.",
            );
        }
        Some(65..) => {
            found.breaks(
                at,
                "A tile has at most 64 lanes in HIP.",
                "Use tiles of up to 64 lanes, and shared memory between them.",
            );
        }
        _ => {}
    }
}
