"""What a case of the NumPy test is: an entry of a workload file, inputs, and the outputs that NumPy computes."""
import zlib
from dataclasses import dataclass
from typing import Callable

import numpy as np

# Draws one input.
Draw = Callable[[np.random.Generator], np.ndarray]


def floats(*shape: int, low: float = -1, high: float = 1, dtype=np.float32) -> Draw:
    return lambda generator: np.asarray(generator.uniform(low, high, shape), dtype)


def signed(*shape: int, low: float, high: float) -> Draw:
    """Floats on both sides of zero, none of them near it."""
    def draw(generator):
        return np.asarray(generator.uniform(low, high, shape) * generator.choice([-1, 1], shape), np.float32)
    return draw


def integers(*shape: int, low: int, high: int, dtype=np.int32) -> Draw:
    """From `low` to `high`, both among them."""
    return lambda generator: generator.integers(low, high, shape, dtype=dtype, endpoint=True)


def truths(*shape: int) -> Draw:
    return lambda generator: generator.integers(0, 1, shape, endpoint=True) == 1


@dataclass
class Case:
    entry: dict                 # of a workload file
    inputs: list[np.ndarray]    # in the order of the artifact's inputs
    expected: list[np.ndarray]  # one an output, of the type that it must have

    @property
    def name(self) -> str:
        return self.entry["name"]


def make_case(entry: dict, draws: list[Draw], reference: Callable, wide: bool = False) -> Case:
    """`reference` takes the inputs, f32 as f64, and gives an output or a tuple of them; f64 stands for f32
    unless `wide`."""
    # A seed of its own: another case beside it changes no input of this one.
    generator = np.random.default_rng(zlib.crc32(entry["name"].encode()))
    inputs = [draw(generator) for draw in draws]
    outputs = reference(*(x.astype(np.float64) if x.dtype == np.float32 else x for x in inputs))
    expected = [np.asarray(x) for x in (outputs if isinstance(outputs, tuple) else (outputs,))]
    if not wide:
        expected = [x.astype(np.float32) if x.dtype == np.float64 else x for x in expected]
    return Case(entry, inputs, expected)


def expression(name: str, text: str, draws: list[Draw], reference: Callable, constants=(), wide: bool = False) -> Case:
    entry = {"name": name, "op": "expression", "text": text}
    if constants:
        entry["constants"] = list(constants)
    return make_case(entry, draws, reference, wide)
