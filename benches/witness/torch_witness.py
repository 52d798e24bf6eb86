#!/usr/bin/env python3
"""Computes the parity cases with PyTorch, from the folder that `cargo xtask parity export` wrote.

PyTorch shares no code with this project's kernels and none with its reference, so it is an independent witness. Nothing here
judges: the results go to a file, and `cargo xtask parity compare` holds every element of it against the reference.
"""

import argparse
import collections
import json
import platform
import subprocess
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors import safe_open
from safetensors.torch import save_file

EXAMPLES = """\
examples:
  cargo xtask parity export --out target/cases
  python3 benches/witness/torch_witness.py target/cases
  python3 benches/witness/torch_witness.py target/cases --device cpu --out cpu.safetensors
  python3 benches/witness/torch_witness.py --how

exit code: 0 if every case was computed or PyTorch is known to lack it, 1 if a case failed, 2 for a folder that cannot be used
"""

CASES_FORMAT = "parity-cases/1"
RESULTS_FORMAT = "parity-results/1"

DTYPES = {
    "u8": torch.uint8, "u32": torch.uint32, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
    "f8e4m3": torch.float8_e4m3fn, "bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "f64": torch.float64,
}  # fmt: skip
F8, U32 = torch.float8_e4m3fn, torch.uint32
F8_MAX = 448.0


class Lacks(Exception):
    """PyTorch has nothing that computes the case; the text says what is missing."""


# Numbers and views -----------------------------------------------------------------------------------------------------------


def integers(dtype):
    return torch.iinfo(dtype)


def number(entry):
    """A parameter as written in cases.json: {"int": "3"} or {"float": "0.1"}."""
    return int(entry["int"]) if "int" in entry else float(entry["float"])


def rounded(entry, dtype):
    """A parameter rounded once to the dtype, as the project's operations round theirs: a Python number."""
    value = number(entry)
    if dtype.is_floating_point:
        return to_dtype(torch.tensor(float(value), dtype=torch.float64), dtype).to(torch.float64).item()
    low, high = integers(dtype).min, integers(dtype).max
    return (int(value) - low) % (high - low + 1) + low


def to_dtype(x, dtype):
    """PyTorch's conversion. Its float8 has no saturation (448 and more becomes NaN), so the range is cut first; integers wrap."""
    if dtype == F8 and x.dtype != F8:
        x = x if x.is_floating_point() else x.to(torch.float32)
        x = x.clamp(-F8_MAX, F8_MAX)
    return x.to(dtype)


def widened(x):
    """float8 has no arithmetic in PyTorch, and uint32 hardly any: float32 and int64 hold all their values."""
    return x.to({F8: torch.float32, U32: torch.int64}.get(x.dtype, x.dtype))


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


# Operations that need more than one call ---------------------------------------------------------------------------------


def fused(x, mul, add):
    """x·mul + add with one rounding to float32: exact product in float64, sum rounded to odd there, then rounded to float32."""
    product = x.to(torch.float64) * mul
    total = product + add
    part = total - product
    error = (product - (total - part)) + (add - part)
    even = (total.view(torch.int64) & 1) == 0
    up, down = torch.full_like(total, torch.inf), torch.full_like(total, -torch.inf)
    total = torch.where(even & (error > 0), torch.nextafter(total, up), total)
    total = torch.where(even & (error < 0), torch.nextafter(total, down), total)
    return total.to(torch.float32)


def affine(x, p, dtype):
    mul, add = rounded(p["mul"], dtype), rounded(p["add"], dtype)
    if not dtype.is_floating_point:
        return x * mul + add
    if dtype == torch.float64:
        return torch.addcmul(torch.full_like(x, add), x, torch.full_like(x, mul))
    return fused(x, mul, add)


def divisor(b):
    """Integers with 1 in place of what a processor may trap on: 0, and -1, which the least integer divides by."""
    return torch.where((b == 0) | (b == -1) if b.dtype != torch.uint8 else b == 0, 1, b)


def div(a, b):
    if a.is_floating_point():
        return torch.div(a, b)
    quotient = torch.div(a, divisor(b), rounding_mode="trunc")
    quotient = torch.where(b == -1, -a, quotient) if b.dtype != torch.uint8 else quotient
    return torch.where(b == 0, 0, quotient)


