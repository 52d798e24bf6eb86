#!/usr/bin/env python3
"""The rows of the program `throughput` in PyTorch, measured in the same way.

Writes a file of tab-separated values that `throughput --vs FILE` reads: name, dtype, microseconds of a call and the GB/s
that they make (GFLOP/s for matrix products), then the same for the kernels alone. Needs PyTorch and a CUDA or ROCm device.

examples:
  python3 benches/peers/torch_throughput.py
  python3 benches/peers/torch_throughput.py --tsv torch.tsv
  python3 benches/peers/torch_throughput.py --products --tsv products.tsv
  python3 benches/peers/torch_throughput.py --rows 1024 --cols 512 --matmul 256 --dtype f32,bf16 --filter sum
"""

import argparse
import platform
import shutil
import statistics
import subprocess
import sys
import time

import torch

WARM_UPS, REPEATS, CALLS = 5, 7, 20
LONGEST = 1.0  # seconds of a repeat, beyond which it makes fewer calls
BATCH = 500  # launches between two waits, fewer than a device's queue holds
SMALL = 16
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
HEADER = "name\tdtype\tus\tGB/s\tkernel_us\tkernel_GB/s"


def wall(call, calls):
    """Seconds for one call, from the first call until the device is done."""
    start = time.perf_counter()
    for _ in range(calls):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / calls


