"""Writes real.tsv: for each quantized tensor of two real files the MD5 of its values as f32, by the package gguf.

python3 real.py MODELS > real.tsv    (pip install gguf; ci/fetch-models.sh fills the folder MODELS)
"""

import hashlib
import pathlib
import sys

import numpy
from gguf import GGUFReader, dequantize

for name in ["SmolLM2-135M-Instruct.Q4_1.gguf", "gemma-3-270m-q4_k_m.gguf"]:
    for tensor in GGUFReader(pathlib.Path(sys.argv[1]) / name).tensors:
        if tensor.tensor_type.name in ["F32", "F16", "BF16"]:
            continue
        values = dequantize(tensor.data, tensor.tensor_type).astype("<f4")
        digest = hashlib.md5(numpy.ascontiguousarray(values).tobytes()).hexdigest()
        print(name, tensor.name, tensor.tensor_type.name.lower(), digest, sep="\t")
