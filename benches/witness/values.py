"""Numbers, dtypes and views as cases.json has them, in PyTorch."""

import torch

if not (hasattr(torch, "float8_e4m3fn") and hasattr(torch, "uint32")):
    raise SystemExit(f"PyTorch 2.5 or later is needed, which has float8 and uint32; this is {torch.__version__}")

DTYPES = {
    "u8": torch.uint8, "u32": torch.uint32, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
    "f8e4m3": torch.float8_e4m3fn, "bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "f64": torch.float64,
}  # fmt: skip
F8, U32 = torch.float8_e4m3fn, torch.uint32
F8_MAX = 448.0


class Lacks(Exception):
    """PyTorch has nothing that computes the case; the text says what is missing."""


def number(entry):
    """A parameter of the first families: {"int": "3"} or {"float": "0.1"}."""
    return int(entry["int"]) if "int" in entry else float(entry["float"])


def nearest(value, dtype):
    """A number rounded once to the dtype, as the project's operations round theirs: a Python number. Integers wrap."""
    if dtype.is_floating_point:
        return to_dtype(torch.tensor(float(value), dtype=torch.float64), dtype).to(torch.float64).item()
    low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    return (int(value) - low) % (high - low + 1) + low


def rounded(entry, dtype):
    """A parameter of the first families, rounded to the dtype."""
    return nearest(number(entry), dtype)


def to_dtype(x, dtype):
    """PyTorch's conversion. Its float8 has no saturation (448 and more becomes NaN), so the range is cut first; integers wrap."""
    if dtype == F8 and x.dtype != F8:
        x = x if x.is_floating_point() else x.to(torch.float32)
        x = x.clamp(-F8_MAX, F8_MAX)
    return x.to(dtype)


def widened(x):
    """float8 has no arithmetic in PyTorch, and uint32 hardly any: float32 and int64 hold all their values."""
    return x.to({F8: torch.float32, U32: torch.int64}.get(x.dtype, x.dtype))


def single(x):
    """16-bit floats as float32, for what PyTorch would round on the way."""
    return x.to(torch.float32) if x.dtype in (torch.bfloat16, torch.float16) else x


def double(x):
    """Floats as float64, for what PyTorch computes by a formula that cancels, overflows or rounds positions in float32."""
    return x.to(torch.float64)


def carried(x):
    """What only moves is moved as bits: PyTorch moves few things of float8 and uint32, but all of uint8 and int32."""
    return x.view({F8: torch.uint8, U32: torch.int32}.get(x.dtype, x.dtype))


def carried_number(value, dtype):
    """A number rounded to the dtype, as the number that has its bits in the dtype that carries it."""
    exact = torch.tensor(nearest(value, dtype), dtype=torch.float64 if dtype.is_floating_point else torch.int64)
    return carried(to_dtype(exact, dtype)).item()


def viewed(x, steps):
    """PyTorch's own view of a stored tensor."""
    for step in steps:
        kind = step["step"]
        if kind == "transpose":
            x = x.transpose(*step["axes"])
        elif kind == "permute":
            x = x.permute(step["axes"])
        elif kind == "narrow":
            x = x.narrow(step["axis"], step["start"], step["length"])
        elif kind == "broadcast":
            x = x.expand(step["shape"])
        else:
            raise Lacks(f"this script does not know the view step {kind!r}")
    return x


def flat(x, axes, last):
    """Brings the axes to the end and joins them, in row-major order: what PyTorch's one-axis reductions need."""
    kept = [axis for axis in range(x.dim()) if axis not in axes]
    x = x.permute(kept + sorted(axes))
    return last(x.reshape(x.shape[: len(kept)] + (-1,)) if x.numel() else x.flatten(len(kept)))
