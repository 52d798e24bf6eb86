# Sourced by the scripts that fetch from PyPI; $script is what they call themselves, $what they bring.

# Fails with a word if pip is missing.
need_pip() {
    python3 -m pip --version >/dev/null 2>&1 && return
    echo "$script: pip is missing (apt-get install python3-pip): no $what" >&2
    exit 1
}

# Downloads wheels to a folder: wheels DIR PACKAGE...
wheels() {
    need_pip
    local into=$1
    shift
    mkdir -p "$into"
    timeout 1800 python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$into" "$@" && return
    echo "$script: pip could not fetch $*: no $what" >&2
    exit 1
}
