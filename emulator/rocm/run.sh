#!/usr/bin/env bash
# Runs a program with AMD's real libraries of ROCm 7.2.4 on an emulated device: the libraries and the loader are those of a folder of
# emulator/rocm/fetch.sh, and in place of AMD's libamdhip64.so.7 stands the emulated one.
set -euo pipefail

usage() {
    cat <<'TEXT'
Usage: emulator/rocm/run.sh [--arch GFX] FOLDER PROGRAM [ARGUMENT]...

  --arch GFX  gfx942, gfx950, gfx90a, gfx1100, gfx1201        [default: $AMDEMU_ARCH, else gfx942]

PROGRAM is an executable file and no script. If it asks for /proc/self/exe, it gets the loader. ci/run-unpacked.sh runs a program
with AMD's own HIP, which finds no device.

Variables:
  TINYGRAD        the checkout of tinygrad that the emulator needs
  AMDEMU_LIB      a folder of emulator/build.sh               [default: emulator/build, made anew when its sources changed]
  AMDEMU_LDS      what a read past the end of LDS does        [default: hardware, because AMD's libraries do that on purpose]
  ROCM_RUN_CACHE  what MIOpen, rocFFT and comgr keep          [default: FOLDER/.cache]
The other variables of the emulator are in emulator/README.md.
TEXT
}

here=$(cd "$(dirname "$0")/.." && pwd)
fail() { echo "emulator/rocm/run.sh: $*" >&2; exit 1; }
arch=${AMDEMU_ARCH:-gfx942}
case ${1-} in
-h | --help) usage; exit 0 ;;
--arch) arch=${2-}; shift 2 ;;
esac
[ $# -ge 2 ] || { usage >&2; exit 2; }
folder=$(cd "$1" && pwd)
program=$2
shift 2
libraries=$folder/usr/lib/x86_64-linux-gnu
[ -x "$libraries/ld-linux-x86-64.so.2" ] || fail "no loader in $folder: emulator/rocm/fetch.sh makes such a folder"
[ -d "${TINYGRAD-}" ] || fail "TINYGRAD has to name a checkout of tinygrad, see emulator/README.md"
case $program in */*) ;; *) program=$(command -v "$program") ;; esac

emulator=${AMDEMU_LIB:-$here/build}
library=$emulator/rocm7/libamdhip64.so.7
if [ ! -e "$library" ] || { [ -z "${AMDEMU_LIB-}" ] && [ -n "$(find "$here/src" -newer "$library" -print -quit)" ]; }; then
    "$here/build.sh" "$emulator" >&2
fi
emulator=$(cd "$emulator" && pwd)

export AMDEMU_ARCH=$arch AMDEMU_VERSION=${AMDEMU_VERSION:-70253211} AMDEMU_LDS=${AMDEMU_LDS:-hardware}
# Whatever looks for HIP there must not find AMD's.
unset ROCM_PATH HIP_PATH LD_LIBRARY_PATH
cache=${ROCM_RUN_CACHE:-$folder/.cache}
mkdir -p "$cache"
for path in "$libraries"/hipblaslt/library "$libraries"/hipblaslt/*/library; do
    if [ -d "$path" ]; then export HIPBLASLT_TENSILE_LIBPATH=${HIPBLASLT_TENSILE_LIBPATH:-$path}; fi
done
# FAST: MIOpen does not measure kernels, which says nothing here.
export MIOPEN_USER_DB_PATH=$cache/miopen MIOPEN_CUSTOM_CACHE_DIR=$cache/miopen-kernels MIOPEN_FIND_MODE=${MIOPEN_FIND_MODE:-FAST}
export MIOPEN_LOG_LEVEL=${MIOPEN_LOG_LEVEL:-3}
export ROCFFT_RTC_CACHE_PATH=${ROCFFT_RTC_CACHE_PATH:-$cache/rocfft.db} AMD_COMGR_CACHE_DIR=${AMD_COMGR_CACHE_DIR:-$cache/comgr}
# rocFFT's helper program would run under the machine's own loader.
export ROCFFT_RTC_PROCESS=${ROCFFT_RTC_PROCESS:-0}
exec "$libraries/ld-linux-x86-64.so.2" --argv0 "$program" --library-path "$emulator/rocm7:$libraries" "$program" "$@"
