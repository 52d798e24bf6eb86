# An apt with a root directory of its own: packages are downloaded and unpacked, nothing is installed, and the
# machine's own apt is not changed. Sourced by ci/fetch-rocm-packages.sh, ci/fetch-rocm-compiler.sh and
# emulator/rocm/fetch.sh. Root is not needed.

# Creates one in FOLDER for SUITES of the mirror in this machine's sources, or of $DEBIAN_MIRROR, which may be
# a snapshot of an earlier day. FOLDER/apt.conf is for APT_CONFIG; packages are downloaded to
# FOLDER/cache/archives. FOLDER/preferences, if the caller wrote it, says which suite each package is taken
# from.
make_apt() { # FOLDER SUITE...
    local root=$1 mirror suite
    shift
    mkdir -p "$root"/{parts,state/lists/partial,cache/archives/partial}
    : >"$root/state/status"
    mirror=${DEBIAN_MIRROR:-}
    [ -n "$mirror" ] || mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null | grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' ' || true)
    for suite in "$@"; do
        echo "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:-http://deb.debian.org/debian} $suite main"
    done >"$root/sources.list"
    cat >"$root/apt.conf" <<CONF
Dir::Etc::sourcelist "$root/sources.list";
Dir::Etc::sourceparts "$root/parts";
Dir::Etc::preferences "$root/preferences";
Dir::Etc::preferencesparts "$root/parts";
Dir::State "$root/state";
Dir::State::status "$root/state/status";
Dir::Cache "$root/cache";
APT::Architecture "amd64";
APT::Sandbox::User "root";
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::Retries "3";
Debug::NoLocking "true";
CONF
    # The lists of a snapshot are out of date on purpose.
    [ -z "${DEBIAN_MIRROR:-}" ] || echo 'Acquire::Check-Valid-Until "false";' >>"$root/apt.conf"
}

# Runs apt-get in such a root.
apt_in() { # FOLDER SECONDS ARGUMENT...
    local root=$1 seconds=$2
    shift 2
    APT_CONFIG="$root/apt.conf" timeout "$seconds" apt-get -qq "$@"
}

# Unpacks all downloaded packages.
unpack_into() { # FOLDER TARGET
    local package
    for package in "$1"/cache/archives/*.deb; do
        dpkg-deb -x "$package" "$2"
    done
}