def rem(a, b):
    return torch.fmod(a, b if a.is_floating_point() else divisor(b))


def prod(x, p, dtype):
    in_float = torch.float32 if dtype in (torch.bfloat16, torch.float16) else None
    return flat(x, p["axes"], lambda y: torch.prod(y, dim=-1, dtype=in_float))


def half_away(x):
    """torch.round takes halves to the even neighbour; this takes them away from zero, exactly."""
    whole = torch.trunc(x)
    return torch.where((x - whole).abs() >= 0.5, whole + torch.sign(x), torch.copysign(whole, x))


def cast(x, to):
    if x.dtype.is_floating_point and not to.is_floating_point:
        low, high = integers(to).min, integers(to).max
        wide = x.to(torch.float64)
        # The limits are exact in float64, where i64's greatest value is not.
        above, below = wide >= float(high + 1), wide <= float(low - 1) if to != torch.int64 else wide < float(low)
        inside = torch.where(above | below | wide.isnan(), torch.zeros_like(x.to(torch.float32), dtype=x.dtype), x)
        result = torch.where(below, low, torch.where(above, high, inside.to(to).to(torch.int64)))
        return result.to(to)
    return to_dtype(x, to)


def flat(x, axes, last):
    """Brings the axes to the end and joins them, in row-major order: what PyTorch's one-axis reductions need."""
    kept = [axis for axis in range(x.dim()) if axis not in axes]
    x = x.permute(kept + sorted(axes))
    return last(x.reshape(x.shape[: len(kept)] + (-1,)) if x.numel() else x.flatten(len(kept)))


# The table of operations -------------------------------------------------------------------------------------------------

# By name: what computes it, and how that differs from plain PyTorch where it does. Arguments are widened views: float8 has become
# float32 and uint32 int64; the result is converted back to the case's dtype.

WIDE = "float8 through float32, rounded back with saturation; uint32 through int64"

UNARY = {
    "neg": (torch.neg, ""),
    "abs": (torch.abs, ""),
    "sign": (torch.sign, ""),
    "sqr": (torch.square, ""),
    "sqrt": (torch.sqrt, ""),
    "rsqrt": (torch.rsqrt, ""),
    "recip": (torch.reciprocal, ""),
    "exp": (torch.exp, ""),
    "log": (torch.log, ""),
    "sin": (torch.sin, ""),
    "cos": (torch.cos, ""),
    "tan": (torch.tan, ""),
    "tanh": (torch.tanh, ""),
    "sigmoid": (torch.sigmoid, ""),
    "erf": (torch.erf, ""),
    "gelu": (lambda x: F.gelu(x, approximate="tanh"), ""),
    "gelu_erf": (F.gelu, ""),
    "relu": (torch.relu, ""),
    "silu": (F.silu, ""),
    "softplus": (lambda x: F.softplus(x, threshold=40), "threshold 40: from there on x alone is right in float64 too"),
    "ceil": (torch.ceil, ""),
    "floor": (torch.floor, ""),
    "round": (half_away, "trunc and a comparison, since torch.round takes halves to even"),
}

BINARY = {
    "add": (torch.add, ""),
    "sub": (torch.sub, ""),
    "mul": (torch.mul, ""),
    "div": (div, "integers: rounding_mode='trunc'; x/0 and x/-1, which PyTorch leaves to the processor, are masked"),
    "rem": (rem, "torch.fmod; integers modulo 0 and -1, which PyTorch leaves to the processor, are masked"),
    "minimum": (torch.minimum, ""),
    "maximum": (torch.maximum, ""),
    "pow": (torch.pow, ""),
    "eq": (torch.eq, ""),
    "ne": (torch.ne, ""),
    "lt": (torch.lt, ""),
    "le": (torch.le, ""),
    "gt": (torch.gt, ""),
    "ge": (torch.ge, ""),
    "matmul": (torch.matmul, "without TF32 and without sums in 16 bits"),
}

