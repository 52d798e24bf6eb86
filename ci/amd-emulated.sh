#!/bin/bash
# Runs the host code and the code objects for AMD on the emulated devices of emulator/: the loader, the conformance suite, the tests of hip-safe,
# tensor-core and models, and every parity case, for each architecture and mode. docs/platforms/amd.md says what that proves. CI does not run it.
set -u
cd "$(dirname "$0")/.." || exit 2

usage() {
    cat <<'TEXT'
Usage: TINYGRAD=DIR ci/amd-emulated.sh [FOLDER] [OPTIONS]

FOLDER is what emulator/build.sh made [default: emulator/build].

  --arch LIST    gfx1100,gfx1201,gfx90a,gfx942        [default: all of these]
  --mode LIST    sync: a call does its work before it returns; lazy: the work is done when somebody waits; async: threads do it;
                 shuffle: as sync, and the last group and wave run first              [default: all of these]
  --name LIST    6, 5, 7: the version under whose name the library is loaded          [default: 6]
  --code LIST    prebuilt: code objects of build-kernels; rtc: compiled at run time   [default: prebuilt,rtc]
  --only LIST    loader, conformance, hip-safe, tensor-core, models, parity           [default: all of these]
  --bin DIR      programs that are built already: xtask, parity, conformance, test-hip-safe, test-tensor-core, test-models
  --out DIR      where the output of each step goes                                   [default: target/amd-emulated]

Conformance runs in the mode async, which its cases need, and compiles at run time; in the others it is left out.
emulator/README.md has the variables: TINYGRAD is needed, AMDEMU_CACHE and AMDEMU_TIMEOUT_MS are useful.
Exit code: 0 if every step passed or differed as listed, 1 if not, 2 if something is missing.

Examples:
  TINYGRAD=DIR ci/amd-emulated.sh
  TINYGRAD=DIR ci/amd-emulated.sh --arch gfx90a --mode lazy,shuffle --code prebuilt --only tensor-core,parity
  TINYGRAD=DIR ci/amd-emulated.sh --name 5,7 --mode async --only loader,conformance,hip-safe
TEXT
}

fail() { echo "amd-emulated: $*" >&2; exit 2; }
folder= archs=gfx1100,gfx1201,gfx90a,gfx942 modes=sync,lazy,async,shuffle names=6 codes=prebuilt,rtc
only=loader,conformance,hip-safe,tensor-core,models,parity bin= out=$PWD/target/amd-emulated
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help) usage; exit 0 ;;
    --arch | --mode | --name | --code | --only | --bin | --out)
        [ $# -gt 1 ] || fail "a value is missing after $1"
        case $1 in
        --arch) archs=$2 ;; --mode) modes=$2 ;; --name) names=$2 ;; --code) codes=$2 ;; --only) only=$2 ;;
        --bin) bin=$(realpath "$2") ;; --out) out=$(realpath -m "$2") ;;
        esac
        shift ;;
    -*) fail "there is no option $1; see --help" ;;
    *) [ -z "$folder" ] || fail "one folder, not also $1"; folder=$1 ;;
    esac
    shift
