#!/usr/bin/env python3
"""The rows of the program `throughput` in PyTorch: its peer, which it starts and asks for one repeat after the other.

Reads requests from its standard input, a line of JSON each, and answers each by a line:
  {"ask": "versions"}                                                   {"versions": "NVIDIA H200, ..."}
  {"ask": "row", "op": "add", "dtype": "f16", "dims": [16384, 8192]}     {}
  {"ask": "time", "clock": "wall", "calls": 20}                          {"seconds": 0.000186}
An answer may be {"error": "..."} instead. Clocks: wall, until the device is done; kernels, by the device's clock, of a graph
that was captured of the call; host, until the last call has returned. Seconds are those of one call.

Needs PyTorch and a CUDA or ROCm device; --device cpu tries it without.
"""

import argparse
import functools
import json
import operator
import platform
import shutil
import subprocess
import sys
import time

import torch
from torch.nn import functional

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "u8": torch.uint8}
EPS = 1e-5
KEPT = 50  # elements that topk keeps
on = functools.partial  # a call of a function with these arguments: without Python's own calls in between


class Inputs:
    """Random numbers of mean 0 and variance 1, made when they are asked for, and kept for the next rows of the same sizes."""

    def __init__(self, dtype, dims, device):
        self.dtype, self.dims, self.device, self.made = dtype, dims, device, {}

    def random(self, name, *shape):
        """The tensor of a name."""
        if name not in self.made:
            numbers = torch.randn(*shape, device=self.device, dtype=torch.float32)
            self.made[name] = numbers.to(self.dtype)
        return self.made[name]

    @property
    def a(self):
        """A tensor of the sizes."""
        return self.random("a", *self.dims)

    @property
    def b(self):
        """Another one."""
        return self.random("b", *self.dims)

    @property
    def row(self):
        """A row as long as the tensor's."""
        return self.random("row", 1, self.dims[1])

    @property
    def weight(self):
        """The same numbers without the first axis: weight and bias of norms."""
        return self.row[0]

    def ids(self):
        """As many ids as the first axis is long."""
        return torch.randint(self.dims[0], (self.dims[0],), device=self.device)


def where(x):
    """By a mask of bytes."""
    return on(torch.where, torch.rand(x.dims, device=x.device) < 0.5, x.a, x.b)


def index_select_rows(x):
    """Rows of which no two neighbours lie side by side."""
    rows = x.dims[0]
    return on(torch.index_select, x.a, 0, torch.arange(rows, device=x.device) * 7919 % rows)


def transpose(x):
    """A transposed view, made contiguous."""
    a = x.a
    return lambda: a.t().contiguous()


def cast(x):
    """To f16, or to f32."""
    return on(x.a.to, torch.float16 if x.dtype == torch.float32 else torch.float32)


def gemm(x, linear=False):
    """A product; by transposed weights as in a linear layer."""
    batch, m, n, k = x.dims
    lead = () if batch == 1 else (batch,)
    return on(operator.matmul, x.random("l", *lead, m, k), x.random("r", n, k).t() if linear else x.random("r", *lead, k, n))


