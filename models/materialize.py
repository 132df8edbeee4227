#!/usr/bin/env python3
"""Writes complete ONNX models from the graphs beside this script, whose large weights were left out.

An initializer without data says in its doc string which normal distribution to draw it from:
"normal MEAN STDDEV". The seed is the CRC-32 of the initializer's name, so every machine gets the same
weights. A running variance is made positive: its magnitude plus one half.

usage: materialize.py FOLDER [NAME ...]     (no name: every graph; needs numpy and onnx)
"""
import sys
import zlib
from pathlib import Path

import numpy as np
import onnx

SUFFIX = ".graph.onnx"
HERE = Path(__file__).resolve().parent


def draw(name: str, shape: list[int], mean: float, stddev: float) -> np.ndarray:
    """The weights of one initializer, as little-endian float32."""
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    weights = generator.standard_normal(tuple(shape), dtype=np.float32)
    weights = weights * np.float32(stddev) + np.float32(mean)
    if "running_var" in name:
        weights = np.abs(weights) + np.float32(0.5)
    return weights.astype("<f4")


def materialize(graph: Path, target: Path) -> None:
    """Reads a graph, draws what it lacks and writes the complete model."""
    model = onnx.load(graph)
    for tensor in model.graph.initializer:
        words = tensor.doc_string.split()
        if len(words) == 3 and words[0] == "normal":
            tensor.raw_data = draw(tensor.name, list(tensor.dims), float(words[1]), float(words[2])).tobytes()
            tensor.doc_string = ""
    onnx.save(model, target)


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 1
    graphs = {path.name.removesuffix(SUFFIX): path for path in sorted(HERE.glob("*" + SUFFIX))}
    wanted = sys.argv[2:] or list(graphs)
    unknown = [name for name in wanted if name not in graphs]
    if unknown:
        print(f"no graph named {', '.join(unknown)}; there are: {', '.join(graphs)}", file=sys.stderr)
        return 1
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        target = folder / f"{name}.onnx"
        materialize(graphs[name], target)
        print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