done
[ -n "$folder" ] || folder=emulator/build
[ -f "$folder/libamdhip64.so.6" ] || fail "no libamdhip64.so.6 in $folder: run emulator/build.sh"
[ -d "${TINYGRAD:-}" ] || fail "TINYGRAD has to name a checkout of tinygrad, see emulator/README.md"
folder=$(realpath "$folder")
wants() { case ,$2, in *,$1,*) true ;; *) false ;; esac; }
known() { for it in ${1//,/ }; do wants "$it" "$2" || fail "$it: there are ${2//,/, }"; done; }
known "$modes" sync,lazy,async,shuffle
known "$names" 5,6,7
known "$codes" prebuilt,rtc
known "$only" loader,conformance,hip-safe,tensor-core,models,parity
mkdir -p "$out"

# The programs: built once, then run directly.
test_program() { cargo test --no-run -p "hipstack-$1" --test "$2" 2>&1 | sed -n 's/.*Executable.*(\(.*\))$/\1/p'; }
if [ -n "$bin" ]; then
    xtask=$bin/xtask hip_safe=$bin/test-hip-safe tensor_core=$bin/test-tensor-core models=$bin/test-models
else
    cargo build -q --workspace --bin xtask --bin parity --bin conformance || exit 2
    xtask=$PWD/target/debug/xtask hip_safe=$PWD/$(test_program hip-safe suite)
    tensor_core=$PWD/$(test_program tensor-core suite) models=$PWD/$(test_program models torch)
fi
for program in "$xtask" "$hip_safe" "$tensor_core" "$models"; do [ -f "$program" ] && [ -x "$program" ] || fail "no program $program"; done
objects=${HIPSTACK_KERNELS:-$PWD/target/kernels}
# Current objects are kept; stale objects would be refused.
for arch in ${archs//,/ }; do
    ! wants prebuilt "$codes" || "$xtask" build-kernels --platform amd --arch "$arch" --out "$objects" || exit 2
done

# The library's hiprtc reads hipcc's headers, which omit most device functions if they are compiled by hiprtc.
compiler=$out/clang
printf '#!/bin/sh\nexec %q "$@" -U__HIPCC_RTC__\n' "${AMDEMU_CLANG:-$folder/clang}" >"$compiler"
chmod +x "$compiler"

rows=() bad=0
# step ARCH MODE NAME CODE WHAT COMMAND…: runs the command, keeps its output, and records its exit code and
# last counts.
step() {
    local arch=$1 mode=$2 name=$3 code=$4 what=$5 log start status said
    shift 5
    log=$out/$arch-$mode-so$name-$code-$what.txt start=$(date +%s)
    (
        export AMDEMU_CLANG=$compiler HIPSTACK_CACHE=${HIPSTACK_CACHE:-$out/code}
        export LD_LIBRARY_PATH=$folder AMDEMU_ARCH=$arch AMDEMU_MODE=$mode AMDEMU_DEVICES=2
        case $mode in shuffle) export AMDEMU_MODE=sync AMDEMU_SHUFFLE=1 ;; esac
        [ "$name" = 6 ] || export LD_LIBRARY_PATH=$folder/v$name
        if [ "$code" = rtc ]; then export HIPSTACK_KERNELS=compile; else export HIPSTACK_KERNELS=$objects; fi
        "$@"
    ) >"$log" 2>&1
    status=$?
    said=$(counts "$log" | tr -d "\n")
    if [ $status = 0 ]; then status=passed; else status="FAILED ($status)" bad=1; fi
    rows+=("$arch|$mode|.so.$name|$code|$what|$status|$(($(date +%s) - start)) s|$said")
    echo "${rows[-1]//|/  }"
}

# The counts in the output of a step.
counts() {
    sed -nE -e 's/^test result: [A-Za-z]+\. ([0-9]+ passed; [0-9]+ failed).*$/\1/p' \
        -e 's/^all +[0-9]+ +([0-9]+) +([0-9]+) +([0-9]+) +([0-9]+) .*$/\1 passed, \2 failed, \3 differ as listed, \4 skipped/p' \
        -e 's/^.*: [0-9]+ results, (.*)\.$/\1/p' "$1" | tail -n 1
}
# Checks that the library is found by its name, starts, and has the requested device.
loader() {
    local said
    said=$("$xtask" conformance --platform amd --differences amd-emulated --filter 'init/*') || { echo "$said"; return 1; }
    echo "$said"
    [[ $said == *"with device 0 $AMDEMU_ARCH"* ]]
}
conformance() { "$xtask" conformance --platform amd --differences amd-emulated; }
# In the mode sync a host function would deadlock: it waits for what the program does after the call.
safe() {
    local skip=()
    if [ "$AMDEMU_MODE" = sync ]; then
        skip=(--skip host_function::a_stream_whose_last_reference --skip pool_waits --skip stream::end)
    fi
    HIPSTACK_TEST_PLATFORM=amd "$hip_safe" --test-threads=1 "${skip[@]}"
}
tensors() {
    export TENSOR_CORE_TEST_DEVICES=amd:0,amd:1
    # In lazy mode the library may run a stream's first operation twice when two threads wait, because it
    # releases its lock in between.
    local threads=2
    [ "$AMDEMU_MODE" != lazy ] || threads=1
    "$tensor_core" --test-threads=$threads
}
# Tiny models. One thread in every mode, for the reason above.
models() { TENSOR_CORE_TEST_DEVICES=amd:0 "$models" --test-threads=1; }
parity() {
    "$xtask" parity --all --device amd:0 --differences crates/parity/differences/amd-emulated.toml --json "$out/parity/$AMDEMU_ARCH.json"
}

for arch in ${archs//,/ }; do
    for name in ${names//,/ }; do
        if wants loader "$only"; then step "$arch" sync "$name" none loader loader; fi
        for mode in ${modes//,/ }; do
            if wants conformance "$only" && [ "$mode" = async ]; then step "$arch" "$mode" "$name" rtc conformance conformance; fi
            # These tests load code objects from a folder.
            if wants hip-safe "$only"; then step "$arch" "$mode" "$name" prebuilt hip-safe safe; fi
            for code in ${codes//,/ }; do
                if wants tensor-core "$only"; then step "$arch" "$mode" "$name" "$code" tensor-core tensors; fi
                if wants models "$only"; then step "$arch" "$mode" "$name" "$code" models models; fi
                if wants parity "$only"; then step "$arch" "$mode" "$name" "$code" parity parity; fi
            done
        done
    done
done

echo
{
    echo "arch|mode|library|code|what|result|took|said"
    printf '%s\n' "${rows[@]}"
} | column -t -s '|'
exit $bad
