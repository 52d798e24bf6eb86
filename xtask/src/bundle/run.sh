#!/bin/sh
# Runs this folder's programs on this machine's GPU: `./run --help`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
platform=@PLATFORM@

help() {
    cat <<TEXT
Usage: ./run [COMMAND] [OPTIONS]

  ./run                 doctor, conformance, tests and parity, one after the other
  ./run doctor          what this machine has
  ./run conformance     HIP's C functions on this platform, case by case
  ./run tests           the tests of hip-safe and tensor-core
  ./run parity          every operation against the reference, and against recorded results
  ./run parity record --device $platform:0 --out FILE     this device's results as a file
  ./run throughput      operations in bytes a second
  ./run beside-torch    the same beside PyTorch's, in turns: figures in results/h200; PYTHON=FILE says which python3
  ./run sanitize        a choice of the tests and cases under NVIDIA's compute-sanitizer
  ./run witness DIR     the same cases by PyTorch, held against the device's

Options go to the command: ./run parity --filter sum/f32. Everything that is written goes to the folder results.
TEXT
}

say() { echo "== $*"; }

# The steps that were run, and their results.
summary=
failed=0
step() {
    name=$1
    shift
    say "$name"
    if "$@"; then summary="$summary$name: passed
"; else
        summary="$summary$name: FAILED
"
        failed=1
    fi
}
finish() {
    say summary
    printf '%s' "$summary"
    exit $failed
}

# Invalid and purely informative commands must not write any files.
case ${1:-all} in
-h | --help | help)
    help
    exit 0
    ;;
all | doctor | conformance | tests | parity | throughput | beside-torch | sanitize | witness) ;;
*)
    echo "run: there is no command '$1'; see ./run --help" >&2
    exit 2
    ;;
esac

# The folder kernels is complete or absent; its file stamp identifies the archive that it was unpacked from.
unpack() {
    stamp=$(cksum <"$here/kernels.tar.gz")
    if [ -f "$here/kernels/stamp" ] && [ "$(cat "$here/kernels/stamp")" = "$stamp" ]; then return 0; fi
    rm -rf "$here/kernels.new"
    mkdir "$here/kernels.new"
    tar -xzf "$here/kernels.tar.gz" -C "$here/kernels.new"
    echo "$stamp" >"$here/kernels.new/stamp"
    rm -rf "$here/kernels"
    mv "$here/kernels.new" "$here/kernels"
}
unpack
export HIPSTACK_KERNELS="$here/kernels"
export HIPSTACK_TEST_PLATFORM=$platform
export TENSOR_CORE_TEST_DEVICES="${TENSOR_CORE_TEST_DEVICES:-cpu,$platform:0}"
mkdir -p "$here/results"
cd "$here/results"
bin=$here/bin

conformance() { "$bin/conformance" --platform $platform "$@"; }
parity() { "$bin/parity" "$@"; }
hip_safe() { "$bin/test-hip-safe" --test-threads=1 --show-output "$@"; }
tensor_core() { "$bin/test-tensor-core" "$@"; }

# The folders of cuBLAS and cuDNN in PyTorch's wheels, for our programs too; empty if there are none.
torch_libraries() {
    "$1" - <<'CODE'
import pathlib, sysconfig
folders = pathlib.Path(sysconfig.get_paths()["purelib"]).glob("nvidia/*/lib")
print(":".join(map(str, sorted(folders))))
CODE
}

# Turns a text into a file name.
file_name() { printf %s "$1" | tr -cs 'A-Za-z0-9._' -; }

# Runs a command under compute-sanitizer, with a log of its own. Errors of driver calls are not reported: the
# number of a kernel's arguments is found by asking for one too many, and tests cause errors on purpose.
sanitize() {
    tool=$1
    quiet=
    [ "$tool" != memcheck ] || quiet="--report-api-errors no"
    log=sanitize-$(file_name "$name").txt
    shift
    compute-sanitizer --tool "$tool" $quiet --error-exitcode 9 "$@" >"$log" 2>&1 || {
        tail -n 40 "$log"
        return 1
    }
    grep -E "(ERROR|RACECHECK) SUMMARY" "$log" || true
}

# Exit code 1 means that results are wrong, and the script continues; another code ends the script.
go_on() {
    "$@" || {
        code=$?
        [ $code -eq 1 ] || exit $code
    }
}

case ${1:-all} in
all)
    # It also reports missing build tools, which are not a failure here.
    "$bin/xtask" doctor || true
    step conformance conformance --json conformance.json
    step "tests of hip-safe" hip_safe
    step "tests of tensor-core" tensor_core
    step parity parity --full --device "cpu,host:0,host:1,$platform:0" --json parity.json
    finish
    ;;
doctor) "$bin/xtask" doctor ;;
conformance)
    shift
    conformance "$@"
    ;;
tests)
    step "tests of hip-safe" hip_safe
    step "tests of tensor-core" tensor_core
    finish
    ;;
parity)
    shift
    parity "$@"
    ;;
throughput)
    shift
    "$bin/throughput" --device $platform:0 "$@"
    ;;
beside-torch)
    shift
    case " $* " in
    *" -h "* | *" --help "*)
        "$bin/throughput" --help
        exit 0
        ;;
    esac
    python=${PYTHON:-python3}
    libraries=$(torch_libraries "$python")
    export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}${libraries:+${LD_LIBRARY_PATH:+:}$libraries}"
    "$bin/throughput" --device $platform:0 --peer "$here/torch_throughput.py" --python "$python" --out h200 "$@"
    ;;
sanitize)
    command -v compute-sanitizer >/dev/null || {
        echo "run: compute-sanitizer is not in PATH: it comes with CUDA's toolkit" >&2
        exit 2
    }
    for tool in memcheck racecheck initcheck; do
        for cases in 'add/f32/*' 'exp/f16/*' 'cast/bf16*' 'copy/f32/*' 'sum/f32/*' 'argmax/f16/*' 'matmul/f32/*'; do
            json=sanitize-$(file_name "$tool parity $cases").json
            step "$tool parity $cases" sanitize $tool "$bin/parity" --device $platform:0 --filter "$cases" --json "$json"
        done
    done
    step "memcheck hip-safe" sanitize memcheck "$bin/test-hip-safe" --test-threads=1 \
        launch::builder:: memory::buffers:: graph::memory:: memory::shared:: memory::pinned:: stream::events::
    finish
    ;;
witness)
    folder=${2:-witness}
    # This file is written last: without it the folder is the result of an interrupted export. Only files of
    # an export are removed.
    [ -e "$folder/cases.json" ] || {
        rm -f "$folder"/inputs-*.safetensors "$folder"/.tensor-*.partial "$folder"/.tmp*
        parity export --out "$folder"
    }
    # A result that is wrong is no reason not to compare: it counts at the end.
    # Python ends with 1 for a missing module too; then there are no results, and none of an earlier run either.
    code=0
    rm -f "$folder/results.safetensors" "$folder/$platform.tsv"
    go_on python3 "$here/torch_witness.py" "$folder"
    [ -e "$folder/results.safetensors" ] || exit 1
    go_on parity record --device $platform:0 --out "$folder/$platform.tsv"
    go_on parity compare "$folder/$platform.tsv" "$folder/results.safetensors" --differences "$here/differences.toml"
    exit $code
    ;;
esac