def by_events(call, calls):
    """Seconds for one call by the device's clock. The allocator answers from its cache, so the kernels are what is timed,
    as long as the host submits them faster than they run."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(calls):
        call()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3 / calls


def host_only(call, calls):
    """Seconds until a call returns; waiting for the device is not timed."""
    start = time.perf_counter()
    for _ in range(calls):
        call()
    seconds = (time.perf_counter() - start) / calls
    torch.cuda.synchronize()
    return seconds


def measure(method, call):
    """The median of the repeats, after warm-ups, the quickest of which decides how many calls a repeat makes."""
    quickest, spent = float("inf"), 0.0
    for _ in range(WARM_UPS):
        seconds = method(call, 1)
        quickest, spent = min(quickest, seconds), spent + seconds
        if spent >= 2 * LONGEST:
            break
    calls = max(1, min(CALLS, int(LONGEST / max(quickest, 1e-9))))
    return statistics.median(method(call, calls) for _ in range(REPEATS))


def rows(dtype, options):
    """(name, bytes or operations, call) of each row; the numbers are random, of mean 0 and variance 1."""
    random = lambda *shape: torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)
    r, c, side = options.rows, options.cols, options.matmul
    a, b, row, m, s = random(r, c), random(r, c), random(1, c), random(side, side), random(SMALL, SMALL)
    n = a.numel() * a.element_size()
    to = torch.float16 if dtype == torch.float32 else torch.float32
    to_bytes = a.numel() * (torch.finfo(to).bits // 8)
    return [
        ("add", 3 * n, lambda: a + b),
        ("add_broadcast_row", 2 * n, lambda: a + row),
        ("mul_scalar(affine)", 2 * n, lambda: a * 1.5),
        ("exp", 2 * n, lambda: a.exp()),
        ("gelu_erf", 2 * n, lambda: torch.nn.functional.gelu(a)),
        ("silu", 2 * n, lambda: torch.nn.functional.silu(a)),
        ("neg", 2 * n, lambda: -a),
        ("sqr", 2 * n, lambda: a.square()),
        ("sum_last", n, lambda: a.sum(-1)),
        ("sum_first", n, lambda: a.sum(0)),
        ("max_last", n, lambda: a.amax(-1)),
        ("argmax_last", n, lambda: a.argmax(-1)),
        ("sum_all", n, lambda: a.sum()),
        ("softmax_last", 2 * n, lambda: a.softmax(-1)),
        ("layer_norm", 2 * n, lambda: torch.nn.functional.layer_norm(a, a.shape[-1:])),
        ("rms_norm", 2 * n, lambda: torch.nn.functional.rms_norm(a, a.shape[-1:], eps=1e-5)),
        ("transpose_contig", 2 * n, lambda: a.t().contiguous()),
        ("cast", n + to_bytes, lambda: a.to(to)),
        ("clone_copy", 2 * n, lambda: a.clone()),
        (f"matmul{side}", 2 * side**3, lambda: m @ m),
        ("launch_small_add", 0, lambda: s + s),
    ]


# As `benches/src/throughput/products.rs` has them: (batch, m, n, k, linear), and (channels, side, filters, taps, stride).
GEMMS = [(1, 8192, 8192, 8192, False), (1, 4096, 11008, 4096, False), (128, 512, 512, 64, False)]
GEMMS += [(1, m, 4096, 11008, True) for m in (1, 2, 4, 8, 16)]
IMAGES = 32
CONVS = [(3, 224, 64, 7, 2), (64, 56, 64, 1, 1), (64, 56, 64, 3, 1), (64, 56, 256, 1, 1), (256, 56, 512, 1, 2)]
CONVS += [(128, 56, 128, 3, 2), (128, 28, 128, 3, 1), (512, 28, 128, 1, 1), (256, 14, 256, 3, 1)]
CONVS += [(512, 7, 512, 3, 1), (512, 7, 2048, 1, 1)]


def products(dtype, options):
    """(name, operations, call) of each matrix product and convolution whose name contains the filter. Inputs are made when their turn
    comes."""
    random = lambda *shape: torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)
    for batch, m, n, k, linear in GEMMS:
        sizes = f"{m}x{n}x{k}"
        name = f"linear_{sizes}" if linear else f"gemm_{sizes}" if batch == 1 else f"gemm_{batch}x({sizes})"
        if options.filter in name:
            lead = () if batch == 1 else (batch,)
            a, b = random(*lead, m, k), random(n, k).t() if linear else random(*lead, k, n)
            yield name, 2 * batch * m * n * k, lambda: a @ b
    for channels, side, filters, taps, stride in CONVS:
        name = f"conv_{IMAGES}x{channels}x{side}x{side}_{filters}x{taps}x{taps}_s{stride}"
        if options.filter in name:
            x, f, pad = random(IMAGES, channels, side, side), random(filters, channels, taps, taps), taps // 2
            places = ((side + 2 * pad - taps) // stride + 1) ** 2
            work = 2 * IMAGES * filters * places * channels * taps * taps
            yield name, work, lambda: torch.nn.functional.conv2d(x, f, stride=stride, padding=pad)


def host_rows():
    """(name, call) of each row of host time."""
    x, y = (torch.randn(SMALL, SMALL, device="cuda") for _ in range(2))
    target = x.clone()
    return [("host_add", lambda: x + y), ("host_add_assign", lambda: target.add_(y))]


def versions():
    """What it runs on, in a line."""
    properties = torch.cuda.get_device_properties(0)
    runtime = f"CUDA {torch.version.cuda}" if torch.version.cuda else f"ROCm {torch.version.hip}"
    line = f"torch: {properties.name}, {runtime}, torch {torch.__version__}, Python {platform.python_version()}"
    if shutil.which("nvidia-smi"):
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        answer = subprocess.run(query, capture_output=True, text=True, check=False).stdout.split()
        line += f", driver {answer[0]}" if answer else ""
    return line


def parse():
    """The options."""
    intro, examples = __doc__.split("examples:")
    parser = argparse.ArgumentParser(
        description=intro, epilog="examples:" + examples, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=16384, help="rows of the large matrices")
    parser.add_argument("--cols", type=int, default=8192, help="columns of the large matrices")
    parser.add_argument("--matmul", type=int, default=8192, help="side of the matrix that is multiplied by itself")
    parser.add_argument("--products", action="store_true", help="matrix products and convolutions of networks instead")
    parser.add_argument("--calls", type=int, default=CALLS, help="calls of a repeat")
    parser.add_argument("--dtype", default="f32,f16,bf16", help="dtypes, separated by commas")
    parser.add_argument("--filter", default="", help="only rows whose name contains this")
    parser.add_argument("--tsv", help="write the figures to this file as well")
    options = parser.parse_args()
    options.dtypes = options.dtype.split(",")
    unknown = [name for name in options.dtypes if name not in DTYPES]
    if unknown:
        parser.error(f"no such dtype: {', '.join(unknown)}; there are {', '.join(DTYPES)}")
    if not torch.cuda.is_available():
        parser.error("PyTorch finds no device here")
    return options


def main():
    """Measures, prints and writes."""
    options = parse()
    # As tensor-core multiplies f32: all bits.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    global CALLS
    CALLS = options.calls
    what = "products" if options.products else f"{options.rows} x {options.cols}"
    lines = [f"# {versions()}", f"# {what}, median of {REPEATS} x {CALLS} calls", HEADER]
    print("\n".join(lines), flush=True)

    def add(name, dtype, figures):
        line = "\t".join([name, dtype, *figures])
        print(line, flush=True)
        lines.append(line)

    for dtype in options.dtypes:
        for name, work, call in (products if options.products else rows)(DTYPES[dtype], options):
            if options.filter not in name:
                continue
            # The kernels of a row without work take less time than a launch: nothing would be told.
            figures = []
            for method in (wall, by_events) if work else (wall,):
                seconds = measure(method, call)
                figures += [f"{seconds * 1e6:.2f}", f"{work / seconds / 1e9:.1f}" if work else "-"]
            add(name, dtype, (figures + ["-", "-"])[:4])
        torch.cuda.empty_cache()
    for name, call in [] if options.products else host_rows():
        if options.filter in name:
            host_only(call, WARM_UPS)
            seconds = statistics.median(host_only(call, BATCH) for _ in range(REPEATS))
            add(name, "f32", [f"{seconds * 1e6:.2f}", "-", "-", "-"])
    if options.tsv:
        with open(options.tsv, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