def conv(x):
    """A convolution of square images, padded by half a filter."""
    batch, channels, side, filters, taps, stride = x.dims
    images, kernel = x.random("x", batch, channels, side, side), x.random("f", filters, channels, taps, taps)
    return on(functional.conv2d, images, kernel, stride=stride, padding=taps // 2)


def attention(x):
    """Causal, of [batch, heads, length, width]."""
    return on(functional.scaled_dot_product_attention, x.a, x.b, x.random("c", *x.dims), is_causal=True)


def copy(x):
    """Bytes from one buffer to another."""
    source, target = (torch.zeros(x.dims, device=x.device, dtype=x.dtype) for _ in range(2))
    return on(target.copy_, source)


# What makes the inputs of each operation and gives its call.
OPS = {
    "add": lambda x: on(operator.add, x.a, x.b),
    "mul_scalar": lambda x: on(operator.mul, x.a, 1.5),
    "exp": lambda x: on(torch.exp, x.a),
    "gelu_erf": lambda x: on(functional.gelu, x.a),
    "silu": lambda x: on(functional.silu, x.a),
    "where": where,
    "cast": cast,
    "clone_copy": lambda x: x.a.clone,
    "cat0": lambda x: on(torch.cat, (x.a, x.b), 0),
    "index_select_rows": index_select_rows,
    "add_broadcast_row": lambda x: on(operator.add, x.a, x.row),
    "add_broadcast_column": lambda x: on(operator.add, x.a, x.random("column", x.dims[0], 1)),
    "rms_norm": lambda x: on(functional.rms_norm, x.a, x.dims[1:], x.weight, EPS),
    "layer_norm": lambda x: on(functional.layer_norm, x.a, x.dims[1:], x.weight, x.weight, EPS),
    "softmax_last": lambda x: on(torch.softmax, x.a, -1),
    "sum_last": lambda x: on(torch.sum, x.a, -1),
    "sum_first": lambda x: on(torch.sum, x.a, 0),
    "max_last": lambda x: on(torch.amax, x.a, -1),
    "max_first": lambda x: on(torch.amax, x.a, 0),
    "argmax_last": lambda x: on(torch.argmax, x.a, -1),
    "argmax_first": lambda x: on(torch.argmax, x.a, 0),
    "sum_all": lambda x: on(torch.sum, x.a),
    "transpose_contig": transpose,
    "argsort": lambda x: on(torch.argsort, x.a, -1),
    "topk_50": lambda x: on(torch.topk, x.a, min(KEPT, x.dims[1]), -1),
    "cumsum_last": lambda x: on(torch.cumsum, x.a, -1),
    "cumsum_first": lambda x: on(torch.cumsum, x.a, 0),
    "gather": lambda x: on(torch.gather, x.a, 0, x.ids()),
    "scatter_add": lambda x: on(torch.scatter_add, x.a, 0, x.ids(), x.b),
    "attention_causal": attention,
    "gemm": gemm,
    "linear": on(gemm, linear=True),
    "conv": conv,
    "conv_winograd": conv,
    "copy_d2d": copy,
    "launch_small_add": lambda x: on(operator.add, x.a, x.a),
    "host_add": lambda x: on(operator.add, x.a, x.b),
    "host_add_assign": lambda x: on(x.a.clone().add_, x.b),
}


class Rows:
    """The row that was asked for last, and its inputs."""

    def __init__(self, device):
        self.device, self.inputs, self.call, self.graph = device, None, None, None

    def prepare(self, op, dtype, dims):
        """Makes the inputs of a row and calls it once."""
        self.call = self.graph = None
        if op not in OPS:
            raise ValueError(f"there is no operation {op}")
        if self.inputs is None or (self.inputs.dtype, self.inputs.dims) != (DTYPES[dtype], dims):
            self.inputs = None
            if self.device != "cpu":
                torch.cuda.empty_cache()
            self.inputs = Inputs(DTYPES[dtype], dims, self.device)
        self.call = OPS[op](self.inputs)
        self.call()
        self.wait()

    def wait(self):
        """Until the device is done."""
        if self.device != "cpu":
            torch.cuda.synchronize()

    def captured(self):
        """A graph of the call, or the call itself where there is none: then the host has to be quicker than the kernels."""
        if self.graph is None:
            try:
                side = torch.cuda.Stream()
                side.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(side):
                    self.call()
                torch.cuda.current_stream().wait_stream(side)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    self.call()
                self.graph = graph.replay
            except RuntimeError as error:
                print(f"torch_throughput.py: not captured, so timed by its calls: {error}", file=sys.stderr)
                self.graph = self.call
            torch.cuda.synchronize()
        return self.graph

    def time(self, clock, calls):
        """Seconds of one of so many calls."""
        if self.call is None:
            raise ValueError("there is no row to be timed")
        call = self.call
        if clock == "kernels" and self.device != "cpu":
            call = self.captured()
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            for _ in range(calls):
                call()
            end.record()
            end.synchronize()
            return start.elapsed_time(end) / 1e3 / calls
        start = time.perf_counter()
        for _ in range(calls):
            call()
        if clock != "host":
            self.wait()
        seconds = (time.perf_counter() - start) / calls
        self.wait()
        return seconds


def versions(device):
    """What it runs on, in a line."""
    line = f"torch {torch.__version__}, Python {platform.python_version()}"
    if device == "cpu":
        return f"cpu, {line}"
    runtime = f"CUDA {torch.version.cuda}" if torch.version.cuda else f"ROCm {torch.version.hip}"
    line = f"{torch.cuda.get_device_properties(0).name}, {runtime}, {line}"
    if torch.backends.cudnn.is_available():
        line += f", cuDNN {torch.backends.cudnn.version()}"
    if shutil.which("nvidia-smi"):
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        answer = subprocess.run(query, capture_output=True, text=True, check=False).stdout.split()
        line += f", driver {answer[0]}" if answer else ""
    return line


def answer(rows, request):
    """What a request is answered with."""
    ask = request.pop("ask", None)
    if ask == "versions":
        return {"versions": versions(rows.device)}
    if ask == "row":
        rows.prepare(**request)
        return {}
    if ask == "time":
        return {"seconds": rows.time(**request)}
    raise ValueError(f"there is no request {ask!r}")


def main():
    """Answers until there are no more requests."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    device = parser.parse_args().device
    if device == "cuda" and not torch.cuda.is_available():
        parser.error("PyTorch finds no device here")
    # As tensor-core multiplies f32: all bits.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.set_grad_enabled(False)
    # What a library prints is no answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    rows = Rows(device)
    for line in sys.stdin:
        try:
            text = answer(rows, json.loads(line))
        except Exception as error:  # pylint: disable=broad-except # whatever it is, the row has no time
            text = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(text), file=answers, flush=True)


if __name__ == "__main__":
    sys.exit(main())
