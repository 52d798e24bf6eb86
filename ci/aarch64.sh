#!/usr/bin/env bash
# Cross-builds hip-host for 64-bit ARM and runs a part of its tests there, under QEMU's user mode: its and MIOpen's
# unit tests, and those of kernels (compiled by the cross compiler: barriers, warp operations, atomics of every
# type), launches, streams, memory, faults, guard mode, the watchdog and signal handlers. This is the step
# `aarch64` of `cargo xtask ci`.
#   ci/aarch64.sh                what is documented
#   ci/aarch64.sh --test memory  the same, but these arguments choose the tests
#   ci/aarch64.sh --check        only says what this machine lacks for it; exit status 1 if anything
# Needs Rust's std for the target, a C++ cross compiler and qemu-user. `.ci/run` installs them.
set -euo pipefail
cd "$(dirname "$0")/.."

target=aarch64-unknown-linux-gnu
libraries=/usr/aarch64-linux-gnu

lack() {
    echo "ci/aarch64.sh: $1"
    exit 1
}

compgen -G "$(rustc --print sysroot)/lib/rustlib/$target/lib/libstd-*.rlib" >/dev/null ||
    lack "this Rust has no std for $target: \`rustup target add $target\`"
command -v aarch64-linux-gnu-g++ >/dev/null || lack "no C++ compiler for it: install g++-aarch64-linux-gnu"
command -v qemu-aarch64 >/dev/null || lack "nothing to run it with: install qemu-user"
[ "${1-}" != --check ] || exit 0

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L $libraries"
export CXX_aarch64_unknown_linux_gnu=aarch64-linux-gnu-g++ AR_aarch64_unknown_linux_gnu=aarch64-linux-gnu-ar

# Not included: the tests of hiprtc and the adversary, which start programs without QEMU, and tests that were
# not tried under QEMU: behaviour, graphs, cooperative, language.
[ "$#" -gt 0 ] || set -- --lib --test kernels --test warps --test launches --test streams --test memory \
    --test faults --test guard --test watchdog --test handlers
cargo test -p hipstack-hip-host -p hipstack-hip-host-miopen --target "$target" --no-fail-fast "$@"
