#!/usr/bin/env bash
# Tests candle's backend traits on the host's devices, and the program that patches candle, in a workspace of their own: candle is
# built for nobody else. This is the step `candle` of `cargo xtask ci`.
#   ci/candle.sh          all tests
#   ci/candle.sh --check  only says what this machine lacks for it; exit status 1 if anything
# Needs candle's crates, from the registry or already fetched.
set -euo pipefail
cd "$(dirname "$0")/.."
cd crates/candle-hip

if ! why=$(cargo fetch --locked 2>&1); then
    echo "ci/candle.sh: candle's crates cannot be fetched: $(tail -n 1 <<<"$why")"
    exit 1
fi
[ "${1-}" != --check ] || exit 0

# Without NVIDIA's platform, whose crates are built in the main workspace already.
options=(--workspace --no-default-features --features host --target-dir ../../target/candle)
cargo fmt --all --check
cargo clippy --all-targets "${options[@]}" -- -D warnings
cargo test "${options[@]}"
