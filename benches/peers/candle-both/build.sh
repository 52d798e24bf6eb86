#!/usr/bin/env bash
# Builds the program, or with the argument suite candle-hip's tests against candle's CUDA backend.
#   CANDLE=folder CUDA_HOME=/usr/local/cuda ./build.sh [program|suite] [cargo's arguments]
# CANDLE names a folder with the unpacked crates candle-core, candle-nn and candle-kernels 0.11.1, which are copied and changed;
# CUDA_HOME names the CUDA 13 toolkit: nvcc, cudart and cccl.
set -euo pipefail
cd "$(dirname "$0")"
: "${CANDLE:?names a folder with candle-core, candle-nn and candle-kernels 0.11.1}"
what=${1:-program}
target=${CARGO_TARGET_DIR:-$PWD/target}
adapter=$(realpath ../../../crates/candle-hip)
with_cuda=$PWD/../candle-cuda/with-cuda.sh
copied=$target/candle
core=$copied/$what/candle-core

# A copy of candle-kernels that is there stays: nvcc takes minutes for it.
if [ ! -d "$copied/candle-kernels" ]; then
    mkdir -p "$copied"
    cp -r "$CANDLE/candle-kernels" "$copied/candle-kernels"
    # Most of an hour goes into kernels of packed matrices and of experts, which nothing here calls: the linker is told to miss them.
    touch "$copied/candle-kernels/src/empty.cu"
    sed -i '/^        "src\/m.*cu",$/d; s|let mut moe_sources = vec!\[|&"src/empty.cu"|' "$copied/candle-kernels/build.rs"
fi
rm -rf "${copied:?}/$what"
mkdir -p "$copied/$what"
cp -rp "$CANDLE/candle-core" "$CANDLE/candle-nn" "$copied/$what"
# Our platform opens CUDA's libraries at run time, and cudarc is built one way in a program.
sed -i 's/"dynamic-linking"/"dynamic-loading"/' "$core/Cargo.toml"

options=(--release --config profile.release.debug=false --config profile.release.strip=true
    --config "patch.crates-io.candle-core.path='$core'" --config "patch.crates-io.candle-kernels.path='$copied/candle-kernels'")
# candle's products on the CPU, which are not timed.
for name in gemm gemm-common gemm-f16 gemm-f32 gemm-f64 gemm-c32 gemm-c64; do
    options+=(--config "profile.release.package.$name.opt-level=0")
done
missing=(-C link-arg=-Wl,--unresolved-symbols=ignore-all)
case $what in
program)
    (cd "$adapter" && cargo run -q --target-dir "$target/patcher" -p candle-hip-patch -- "$core" "$copied/$what/candle-nn")
    options+=(--config "patch.crates-io.candle-nn.path='$copied/$what/candle-nn'")
    "$with_cuda" cargo rustc "${options[@]}" "${@:2}" -- "${missing[@]}"
    ;;
suite)
    # Nothing is timed.
    for name in candle-core hipstack-candle-hip; do
        options+=(--config "profile.release.package.$name.opt-level=0")
    done
    cp -rp "$adapter" "$copied/$what/candle-hip"
    # The versions that the program has, so that both share what is built.
    [ ! -f Cargo.lock ] || cp Cargo.lock "$copied/$what/candle-hip"
    cd "$copied/$what/candle-hip"
    sed -i "s|\.\./tensor-core|$adapter/../tensor-core|; /^members/d" Cargo.toml
    for test in suite wrong_ids; do
        "$with_cuda" cargo rustc --test "$test" --no-default-features --features nvidia,cuda "${options[@]}" "${@:2}" -- "${missing[@]}"
    done
    ;;
esac