# With parameters: the function gets the widened operand, the parameters and the dtype that the operand has in the case.
WITH_PARAMETERS = {
    "powf": (lambda x, p, d: torch.pow(x, rounded(p["scalar"], d)), ""),
    "elu": (lambda x, p, d: F.elu(x, alpha=rounded(p["scalar"], d)), ""),
    "leaky_relu": (lambda x, p, d: F.leaky_relu(x, rounded(p["scalar"], d)), ""),
    "affine": (affine, "floats up to float32: a fused multiply-add made of float64 steps; float64: torch.addcmul"),
    "clamp": (lambda x, p, d: torch.clamp(x, rounded(p["low"], d), rounded(p["high"], d)), ""),
    "sum": (lambda x, p, d: torch.sum(x, dim=p["axes"], keepdim=p["keep"]), ""),
    "mean": (lambda x, p, d: torch.mean(x, dim=p["axes"], keepdim=p["keep"]), ""),
    "min": (lambda x, p, d: torch.amin(x, dim=p["axes"], keepdim=p["keep"]), ""),
    "max": (lambda x, p, d: torch.amax(x, dim=p["axes"], keepdim=p["keep"]), ""),
    "prod": (prod, "several axes are joined first; bfloat16 and float16 with dtype=torch.float32, rounded once"),
    "argmin": (lambda x, p, d: flat(x, p["axes"], lambda y: torch.argmin(y, dim=-1)), "several axes are joined first"),
    "argmax": (lambda x, p, d: flat(x, p["axes"], lambda y: torch.argmax(y, dim=-1)), "several axes are joined first"),
}

# Moves: the views as they are, not widened.
MOVES = {
    "cast": (lambda xs, p, d: cast(xs[0], DTYPES[p["to"]]), "Tensor.to; float to integer: out of range, where PyTorch has no rule, "
             "is masked; to float8: the range is cut first"),
    "copy": (lambda xs, p, d: xs[0].clone(memory_format=torch.contiguous_format), "Tensor.clone"),
    "fill": (lambda xs, p, d: to_dtype(torch.full(xs[0].shape, rounded(p["value"], d), device=xs[0].device,
             dtype=torch.float64 if d.is_floating_point else torch.int64), d), "torch.full"),
    "const_set": (lambda xs, p, d: xs[0].fill_(rounded(p["value"], d)), "Tensor.fill_ through the view"),
    "copy_into": (lambda xs, p, d: xs[0].copy_(xs[1]), "Tensor.copy_ into the view"),
}  # fmt: skip

HOW = {
    name: (note or f"torch's {name}") + (f"; {WIDE}" if table is not MOVES else "")
    for table in (UNARY, BINARY, WITH_PARAMETERS, MOVES)
    for name, (_, note) in table.items()
}


def compute(case, operands):
    """The result of a case from its stored tensors, in the dtype and shape that the case asks for."""
    op, parameters = case["operation"], case["parameters"]
    views = [viewed(x, operand["steps"]) for x, operand in zip(operands, case["operands"])]
    dtype = views[0].dtype
    wide = [widened(x) for x in views]
    if op in UNARY:
        result = UNARY[op][0](*wide)
    elif op in BINARY:
        result = BINARY[op][0](*wide)
    elif op in WITH_PARAMETERS:
        result = WITH_PARAMETERS[op][0](wide[0], parameters, dtype)
    elif op in MOVES:
        result = MOVES[op][0](views, parameters, dtype)
    else:
        raise Lacks(f"this script does not know the operation {op}")
    result = to_dtype(result, DTYPES[case["result"]["dtype"]])
    # Reductions of joined axes lose kept axes of size 1; nothing else has a shape to mend.
    return result.reshape(case["result"]["shape"]) if parameters.get("keep") else result


# The run -------------------------------------------------------------------------------------------------------------------


def plain_precision():
    """Full precision in products, subnormal numbers kept."""
    torch.set_float32_matmul_precision("highest")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cudnn.allow_tf32 = False
    torch.set_flush_denormal(False)
    torch.set_grad_enabled(False)


def machine(device):
    """What computes, for the record."""
    facts = {"device": device.type, "torch": torch.__version__, "python": platform.python_version(), "system": platform.platform()}
    if device.type == "cuda":
        facts |= {"name": torch.cuda.get_device_name(device), "cuda": str(torch.version.cuda), "driver": driver()}
    else:
        facts |= {"name": platform.processor() or platform.machine(), "capability": torch.backends.cpu.get_cpu_capability()}
    return facts


