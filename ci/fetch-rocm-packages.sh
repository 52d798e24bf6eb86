#!/usr/bin/env bash
# Downloads Debian's packages of HIP, hiprtc, rocRAND, rocBLAS and MIOpen from a newer suite and unpacks them
# into a folder of their own, for `cargo xtask libraries --folder`. Nothing is installed, and the machine's
# apt is not changed: the lists and the cache are in the folder too, and are removed at the end. Root is not
# needed.
set -euo pipefail
. "$(dirname "$0")/apt-root.sh"

usage() {
    cat <<'TEXT'
Usage: ci/fetch-rocm-packages.sh DIR [5.7|6.4|7.2]... [--runnable]

  5.7         from trixie (Debian 13): HIP and rocRAND 5.7.1, rocBLAS 5.5.1, into DIR/5.7
  6.4         from sid: HIP, rocRAND and MIOpen 6.4.3, rocBLAS 6.4.4, into DIR/6.4 (forky has this HIP, and no rocRAND)
  7.2         from experimental: HIP 7.2.53211, rocRAND 4.2.0, rocBLAS 5.2.0, MIOpen 3.5.1, hipBLASLt, RCCL and amd-smi of ROCm 7.2.4,
              into DIR/7.2 (2.6 GB)
  --runnable  also everything that the libraries need, the C library included, so that they can be loaded here (about
              100 MB of packages more for each version)

Without a version all are fetched. Debian 12's own are 5.2.3 (HIP) and 5.3.3 (rocRAND):
  apt-get install libamdhip64-dev librocrand1 librocrand-dev

Examples:
  ci/fetch-rocm-packages.sh target/rocm
  cargo xtask libraries --folder target/rocm/5.7 --folder target/rocm/6.4 --folder target/rocm/7.2

  ci/fetch-rocm-packages.sh target/rocm 6.4 --runnable
  cargo test -p hipstack-hip-sys --test debian --no-run
  ci/run-unpacked.sh target/rocm/6.4 target/debug/deps/debian-0123456789abcdef --nocapture
TEXT
}

folder="" runnable=0 versions=()
for argument in "$@"; do
    case "$argument" in
        -h | --help) usage; exit 0 ;;
        --runnable) runnable=1 ;;
        5.7 | 6.4 | 7.2) versions+=("$argument") ;;
        -*) echo "fetch-rocm-packages.sh: no option is called $argument; see --help" >&2; exit 2 ;;
        *)
            if [ -n "$folder" ]; then
                echo "fetch-rocm-packages.sh: $argument is none of 5.7, 6.4 and 7.2; see --help" >&2
                exit 2
            fi
            folder=$argument
            ;;
    esac
done
[ -n "$folder" ] || { usage >&2; exit 2; }
[ "${#versions[@]}" -gt 0 ] || versions=(5.7 6.4 7.2)
for tool in apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || { echo "fetch-rocm-packages.sh: $tool is not here: this needs Debian's tools" >&2; exit 1; }
done
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

fetch() { # version, suites, packages
    local version=$1 suites=$2 work="$folder/.fetch-$1" made="$folder/.made-$1"
    shift 2
    rm -rf "$work" "$made"
    mkdir -p "$made"
    # shellcheck disable=SC2086
    make_apt "$work" $suites
    # AMD's packages come from experimental if that is one of the suites, all others from the other suite.
    cat >"$work/preferences" <<'TEXT'
Package: lib*hip* lib*roc* lib*hsa* lib*amd* libmiopen* librccl*
Pin: release a=experimental
Pin-Priority: 990
TEXT
    echo "fetch-rocm-packages.sh: $version from $suites: $*"
    apt_in "$work" 600 update
    if [ "$runnable" -eq 1 ]; then
        apt_in "$work" 1800 -y --download-only install "$@" >/dev/null
    else
        (cd "$work/cache/archives" && apt_in "$work" 1800 download "$@")
    fi
    unpack_into "$work" "$made"
    if ! compgen -G "$made/usr/lib/*/libamdhip64.so.$version.*" >/dev/null; then
        echo "fetch-rocm-packages.sh: $suites moved on from HIP $version; snapshot.debian.org keeps what it had" >&2
        exit 1
    fi
    rm -rf "${folder:?}/$version"
    mv "$made" "$folder/$version"
    rm -rf "$work"
    echo "fetch-rocm-packages.sh: $(du -sm "$folder/$version" | cut -f 1) MB in $folder/$version"
}

for version in "${versions[@]}"; do
    case "$version" in
        5.7) fetch 5.7 trixie libamdhip64-5 libhiprtc-builtins5 libamdhip64-dev librocrand1 librocrand-dev librocblas0 librocblas-dev ;;
        6.4) fetch 6.4 sid libamdhip64-6 libhiprtc6 libhiprtc-builtins6 libamdhip64-dev librocrand1 librocrand-dev librocblas4 librocblas-dev \
            libmiopen1 libmiopen-dev ;;
        7.2) fetch 7.2 "experimental sid" libamdhip64-7 libhiprtc7 libhiprtc-builtins7 libamdhip64-dev librocrand1 librocrand-dev librocblas5 \
            librocblas-dev libmiopen1 libmiopen-dev libhipblaslt1 librccl1 libamd-smi27 ;;
    esac
done
