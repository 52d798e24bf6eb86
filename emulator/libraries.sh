#!/usr/bin/env bash
# Runs the test suites of rocblas-safe, miopen-safe, rocrand-safe, rocfft-safe, rocsolver-safe and rocsparse-safe, and what of tensor-core and
# parity calls rocBLAS and MIOpen, against AMD's real libraries on emulated devices, each test in a process of its own. Writes a table.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
Usage: TINYGRAD=DIR emulator/libraries.sh [OPTIONS] FOLDER

FOLDER is what emulator/rocm/fetch.sh made.

  --arch LIST    gfx942,gfx950,gfx90a,gfx1100,gfx1201       [default: gfx942,gfx1100]
  --only LIST    rocblas,miopen,rocrand,rocfft,rocsolver,rocsparse,tensor-core,parity    [default: all]
  --filter TEXT  tests whose name contains TEXT
  --shuffle      the last group and wave run first, in short turns. Without it each wave runs on to its next barrier
  --limit N      seconds that a test may take               [default: 120]
  --total N      seconds that all may take                  [default: 10800]
  --bin DIR      programs that are built already: test-rocblas-safe and so on, test-tensor-core, parity
  --out DIR      the output of each test, results.tsv and table.txt     [default: target/emulator/libraries]

passed       the test passed; what it skipped is noted, and of tensor-core and parity which kernels ran
wrong        an assertion failed, or the process died
refused      a library, HIP or the emulator answered with an error
not reached  the test was not over after its limit, or the total limit came first

Of tensor-core these are the tests of products, convolutions and libraries, of parity the cases of matmul and conv2d: a test is an
operation in one dtype and layout. They compile this project's kernels by AMD's hiprtc.

emulator/libraries-known.txt lists results that are known, with causes. Exit code: 0 if all passed or ended as listed, 1 if a test ended
otherwise or a listed one passed, 2 if something is missing. What was not reached is counted and no failure.

Examples:
  TINYGRAD=DIR emulator/libraries.sh target/rocm724
  TINYGRAD=DIR emulator/libraries.sh --arch gfx942 --only rocblas --filter level1 target/rocm724
  TINYGRAD=DIR emulator/libraries.sh --arch gfx942 --only tensor-core,parity target/rocm724
TEXT
}

fail() { echo "emulator/libraries.sh: $*" >&2; exit 2; }
suites=rocblas,miopen,rocrand,rocfft,rocsolver,rocsparse,tensor-core,parity
archs=gfx942,gfx1100 only=$suites filter="" shuffle=0 limit=120 total=10800 bin="" out=target/emulator/libraries folder=""
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help) usage; exit 0 ;;
    --shuffle) shuffle=1 ;;
    --arch | --only | --filter | --limit | --total | --bin | --out)
        [ $# -gt 1 ] || fail "a value is missing after $1"
        declare "$(case $1 in --arch) echo archs ;; *) echo "${1#--}" ;; esac)=$2"
        shift ;;
    -*) fail "there is no option $1; see --help" ;;
    *) [ -z "$folder" ] || fail "one folder, not also $1"; folder=$1 ;;
    esac
    shift
done
[ -n "$folder" ] || { usage >&2; exit 2; }
[ -e "$folder/VERSIONS" ] || fail "$folder has no VERSIONS: emulator/rocm/fetch.sh makes such a folder"
[ -d "${TINYGRAD-}" ] || fail "TINYGRAD has to name a checkout of tinygrad, see emulator/README.md"
for name in ${only//,/ }; do [[ ,$suites, = *,$name,* ]] || fail "--only $name: there are ${suites//,/, }"; done
known=emulator/libraries-known.txt
mkdir -p "$out"

# The programs, and the names of their tests: one of each suite in turn, so that the total limit cuts all alike.
declare -A program
for name in ${only//,/ }; do
    case $name in
    parity) build=(build -p hipstack-parity --bin parity) file=parity ;;
    tensor-core) build=(test --no-run -p hipstack-tensor-core --test suite) file=test-$name ;;
    *) build=(test --no-run -p "hipstack-$name-safe" --test suite) file=test-$name-safe ;;
    esac
    program[$name]=$bin/$file
    if [ -z "$bin" ]; then
        built=$(cargo "${build[@]}" --message-format json-render-diagnostics) || exit 2
        program[$name]=$(sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' <<<"$built")
    fi
    [ -x "${program[$name]}" ] || fail "no program ${program[$name]}"
    case $name in
    parity) "${program[$name]}" --all --list | sed -nE 's/^((matmul|conv2d)\/[^/]+\/[^/]+)\/.*/\1/p' | sort -u ;;
    tensor-core) "${program[$name]}" --list --format terse | sed -n 's/: test$//p' | grep -E '^(libraries|matmul|conv|convnet|layer)::' ;;
    *) "${program[$name]}" --list --format terse | sed -n 's/: test$//p' ;;
    esac | { grep -F -- "$filter" || true; } | sed "s/^/$name /" >"$out/$name.list"
