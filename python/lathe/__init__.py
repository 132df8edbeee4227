"""Lathe from Python: operators and networks as objects that are called on NumPy arrays, tuned and saved.

    >>> product = lathe.operator("C[i:256, j:256] = sum(k:256) A[i,k] * B[k,j]", constants=["B"])
    >>> c = product(a, b)        # compiled as a search would begin
    >>> product.tune(time=30)    # measured on this machine, and from here on the fastest program
    >>> product.save("product")  # an artifact: model.so, model.h, weights.bin, manifest.json
    >>> lathe.load("product")(a, b)

What goes wrong is a lathe.Error, and a ValueError too where the input is at fault.
"""

from . import _lathe
from ._program import Artifact, Program, TensorInfo, load, network, operator
from .errors import Error, InputError

__version__ = _lathe.version()
__all__ = ["Artifact", "Error", "InputError", "Program", "TensorInfo", "load", "network", "operator"]
