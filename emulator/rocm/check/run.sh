#!/usr/bin/env bash
# Runs the checks on emulated devices. Each prints a line: right, wrong or refused; under a failed launch stands what the emulator said.
# usage: emulator/rocm/check/run.sh FOLDER OUT [ARCH[,ARCH...]|all] [NAME...]
# FOLDER is what emulator/rocm/fetch.sh made, OUT what build.sh made. T is the number of seconds that a program may take (300).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
folder=$1 archs=${3:-all}
out=$(cd "$2" && pwd)
shift $(($# < 3 ? $# : 3))
[ "$archs" != all ] || archs=gfx942,gfx90a,gfx1100,gfx1201
[ $# -gt 0 ] || set -- rocblas rocsolver rocfft rocrand rocsparse miopen hipblaslt rccl
bad=0
for arch in ${archs//,/ }; do
    for name in "$@"; do
        log=$out/$name.$arch.log errors=$out/$name.$arch.err
        timeout "${T:-300}" "$here/../run.sh" --arch "$arch" "$folder" "$out/$name" >"$log" 2>"$errors"
        status=$?
        cat "$log"
        [ -s "$log" ] || tail -n 1 "$errors"
        [ $status != 124 ] || echo "$name $arch: not over after ${T:-300} s"
        [ $status != 0 ] || continue
        bad=1
        grep -a '^amdemu: kernel' "$errors" | sed -E 's/^amdemu: kernel ([^:]{0,40})[^:]*: /    \1...: /' | cut -c1-260 | sort -u | head -n 6
    done
done
exit $bad
