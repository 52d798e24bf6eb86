#!/usr/bin/env bash
# Interprets test programs by Miri: a use of memory that is freed or was never written, a reference beside one that excludes it, a race of
# threads ends them. They are hip-safe's `miri`, on a platform of Rust functions, hip-host's `interpreted` (streams, memory and graphs without
# kernels) and tensor-core's `interpreted` (the CPU). What calls foreign code is not interpreted: kernels, compilers, other libraries. The
# step `miri` of `cargo xtask ci`.
#   ci/miri.sh            all of it, and how long it takes
#   ci/miri.sh FILTER     the tests whose names contain this
#   ci/miri.sh --install  installs the toolchain, by rustup
#   ci/miri.sh --check    only says what this machine lacks; exit status 1 if anything
#   ci/miri.sh --version  which Miri it is
set -euo pipefail
cd "$(dirname "$0")/.."

# Miri comes with nightly compilers alone, some days not even with those.
toolchain=nightly-2026-05-20

lacks() {
    if ! command -v rustup >/dev/null; then
        echo "ci/miri.sh: no rustup, which $toolchain is installed by"
    elif ! rustup run "$toolchain" miri --version >/dev/null 2>&1 ||
        ! [ -e "$(rustup run "$toolchain" rustc --print sysroot)/lib/rustlib/src/rust/library/std/Cargo.toml" ]; then
        echo "ci/miri.sh: no Miri of $toolchain: \`ci/miri.sh --install\`"
    fi
}

case ${1-} in
--install)
    [ -z "$(lacks)" ] ||
        timeout 600 rustup toolchain install "$toolchain" --profile minimal -c rust-src -c miri --no-self-update
    lack=$(lacks)
    [ -z "$lack" ] || { echo "$lack" >&2; exit 1; }
    exit 0
    ;;
--check)
    lack=$(lacks)
    [ -n "$lack" ] || exit 0
    echo "$lack"
    exit 1
    ;;
--version) exec rustup run "$toolchain" miri --version ;;
esac

failed=()

# A test program of a package: its name, flags for Miri, then cargo's arguments up to `--`, and the program's.
interpret() {
    local name=$1 started=$SECONDS
    # The pool keeps addresses as numbers. Weak exchanges that fail at random only make locks spin, for a third of the time.
    export MIRIFLAGS="-Zmiri-permissive-provenance -Zmiri-compare-exchange-weak-failure-rate=0 $2"
    shift 2
    rustup run "$toolchain" cargo miri test --quiet "$@" || failed+=("$name")
    echo "ci/miri.sh: $name in $((SECONDS - started)) s"
}

interpret hip-safe -Zmiri-isolation-error=hide -p hipstack-hip-safe --test miri -- "$@"
# Its streams' threads live as long as the process. Miri knows neither signals nor where the C library's code is, so kernels' faults are not
# caught.
host="-Zmiri-isolation-error=hide -Zmiri-ignore-leaks -Zmiri-env-set=HIPSTACK_HOST_TRAPS=0"
interpret hip-host "$host" -p hipstack-hip-host --test interpreted -- "$@"
# Without the platforms, which the CPU needs none of. rayon's threads live as long as the process, and its queues break rules of references
# that are stricter than those of tree borrows.
cpu="-Zmiri-isolation-error=hide -Zmiri-ignore-leaks -Zmiri-tree-borrows"
interpret tensor-core "$cpu" -p hipstack-tensor-core --no-default-features --test interpreted -- "$@"
[ ${#failed[@]} -eq 0 ] || { echo "ci/miri.sh: failed: ${failed[*]}" >&2; exit 1; }
