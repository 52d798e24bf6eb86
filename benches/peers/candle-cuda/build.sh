#!/usr/bin/env bash
# Builds the program; with the argument test, builds and runs its tests. CUDA_HOME names the CUDA 13 toolkit: nvcc, cudart and cccl.
set -euo pipefail
cd "$(dirname "$0")"
export CUDARC_CUDA_VERSION=${CUDARC_CUDA_VERSION:-13000}
./with-cuda.sh cargo "${1:-build}" --release --locked "${@:2}"
