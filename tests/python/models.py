"""Small networks and the command line, for the tests of the package."""
import os
import subprocess
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LATHE = os.environ["LATHE"]


def lathe(*words, folder) -> str:
    """What the command prints on stdout; an AssertionError where it fails."""
    done = subprocess.run([LATHE, *map(str, words)], capture_output=True, text=True, cwd=folder)
    if done.returncode != 0:
        raise AssertionError(f"lathe {' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def sentence(*words, folder) -> str:
    """The one sentence of a command that fails by its user's fault, without "lathe: "."""
    done = subprocess.run([LATHE, *map(str, words)], capture_output=True, text=True, cwd=folder)
    if done.returncode != 1:
        raise AssertionError(f"lathe {' '.join(map(str, words))} ended with {done.returncode}: {done.stderr}")
    return done.stderr.strip().removeprefix("lathe: ")


def write_network(path: Path, open_dimension: bool = False) -> None:
    """A convolution of a small image, Relu, and a product with its transposed weights: two outputs."""
    rng = np.random.default_rng(3)
    kernel = numpy_helper.from_array(rng.standard_normal((4, 3, 3, 3)).astype(np.float32), "kernel")
    weights = numpy_helper.from_array(rng.standard_normal((36, 5)).astype(np.float32), "weights")
    batch = "n" if open_dimension else 2
    graph = helper.make_graph(
        [helper.make_node("Conv", ["image", "kernel"], ["features"], pads=[0, 0, 0, 0]),
         helper.make_node("Relu", ["features"], ["positive"]),
         helper.make_node("Flatten", ["positive"], ["rows"]),
         helper.make_node("MatMul", ["rows", "weights"], ["scores"])],
        "small", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [batch, 3, 5, 5])],
        [helper.make_tensor_value_info("positive", TensorProto.FLOAT, None),
         helper.make_tensor_value_info("scores", TensorProto.FLOAT, None)], [kernel, weights])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), str(path))
