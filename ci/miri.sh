#!/usr/bin/env bash
# Runs test programs in Miri, which stops at a use of freed or uninitialised memory, an aliasing violation or
# a data race. The programs are hip-safe's `miri`, on a platform of Rust functions, hip-host's `interpreted`
# (streams, memory and graphs without kernels) and tensor-core's `interpreted` (the CPU). Foreign code is not
# interpreted: kernels, compilers, other libraries. This is the step `miri` of `cargo xtask ci`.
#   ci/miri.sh            all of it, and how long it takes
#   ci/miri.sh FILTER     the tests whose names contain this
#   ci/miri.sh --install  installs the toolchain, by rustup
#   ci/miri.sh --check    only says what this machine lacks; exit status 1 if anything
#   ci/miri.sh --version  which Miri it is
set -euo pipefail
cd "$(dirname "$0")/.."

# Only nightly compilers have Miri, and not every nightly does.
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

# A package's test program: its name, flags for Miri, then cargo's arguments up to `--`, and the program's
# arguments.
interpret() {
    local name=$1 started=$SECONDS
    # The pool stores addresses as numbers. Randomly failing weak exchanges only make locks spin; disabling
    # them saves a third of the time.
    export MIRIFLAGS="-Zmiri-permissive-provenance -Zmiri-compare-exchange-weak-failure-rate=0 $2"
    shift 2
    rustup run "$toolchain" cargo miri test --quiet "$@" || failed+=("$name")
    echo "ci/miri.sh: $name in $((SECONDS - started)) s"
}

interpret hip-safe -Zmiri-isolation-error=hide -p hipstack-hip-safe --test miri -- "$@"
# Threads of its streams live as long as the process. Miri supports neither signals nor finding the C
# library's code, so faults of kernels are not caught.
host="-Zmiri-isolation-error=hide -Zmiri-ignore-leaks -Zmiri-env-set=HIPSTACK_HOST_TRAPS=0"
interpret hip-host "$host" -p hipstack-hip-host --test interpreted -- "$@"
# Without the platforms, which the CPU does not need. rayon's threads live as long as the process, and its
# queues violate aliasing rules that are stricter than tree borrows.
cpu="-Zmiri-isolation-error=hide -Zmiri-ignore-leaks -Zmiri-tree-borrows"
interpret tensor-core "$cpu" -p hipstack-tensor-core --no-default-features --test interpreted -- "$@"
[ ${#failed[@]} -eq 0 ] || { echo "ci/miri.sh: failed: ${failed[*]}" >&2; exit 1; }
