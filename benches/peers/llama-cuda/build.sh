#!/usr/bin/env bash
# Builds bench-llama of the llama.cpp sources beside this script with CUDA, for one H200.
# Use: build.sh [FOLDER]   (default /tmp/llama). Variables: CUDA_HOME, ARCH (90-real), JOBS, LIMIT (seconds for compiling).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-/tmp/llama}
export CUDA_HOME=${CUDA_HOME:-/usr/local/cuda}
jobs=${JOBS:-16}
limit=${LIMIT:-420}
begin=$(date +%s.%N)
stage() {
    local now; now=$(date +%s.%N)
    echo "build.sh: $1: $(echo "$now $begin" | awk '{printf "%.1f", $1 - $2}') s since the start"
}

mkdir -p "$out"
if [ ! -d "$out/llama-src" ]; then
    zstd -d --long=27 -c "$here/llama-src.tar.zst" | tar x -C "$out"
fi
stage "unpacked"

export PATH=$CUDA_HOME/bin:$PATH
if ! command -v cmake > /dev/null; then
    PATH=$(python3 -c 'import cmake; print(cmake.CMAKE_BIN_DIR)'):$PATH
fi
if command -v ninja > /dev/null; then
    generator=Ninja
elif bin=$(python3 -c 'import ninja; print(ninja.BIN_DIR)' 2> /dev/null); then
    generator=Ninja
    PATH=$bin:$PATH
else
    generator='Unix Makefiles'
fi
nvcc --version | tail -2
cmake --version | head -1

# cuBLAS comes with the toolkit, or else with PyTorch.
more=()
if [ ! -e "$CUDA_HOME/include/cublas_v2.h" ]; then
    wheel=$(python3 -c 'import nvidia.cu13 as m; print(list(m.__path__)[0])' 2> /dev/null \
        || python3 -c 'import nvidia, os; print(next(p + "/cu13" for p in nvidia.__path__ if os.path.isdir(p + "/cu13")))')
    echo "build.sh: cuBLAS of $wheel"
    mkdir -p "$out/cublas"
    for header in "$wheel"/include/cublas*.h; do ln -sf "$header" "$out/cublas/"; done
    more+=("-DCMAKE_CUDA_FLAGS=-I$out/cublas" "-DCMAKE_CXX_FLAGS=-I$out/cublas"
        "-DCUDA_cublas_LIBRARY=$wheel/lib/libcublas.so.13" "-DCUDA_cublasLt_LIBRARY=$wheel/lib/libcublasLt.so.13")
fi

# The driver's library, to link to.
driver=$(ls "$CUDA_HOME"/lib64/stubs/libcuda.so "$CUDA_HOME"/targets/x86_64-linux/lib/stubs/libcuda.so \
    /usr/local/nvidia/lib64/libcuda.so.1 /usr/local/nvidia/lib/libcuda.so.1 /usr/lib/x86_64-linux-gnu/libcuda.so.1 2> /dev/null | head -1 || true)
if [ -n "$driver" ]; then
    more+=("-DCUDA_cuda_driver_LIBRARY=$driver")
else
    echo "build.sh: no libcuda.so: CUDA's virtual memory is left out"
    more+=(-DGGML_CUDA_NO_VMM=ON)
fi

timeout 90 cmake -S "$out/llama-src" -B "$out/build" -G "$generator" \
    -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
    -DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES="${ARCH:-90-real}" -DCUDAToolkit_ROOT="$CUDA_HOME" \
    -DCMAKE_CUDA_COMPILER="$CUDA_HOME/bin/nvcc" -DCMAKE_CUDA_RUNTIME_LIBRARY=Static \
    -DGGML_CUDA_FA=ON -DGGML_CUDA_FA_QUANTS=f16-f16 -DGGML_CUDA_GRAPHS=ON -DGGML_CUDA_NCCL=OFF \
    -DGGML_CUDA_COMPRESSION_MODE=none \
    -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DGGML_LLAMAFILE=OFF -DGGML_CPU_REPACK=OFF -DGGML_CCACHE=OFF \
    -DGGML_ALL_WARNINGS=OFF -DLLAMA_ALL_WARNINGS=OFF -DGGML_BUILD_TESTS=OFF -DGGML_BUILD_EXAMPLES=OFF \
    -DLLAMA_BUILD_COMMON=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_EXAMPLES=OFF \
    -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_APP=OFF ${more[@]+"${more[@]}"} > "$out/configure.log" 2>&1 \
    || { tail -30 "$out/configure.log"; exit 1; }
grep -E 'CUDA|FlashAttention' "$out/configure.log" || true
stage "configured ($generator)"

code=0
timeout -k 5 "$limit" cmake --build "$out/build" --target bench-llama -j "$jobs" > "$out/build.log" 2>&1 || code=$?
if [ "$code" != 0 ]; then
    { grep -E 'error|Error|FAILED' -A3 "$out/build.log" | head -40; } || true
    tail -5 "$out/build.log"
    stage "not built: status $code"
    exit 1
fi
if [ "$generator" = Ninja ]; then
    echo "build.sh: the longest jobs, in seconds:"
    grep -v '^#' "$out/build/.ninja_log" | awk '{printf "%.1f %s\n", ($2 - $1) / 1000, $4}' | sort -rn | head -8
fi
stage "built $(find "$out/build" -name bench-llama -type f)"
