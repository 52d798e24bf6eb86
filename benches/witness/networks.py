"""Operations of networks: softmax, normalisation, attention, convolution, pooling, upsampling.

Arguments are widened views: float8 has become float32; results are converted back to the case's dtype.
"""

import torch
import torch.nn.functional as F

from values import Lacks, double, single, to_dtype, widened


def weight_and_bias(xs, p):
    """The operands behind the others that the parameters speak of; None for one that the case has not."""
    rest = iter(xs)
    return [next(rest) if p[name] else None for name in ("weight", "bias")]


def layer_norm(xs, p, d):
    return F.layer_norm(xs[0], xs[0].shape[-1:], *weight_and_bias(xs[1:], p), p["eps"])


def rms_norm(xs, p, d):
    weight, _ = weight_and_bias(xs[1:], p)
    return F.rms_norm(xs[0], xs[0].shape[-1:], weight, p["eps"])


def add_rms_norm(xs, p, d):
    total = to_dtype(xs[0] + xs[1], d)
    return rms_norm([widened(total), *xs[2:]], p, d) if p["normed"] else total


def group_norm(xs, p, d):
    return F.group_norm(xs[0], p["groups"], *weight_and_bias(xs[1:], p), p["eps"])


def batch_norm(xs, p, d):
    x, mean, variance, *rest = (double(tensor) for tensor in xs)
    return F.batch_norm(x, mean, variance, *weight_and_bias(rest, p), training=False, eps=p["eps"])


def rope(pairs, time):
    """Each pair (x, y) becomes (x·cos − y·sin, x·sin + y·cos). `pairs` are "halves" or "neighbours", `time` is the axis of times."""

    def rotated(xs, p, d):
        x, cos, sin = (single(tensor) for tensor in xs)
        # [t, d/2] or [b, t, d/2], of which the first times are used, with an axis for the heads.
        cos, sin = (table.narrow(-2, 0, x.shape[time]).unsqueeze(-3 if time == 2 else -2) for table in (cos, sin))
        if pairs == "halves":
            first, second = x.chunk(2, dim=-1)
            return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
        first, second = x[..., 0::2], x[..., 1::2]
        return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)

    return rotated


def rope_pair(pairs):
    """The rotation of one of two tensors."""
    rotated = rope(pairs, 2)
    return lambda xs, p, d: rotated([xs[1 if p["second"] else 0], *xs[2:]], p, d)


def attention(xs, p, d):
    q, k, v, *masks = xs
    shape = q.shape[:3] + k.shape[2:3]
    earlier = torch.ones(shape[2:], dtype=torch.bool, device=q.device).tril()
    mask = None
    if p["mask"] == "truth":
        mask = masks[0] != 0
        mask = mask & earlier if p["causal"] else mask
    elif p["mask"] is not None:
        mask = widened(to_dtype(masks[0].log(), d)) if p["mask"] == "log_added" else masks[0]
        mask = mask.masked_fill(~earlier, -torch.inf) if p["causal"] else mask
    elif p["causal"]:
        mask = earlier
    q, k, v, mask = (single(x) if x is not None else None for x in (q, k, v, mask))
    mask = mask if mask is None else mask.expand(shape)
    return F.scaled_dot_product_attention(q, k, v, mask, scale=p["scale"], enable_gqa=True)


def paged_attention(xs, p, d):
    """Of each sequence to the keys it sees, in order."""
    q, k, v = (single(x) for x in xs[:3])
    results = []
    for query, pages, position in zip(q, xs[3].tolist(), xs[4].tolist()):
        seen = min(position + 1, len(pages) * p["rows"])
        first = 0 if p["window"] is None else max(0, position + 1 - p["window"])
        rows = [pages[key // p["rows"]] * p["rows"] + key % p["rows"] for key in range(first, seen)]
        rows = torch.tensor(rows, dtype=torch.int64, device=q.device)
        key, value = k.index_select(2, rows), v.index_select(2, rows)
        results.append(F.scaled_dot_product_attention(query[None], key, value, enable_gqa=True))
    return torch.cat(results)


def convolution(how, names=("stride", "padding", "dilation", "groups")):
    """A convolution that takes the parameters of these names."""

    def convolved(xs, p, d):
        x, kernel, *bias = (single(tensor) for tensor in xs)
        if 0 in x.shape[1:] + kernel.shape:
            raise Lacks("PyTorch has no convolution of no channels or no length, or with no outputs")
        return how(x, kernel, *bias, **{name: p[name] for name in names})

    return convolved


def transposed(how):
    return convolution(how, ("stride", "padding", "output_padding", "groups", "dilation"))


def max_pool(xs, p, d):
    return F.max_pool2d(xs[0], p["window"], p["stride"], p["padding"], ceil_mode=p["ceil_mode"])


def avg_pool(xs, p, d):
    return F.avg_pool2d(xs[0], p["window"], p["stride"], p["padding"], p["ceil_mode"], p["count_include_pad"])


def adaptive_avg_pool(xs, p, d):
    return F.adaptive_avg_pool2d(xs[0], p["size"])


def nearest(xs, p, d):
    """Of one dimension the size is [1, columns]."""
    return F.interpolate(xs[0], size=p["size"][4 - xs[0].dim() :], mode="nearest")


def bilinear(xs, p, d):
    return F.interpolate(double(xs[0]), size=p["size"], mode="bilinear", align_corners=p["align_corners"])


# By name: what computes it from the operands, the parameters and the dtype of the first operand in the case; and how that differs from
# plain PyTorch where it does.

SINGLE = "16-bit floats through float32, rounded once"
DOUBLE = "in float64, rounded once"
ROTATED = f"primitives: products and their sum or difference; {SINGLE}"

SEVERAL = {
    "softmax": (lambda xs, p, d: F.softmax(single(xs[0]), dim=p["axis"]), SINGLE),
    "log_softmax": (lambda xs, p, d: F.log_softmax(single(xs[0]), dim=p["axis"]), SINGLE),
    "layer_norm": (layer_norm, ""),
    "rms_norm": (rms_norm, ""),
    "add_rms_norm": (add_rms_norm, ""),
    "group_norm": (group_norm, ""),
    "batch_norm": (batch_norm, f"{DOUBLE}, since x·w/√(v+ε) + (b − m·w/√(v+ε)) cancels"),
    "rope": (rope("halves", 2), ROTATED),
    "rope_i": (rope("neighbours", 2), ROTATED),
    "rope_thd": (rope("halves", 1), ROTATED),
    "rope_pair": (rope_pair("halves"), ROTATED),
    "rope_i_pair": (rope_pair("neighbours"), ROTATED),
    "scaled_dot_product_attention": (attention, SINGLE),
    "paged_attention": (paged_attention, f"index_select, scaled_dot_product_attention, {SINGLE}"),
    "conv1d": (convolution(F.conv1d), SINGLE),
    "conv2d": (convolution(F.conv2d), SINGLE),
    "conv_transpose1d": (transposed(F.conv_transpose1d), SINGLE),
    "conv_transpose2d": (transposed(F.conv_transpose2d), SINGLE),
    "max_pool2d": (max_pool, ""),
    "avg_pool2d": (avg_pool, ""),
    "adaptive_avg_pool2d": (adaptive_avg_pool, ""),
    "upsample_nearest1d": (nearest, "interpolate, mode='nearest'"),
    "upsample_nearest2d": (nearest, "interpolate, mode='nearest'"),
    "upsample_bilinear2d": (bilinear, f"interpolate, mode='bilinear', {DOUBLE}, since positions are rounded"),
}
