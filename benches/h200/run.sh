#!/bin/sh
# Measures this workspace and PyTorch on an NVIDIA GPU: `benches/h200/run.sh --help`.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)

help() {
    cat <<TEXT
Usage: benches/h200/run.sh [HOST] [OPTIONS]

Builds the bundle (programs, and kernels for sm_90), runs its \`./run beside-torch\` here or, by ssh, on HOST, where only PyTorch has to
be, and brings the figures back into benches/h200: an array of rows a file.

  benches/h200/run.sh                              on this machine
  benches/h200/run.sh me@gpu                       on another one
  benches/h200/run.sh me@gpu --set memory          some of the rows
  PYTHON=/opt/torch/bin/python3 benches/h200/run.sh me@gpu

Options go to \`throughput\`: --set, --dtype, --filter, --repeats and others; see ./run throughput --help in the bundle. With --dtype and
--filter files lack rows: good for a look, but not for the repository, whose tests ask for all.
Variables: PYTHON, which has PyTorch [python3]; H200_FOLDER, the bundle's folder on HOST [hip-bundle]; H200_BUILT=1, to take the bundle that is there.
Afterwards \`cargo run -p benches --bin plot\` draws the figures, and writes a part of docs/BENCHMARKING.md and ROWS.md.
TEXT
}

case ${1:-} in
-h | --help | help)
    help
    exit 0
    ;;
esac
host=
case ${1:-} in
'' | -*) ;;
*)
    host=$1
    shift
    ;;
esac

bundle=$root/target/bundle/nvidia
python=${PYTHON:-python3}
if [ -z "${H200_BUILT:-}" ]; then
    (cd "$root" && cargo xtask bundle --platform nvidia --arch sm_90)
fi

# If a result is wrong or a row could not be measured, the other results are copied back all the same.
code=0
if [ -z "$host" ]; then
    PYTHON=$python "$bundle/run" beside-torch "$@" || code=$?
    results=$bundle/results/h200
else
    folder=${H200_FOLDER:-hip-bundle}
    # Arguments as a shell reads them: a filter has spaces.
    quoted=
    for argument in "$@"; do
        quoted="$quoted '$(printf %s "$argument" | sed "s/'/'\\\\''/g")'"
    done
    tar -czf - -C "$bundle" --exclude=./results --exclude=./kernels . |
        ssh "$host" "mkdir -p '$folder' && tar -xzf - -C '$folder'"
    ssh "$host" "cd '$folder' && PYTHON='$python' ./run beside-torch$quoted" || code=$?
    results=$bundle/results/h200
    mkdir -p "$results"
    ssh "$host" "tar -cf - -C '$folder/results/h200' ." | tar -xf - -C "$results"
fi
[ "$code" -le 1 ] || exit "$code"
cp "$results"/*.json "$results/notes.txt" "$root/benches/h200/"
echo "benches/h200: $(cat "$root/benches/h200"/*.json | grep -c '"op"') rows"
exit "$code"
