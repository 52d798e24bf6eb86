"""Random numbers: of those PyTorch can say only what no chance is in."""

import torch
import torch.nn.functional as F

from values import Lacks


def philox(xs, p, d):
    raise Lacks("random bits are Philox's in this project's order of counters, which no call of PyTorch gives")


def dropout(xs, p, d):
    return F.dropout(xs[0], 0.0, training=True) if p["probability"] == 0 else philox(xs, p, d)


def bernoulli(xs, p, d):
    if p["probability"] not in (0, 1):
        return philox(xs, p, d)
    return torch.bernoulli(torch.full(xs[0].shape, float(p["probability"]), device=xs[0].device))


CERTAIN = "only where chance has one outcome"
LACKING = "not computed: Philox as this project counts"

# Arguments are widened views, as for the other operations of several operands.

SEVERAL = {
    "dropout": (dropout, CERTAIN),
    "bernoulli": (bernoulli, CERTAIN),
    "uniform": (philox, LACKING),
    "normal": (philox, LACKING),
    "randint": (philox, LACKING),
    "randperm": (philox, LACKING),
}
