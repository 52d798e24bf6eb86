#!/usr/bin/env bash
# Fetches NVIDIA's compiler and disassembler from PyPI into target/ci/nvcc, where `cargo xtask build-kernels` looks for them.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=target/ci/nvcc
bin=$dir/nvidia/cu13/bin
if [ -x "$bin/nvcc" ] && [ -x "$bin/nvdisasm" ]; then
    echo "ci/fetch-nvcc.sh: $dir is there"
    exit 0
fi
script=ci/fetch-nvcc.sh what=nvcc
. ci/wheels.sh
need_pip

# Installs packages into a folder.
fetch() {
    local into=$1
    shift
    rm -rf "$into"
    mkdir -p "$into"
    timeout 900 python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target "$into" "$@"
}

if [ ! -x "$bin/nvcc" ]; then
    if ! fetch "$dir.part" 'cuda-toolkit[nvcc,cudart,cccl]==13.0.*'; then
        echo "ci/fetch-nvcc.sh: pip could not fetch cuda-toolkit: no nvcc" >&2
        rm -rf "$dir.part"
        exit 1
    fi
    rm -rf "$dir"
    mv "$dir.part" "$dir"
fi
echo "ci/fetch-nvcc.sh: $("$bin/nvcc" --version | tail -n 1)"
# Not a dependency of nvcc's package; its versions differ from the toolkit's.
if fetch "$dir.disassembler" --no-deps 'nvidia-cuda-nvdisasm==13.*'; then
    mv "$dir.disassembler/nvidia/cu13/bin/nvdisasm" "$bin/"
else
    echo "ci/fetch-nvcc.sh: pip could not fetch nvdisasm: loops of kernels will not be looked at" >&2
fi
rm -rf "$dir.disassembler"
