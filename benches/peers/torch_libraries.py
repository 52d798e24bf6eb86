#!/usr/bin/env python3
"""Judges the program `libraries`: its results by PyTorch in f64 on the card, and its times by those of CUDA's libraries.

Examples:
  torch_libraries.py --data /tmp/data
  torch_libraries.py --ours ours1.tsv ours2.tsv --theirs theirs1.tsv theirs2.tsv
  torch_libraries.py --device cpu --data /tmp/data      without a card

The bounds are those of rounding to nearest in the type of the results, u, where n terms are added in any order: the factor is
sqrt(n) times 6 (N. Higham and T. Mary, 2019: it is exceeded with a probability of 1e-7), as errors of roundings are independent.
Exit code: 0 if every result is within its bound and every speed at least 0.97 of the vendor's, 1 if not, 2 without files.
"""

import argparse
import math
import statistics
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file

U = {torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}
U32 = U[torch.float32]
LEAST = 0.97  # of the vendor's speed


def gamma(terms, unit=U32):
    """The relative error of a sum of so many terms."""
    return 6 * math.sqrt(terms) * unit


def norm(x):
    """The square root of the sum of all squares."""
    return torch.linalg.vector_norm(x).item()


def columns(x):
    """A matrix that a file has by columns, in f64."""
    return x.double().mT.contiguous()


def transforms(name, data):
    """The whole error of a transform, over the results: each of log2(n) steps is a product and a sum of complex numbers."""
    x, y = data["x"].double(), torch.view_as_complex(data["y"].double())
    if name == "fft_c2c":
        wanted, size = torch.fft.fft(torch.view_as_complex(x)), x.shape[1]
    else:
        wanted, size = torch.fft.rfft2(x), x.shape[1] * x.shape[2]
    # Higham, Accuracy and Stability, 24.2: a step adds at most u + 4 u (sqrt(2) + u) to the error.
    yield name, norm(y - wanted) / norm(wanted), math.log2(size) * (1 + 4 * math.sqrt(2)) * U32


def solve(_, data):
    """The residual of a solution, and its error by the condition of the matrix."""
    a, b, x = columns(data["a"]), columns(data["b"]), columns(data["x"])
    size = a.shape[0]
    inf = lambda matrix: matrix.abs().sum(1).max().item()  # noqa: E731
    residual = inf(b - a @ x) / (inf(a) * inf(x) + inf(b))
    # Three triangular products, with partial pivoting, whose growth of random matrices is below n^(2/3).
    yield "solve: residual", residual, 3 * gamma(size) * size ** (2 / 3)
    wanted = torch.linalg.solve(a, b)
    condition = inf(a) * inf(torch.linalg.inv(a))
    # The residual is measured, so that this holds for any way to solve.
    yield "solve: solution", inf(x - wanted) / inf(wanted), 2 * condition * residual * (inf(x) / inf(wanted) + 1)


def cholesky(_, data):
    """A = L Lᵀ."""
    a, lower = columns(data["a"]), columns(data["l"]).tril()
    yield "potrf", norm(lower @ lower.mT - a) / norm(a), gamma(a.shape[0] + 1) * math.sqrt(a.shape[0])


def singular(_, data):
    """The singular values, and what they and the vectors make. Householder's steps: as many as rows, each with a sum of that length."""
    a, u, vh, s = columns(data["a"]), columns(data["u"]), columns(data["vh"]), data["s"].double()
    bound = gamma(a.shape[0]) * math.sqrt(a.shape[0])
    wanted = torch.linalg.svdvals(a)
    yield "gesvd: values", (s - wanted).abs().max().item() / wanted[0].item(), bound
    yield "gesvd: product", norm((u * s) @ vh - a) / norm(a), bound
    one = torch.eye(a.shape[0], dtype=a.dtype, device=a.device)
    yield "gesvd: U", norm(u.mT @ u - one) / norm(one), bound
    yield "gesvd: V", norm(vh @ vh.mT - one) / norm(one), bound


def eigen(_, data):
    """The eigenvalues, and what they and the vectors make, as singular values."""
    a, vectors, values = columns(data["a"]), columns(data["v"]), data["w"].double()
    bound = gamma(a.shape[0]) * math.sqrt(a.shape[0])
    wanted = torch.linalg.eigvalsh(a)
    yield "syevd: values", (values - wanted).abs().max().item() / wanted.abs().max().item(), bound
    yield "syevd: product", norm((vectors * values) @ vectors.mT - a) / norm(a), bound
    one = torch.eye(a.shape[0], dtype=a.dtype, device=a.device)
    yield "syevd: vectors", norm(vectors.mT @ vectors - one) / norm(one), bound


def worst(found, wanted, limit):
    """The greatest error as a part of its limit."""
    error = (found - wanted).abs()
    return torch.where(error == 0, error, error / limit).max().item()


def by_rows(data, prefix, size):
    """A sparse matrix, in f64."""
    offsets, cols, values = (data[f"{prefix}{part}"] for part in ("offsets", "cols", "values"))
    return torch.sparse_csr_tensor(offsets.long(), cols.long(), values.double(), size=size)


def sparse(_, data):
    """Each element has a bound of its own: that of a sum of the row's terms, |A| |x|."""
    size = data["x"].shape[0]
    a = by_rows(data, "", (size, size))
    absolute = torch.sparse_csr_tensor(a.crow_indices(), a.col_indices(), a.values().abs(), size=a.shape)
    entries = (data["offsets"].long().diff()).max().item()
    bound = (entries + 1) * U32
    for name, x, y in (("spmv", data["x"][:, None], data["y"][:, None]), ("spmm", data["b"], data["c"])):
        x, y = x.double(), y.double()
        yield f"{name}: of its bound", worst(y, a @ x, bound * (absolute @ x.abs())), 1.0


