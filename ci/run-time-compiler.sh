#!/usr/bin/env bash
# Compiles kernels with the hiprtc of ROCm 7.2.4 that ci/fetch-rocm-compiler.sh unpacked: every unit for
# gfx942 and for gfx1201, without a GPU. The program runs under the loader and the libraries that came with
# hiprtc.
#   ci/run-time-compiler.sh              every unit; takes tens of minutes
#   ci/run-time-compiler.sh every_family each family for one of the two, in one dtype
set -euo pipefail
cd "$(dirname "$0")/.."

test=${1-every_unit}
folder=target/ci/rocm/root
if [ ! -f "$folder/usr/lib/x86_64-linux-gnu/libhiprtc.so.7" ]; then
    echo "ci/run-time-compiler.sh: no hiprtc in $folder: run ci/fetch-rocm-compiler.sh" >&2
    exit 1
fi
program=$(cargo test -p hipstack-tensor-core --test run_time --no-run 2>&1 | tee /dev/stderr | sed -n 's/.*Executable.*(\(.*\))$/\1/p')
[ -x "$program" ] || exit 1
HIPSTACK_REQUIRE=rocm exec ci/run-unpacked.sh "$folder" "$program" --ignored --nocapture "$test"
