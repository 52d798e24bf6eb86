#!/usr/bin/env bash
# Runs a program with the libraries of a folder that `ci/fetch-rocm-packages.sh DIR --runnable` filled,
# including its C library, so that a newer HIP than this machine's can be loaded without installing it.
set -euo pipefail

if [ "$#" -lt 2 ] || [ "$1" = --help ]; then
    echo "Usage: ci/run-unpacked.sh DIR PROGRAM [ARGUMENT]...
Example:
  cargo test -p hipstack-hip-sys --test debian --no-run
  ci/run-unpacked.sh target/rocm/6.4 target/debug/deps/debian-0123456789abcdef --nocapture" >&2
    exit 2
fi
libraries=$(cd "$1" && pwd)/usr/lib/x86_64-linux-gnu
shift
if [ ! -x "$libraries/ld-linux-x86-64.so.2" ]; then
    echo "run-unpacked.sh: no C library in $libraries: fetch it with ci/fetch-rocm-packages.sh DIR VERSION --runnable" >&2
    exit 1
fi
unset LD_LIBRARY_PATH ROCM_PATH
exec "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" "$@"
