#!/usr/bin/env bash
# Runs a command that builds candle's CUDA backend. CUDA_HOME names the CUDA 13 toolkit: nvcc, cudart and cccl.
set -euo pipefail
: "${CUDA_HOME:?names the root of the CUDA 13 toolkit}"
stubs=${CARGO_TARGET_DIR:-target}/stubs
mkdir -p "$stubs"
stubs=$(realpath "$stubs")
# The linker is told of libraries that the program loads by itself: empty ones satisfy it, and it drops them.
for name in cuda nvrtc curand cublas cublasLt; do
    ${CC:-cc} -shared -nostdlib -o "$stubs/lib$name.so" -x c /dev/null
done
# The kernels' launchers call cudart, which goes into the program.
cudart=$(find -L "$CUDA_HOME" -name libcudart_static.a -print -quit)
ln -sf "$(realpath "${cudart:?the toolkit has no libcudart_static.a}")" "$stubs/libcudart.a"

export PATH="$CUDA_HOME/bin:$PATH" CUDA_COMPUTE_CAP=${CUDA_COMPUTE_CAP:-90}
export LIBRARY_PATH="$stubs${LIBRARY_PATH:+:$LIBRARY_PATH}"
exec "$@"
