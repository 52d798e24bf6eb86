#!/usr/bin/env bash
# Fetches the compilers of ROCm 7.2.4 as Debian builds them (hipcc, clang 22, lld, device libraries, HIP's headers) into target/ci/rocm, where
# `cargo xtask build-kernels` looks for them. Nothing is installed: the packages are unpacked, and the tools run under the loader and the
# libraries that came with them.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/apt-root.sh

if [ $# -gt 0 ]; then
    cat <<'TEXT'
Usage: ci/fetch-rocm-compiler.sh

About 200 MB are fetched from Debian's suites experimental and sid; 900 MB of disk are taken. Needs apt-get and dpkg-deb.

Examples:
  ci/fetch-rocm-compiler.sh
  cargo xtask build-kernels --platform amd --arch gfx942 --deny-spills
  target/ci/rocm/bin/hipcc --version
TEXT
    [ "$1" = --help ] && exit 0 || exit 2
fi

release=7.2.4 llvm=22
dir=$PWD/target/ci/rocm part=$PWD/target/ci/rocm.part
if [ -x "$dir/bin/hipcc" ] && "$dir/bin/clang++" --version >/dev/null 2>&1; then
    # An older version of this script did not fetch it; the bundler needs it.
    [ -e "$dir/bin/llvm-objcopy" ] || ln -s run "$dir/bin/llvm-objcopy"
    echo "ci/fetch-rocm-compiler.sh: target/ci/rocm is there"
    exit 0
fi
for tool in apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || { echo "ci/fetch-rocm-compiler.sh: $tool is not here: no compiler of AMD's" >&2; exit 1; }
done
fail() {
    echo "ci/fetch-rocm-compiler.sh: $*: no compiler of AMD's" >&2
    rm -rf "$part"
    exit 1
}

rm -rf "$part"
mkdir -p "$part/apt" "$part/root"
# AMD's packages come from experimental, all others from sid.
cat >"$part/apt/preferences" <<'TEXT'
Package: hipcc libamdhip64* libhiprtc* libamd-comgr* libhsa-runtime* rocm-* rocminfo
Pin: release a=experimental
Pin-Priority: 990
TEXT
make_apt "$part/apt" experimental sid
apt_in "$part/apt" 600 update || fail "apt could not read the lists of experimental and sid"
apt_in "$part/apt" 1200 -y --download-only install \
    hipcc libamdhip64-dev "rocm-device-libs-$llvm" "clang-$llvm" "lld-$llvm" "llvm-$llvm" libstdc++-16-dev >/dev/null ||
    fail "apt could not fetch the packages"
compgen -G "$part/apt/cache/archives/hipcc_$release*" >/dev/null || fail "experimental has moved on from ROCm $release"
unpack_into "$part/apt" "$part/root" || fail "dpkg-deb could not unpack a package"
rm -rf "$part/apt"

# The layout is that of /opt/rocm. `run` starts the tool whose name it is called by.
mkdir -p "$part"/{bin,amdgcn,llvm}
ln -s ../bin "$part/llvm/bin"
ln -s root/usr/include "$part/include"
ln -s root/usr/share "$part/share"
ln -s "../root/usr/lib/llvm-$llvm/lib/clang/$llvm/amdgcn/bitcode" "$part/amdgcn/bitcode"
cat >"$part/bin/run" <<RUN
#!/usr/bin/env bash
# A tool of the unpacked packages, by the name that this is called under.
bin=\$(dirname "\$(readlink -f "\$0")") name=\$(basename "\$0")
rocm=\$(dirname "\$bin")
usr=\$rocm/root/usr
libraries=\$usr/lib/x86_64-linux-gnu
tool=\$usr/lib/llvm-$llvm/bin/\$name options=()
case \$name in
    hipcc)
        tool=\$usr/bin/hipcc
        export HIP_CLANG_PATH=\$bin ROCM_PATH=\$rocm HIP_PATH=\$rocm HIP_DEVICE_LIB_PATH=\$rocm/amdgcn/bitcode HIP_PLATFORM=amd HIP_COMPILER=clang
        ;;
    clang | clang++)
        # Headers of the packages alone, never those of the machine. clang starts itself anew for a step, then with -cc1 first.
        case \${1-} in
            -cc1*) ;;
            *)
                options=(-no-canonical-prefixes --sysroot="\$rocm/root" -resource-dir "\$usr/lib/llvm-$llvm/lib/clang/$llvm" -B "\$bin"
                    --rocm-path="\$rocm" --rocm-device-lib-path="\$rocm/amdgcn/bitcode" -Wno-unused-command-line-argument)
                ;;
        esac
        ;;
esac
exec "\$libraries/ld-linux-x86-64.so.2" --argv0 "\$bin/\$name" --library-path "\$libraries:\$usr/lib/llvm-$llvm/lib" "\$tool" "\${options[@]}" "\$@"
RUN
chmod +x "$part/bin/run"
for tool in hipcc clang clang++ lld ld.lld clang-offload-bundler llvm-objcopy llvm-objdump llvm-readelf llvm-link llvm-mc opt llc; do
    ln -s run "$part/bin/$tool"
done
version=$("$part/bin/clang++" --version | head -n 1) || fail "clang does not start"
rm -rf "$dir"
mv "$part" "$dir"
echo "ci/fetch-rocm-compiler.sh: hipcc of ROCm $release, $version, $(du -sm "$dir" | cut -f 1) MB in target/ci/rocm"
