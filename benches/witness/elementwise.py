"""Operations on each element, and matrix products.

Arguments are widened views: float8 has become float32 and uint32 int64; results are converted back to the case's dtype.
"""

import torch
import torch.nn.functional as F

from values import rounded, single


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


def half_away(x):
    """torch.round takes halves to the even neighbour; this takes them away from zero, exactly."""
    whole = torch.trunc(x)
    return torch.where((x - whole).abs() >= 0.5, whole + torch.sign(x), torch.copysign(whole, x))


# By name: what computes it from the operands, and how that differs from plain PyTorch where it does.

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

ONCE = "16-bit floats through float32, rounded once"

BINARY = {
    "add": (torch.add, ""),
    "sub": (torch.sub, ""),
    "mul": (torch.mul, ""),
    "div": (div, "integers: rounding_mode='trunc'; x/0 and x/-1, which PyTorch leaves to the processor, are masked"),
    "rem": (rem, "torch.fmod; integers modulo 0 and -1, which PyTorch leaves to the processor, are masked"),
    "minimum": (torch.minimum, ""),
    "maximum": (torch.maximum, ""),
    "pow": (torch.pow, ""),
    "silu_mul": (lambda x, y: F.silu(single(x)) * single(y), ONCE),
    "gelu_mul": (lambda x, y: F.gelu(single(x), approximate="tanh") * single(y), ONCE),
    "eq": (torch.eq, ""),
    "ne": (torch.ne, ""),
    "lt": (torch.lt, ""),
    "le": (torch.le, ""),
    "gt": (torch.gt, ""),
    "ge": (torch.ge, ""),
    "matmul": (torch.matmul, "without TF32 and without sums in 16 bits"),
}

# The function gets the operand, the parameters and the dtype that the operand has in the case.
WITH_PARAMETERS = {
    "powf": (lambda x, p, d: torch.pow(x, rounded(p["scalar"], d)), ""),
    "elu": (lambda x, p, d: F.elu(x, alpha=rounded(p["scalar"], d)), ""),
    "leaky_relu": (lambda x, p, d: F.leaky_relu(x, rounded(p["scalar"], d)), ""),
    "affine": (affine, "floats up to float32: a fused multiply-add made of float64 steps; float64: torch.addcmul"),
    "clamp": (lambda x, p, d: torch.clamp(x, rounded(p["low"], d), rounded(p["high"], d)), ""),
}