done
tests=$(for name in ${only//,/ }; do echo "$out/$name.list"; done | xargs paste -d '\n' | sed '/^$/d')
[ -n "$tests" ] || fail "no test's name contains $filter"

# The failed launches; AMDEMU_STATS has lines of the others too.
faults() { grep -a 'amdemu: kernel' "$1" | grep -av ': grid [0-9]' || true; } # LOG
# Which kernels of libraries ran, how often: rocBLAS's are Cijk_*; this project's begin with their family.
ran() { # LOG
    local all
    all=$(grep -ao 'amdemu: kernel [^:]*: grid' "$1" | cut -d ' ' -f 3 | sed -E 's/:$//; s/^(Cijk)_.*/\1_*/; s/^(.{40}).*/\1/' || true)
    [ -n "$all" ] || return 0
    all=$(grep -vE '^(elementwise|conv|matmul|reduce|transpose|pool|index|softmax|norm)_' <<<"$all" || true)
    [ -n "$all" ] || { echo "no kernel of a library ran"; return; }
    sort <<<"$all" | uniq -c | sort -rn | head -n 8 | sed -E 's/^ *([0-9]+) (.*)/\1 x \2/' | paste -sd ',' | sed 's/^/ran /'
}
# What the output of a failed test says: the emulator's reason, else the first panic.
said() { # LOG
    local reason
    # It may stand behind the name of the test.
    reason=$(faults "$1" | head -n 1 | sed -E 's/.*amdemu: kernel ([^:]{0,40})[^:]*: /\1: /' || true)
    [ -n "$reason" ] || reason=$(grep -a -m 1 -A 2 'panicked at' "$1" | sed -E 's/.*panicked at ([^ ]*):[0-9]+:$/\1: /' | tr -d '\n' || true)
    tr '\t' ' ' <<<"$reason" | cut -c 1-300
}
answers='answered (rocblas_status|miopenStatus|ROCRAND_STATUS|rocfft_status|rocsparse_status|HIPBLAS_STATUS|hipError)|hipError[A-Z]|not supported here|what the platform lacks|no rocBLAS: |no MIOpen: |no rocRAND: |no rocFFT: |no rocSOLVER: |no rocSPARSE: |no hipBLASLt: |the library has no algorithm'
# The result of a test that ended with STATUS, and what there is to say of it.
judge() { # STATUS LOG SECONDS
    local reason
    reason=$(said "$2")
    if [ "$1" = 0 ]; then
        echo "passed	$({ grep -a '^skipped: ' "$2" | sort -u | head -n 3; ran "$2"; } | paste -sd ';' | cut -c 1-300)"
    elif [ "$1" = 124 ] || [ "$1" = 137 ]; then
        echo "not reached	not over after $3 s"
    elif faults "$2" | grep -q 'still running after'; then
        echo "not reached	$reason"
    elif [ -n "$(faults "$2")" ] || grep -qaE "$answers" <<<"$reason"; then
        echo "refused	$reason"
    elif [ -n "$reason" ]; then
        echo "wrong	$reason"
    else
        echo "wrong	exit code $1: $(tail -n 1 "$2" | cut -c 1-200)"
    fi
}

# The cause that the list names for a result, if it does.
cause() { # ARCH SUITE TEST RESULT
    awk -v arch="$1" -v suite="$2" -v test="$3" -v result="$4" -F ' *[|] *' \
        '!/^#/ && index("," $1 ",", "," arch ",") && $2 == suite && $3 == test && (result == "" || $4 == result) { print $5; exit }' "$known"
}

results=$out/results.tsv
: >"$results"
bad=0
note() { # ARCH SUITE TEST RESULT SECONDS WHY
    local arch=$1 suite=$2 test=$3 result=$4 seconds=$5 why=$6 listed
    listed=$(cause "$arch" "$suite" "$test" "$result")
    case $result in
    passed)
        listed=$(cause "$arch" "$suite" "$test" "")
        if [ -n "$listed" ] && [ "$shuffle" = 0 ]; then why="STALE, listed with: $listed" bad=1; fi ;;
    "not reached") ;;
    *) if [ -n "$listed" ]; then why="$why [as listed: $listed]"; else bad=1; fi ;;
    esac
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$arch" "$suite" "$test" "$result" "$seconds" "$why" | tee -a "$results"
}

