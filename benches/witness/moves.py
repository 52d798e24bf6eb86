"""Operations that move, choose or make elements, and conversions."""

import torch
import torch.nn.functional as F

from values import DTYPES, carried_number, nearest, rounded, to_dtype


def cast(x, to):
    if to.is_floating_point or not x.dtype.is_floating_point:
        return to_dtype(x, to)
    low, high = torch.iinfo(to).min, torch.iinfo(to).max
    wide = x.to(torch.float64)
    # Both limits are exact in float64: for i64, whose low - 1 is not, `below` takes in low itself, which gives the same.
    above, below = wide >= float(high + 1), wide <= float(low - 1)
    inside = torch.where(above | below | wide.isnan(), torch.zeros_like(wide), wide).to(x.dtype)
    return torch.where(below, low, torch.where(above, high, inside.to(to).to(torch.int64))).to(to)


def fill(xs, p, d):
    wide = torch.float64 if d.is_floating_point else torch.int64
    return to_dtype(torch.full(xs[0].shape, rounded(p["value"], d), device=xs[0].device, dtype=wide), d)


def ids(x):
    """Ids of any dtype as the int64 that PyTorch asks for."""
    return x.to(torch.int64)


def scatter(xs, p, d):
    """Of elements for one target the last one stays, which PyTorch leaves open: so the greatest position for each target is found first."""
    x, targets, source = xs[0], ids(xs[1]), xs[2]
    axis = p["axis"]
    own = [1] * x.dim()
    own[axis] = targets.shape[axis]
    positions = torch.arange(targets.shape[axis], device=x.device).reshape(own).expand(targets.shape)
    last = torch.full(x.shape, -1, dtype=torch.int64, device=x.device)
    last = last.scatter_reduce(axis, targets, positions, reduce="amax")
    part = x
    for other in range(x.dim()):
        if other != axis:
            last, part = last.narrow(other, 0, targets.shape[other]), part.narrow(other, 0, targets.shape[other])
    part.copy_(torch.where(last >= 0, source.gather(axis, last.clamp(min=0)), part) if targets.numel() else part)
    return x


def slice_set(xs, p, d):
    xs[0].narrow(p["axis"], p["start"], xs[1].shape[p["axis"]]).copy_(xs[1])
    return xs[0]


def slice_scatter(xs, p, d):
    return torch.slice_scatter(xs[0], xs[1], p["axis"], p["start"], p["start"] + xs[1].shape[p["axis"]])


def pad_with_zeros(xs, p, d):
    behind = xs[0].dim() - 1 - p["axis"]
    return F.pad(xs[0], [0, 0] * behind + [p["left"], p["right"]])


def pad_with_same(xs, p, d):
    length = xs[0].shape[p["axis"]]
    positions = torch.arange(-p["left"], length + p["right"], device=xs[0].device)
    return xs[0].index_select(p["axis"], positions.clamp(0, length - 1))


def arange(xs, p, d):
    """From 3 by -0.5 or, for integers, 2, to the end that gives the operand's length."""
    step = -0.5 if d.is_floating_point else 2
    return torch.arange(3, nearest(3 + step * len(xs[0]), d), step, dtype=torch.float64)


def linspace(xs, p, d):
    """From 2 to 47, as many as the operand has elements."""
    return torch.linspace(2, nearest(47, d), len(xs[0]), dtype=torch.float64)


def ones(x):
    return torch.ones(len(x), len(x), device=x.device)


# By name: what computes it from the views as they are, the parameters and the dtype of the first operand in the case; and how that
# differs from plain PyTorch.

VIEWS = {
    "cast": (lambda xs, p, d: cast(xs[0], DTYPES[p["to"]]), "Tensor.to; float to integer: out of range, where PyTorch has no rule, "
             "is masked; to float8: the range is cut first"),
    "copy": (lambda xs, p, d: xs[0].clone(memory_format=torch.contiguous_format), "Tensor.clone"),
    "fill": (fill, "torch.full"),
    "const_set": (lambda xs, p, d: xs[0].fill_(rounded(p["value"], d)), "Tensor.fill_ through the view"),
    "copy_into": (lambda xs, p, d: xs[0].copy_(xs[1]), "Tensor.copy_ into the view"),
    "eye": (lambda xs, p, d: torch.eye(len(xs[0]), device=xs[0].device), "torch.eye, converted"),
    "tril2": (lambda xs, p, d: ones(xs[0]).tril(), "torch.ones and tril, converted"),
    "triu2": (lambda xs, p, d: ones(xs[0]).triu(), "torch.ones and triu, converted"),
    "arange": (arange, "torch.arange in float64, rounded once"),
    "linspace": (linspace, "torch.linspace in float64, rounded once"),
}  # fmt: skip

# Here float8 and uint32 come as the bits of uint8 and int32, and so does the result.

CARRIED = {
    "index_select": (lambda xs, p, d: torch.index_select(xs[0], p["axis"], ids(xs[1])), ""),
    "gather": (lambda xs, p, d: torch.gather(xs[0], p["axis"], ids(xs[1])), ""),
    "embedding": (lambda xs, p, d: F.embedding(ids(xs[1]), xs[0]), "torch.nn.functional.embedding"),
    "scatter": (scatter, "scatter_reduce of the positions with amax, then gather and where: PyTorch leaves open which of several stays"),
    "slice_scatter": (slice_scatter, ""),
    "slice_set": (slice_set, "Tensor.copy_ into a narrowed view"),
    "where_cond": (lambda xs, p, d: torch.where(xs[1] != 0, xs[0], xs[2]), "torch.where"),
    "masked_fill": (lambda xs, p, d: xs[0].masked_fill(xs[1] != 0, carried_number(p["value"], d)), ""),
    "tril": (lambda xs, p, d: torch.tril(xs[0], p["diagonal"]), ""),
    "triu": (lambda xs, p, d: torch.triu(xs[0], p["diagonal"]), ""),
    "flip": (lambda xs, p, d: torch.flip(xs[0], p["axes"]), ""),
    "cat": (lambda xs, p, d: torch.cat(xs, p["axis"]), ""),
    "stack": (lambda xs, p, d: torch.stack(xs, p["axis"]), ""),
    "chunk": (lambda xs, p, d: torch.tensor_split(xs[0], p["count"], p["axis"])[p["part"]],
              "torch.tensor_split: torch.chunk makes all parts but the last equal"),
    "split": (lambda xs, p, d: torch.split(xs[0], p["size"], p["axis"])[p["part"]], ""),
    "repeat": (lambda xs, p, d: xs[0].repeat(p["repeats"]), ""),
    "roll": (lambda xs, p, d: torch.roll(xs[0], p["shift"], p["axis"]), ""),
    "pad": (lambda xs, p, d: F.pad(xs[0], p["padding"], value=carried_number(p["value"], d)), "torch.nn.functional.pad"),
    "pad_with_zeros": (pad_with_zeros, "torch.nn.functional.pad"),
    "pad_with_same": (pad_with_same, "index_select of the nearest positions: PyTorch replicates floats only, and only last axes"),
    "meshgrid": (lambda xs, p, d: torch.meshgrid(*xs, indexing="xy" if p["xy"] else "ij")[p["which"]], ""),
}  # fmt: skip
