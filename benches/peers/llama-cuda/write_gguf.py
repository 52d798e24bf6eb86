"""Writes a Llama model of random weights as a GGUF file.

Use: write_gguf.py SHAPE FORMAT FILE, with SHAPE tiny, 1b or 8b and FORMAT bf16, q8_0 or q4_k.
The shapes are those of `hipstack bench random:SHAPE:FORMAT`. Matrices, embeddings and output
are all in FORMAT, norms in f32. Matrices repeat one chunk of random blocks.
"""
import os
import struct
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

# width, layers, hidden, heads, heads of keys and values, vocabulary, tied
SHAPES = {
    "tiny": (256, 2, 512, 4, 2, 512, True),
    "1b": (2048, 16, 8192, 32, 8, 128256, True),
    "8b": (4096, 32, 14336, 32, 8, 128256, False),
}
# ggml's number of the type, numbers a block, bytes a block
FORMATS = {"f32": (0, 1, 4), "bf16": (30, 1, 2), "q8_0": (8, 32, 34), "q4_k": (12, 256, 144)}
FILE_TYPES = {"bf16": 32, "q8_0": 7, "q4_k": 14}
ALIGN = 32
SIZE = 0.02
NUMBERS = 1 << 23


def chunk(form):
    """Blocks of NUMBERS numbers with a mean of 0 and a standard deviation of SIZE."""
    rng = np.random.default_rng(7)
    if form == "bf16":
        numbers = rng.standard_normal(NUMBERS, dtype=np.float32) * np.float32(SIZE)
        return (numbers.view(np.uint32) >> 16).astype(np.uint16).tobytes()
    if form == "q8_0":
        block = np.dtype([("d", "<f2"), ("qs", "i1", 32)])
        blocks = np.zeros(NUMBERS // 32, block)
        blocks["d"] = SIZE / 73.3
        blocks["qs"] = rng.integers(-127, 128, (len(blocks), 32), dtype=np.int8)
        assert block.itemsize == 34
        return blocks.tobytes()
    # A number is d * scale * q - dmin * min; with min = scale and dmin = 7.5 d its mean is 0.
    block = np.dtype([("d", "<f2"), ("dmin", "<f2"), ("scales", "u1", 12), ("qs", "u1", 128)])
    blocks = np.zeros(NUMBERS // 256, block)
    d = np.float16(SIZE / 222)
    blocks["d"] = d
    blocks["dmin"] = 7.5 * np.float32(d)
    scales = rng.integers(32, 64, (len(blocks), 8), dtype=np.uint8)
    low, high = scales[:, :4], scales[:, 4:]
    packed = low | ((high >> 4) << 6)
    blocks["scales"] = np.concatenate([packed, packed, (high & 15) | ((high & 15) << 4)], axis=1)
    blocks["qs"] = rng.integers(0, 256, (len(blocks), 128), dtype=np.uint8)
    assert block.itemsize == 144
    return blocks.tobytes()


def tensors(shape, form):
    width, layers, hidden, heads, kv_heads, vocabulary, tied = SHAPES[shape]
    kv = width // heads * kv_heads
    yield "token_embd.weight", (width, vocabulary), form
    yield "output_norm.weight", (width,), "f32"
    if not tied:
        yield "output.weight", (width, vocabulary), form
    for layer in range(layers):
        for name, dims in (
            ("attn_norm", (width,)),
            ("attn_q", (width, width)),
            ("attn_k", (width, kv)),
            ("attn_v", (width, kv)),
            ("attn_output", (width, width)),
            ("ffn_norm", (width,)),
            ("ffn_gate", (width, hidden)),
            ("ffn_up", (width, hidden)),
            ("ffn_down", (hidden, width)),
        ):
            yield f"blk.{layer}.{name}.weight", dims, form if len(dims) == 2 else "f32"


def text(value):
    value = value.encode()
    return struct.pack("<Q", len(value)) + value


def settings(shape, form):
    width, layers, hidden, heads, kv_heads, vocabulary, _ = SHAPES[shape]

    def u32(value):
        return struct.pack("<II", 4, value)

    def f32(value):
        return struct.pack("<If", 6, value)

    def string(value):
        return struct.pack("<I", 8) + text(value)

    return {
        "general.architecture": string("llama"),
        "general.name": string(f"random {shape} {form}"),
        "general.file_type": u32(FILE_TYPES[form]),
        "general.quantization_version": u32(2),
        "llama.context_length": u32(131072),
        "llama.embedding_length": u32(width),
        "llama.block_count": u32(layers),
        "llama.feed_forward_length": u32(hidden),
        "llama.attention.head_count": u32(heads),
        "llama.attention.head_count_kv": u32(kv_heads),
        "llama.attention.layer_norm_rms_epsilon": f32(1e-5),
        "llama.rope.freq_base": f32(5e5),
        "llama.rope.dimension_count": u32(width // heads),
        "llama.vocab_size": u32(vocabulary),
        "tokenizer.ggml.model": string("no_vocab"),
    }


def pad(length):
    return -length % ALIGN


def main():
    shape, form, path = sys.argv[1:4]
    start = time.monotonic()
    listed, infos, offset = [], b"", 0
    for name, dims, kind in tensors(shape, form):
        number, block, size = FORMATS[kind]
        assert dims[0] % block == 0
        length = int(np.prod(dims)) // block * size
        infos += text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, number, offset)
        listed.append((offset, length, kind))
        offset += length + pad(length)
    kv = settings(shape, form)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(listed), len(kv))
    head += b"".join(text(key) + value for key, value in kv.items()) + infos
    head += bytes(pad(len(head)))
    blocks = memoryview(chunk(form))
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.ftruncate(file, len(head) + offset)
    os.pwrite(file, head, 0)

    def put(at, data):
        while data:
            done = os.pwrite(file, data, at)
            at, data = at + done, data[done:]

    with ThreadPoolExecutor(8) as pool:
        jobs = []
        for at, length, kind in listed:
            at += len(head)
            if kind == "f32":
                put(at, memoryview(np.ones(length // 4, "<f4").tobytes()))
                continue
            for first in range(0, length, len(blocks)):
                jobs.append(pool.submit(put, at + first, blocks[: length - first]))
        for job in jobs:
            job.result()
    os.close(file)
    print(f"{path}: {os.path.getsize(path) / 1e9:.2f} GB in {time.monotonic() - start:.1f} s", file=sys.stderr)


main()
