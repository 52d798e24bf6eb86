#!/usr/bin/env bash
# Builds the program; with the argument test, builds and runs its tests. CUDA_HOME names the CUDA 13 toolkit: nvcc, cudart and cccl.
set -euo pipefail
cd "$(dirname "$0")"
: "${CUDA_HOME:?names the root of the CUDA 13 toolkit}"
target=${CARGO_TARGET_DIR:-target}
stubs=$target/stubs
mkdir -p "$stubs"
stubs=$(realpath "$stubs")
# The linker is told of libraries that the program loads by itself: empty ones satisfy it, and it drops them.
for name in cuda nvrtc curand cublas cublasLt; do
    ${CC:-cc} -shared -nostdlib -o "$stubs/lib$name.so" -x c /dev/null
done
# The kernels' launchers call cudart, which goes into the program.
cudart=$(find -L "$CUDA_HOME" -name libcudart_static.a -print -quit)
ln -sf "$(realpath "${cudart:?the toolkit has no libcudart_static.a}")" "$stubs/libcudart.a"

export PATH="$CUDA_HOME/bin:$PATH" CUDA_COMPUTE_CAP=${CUDA_COMPUTE_CAP:-90} CUDARC_CUDA_VERSION=${CUDARC_CUDA_VERSION:-13000}
export LIBRARY_PATH="$stubs${LIBRARY_PATH:+:$LIBRARY_PATH}"
cargo "${1:-build}" --release --locked "${@:2}"
