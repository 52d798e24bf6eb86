#!/usr/bin/env bash
# Installs the tools for the checks that Debian 12 has: a C++ compiler, AMD's libraries with their headers,
# libclang for codegen, a cross compiler and QEMU for 64-bit ARM, Chromium for the tests of the parity report's
# page, and pip. ci/fetch-rocm-compiler.sh fetches AMD's compilers. Only g++ is needed by all steps; without the
# rest, single steps of `cargo xtask ci` are skipped with a message.
#   ci/debian.sh             installs them
#   ci/debian.sh --provides  only prints which steps the installed ones are enough for
set -euo pipefail

needed=(g++)
wanted=(libamdhip64-dev librocrand1 librocrand-dev libclang-19-dev g++-aarch64-linux-gnu qemu-user chromium)
python3 -m pip --version >/dev/null 2>&1 || wanted+=(python3-pip)

# Prints the packages that are not installed.
missing() {
    local package
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || echo "$package"
    done
}

# The steps of `cargo xtask ci` and the tests that the installed packages suffice for, in the format of HIPSTACK_REQUIRE.
if [ "${1-}" = --provides ]; then
    while read -r steps packages; do
        # shellcheck disable=SC2086
        [ -n "$(missing $packages)" ] || echo "$steps"
    done <<'EOF' | paste -sd,
sanitize-planted,sanitize-address,sanitize-thread g++
libraries libamdhip64-dev librocrand1 librocrand-dev
aarch64 g++-aarch64-linux-gnu qemu-user
chromium chromium
EOF
    exit 0
fi

mapfile -t absent < <(missing "${needed[@]}" "${wanted[@]}")
if [ "${#absent[@]}" -eq 0 ]; then
    echo "ci/debian.sh: nothing to install"
    exit 0
fi
echo "ci/debian.sh: installing ${absent[*]}"
export DEBIAN_FRONTEND=noninteractive
if ! { timeout 600 apt-get update -qq && timeout 1200 apt-get install -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends "${absent[@]}" >/dev/null; }; then
    echo "ci/debian.sh: apt-get could not install all of: ${absent[*]} (is this root on Debian 12?)" >&2
fi
mapfile -t absent < <(missing "${needed[@]}")
if [ "${#absent[@]}" -ne 0 ] && ! command -v c++ >/dev/null; then
    echo "ci/debian.sh: no C++ compiler: install ${absent[*]}; nothing can be checked without it" >&2
    exit 1
fi
