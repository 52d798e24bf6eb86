#!/usr/bin/env bash
# Cross-builds hip-host for 64-bit ARM and runs a part of its tests there, under QEMU's user mode: the unit tests, and those of
# kernels (compiled by the cross compiler: barriers, warp operations, atomics of every type), launches, streams, memory,
# faults, guard mode, the watchdog and signal handlers.
#   ci/aarch64.sh                what is documented
#   ci/aarch64.sh --test memory  the same, but these arguments choose the tests
# Needs Rust's std for the target, a C++ cross compiler and qemu-user. Takes them where they can be had: from rustup, and
# from Debian's packages if this is root. What then still lacks is named, and the check is skipped (exit status 0).
set -euo pipefail
cd "$(dirname "$0")/.."

target=aarch64-unknown-linux-gnu
libraries=/usr/aarch64-linux-gnu

skip() {
    echo "ci/aarch64.sh: skipped: $1"
    exit 0
}

has_std() {
    compgen -G "$(rustc --print sysroot)/lib/rustlib/$target/lib/libstd-*.rlib" >/dev/null
}

if ! has_std && command -v rustup >/dev/null; then
    timeout 300 rustup target add "$target" || true
fi
has_std || skip "this Rust has no std for $target: \`rustup target add $target\`"

missing=()
command -v aarch64-linux-gnu-g++ >/dev/null || missing+=(g++-aarch64-linux-gnu)
command -v qemu-aarch64 >/dev/null || missing+=(qemu-user)
if [ "${#missing[@]}" -ne 0 ] && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    echo "ci/aarch64.sh: installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    timeout 600 apt-get update -qq || true
    timeout 1200 apt-get install -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends "${missing[@]}" >/dev/null || true
fi
command -v aarch64-linux-gnu-g++ >/dev/null || skip "no C++ compiler for it: install g++-aarch64-linux-gnu"
command -v qemu-aarch64 >/dev/null || skip "nothing to run it with: install qemu-user"

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L $libraries"
export CXX_aarch64_unknown_linux_gnu=aarch64-linux-gnu-g++ AR_aarch64_unknown_linux_gnu=aarch64-linux-gnu-ar

# Not here: the tests of hiprtc and the adversary, which start programs without QEMU, and those that were not tried there yet:
# behaviour, graphs, cooperative, language.
[ "$#" -gt 0 ] || set -- --lib --test kernels --test warps --test launches --test streams --test memory \
    --test faults --test guard --test watchdog --test handlers
cargo test -p hip-host --target "$target" --no-fail-fast "$@"
