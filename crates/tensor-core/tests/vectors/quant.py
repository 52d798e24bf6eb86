"""Writes the folder quant: what the package gguf and llama.cpp make of the quantized formats.

Run in this folder, with a library of llama.cpp's ggml-quants.c:
    pip install gguf numpy
    cd llama.cpp/ggml/src; gcc -O2 -shared -fPIC -I../include -I. -o libref.so ggml-quants.c stubs.c -lm
    python3 quant.py libref.so
The file stubs.c defines the four functions of ggml.c that ggml-quants.c calls: ggml_abort, ggml_row_size, ggml_type_name and
ggml_type_size.

- NAME.dequantized: random blocks, and behind them the values that gguf gives them, as little-endian f32.
- NAME.quantized: the blocks of the first numbers of `sample("normal")`, by gguf where it quantizes to the format, else by llama.cpp.
- errors.tsv: the mean square errors of llama.cpp's quantizers, without an importance matrix.
"""
import ctypes
import pathlib
import sys

import gguf
import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType as Type

FOLDER = pathlib.Path("quant")
COUNT = 4096  # numbers of a sample
SAMPLES = ["normal", "outliers", "heavy", "shifted"]

# The offsets of the f16 scales in a block.
SCALES = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q8_1": [0, 2],
    "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "Q8_K": [],
    "IQ1_S": [0], "IQ1_M": [], "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0], "IQ3_XXS": [0], "IQ3_S": [0],
    "IQ4_NL": [0], "IQ4_XS": [0], "TQ1_0": [52], "TQ2_0": [64], "MXFP4": [], "NVFP4": [],
}  # fmt: skip
# The functions of llama.cpp that quantize. Those with True take rows and an importance matrix.
QUANTIZERS = {
    "Q4_0": ("quantize_row_q4_0_ref", False), "Q4_1": ("quantize_row_q4_1_ref", False),
    "Q5_0": ("quantize_row_q5_0_ref", False), "Q5_1": ("quantize_row_q5_1_ref", False),
    "Q8_0": ("quantize_row_q8_0_ref", False), "Q8_1": ("quantize_row_q8_1_ref", False),
    "Q2_K": ("quantize_row_q2_K_ref", False), "Q3_K": ("quantize_row_q3_K_ref", False), "Q4_K": ("quantize_row_q4_K_ref", False),
    "Q5_K": ("quantize_row_q5_K_ref", False), "Q6_K": ("quantize_row_q6_K_ref", False), "Q8_K": ("quantize_row_q8_K_ref", False),
    "IQ4_NL": ("quantize_iq4_nl", True), "IQ4_XS": ("quantize_row_iq4_xs_ref", False), "MXFP4": ("quantize_row_mxfp4_ref", False),
}  # fmt: skip


def random_blocks(name, rng):
    """Blocks of random bits, whose scales are finite f16 of either sign; one is zero and one is subnormal."""
    length, size = sizes(name)
    count = 3 if length == 256 else 8
    blocks = rng.integers(0, 256, (count, size), dtype=np.uint8)
    scale = rng.uniform(-2, 2, (count, 2)).astype(np.float16)
    scale[1, 0] = np.float16(3e-7)
    scale[2, 0] = 0
    for index, offset in enumerate(SCALES[name]):
        blocks[:, offset : offset + 2] = scale[:, index : index + 1].view(np.uint8)
    if name == "Q8_K":
        blocks[:, :4] = rng.uniform(-2, 2, (count, 1)).astype(np.float32).view(np.uint8)
    if name == "IQ1_M":
        bits = scale[:, 0].view(np.uint16)
        words = blocks[:, 48:].copy().view(np.uint16) & 0x0FFF
        blocks[:, 48:] = (words | (bits[:, None] >> np.array([0, 4, 8, 12], dtype=np.uint16) << 12)).view(np.uint8)
    return blocks


def sizes(name):
    """Numbers and bytes of a block."""
    # gguf counts two f32 for Q8_1; the format has two f16.
    return (32, 36) if name == "Q8_1" else GGML_QUANT_SIZES[Type[name]]


def dequantize(name, blocks):
    # gguf has no values for the formats of activations: scale · integer.
    if name == "Q8_1":
        return (blocks[:, :2].copy().view(np.float16).astype(np.float32) * blocks[:, 4:].view(np.int8)).astype(np.float32)
    if name == "Q8_K":
        return (blocks[:, :4].copy().view(np.float32) * blocks[:, 4:260].view(np.int8)).astype(np.float32)
    return gguf.quants.dequantize(blocks, Type[name])


def words(numbers):
    """The finaliser of SplitMix64 over a counter."""
    x = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def sample(kind):
    """f32 that the tests compute in the same way: sums of twelve uniform integers, which are nearly normal."""
    index = np.arange(COUNT, dtype=np.uint64) * np.uint64(4)
    total = np.zeros(COUNT, dtype=np.int64)
    for word in range(3):
        w = words(index + np.uint64(word))
        for shift in (0, 16, 32, 48):
            total += ((w >> np.uint64(shift)) & np.uint64(0xFFFF)).astype(np.int64)
    x = (2 * total - 12 * 65535).astype(np.float32) * np.float32(2.0**-22)
    if kind == "outliers":
        x = np.where(words(index + np.uint64(3)) % np.uint64(64) == 0, x * np.float32(16), x)
    if kind == "heavy":
        x = x * np.abs(x) * np.float32(32)
    if kind == "shifted":
        x = x + np.float32(2.0**-5)
    return x.astype(np.float32)


def quantize_by_llama(library, name, x):
    function, rows = QUANTIZERS[name]
    length, size = sizes(name)
    out = np.zeros(x.size // length * size, dtype=np.uint8)
    source, target = x.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p)
    count = ctypes.c_int64(x.size)
    if rows:
        library[function](source, target, ctypes.c_int64(1), count, None)
    else:
        library[function](source, target, count)
    return out.reshape(-1, size)


def main():
    library = ctypes.CDLL(sys.argv[1])
    FOLDER.mkdir(exist_ok=True)
    for number, name in enumerate(SCALES):
        blocks = random_blocks(name, np.random.default_rng(number))
        with np.errstate(over="ignore"):
            values = dequantize(name, blocks)
        (FOLDER / f"{name.lower()}.dequantized").write_bytes(blocks.tobytes() + values.astype("<f4").tobytes())
    errors = ["format\tsample\tmean square error of llama.cpp"]
    for name in QUANTIZERS:
        for kind in SAMPLES:
            x = sample(kind)
            y = dequantize(name, quantize_by_llama(library, name, x)).reshape(-1)
            error = np.mean((x.astype(np.float64) - y.astype(np.float64)) ** 2)
            errors.append(f"{name.lower()}\t{kind}\t{error:.9e}")
    (FOLDER / "errors.tsv").write_text("\n".join(errors) + "\n")
    for name in ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q8_1", "Q8_K", "MXFP4"]:
        x = sample("normal")[:512]
        blocks = quantize_by_llama(library, name, x)
        if name not in ("Q8_1", "Q8_K"):
            by_gguf = gguf.quants.quantize(x, Type[name]).reshape(blocks.shape)
            assert (by_gguf == blocks).all(), name
        (FOLDER / f"{name.lower()}.quantized").write_bytes(blocks.tobytes())


main()
