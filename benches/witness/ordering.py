"""Sorting, and sums at the positions that ids name.

Arguments are widened views: float8 has become float32 and uint32 int64; results are converted back to the case's dtype.
"""

import torch

from values import single


def order(x, p):
    """Positions in order along the axis. Zeros of two signs, which PyTorch takes for equal, are put in order by a sort before."""
    how = {"dim": p["axis"], "descending": p["descending"], "stable": True}
    if not x.is_floating_point():
        return torch.sort(x, **how).indices
    positive_zero = ((x == 0) & ~torch.signbit(x)).to(torch.uint8)
    before = torch.sort(positive_zero, **how).indices
    return before.gather(p["axis"], torch.sort(x.gather(p["axis"], before), **how).indices)


def ordered(xs, p, d):
    """Elements or positions in order; the first k of them where there is a k."""
    x = xs[0]
    positions = order(x, p)
    if "k" in p:
        positions = positions.narrow(p["axis"], 0, p["k"])
    return positions if p["positions"] else x.gather(p["axis"], positions)


def scatter_add(xs, p, d):
    return single(xs[0]).scatter_add(p["axis"], xs[1].to(torch.int64), single(xs[2]))


def index_add(xs, p, d):
    return single(xs[0]).index_add(p["axis"], xs[1].to(torch.int64), single(xs[2]))


# By name: what computes it from the operands, the parameters and the dtype of the first operand in the case; and how that differs from
# plain PyTorch where it does.

SORTED = "a stable torch.sort by the sign of zeros, then one by value: PyTorch takes zeros of two signs for equal"
ADDED = "16-bit floats through float32, rounded once"

SEVERAL = {
    "sort": (ordered, SORTED),
    "argsort": (ordered, SORTED),
    "topk": (ordered, SORTED + ", and leaves the order of equal elements open in torch.topk"),
    "scatter_add": (scatter_add, ADDED),
    "index_add": (index_add, ADDED),
}
