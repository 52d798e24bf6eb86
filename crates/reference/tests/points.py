"""Writes points.tsv: values of the transcendental functions to 400 digits, rounded to double-double.

Run in this folder: pip install mpmath; python3 points.py > points.tsv
Columns: function, dtype of the argument, x, y (second argument or -), high part, low part.
"""
import random
import struct

from mpmath import cos, erf, erfc, exp, expm1, inf, log, log1p, mp, mpf, pi, power, sin, sqrt, tan, tanh

mp.dps = 1200  # enough for 2^1023 modulo pi
random.seed(20250101)


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def gelu(x):
    u = sqrt(2 / pi) * (x + mpf(44715) / 1000000 * x**3)
    return x / (1 + exp(-2 * u))


functions = {
    "rsqrt": lambda x: 1 / sqrt(x),
    "exp": exp,
    "expm1": expm1,
    "log": log,
    "log1p": log1p,
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "tanh": tanh,
    "erf": erf,
    "erfcx": lambda x: exp(x * x) * erfc(x),
    "sigmoid": lambda x: 1 / (1 + exp(-x)),
    "silu": lambda x: x / (1 + exp(-x)),
    "gelu": gelu,
    "gelu_erf": lambda x: x / 2 * erfc(-x / sqrt(mpf(2))),
    "softplus": lambda x: log1p(exp(x)),
}
positive = [5e-324, 3e-310, 1e-300, 1e-20, 0.001, 0.3, 0.7, 0.9999999, 1.0000001, 1.25, 1.4142135623730951, 2.0, 3.0, 10.0, 12345.678, 1e30, 1e300]
ordinary = [1e-300, 1e-17, 1e-5, 0.01, 0.1, 0.3, 0.49, 0.5, 0.51, 0.7, 1.0, 1.5, 1.57, 2.0, 2.5, 3.1, 4.7, 5.5]
both = ordinary + [-x for x in ordinary]
domains = {
    "rsqrt": positive,
    "log": positive,
    "exp": both + [20.0, -20.0, 88.0, -87.0, 300.5, 709.0, -650.0, -708.0],
    "expm1": both + [20.0, 700.0, -36.0, -79.0],
    "log1p": ordinary + [-0.1, -0.29, -0.31, -0.9, 0.41, 0.43, 1e10, 1e300],
    "sin": both + [22.0, 355.0, 1e5, 1e22, 1.7e308, 6381956970095103.0 * 2.0**797, 2.0**1000, 3.141592653589793, 1.5707963267948966],
    "tanh": both + [10.0, 19.0, -30.0, 300.0],
    "erf": both + [5.9, -6.1, 8.9],
    "erfcx": ordinary + [0.0625, 6.0, 7.7, 9.9, 9.99, 10.1, 13.0, 26.0, 1000.0, 1e10],
    "sigmoid": both + [30.0, -30.0, -700.0, 300.0],
    "silu": both + [30.0, -30.0, -700.0, 300.0, -88.0],
    "gelu": both + [10.0, -10.0, -14.0, 30.0, -20.0],
    "gelu_erf": both + [10.0, -10.0, -13.5, 30.0, -20.0, -37.0],
    "softplus": both + [30.0, -30.0, -700.0, 300.0, 36.7, -36.7],
}
domains["cos"] = domains["tan"] = domains["sin"]


def row(name, dtype, x, y, value):
    high = float(value)
    low = float(value - mpf(high)) if abs(high) != inf else 0.0
    print(name, dtype, repr(x), "-" if y is None else repr(y), repr(high), repr(low), sep="\t")


for name, function in functions.items():
    points = domains[name] + [random.uniform(0.01, 6.0) for _ in range(8)]
    for x in points:
        row(name, "f64", x, None, function(mpf(x)))
    if name in ("expm1", "log1p", "erfcx"):
        continue
    for x in points:
        if 1e-37 < abs(x) < 1e38:
            row(name, "f32", single(x), None, function(mpf(single(x))))

pairs = [(2.0, 0.5), (0.5, 1000.5), (1.0000001, 1e9), (0.999, -12345.0), (3.0, 600.0), (7.5, -300.0), (1e-300, 0.25), (5e-324, -0.7), (1e300, -1.0), (1.5, 1.5), (0.1, 3.0), (10.0, 0.1)]
pairs += [(random.uniform(0.01, 20.0), random.uniform(-20.0, 20.0)) for _ in range(8)]
for x, y in pairs:
    row("pow", "f64", x, y, power(mpf(x), mpf(y)))
    x, y = single(x), single(y)
    if x != 0.0 and x < 1e38:
        row("pow", "f32", x, y, power(mpf(x), mpf(y)))
for x in domains["expm1"]:
    row("elu", "f64", x, 1.3, x if x > 0 else mpf(1.3) * expm1(mpf(x)))
    if abs(x) > 1e-37:
        x, alpha = single(x), single(1.3)
        row("elu", "f32", x, alpha, x if x > 0 else mpf(alpha) * expm1(mpf(x)))
