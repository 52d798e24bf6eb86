#!/usr/bin/env bash
# Builds bench-llama, writes random models and times each. Prints one line for each setting.
# Use: run.sh [FOLDER]   Variables: MODELS, FORMATS, PROMPT, TOKENS, REPEATS, EACH (seconds for a model); those of build.sh.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-/tmp/llama}
begin=$SECONDS
mkdir -p "$out"
"$here/build.sh" "$out" || exit 1
bench=$(find "$out/build" -name bench-llama -type f | head -1)

# Prints a folder with room for the bytes of a file, memory first.
folder() {
    local at
    for at in /dev/shm /tmp; do
        if [ "$(df --output=avail -B1 "$at" | tail -1)" -gt "$1" ]; then
            echo "$at"
            return
        fi
    done
    echo /tmp
}

# Where cuBLAS is not in the loader's paths, PyTorch's serves.
libraries=$(python3 -c 'import nvidia, os; print(":".join(p + "/cu13/lib" for p in nvidia.__path__))' 2> /dev/null || true)
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:${CUDA_HOME:-/usr/local/cuda}/lib64:/usr/local/nvidia/lib64:$libraries
ldd "$bench" | grep -E 'cublas|libcuda|not found'
echo "run.sh: models are timed from $((SECONDS - begin)) s on"
failed=0
for model in ${MODELS:-1b 8b}; do
    for format in ${FORMATS:-q8_0 bf16 q4_k}; do
        at=$(folder $([ "$model" = 8b ] && echo 18000000000 || echo 4000000000))
        file=$at/$model-$format.gguf
        python3 "$here/write_gguf.py" "$model" "$format" "$file" \
            && timeout -k 5 "${EACH:-90}" "$bench" "$file" "${PROMPT:-2048}" "${TOKENS:-64}" "${REPEATS:-3}" \
            || { echo "$model $format: failed"; failed=1; }
        rm -f "$file"
    done
done
echo "run.sh: all in $((SECONDS - begin)) s"
exit $failed
