#!/usr/bin/env bash
# Builds the library, compiles test/kernels.hip for each architecture, and runs every test there.
# usage: emulator/test/run.sh [ARCH...]    default: gfx1100 gfx1201 gfx90a gfx942. TINYGRAD has to name its checkout.
set -uo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
library=${AMDEMU_LIB:-$here/build}
work=${AMDEMU_WORK:-$library/test}
: "${TINYGRAD:?has to name a checkout of tinygrad, see emulator/README.md}"
[ $# -gt 0 ] || set -- gfx1100 gfx1201 gfx90a gfx942

"$here/build.sh" "$library" || exit 1
[ -e "$library/clang" ] || { echo "emulator/test/run.sh: no compiler for the kernels" >&2; exit 1; }
mkdir -p "$work"
gcc -O1 -w -o "$work/test" "$here/test/test.c" -ldl -lm -lpthread || exit 1
export LD_LIBRARY_PATH=$library
bad=0
for arch in "$@"; do
    "$library/clang" -x hip "--offload-arch=$arch" --cuda-device-only -O3 "--rocm-path=$library/rocm" "--rocm-device-lib-path=$library/bc" \
        --no-gpu-bundle-output "$here/test/kernels.hip" -o "$work/kernels.$arch.hsaco" || exit 1
    export AMDEMU_ARCH=$arch
    "$work/test" "$work" kernels lanes exact fat errors threads fault leak rtc speed || bad=1
    AMDEMU_SHUFFLE=1 "$work/test" "$work" kernels || bad=1
    AMDEMU_MODE=lazy "$work/test" "$work" lazy || bad=1
    AMDEMU_MODE=async "$work/test" "$work" async || bad=1
    AMDEMU_DEVICES=2 "$work/test" "$work" errors || bad=1
done
exit $bad
