#!/usr/bin/env bash
# Interprets hip-safe's test program `miri` by Miri: a use of memory that is freed or was never written, a reference beside one that
# excludes it, a race of threads ends it. hip-host and tensor-core are not interpreted. Run by hand: no step of `cargo xtask ci` yet.
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

# The pool keeps addresses as numbers. Weak exchanges that fail at random only make locks spin, for a third of the time.
export MIRIFLAGS="-Zmiri-permissive-provenance -Zmiri-isolation-error=hide -Zmiri-compare-exchange-weak-failure-rate=0"
started=$SECONDS
rustup run "$toolchain" cargo miri test --quiet -p hipstack-hip-safe --test miri -- "$@"
echo "ci/miri.sh: hip-safe in $((SECONDS - started)) s"
