"""Writes python.gguf and python.json with the package `gguf` (0.19.0), which is llama.cpp's own.

    python3 python.py                 writes both
    python3 python.py FILE.gguf       prints what that package reads from another file, as python.json has it

The tests need neither Python nor the package: both files are committed.
"""

import json
import pathlib
import sys

import gguf
import numpy as np

FOLDER = pathlib.Path(__file__).parent
# Quantized tensors have bytes that mean nothing: nobody computes with them.
QUANTIZED = ["Q4_0", "Q4_1", "Q8_0", "Q4_K", "Q6_K", "IQ4_NL", "MXFP4"]


def write(path):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint8("all.u8", 200)
    writer.add_int8("all.i8", -100)
    writer.add_uint16("all.u16", 60000)
    writer.add_int16("all.i16", -30000)
    writer.add_uint32("all.u32", 4000000000)
    writer.add_int32("all.i32", -2000000000)
    writer.add_float32("all.f32", 0.5)
    writer.add_uint64("all.u64", 2**64 - 1)
    writer.add_int64("all.i64", -(2**63))
    writer.add_float64("all.f64", 0.1)
    writer.add_bool("all.bool", True)
    writer.add_string("all.string", "Grüße, 世界")
    writer.add_array("all.array.i32", [-1, 0, 1])
    writer.add_array("all.array.f32", [0.25, -1.5])
    writer.add_array("all.array.bool", [True, False, True])
    writer.add_array("all.array.string", ["<s>", "", "▁the", "\n"])
    writer.add_array("all.array.array", [[1, 2], [3], [4, 5, 6]])
    writer.add_custom_alignment(64)
    numbers = np.arange(6).reshape(2, 3)
    for dtype in [np.float32, np.float16, np.float64, np.int16, np.int32, np.int64]:
        writer.add_tensor(np.dtype(dtype).name, (numbers - 2).astype(dtype))
    bits = (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    writer.add_tensor("bfloat16", bits.view(np.uint8), raw_dtype=gguf.GGMLQuantizationType.BF16)
    writer.add_tensor("rank4", np.arange(24, dtype=np.float32).reshape(4, 3, 1, 2))
    writer.add_tensor("blk.0.attn_q.weight", np.ones((2, 2), np.float32))
    writer.add_tensor("blk.1.attn_q.weight", np.full((2, 2), 2, np.float32))
    for name in QUANTIZED:
        kind = gguf.GGMLQuantizationType[name]
        _, size = gguf.GGML_QUANT_SIZES[kind]
        raw = (np.arange(2 * size) * 7 % 251).astype(np.uint8).reshape(2, size)
        writer.add_tensor(name.lower(), raw, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def listing(path):
    reader = gguf.GGUFReader(path)
    metadata = []
    for field in reader.fields.values():
        if not field.name.startswith("GGUF."):
            types = [kind.name for kind in field.types]
            metadata.append([field.name, types, field.contents()])
    tensors = []
    for tensor in reader.tensors:
        tensors.append({
            "name": tensor.name,
            "format": tensor.tensor_type.name.lower(),
            # The package has the innermost dimension first.
            "shape": [int(length) for length in reversed(tensor.shape)],
            "offset": int(tensor.data_offset),
            "bytes": int(tensor.n_bytes),
            "hex": np.asarray(tensor.data).tobytes()[:512].hex(),
        })
    return {"alignment": int(reader.alignment), "metadata": metadata, "tensors": tensors}


def text(path):
    """As JSON, with a line for each value and tensor."""
    found = listing(path)
    lines = {key: [json.dumps(item, ensure_ascii=False) for item in found[key]] for key in ["metadata", "tensors"]}
    parts = [f'"{key}": [\n' + ",\n".join(items) + "\n]" for key, items in lines.items()]
    return "{\n" + f'"alignment": {found["alignment"]},\n' + ",\n".join(parts) + "\n}\n"


if len(sys.argv) > 1:
    sys.stdout.write(text(sys.argv[1]))
else:
    write(FOLDER / "python.gguf")
    (FOLDER / "python.json").write_text(text(FOLDER / "python.gguf"))
