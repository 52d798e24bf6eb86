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
import warnings
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

import chance
import elementwise
import moves
import networks
import ordering
import reductions
from values import DTYPES, Lacks, carried, to_dtype, viewed, widened

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

# The tables of operations, by what their functions get. -----------------------------------------------------------------------

WITH_PARAMETERS = elementwise.WITH_PARAMETERS | reductions.WITH_PARAMETERS
SEVERAL = ordering.SEVERAL | networks.SEVERAL | chance.SEVERAL
ON_OPERANDS = elementwise.UNARY | elementwise.BINARY

FLOATS = "float8 through float32, rounded back with saturation"
WIDE = f"{FLOATS}; uint32 through int64"
BITS = "float8 and uint32 as the bits of uint8 and int32"

HOW = {
    name: "; ".join(part for part in (note or f"torch's {name}", common) if part)
    for table, common in (
        (ON_OPERANDS | WITH_PARAMETERS | ordering.SEVERAL, WIDE),
        (networks.SEVERAL, FLOATS),
        (chance.SEVERAL, ""),
        (moves.VIEWS, ""),
        (moves.CARRIED, BITS),
    )
    for name, (_, note) in table.items()
}


def compute(case, operands):
    """The result of a case from its stored tensors, in the dtype and shape that the case asks for."""
    op, parameters = case["operation"], case["parameters"]
    views = [viewed(x, operand["steps"]) for x, operand in zip(operands, case["operands"])]
    dtype, wanted = views[0].dtype, DTYPES[case["result"]["dtype"]]
    if op in moves.CARRIED:
        moved = moves.CARRIED[op][0]([carried(x) for x in views], parameters, dtype)
        return moved.contiguous().view(wanted)
    if op in moves.VIEWS:
        return to_dtype(moves.VIEWS[op][0](views, parameters, dtype), wanted)
    wide = [widened(x) for x in views]
    if op in ON_OPERANDS:
        result = ON_OPERANDS[op][0](*wide)
    elif op in WITH_PARAMETERS:
        result = WITH_PARAMETERS[op][0](wide[0], parameters, dtype)
    elif op in SEVERAL:
        result = SEVERAL[op][0](wide, parameters, dtype)
    else:
        raise Lacks(f"this script does not know the operation {op}")
    result = to_dtype(result, wanted)
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
    lines = [f"{'operation':<28} {'dtype':<14} {'computed':>8} {'lacking':>8} {'failed':>8}"]
    for (operation, dtypes), row in counts.items():
        lines.append(f"{operation:<28} {dtypes:<14} {row[0]:>8} {row[1]:>8} {row[2]:>8}")
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
        print("\n".join(f"{name:<28} {how}" for name, how in HOW.items()))
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
    # The variance of one element is NaN, as wanted.
    warnings.filterwarnings("ignore", message=".*degrees of freedom")
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