# Asynchronous streams, because some tests hold a stream up by a host function. Two devices, because some tests need them.
export HIPSTACK_TEST_PLATFORM=amd AMDEMU_MODE=${AMDEMU_MODE:-async} AMDEMU_DEVICES=${AMDEMU_DEVICES:-2}
export AMDEMU_TIMEOUT_MS=${AMDEMU_TIMEOUT_MS:-$((limit * 900))}
export AMDEMU_SHUFFLE=${AMDEMU_SHUFFLE:-$shuffle} TENSOR_CORE_TEST_DEVICES=amd:0 HIPSTACK_CACHE=${HIPSTACK_CACHE:-$out/code}
SECONDS=0
while read -r name test; do
    for arch in ${archs//,/ }; do
        left=$((total - SECONDS)) log=$out/$arch-$name-$(tr ':/' '-' <<<"$test").txt
        if [ $left -le 0 ]; then
            note "$arch" "$name" "$test" "not reached" 0 "the total limit of $total s came first"
            continue
        fi
        seconds=$((left < limit ? left : limit)) start=$SECONDS status=0
        case $name in
        parity) arguments=(--all --device amd:0 --filter "$test/*" --json "$out/$arch-${test//\//-}.json") ;;
        *) arguments=(--exact "$test" --nocapture --test-threads=1) ;;
        esac
        stats=()
        case $name in parity | tensor-core) stats=(AMDEMU_STATS=1) ;; esac
        env "${stats[@]}" timeout -k 5 "$seconds" emulator/rocm/run.sh --arch "$arch" "$folder" "${program[$name]}" "${arguments[@]}" \
            </dev/null >"$log" 2>&1 || status=$?
        judged=$(judge "$status" "$log" "$seconds")
        note "$arch" "$name" "$test" "${judged%%	*}" $((SECONDS - start)) "${judged#*	}"
    done
done <<<"$tests"

{
    echo "ROCm $(sed -n '1s/ROCm //p' "$folder/VERSIONS"), $(date +%F), $SECONDS s, at most $limit s a test and $total s in all"
    echo
    {
        echo "suite|chip|passed|wrong|refused|not reached"
        for name in ${only//,/ }; do
            for arch in ${archs//,/ }; do
                awk -F '\t' -v OFS='|' -v arch="$arch" -v suite="$name" '$1 == arch && $2 == suite { n[$4]++ }
                    END { print suite, arch, n["passed"] + 0, n["wrong"] + 0, n["refused"] + 0, n["not reached"] + 0 }' "$results"
            done
        done
    } | column -t -s '|'
    for result in wrong refused "not reached" passed; do
        awk -F '\t' -v result="$result" '$4 == result && (result != "passed" || $6 != "") {
            if (!n++) print "\n" result ":"
            print "  " $1 " " $2 " " $3 " (" $5 " s): " $6
        }' "$results"
    done
} | tee "$out/table.txt"
exit $bad
