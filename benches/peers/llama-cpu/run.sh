#!/usr/bin/env bash
# Builds ggml's CPU backend for this machine and times its products of quantized matrices.
# Use: run.sh LLAMA [FOLDER [FORMAT [THREADS]]]: llama.cpp's sources, where to build (default /tmp/llama-cpu). Needs cmake and a C++ compiler.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
llama=$(cd "${1:?the folder of the sources of llama.cpp}" && pwd)
out=${2:-/tmp/llama-cpu}
cmake -S "$here" -B "$out" -DLLAMA="$llama" -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON > "$out.log"
cmake --build "$out" --target bench-llama-cpu -j 2 >> "$out.log"
"$out/bench-llama-cpu" "${@:3}"