def driver():
    """The driver's version, which PyTorch does not tell."""
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()[0].strip()
    except (OSError, subprocess.SubprocessError, IndexError):
        return "unknown"


def progress(cases):
    """A bar where the output is a terminal and tqdm is there."""
    try:
        from tqdm import tqdm
    except ImportError:
        return cases
    return tqdm(cases, unit="case", disable=None)


def run(folder, cases, device):
    """The results by hash, then what PyTorch lacks and what failed, each with its reason by hash."""
    files, results, lacking, failed = {}, {}, {}, {}
    for case in progress(cases):
        operands = []
        for operand in case["operands"]:
            name = operand["file"]
            if name not in files:
                files[name] = safe_open(folder / name, framework="pt")
            # A copy even on the CPU: some cases write to their operands.
            operands.append(files[name].get_tensor(operand["tensor"]).to(device, copy=True))
        try:
            results[case["hash"]] = compute(case, operands).contiguous().cpu()
        except Lacks as reason:
            lacking[case["hash"]] = str(reason)
        except (RuntimeError, TypeError, ValueError) as error:
            failed[case["hash"]] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return results, lacking, failed


def table(cases, lacking, failed):
    """Counts by operation and dtype, as text."""
    counts = collections.OrderedDict()
    for case in cases:
        dtypes = case["operands"][0]["dtype"]
        if case["operation"] == "cast":
            dtypes += ">" + case["parameters"]["to"]
        row = counts.setdefault((case["operation"], dtypes), [0, 0, 0])
        row[1 if case["hash"] in lacking else 2 if case["hash"] in failed else 0] += 1
    lines = [f"{'operation':<12} {'dtype':<14} {'computed':>8} {'lacking':>8} {'failed':>8}"]
    for (operation, dtypes), row in counts.items():
        lines.append(f"{operation:<12} {dtypes:<14} {row[0]:>8} {row[1]:>8} {row[2]:>8}")
    for title, reasons in ("not computed", lacking), ("FAILED", failed):
        for reason, count in collections.Counter(reasons.values()).most_common():
            lines.append(f"{title}: {count} cases: {reason}")
    return "\n".join(lines)


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", help="folder that `cargo xtask parity export` wrote")
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, … or cpu  [default: cuda]")
    parser.add_argument("--out", type=Path, help="the file of results  [default: results.safetensors in the folder]")
    parser.add_argument("--how", action="store_true", help="print how each operation is computed, and stop")
    return parser.parse_args(), parser


def main():
    args, parser = arguments()
    if args.how:
        print("\n".join(f"{name:<12} {how}" for name, how in HOW.items()))
        return 0
    if args.folder is None:
        parser.error("name the folder that `cargo xtask parity export` wrote")
    device = torch.device(args.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        parser.error("PyTorch finds no CUDA device here: use --device cpu")
    try:
        manifest = json.loads((args.folder / "cases.json").read_text())
    except (OSError, ValueError) as error:
        parser.error(f"{args.folder} is no folder of exported cases: {error}")
    if manifest.get("format") != CASES_FORMAT:
        parser.error(f"cases.json has format {manifest.get('format')!r}, this script reads {CASES_FORMAT!r}: export again")
    plain_precision()
    facts, cases, start = machine(device), manifest["cases"], time.perf_counter()
    print(", ".join(f"{key} {value}" for key, value in facts.items()))
    results, lacking, failed = run(args.folder, cases, device)
    seconds = time.perf_counter() - start
    metadata = facts | {
        "format": RESULTS_FORMAT,
        "seed": str(manifest["seed"]),
        "filter": manifest["filter"],
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "not_computed": json.dumps(lacking),
        "failed": json.dumps(failed),
    }
    out = args.out or args.folder / "results.safetensors"
    save_file(results, out, metadata)
    print(table(cases, lacking, failed))
    print(f"{len(results)} of {len(cases)} cases computed in {seconds:.1f} s, {len(lacking)} not in PyTorch, {len(failed)} failed.")
    print(f"Results: {out}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
