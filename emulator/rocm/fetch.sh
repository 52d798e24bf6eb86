#!/usr/bin/env bash
# Downloads the libraries of ROCm 7.2.4 as Debian builds them from AMD's sources, and unpacks them into a folder with everything that they
# need, the C library included. Nothing is installed, and the machine's own apt is left alone. ci/fetch-rocm-compiler.sh has the compilers.
set -euo pipefail
. "$(dirname "$0")/../../ci/apt-root.sh"

usage() {
    cat <<'TEXT'
Usage: emulator/rocm/fetch.sh [--refresh] FOLDER

HIP, hiprtc, comgr, rocBLAS, rocSOLVER, rocFFT, rocRAND, rocSPARSE, MIOpen, RCCL, hipBLASLt and amd-smi come with their headers from
Debian's suites experimental and sid. About 1.8 GiB are fetched; FOLDER takes 4 GiB, and 2 GiB more while it is made. Needs
Debian's apt-get and dpkg-deb. FOLDER/VERSIONS lists the packages.

  --refresh  look for newer packages although FOLDER is complete; what is there already is not fetched again

Variable: DEBIAN_MIRROR, another mirror than the machine's own, or a dated snapshot when Debian has moved on:
  DEBIAN_MIRROR=http://snapshot.debian.org/archive/debian/20261125T000000Z emulator/rocm/fetch.sh target/rocm724
TEXT
}

release=7.2.4
packages=(libamdhip64-7 libamdhip64-dev libhiprtc7 libhiprtc-builtins7 libamd-comgr3 librocblas5 librocblas-dev librocsolver0 librocsolver-dev
    librocfft0 librocfft-dev libhipblas-common-dev librocrand1 librocrand-dev librocsparse1 librocsparse-dev libmiopen1 libmiopen-dev librccl1
    librccl-dev libhipblaslt1 libhipblaslt-dev libamd-smi27 libamd-smi-dev libhsa-runtime64-1)
# Their versions name the release. amd-smi and the HSA runtime have numbers of their own.
of_release="libamdhip64-7 libhiprtc7 libamd-comgr3 librocblas5 librocsolver0 librocfft0 librocrand1 librocsparse1 libmiopen1 librccl1 libhipblaslt1"
# Dependencies that nothing here runs.
left_out='^(libmiopen-tests-data|debconf|python3|libpython3)([^a-z]|$)'

fail() { echo "emulator/rocm/fetch.sh: $*" >&2; exit 1; }
folder="" refresh=0
for argument in "$@"; do
    case $argument in
        -h | --help) usage; exit 0 ;;
        --refresh) refresh=1 ;;
        -*) fail "no option is called $argument; see --help" ;;
        *) [ -z "$folder" ] || fail "one folder, not also $argument"; folder=$argument ;;
    esac
done
[ -n "$folder" ] || { usage >&2; exit 2; }
for tool in apt-get dpkg-deb; do command -v "$tool" >/dev/null || fail "$tool is not here: this needs Debian's tools"; done
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if [ "$refresh" = 0 ] && [ -e "$folder/VERSIONS" ]; then
    echo "emulator/rocm/fetch.sh: $folder is complete"
    exit 0
fi

# What belongs to it: apt resolves as for an empty machine. AMD's packages come from experimental, all else from sid.
work=$folder/.fetch
mkdir -p "$work/have"
cat >"$work/preferences" <<'TEXT'
Package: /^(lib)?(roc|hip|amd|hsa|miopen|rccl)/
Pin: release a=experimental
Pin-Priority: 990
TEXT
make_apt "$work" experimental sid
archives=$work/cache/archives
echo "emulator/rocm/fetch.sh: reading the lists of packages"
apt_in "$work" 600 update || fail "apt could not read the lists"
plan=$(apt_in "$work" 600 -s -y install "${packages[@]}") || fail "apt cannot resolve the packages"
sed -nE 's/^Inst ([^ ]+) \(([^ ]+) .*/\1=\2/p' <<<"$plan" | grep -vE "$left_out" | sort >"$work/list"
for package in $of_release; do
    grep -q "^$package=.*$release" "$work/list" || fail "the mirror has no $package of $release any more; see DEBIAN_MIRROR in --help"
done
todo=()
while read -r package; do [ -e "$work/have/$package" ] || todo+=("$package"); done <"$work/list"
echo "emulator/rocm/fetch.sh: $(wc -l <"$work/list") packages, ${#todo[@]} to fetch"

for name in bin lib lib64 sbin; do # as Debian has them
    mkdir -p "$folder/usr/$name"
    [ -e "$folder/$name" ] || ln -s "usr/$name" "$folder/$name"
done
# apt checks signatures and hashes.
if [ ${#todo[@]} -gt 0 ]; then (cd "$archives" && apt_in "$work" 3600 download "${todo[@]}") || fail "apt could not fetch the packages"; fi
for package in "${todo[@]}"; do
    version=${package#*=}
    file=$(compgen -G "$archives/${package%%=*}_${version//:/%3a}_*.deb") || fail "apt did not fetch $package"
    dpkg-deb --fsys-tarfile "$file" | tar -x -C "$folder" --no-same-owner --keep-directory-symlink || fail "cannot unpack $package"
    touch "$work/have/$package"
    rm "$file"
done

# Headers and libraries of ROCm by themselves, as in /opt/rocm. A compiler of the machine must not see the other headers.
rocm=$folder/rocm
mkdir -p "$rocm/include" "$rocm/lib"
for name in hip rocblas rocsolver rocfft rocrand rocsparse miopen rccl hipblaslt hipblas-common amd_smi hsa amd_comgr; do
    for include in usr/include usr/include/x86_64-linux-gnu; do
        [ ! -e "$folder/$include/$name" ] || ln -sfn "../../$include/$name" "$rocm/include/$name"
    done
done
libraries=usr/lib/x86_64-linux-gnu
for file in "$folder/$libraries"/lib{amdhip64,hiprtc,hiprtc-builtins,amd_comgr,roc*,MIOpen,rccl,hipblaslt,amd_smi,hsa-runtime64}.so*; do
    ln -sfn "../../$libraries/$(basename "$file")" "$rocm/lib/"
done
{ echo "ROCm $release" && tr = ' ' <"$work/list"; } >"$folder/VERSIONS"
rm -rf "$work/state" "$work/cache"
echo "emulator/rocm/fetch.sh: ROCm $release, $(du -sm "$folder" | cut -f 1) MB in $folder"
