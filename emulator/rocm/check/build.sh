#!/usr/bin/env bash
# Compiles the checks with the machine's C compiler and the headers of a folder of emulator/rocm/fetch.sh.
# usage: emulator/rocm/check/build.sh FOLDER OUT [NAME...]
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
rocm=$(cd "$1" && pwd)/rocm
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
[ $# -gt 0 ] || set -- rocblas rocsolver rocfft rocrand rocsparse miopen hipblaslt rccl amdsmi
bad=0
for name in "$@"; do
    compiler=("${CC:-gcc}" -std=gnu11) libraries=("-l$name" -lamdhip64)
    case $name in
    rocsolver) libraries+=(-lrocblas) ;;
    miopen) libraries[0]=-lMIOpen ;;
    amdsmi) libraries=(-lamd_smi) ;;
    hipblaslt) compiler=("${CXX:-g++}" -std=gnu++17 -fpermissive -x c++) ;; # its header is C++
    esac
    "${compiler[@]}" -O1 -w -D__HIP_PLATFORM_AMD__ -I"$rocm/include" -o "$out/$name" "$here/$name.c" -x none -L"$rocm/lib" \
        -Wl,--as-needed,--allow-shlib-undefined "${libraries[@]}" -lm || bad=1
done
exit $bad
