#!/usr/bin/env bash
# Fetches NVIDIA's compiler from PyPI into target/ci/nvcc, where `cargo xtask build-kernels` looks for it.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=target/ci/nvcc
if [ -x "$dir/nvidia/cu13/bin/nvcc" ]; then
    echo "ci/fetch-nvcc.sh: $dir is there"
    exit 0
fi
if ! python3 -m pip --version >/dev/null 2>&1; then
    echo "ci/fetch-nvcc.sh: pip is missing (apt-get install python3-pip): no nvcc" >&2
    exit 1
fi
rm -rf "$dir.part"
mkdir -p "$dir.part"
if ! timeout 900 python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
    --target "$dir.part" 'cuda-toolkit[nvcc,cudart,cccl]==13.0.*'; then
    echo "ci/fetch-nvcc.sh: pip could not fetch cuda-toolkit: no nvcc" >&2
    rm -rf "$dir.part"
    exit 1
fi
rm -rf "$dir"
mv "$dir.part" "$dir"
echo "ci/fetch-nvcc.sh: $("$dir/nvidia/cu13/bin/nvcc" --version | tail -n 1)"
