#!/usr/bin/env bash
# Makes llama-src.tar.zst beside this script: llama.cpp as PyPI's llama-cpp-python 0.3.36 brings it, trimmed by trim.py, with bench.cpp.
# Needs curl, pip, Python 3 and zstd.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The metadata is not needed, and pip would build the package to read it.
url=$(python3 -m pip config get global.index-url 2> /dev/null || echo https://pypi.org/simple)
sdist=$(curl -fsSL "${url%/}/llama-cpp-python/" | grep -oE 'href="[^"]*llama_cpp_python-0\.3\.36\.tar\.gz[^"]*"' | head -1 | cut -d '"' -f 2)
sdist=$(python3 -c 'import sys, urllib.parse; print(urllib.parse.urljoin(sys.argv[1], sys.argv[2]))' "${url%/}/llama-cpp-python/" "$sdist")
curl -fsSL "$sdist" | tar xz -C "$work" --wildcards '*/vendor/llama.cpp/*' --strip-components 3
mkdir "$work/llama-src"
for part in AUTHORS LICENSE CMakeLists.txt cmake ggml include src; do mv "$work/$part" "$work/llama-src/"; done
python3 "$here/trim.py" "$work/llama-src"
cp "$here/bench.cpp" "$work/llama-src/"
printf '\nadd_executable(bench-llama bench.cpp)\ntarget_link_libraries(bench-llama PRIVATE llama)\n' >> "$work/llama-src/CMakeLists.txt"
tar c -C "$work" llama-src | zstd -q -9 --long=27 -f -o "$here/llama-src.tar.zst"