def entries(matrix):
    """The positions of a sparse matrix' entries, as one number each, and the values, in order: libraries leave them in another one."""
    rows = torch.repeat_interleave(torch.arange(matrix.shape[0], device=matrix.device), matrix.crow_indices().diff())
    positions, order = (rows * matrix.shape[1] + matrix.col_indices()).sort()
    return positions, matrix.values()[order]


def sparse_sparse(_, data):
    """Where the entries are, and each by its bound."""
    size = data["a_offsets"].shape[0] - 1
    a, b, made = (by_rows(data, prefix, (size, size)) for prefix in ("a_", "b_", "c_"))
    (positions, values), (right_positions, right) = entries(made), entries(a @ b)
    same = torch.equal(positions, right_positions)
    yield "spgemm: entries", 0.0 if same else 1.0, 0.0
    if same:
        terms = data["a_offsets"].long().diff().max().item()
        a, b = (torch.sparse_csr_tensor(m.crow_indices(), m.col_indices(), m.values().abs(), size=m.shape) for m in (a, b))
        yield "spgemm: of its bound", worst(values, right, entries(a @ b)[1] * ((terms + 1) * U32)), 1.0


def product(name, data):
    """gelu(aᵀ b + bias): the sum's error passes through gelu, whose slope is below 1.13; tanh of the unit has 11 bits; d is rounded."""
    a, b, bias, d = (data[key] for key in ("a", "b", "bias", "d"))
    unit, size = U[d.dtype], a.shape[0]
    # By columns: the file's a is aᵀ, its b is bᵀ, its d is dᵀ.
    a, b, bias = a.double(), b.double().mT, bias.double()[:, None]
    total = a @ b + bias
    wanted = torch.nn.functional.gelu(total, approximate="tanh")
    # Matrix units cut off what they add: twice the unit.
    error = 1.13 * gamma(size, 2 * U32) * (a.abs() @ b.abs() + bias.abs()) + total.abs() * 2.0**-11 + wanted.abs() * unit
    yield f"{name}: of its bound", worst(d.double().mT, wanted, error), 1.0


JUDGES = {
    "fft_c2c": transforms,
    "fft_r2c_2d": transforms,
    "solve": solve,
    "potrf": cholesky,
    "gesvd": singular,
    "syevd": eigen,
    "sparse": sparse,
    "spgemm": sparse_sparse,
    "lt_f16": product,
    "lt_bf16": product,
    "lt_f8": product,
}


def judge(folder, device):
    """Whether the results of all files are right; prints the errors."""
    right, files = True, sorted(Path(folder).glob("*.safetensors"))
    print(f"{'result':<24} {'error':>10} {'bound':>10}")
    for file in files:
        data = load_file(file, device=device)
        for name, error, bound in JUDGES[file.stem](file.stem, data):
            good = error <= bound  # false for NaN too
            right = right and good
            print(f"{name:<24} {error:>10.2e} {bound:>10.2e} {'' if good else 'WRONG'}", flush=True)
    missing = sorted(set(JUDGES) - {file.stem for file in files})
    if missing:
        print("no results of:", ", ".join(missing))
    return right, bool(files)


def read(files):
    """The median of the times of each call, or its error."""
    times, errors = {}, {}
    for file in files:
        for line in Path(file).read_text(encoding="utf-8").splitlines()[1:]:
            name, sizes, seconds, error = (line.split("\t") + [""] * 4)[:4]
            if seconds:
                times.setdefault((name, sizes), []).append(float(seconds))
            else:
                errors[name] = error
    return {key: statistics.median(found) for key, found in times.items()}, errors


def compare(ours, theirs):
    """Whether every speed is at least the part of the vendor's; prints them."""
    (ours, ours_failed), (theirs, theirs_failed) = read(ours), read(theirs)
    fast = True
    print(f"{'call':<14} {'sizes':>34} {'ours us':>12} {'vendor us':>12} {'speed':>6}")
    for name, sizes in ours:
        mine, other = ours[name, sizes], theirs.get((name, sizes))
        if other is None:
            print(f"{name:<14} {sizes:>34} {mine * 1e6:>12.2f} {theirs_failed.get(name, 'not timed'):>12}")
            continue
        good = other / mine >= LEAST
        fast = fast and good
        print(f"{name:<14} {sizes:>34} {mine * 1e6:>12.2f} {other * 1e6:>12.2f} {other / mine:>6.3f} {'' if good else 'SLOW'}")
    for name, error in ours_failed.items():
        print(f"{name:<14} {error}")
    return fast and not ours_failed


def main():
    """Judges what is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", metavar="DIR", help="the folder that libraries wrote")
    parser.add_argument("--ours", nargs="+", metavar="FILE", default=[], help="the times that libraries wrote")
    parser.add_argument("--theirs", nargs="+", metavar="FILE", default=[], help="the times that vendor_libraries wrote")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    options = parser.parse_args()
    if not options.data and not (options.ours and options.theirs):
        parser.error("there is nothing to judge: name --data, or --ours and --theirs")
    good = True
    if options.data:
        right, there = judge(options.data, options.device)
        if not there:
            parser.error(f"{options.data} has no .safetensors")
        good = right
    if options.ours and options.theirs:
        good = compare(options.ours, options.theirs) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
