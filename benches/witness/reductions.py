"""Reductions, statistics and running sums.

Arguments are widened views: float8 has become float32 and uint32 int64; results are converted back to the case's dtype and shape.
"""

import torch

from values import double, flat, single


def prod(x, p, dtype):
    in_float = torch.float32 if dtype in (torch.bfloat16, torch.float16) else None
    return flat(x, p["axes"], lambda y: torch.prod(y, dim=-1, dtype=in_float))


def truths(how):
    """any or all of what is not zero."""
    return lambda x, p, d: flat(x != 0, p["axes"], lambda y: how(y, dim=-1))


# By name: what computes it from the operand, the parameters and the dtype that the operand has in the case; and how that differs
# from plain PyTorch where it does.

WITH_PARAMETERS = {
    "sum": (lambda x, p, d: torch.sum(x, dim=p["axes"], keepdim=p["keep"]), ""),
    "mean": (lambda x, p, d: torch.mean(x, dim=p["axes"], keepdim=p["keep"]), ""),
    "min": (lambda x, p, d: torch.amin(x, dim=p["axes"], keepdim=p["keep"]), ""),
    "max": (lambda x, p, d: torch.amax(x, dim=p["axes"], keepdim=p["keep"]), ""),
    "prod": (prod, "several axes are joined first; bfloat16 and float16 with dtype=torch.float32, rounded once"),
    "argmin": (lambda x, p, d: flat(x, p["axes"], lambda y: torch.argmin(y, dim=-1)), "several axes are joined first"),
    "argmax": (lambda x, p, d: flat(x, p["axes"], lambda y: torch.argmax(y, dim=-1)), "several axes are joined first"),
    "var": (lambda x, p, d: torch.var(x, dim=p["axes"], keepdim=p["keep"]), ""),
    "std": (lambda x, p, d: torch.std(x, dim=p["axes"], keepdim=p["keep"]), ""),
    "norm": (lambda x, p, d: torch.linalg.vector_norm(double(x), dim=p["axes"], keepdim=p["keep"]),
             "torch.linalg.vector_norm in float64, since squares overflow and vanish; rounded once"),
    "log_sum_exp": (lambda x, p, d: torch.logsumexp(single(x), dim=p["axes"], keepdim=p["keep"]),
                    "torch.logsumexp; 16-bit floats through float32, rounded once"),
    "any": (truths(torch.any), "of x != 0; several axes are joined first"),
    "all": (truths(torch.all), "of x != 0; several axes are joined first"),
    "cumsum": (lambda x, p, d: torch.cumsum(x, dim=p["axis"]), "integers in int64, which wraps as narrower ones do"),
    "cumprod": (lambda x, p, d: torch.cumprod(x, dim=p["axis"]), "integers in int64, which wraps as narrower ones do"),
}  # fmt: skip
