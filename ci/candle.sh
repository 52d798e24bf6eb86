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

cargo fmt --all --check
cargo clippy --workspace --all-targets --target-dir ../../target/candle -- -D warnings
cargo test --workspace --target-dir ../../target/candle
