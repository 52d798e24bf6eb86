"""Writes the archives of tests/suite/npz.rs by NumPy's own functions: python3 npz.py FOLDER"""

import pathlib
import sys

import numpy

folder = pathlib.Path(sys.argv[1])
arrays = {
    "weight": numpy.arange(6, dtype=numpy.float32).reshape(2, 3) / 4,
    "layer.0/ids": numpy.asfortranarray(numpy.array([[1, -2], [3, 1 << 40]])),
    "scale": numpy.array(0.5, dtype=numpy.float16),
    # Long enough that it is smaller when it is deflated.
    "zeros": numpy.zeros(3000, dtype=numpy.uint8),
}
numpy.savez_compressed(folder / "deflated.npz", **arrays)
del arrays["zeros"]
numpy.savez(folder / "stored.npz", flags=numpy.array([True, False]), **arrays)
