#!/usr/bin/env bash
# Builds the emulated HIP library and what it needs beside it. Takes about 2 seconds.
set -euo pipefail

usage() {
    cat <<'TEXT'
Usage: emulator/build.sh [FOLDER]

FOLDER is $AMDEMU_LIB, else emulator/build. It gets:
  libamdhip64.so.6   HIP 6.4 with hiprtc in it, also as libamdhip64.so, libhiprtc.so.6 and libhiprtc.so
  v5/, v7/           the same file under the names of ROCm 5 and ROCm 7
  rocm7/             HIP 7 without hiprtc, for use beside AMD's own libhiprtc.so.7
  worker.py          the process that runs kernels, with corrections.py
  clang, bc/, rocm   the compiler of hiprtc, its device libraries, and the folder that has include/hip

Variables:
  CC             the C compiler                                        [default: gcc]
  AMDEMU_CLANG   the compiler of hiprtc and of the test kernels        [default: the first of target/ci/rocm/bin/clang++,
                                                                        $ROCM_PATH/bin/clang++, clang-22, clang-19]
  AMDEMU_ROCM    the folder that has include/hip                       [default: what belongs to the compiler]
Without a compiler for AMD's GPUs everything but hiprtc and the tests works.
TEXT
}

case ${1-} in -h | --help) usage; exit 0 ;; esac
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-${AMDEMU_LIB:-$here/build}}
mkdir -p "$out"/{v5,v7,rocm7}
out=$(cd "$out" && pwd)

library() { # NAME SONAME SOURCES...
    local file=$1 soname=$2
    shift 2
    "${CC:-gcc}" -shared -O2 -g -Wall -Wextra -Wno-misleading-indentation -Wno-address-of-packed-member -std=gnu11 -fPIC \
        -fvisibility=hidden "-Wl,-soname,$soname" -o "$out/$file" "${@/#/$here/src/}" -ldl -lpthread -lm
}
library libamdhip64.so.6 libamdhip64.so.6 hip.c device.c mem.c work.c exec.c insn.c rtc.c
library rocm7/libamdhip64.so.7 libamdhip64.so.7 hip.c device.c mem.c work.c exec.c insn.c
cp "$here/src/worker.py" "$here/src/corrections.py" "$out/"
cp "$here/src/worker.py" "$here/src/corrections.py" "$out/rocm7/"
for name in libamdhip64.so libhiprtc.so.6 libhiprtc.so; do ln -sf libamdhip64.so.6 "$out/$name"; done
ln -sf ../libamdhip64.so.6 "$out/v5/libamdhip64.so.5" # ROCm 5 has hiprtc in this library
for name in libamdhip64.so.7 libhiprtc.so.7; do ln -sf ../libamdhip64.so.6 "$out/v7/$name"; done
ln -sf libamdhip64.so.7 "$out/rocm7/libamdhip64.so" # AMD's hiprtc asks for HIP by this name

# hiprtc: a compiler, the headers and the device libraries that belong to it.
fetched=$(dirname "$here")/target/ci/rocm
clang=""
for candidate in ${AMDEMU_CLANG:-"$fetched/bin/clang++" ${ROCM_PATH:+"$ROCM_PATH/bin/clang++"} clang-22 clang-19}; do
    if clang=$(command -v "$candidate"); then break; fi
done
rm -rf "$out"/{clang,rocm,bc}
if [ -z "$clang" ]; then
    echo "built $out, without a compiler for hiprtc: see emulator/build.sh --help"
    exit 0
fi
rocm=${AMDEMU_ROCM:-$(dirname "$(dirname "$clang")")} # /usr of a package of Debian's
bitcode=$rocm/amdgcn/bitcode
[ -d "$bitcode" ] || bitcode=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode
ln -s "$clang" "$out/clang"
ln -s "$rocm" "$out/rocm"
mkdir "$out/bc"
if [ -d "$bitcode" ]; then
    ln -s "$bitcode"/*.bc "$out/bc/"
    # Older device libraries lack the file that tells the code which chip it runs on.
    for pair in 942:9402 1100:11000 1101:11001 1102:11002 1151:11501 1200:12000 1201:12001; do
        chip=$out/bc/oclc_isa_version_${pair%:*}.bc
        [ ! -e "$chip" ] || continue
        echo 'target triple = "amdgcn-amd-amdhsa"' >"$out/bc/chip.ll"
        echo "@__oclc_ISA_version = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i32 ${pair#*:}, align 4" >>"$out/bc/chip.ll"
        "$clang" --target=amdgcn-amd-amdhsa -nogpulib -x ir -c -emit-llvm "$out/bc/chip.ll" -o "$chip"
    done
    rm -f "$out/bc/chip.ll"
fi
echo "built $out; hiprtc compiles with $clang and the headers of $rocm"
