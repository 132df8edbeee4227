#!/usr/bin/env python3
"""Random recurrent layers, scans, loops and branches, compiled and run by Lathe beside ONNX Runtime.

Needs the packages `onnx` and `onnxruntime`, its own or those of .venv. LATHE names the program;
build/release/bin/lathe where it is not set.

usage: loop_models.py [--count N] [--seed S] [--cores N]
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77  # what ctest is told to take for a skipped test

try:
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    own = ROOT / ".venv" / "bin" / "python"
    if own.exists() and Path(sys.prefix) != own.parents[1]:
        os.execv(own, [own, *sys.argv])
    print(f"skipped: {missing}; tools/make_environment.sh installs it")
    sys.exit(SKIPPED)

LATHE = os.environ.get("LATHE", ROOT / "build" / "release" / "bin" / "lathe")
TIMEOUT_SECONDS = 120
FLOAT, INT64, INT32, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL


class Draw:
    """Random choices, and the inputs and initializers that a model is given by them."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.inputs, self.arrays, self.initializers = [], {}, []

    def pick(self, *values):
        return self.random.choice(values)

    def reals(self, *shape):
        return self.numbers.uniform(-0.5, 0.5, shape).astype(np.float32)

    def input(self, name, array):
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, kind, array.shape))
        self.arrays[name] = array
        return name

    def constant(self, name, array):
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def model(self, nodes, outputs):
        values = [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs]
        graph = helper.make_graph(nodes, "drawn", self.inputs, values, self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def value(name, shape=(), kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def draw_recurrent(draw: Draw):
    kind, gates = draw.pick(("LSTM", 4), ("GRU", 3), ("RNN", 1))
    direction = draw.pick("forward", "reverse", "bidirectional")
    directions = 2 if direction == "bidirectional" else 1
    steps, batch, width, hidden = draw.pick(1, 2, 5, 17), draw.pick(1, 3), draw.pick(3, 8), draw.pick(5, 16, 32)
    attributes = {"hidden_size": hidden, "direction": direction}
    if kind == "GRU":
        attributes["linear_before_reset"] = draw.pick(0, 1)
    names = [draw.input("x", draw.reals(steps, batch, width)),
             draw.constant("w", draw.reals(directions, gates * hidden, width)),
             draw.constant("r", draw.reals(directions, gates * hidden, hidden)),
             draw.constant("b", draw.reals(directions, 2 * gates * hidden)) if draw.pick(0, 1) else ""]
    if draw.pick(0, 1):
        lengths = np.array([draw.random.randint(1, steps) for _ in range(batch)], np.int32)
        names.append(draw.input("lengths", lengths))
    else:
        names.append("")
    states = 2 if kind == "LSTM" else 1
    if draw.pick(0, 1):
        names += [draw.input(f"s{i}", draw.reals(directions, batch, hidden)) for i in range(states)]
    if kind == "LSTM" and len(names) == 7 and draw.pick(0, 1):
        names.append(draw.constant("p", draw.reals(directions, 3 * hidden)))
    outputs = draw.random.sample(["y", "h", "c"][:1 + states], draw.random.randint(1, 1 + states))
    given = [name if name in outputs else "" for name in ["y", "h", "c"][:1 + states]]
    node = helper.make_node(kind, names, given, **attributes)
    return draw.model([node], [(name, FLOAT) for name in given if name])


def cell_body(draw: Draw, width: int):
    """next = tanh(state @ m + x), given = next * state: nodes of a body."""
    draw.constant("m", draw.reals(width, width))
    return [helper.make_node("MatMul", ["state", "m"], ["product"]),
            helper.make_node("Add", ["product", "part"], ["sum"]),
            helper.make_node("Tanh", ["sum"], ["next"]),
            helper.make_node("Mul", ["next", "state"], ["given"])]


def draw_scan(draw: Draw):
    steps, rows, width = draw.pick(2, 6, 20), draw.pick(1, 3), draw.pick(4, 16)
    axis, out_axis = draw.pick(0, 1), draw.pick(0, 1)
    shape = [rows, width]
    shape.insert(axis, steps)
    body = helper.make_graph(cell_body(draw, width), "body",
                             [value("state", (rows, width)), value("part", (rows, width))],
                             [value("next", (rows, width)), value("given", (rows, width))])
    node = helper.make_node("Scan", [draw.input("s", draw.reals(rows, width)), draw.input("x", draw.reals(*shape))],
                            ["last", "all"], body=body, num_scan_inputs=1, scan_input_axes=[axis],
                            scan_output_axes=[out_axis], scan_input_directions=[draw.pick(0, 1)],
                            scan_output_directions=[draw.pick(0, 1)])
    return draw.model([node], [("last", FLOAT), ("all", FLOAT)])


def draw_loop(draw: Draw):
    """A loop that its count ends, a constant or an input, or a condition that the state makes false."""
    rows, width, steps = draw.pick(1, 2), draw.pick(4, 16), draw.pick(0, 1, 3, 7, 30)
    draw.input("s", draw.reals(rows, width))
    draw.input("x", draw.reals(rows, width))
    ends = draw.pick("count", "input", "condition")
    draw.constant("limit", np.float32(draw.pick(0.5, 2, 6)))
    draw.constant("true", np.array(True))
    nodes = [helper.make_node("Cast", ["number"], ["real"], to=FLOAT),
             helper.make_node("Mul", ["x", "real"], ["part"]), *cell_body(draw, width)]
    if ends == "condition":
        nodes += [helper.make_node("Less", ["real", "limit"], ["more"])]
    else:
        nodes += [helper.make_node("Identity", ["before"], ["more"])]
    gathers = ends == "count" and steps > 0
    outputs = [value("more", (), BOOL), value("next", (rows, width))] + [value("given", (rows, width))] * gathers
    body = helper.make_graph(nodes, "body",
                             [value("number", (), INT64), value("before", (), BOOL), value("state", (rows, width))],
                             outputs)
    count = {"count": lambda: draw.constant("n", np.array(steps)), "input": lambda: draw.input("n", np.array(steps)),
             "condition": lambda: draw.pick("", draw.constant("n", np.array(30)))}[ends]()
    node = helper.make_node("Loop", [count, "true", "s"], ["last", "all"][:1 + gathers], body=body)
    return draw.model([node], [("last", FLOAT), ("all", FLOAT)][:1 + gathers])


def draw_branch(draw: Draw):
    rows, width = draw.pick(1, 5), draw.pick(4, 16)
    draw.input("x", draw.reals(rows, width))
    draw.input("c", np.array(draw.pick(True, False)))
    draw.constant("m", draw.reals(width, width))
    then = helper.make_graph([helper.make_node("MatMul", ["x", "m"], ["product"]),
                              helper.make_node("Tanh", ["product"], ["a"])], "then", [], [value("a", (rows, width))])
    other = helper.make_graph([draw.pick(helper.make_node("Neg", ["x"], ["b"]),
                                         helper.make_node("Identity", ["x"], ["b"]))], "else", [],
                              [value("b", (rows, width))])
    branches = [then, other] if draw.pick(0, 1) else [other, then]
    node = helper.make_node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])
    return draw.model([node, helper.make_node("Add", ["y", "x"], ["z"])], [("y", FLOAT), ("z", FLOAT)])


KINDS = [draw_recurrent, draw_scan, draw_loop, draw_branch]


def run(*arguments) -> str:
    done = subprocess.run([LATHE, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    return "" if done.returncode == 0 else done.stderr.strip() or f"status {done.returncode}"


def fault_of(seed: int, cores: int, folder: Path) -> str:
    """What is wrong with Lathe's results for that model; empty if nothing."""
    draw = Draw(seed)
    model = KINDS[seed % len(KINDS)](draw)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    expected = onnxruntime.InferenceSession(path).run(None, draw.arrays)
    if failure := run("compile", path, "--cores", cores, "--out", folder / "artifact"):
        return failure
    options = []
    for name, array in draw.arrays.items():
        np.save(folder / f"in_{name}.npy", array)
        options += ["--input", folder / f"in_{name}.npy"]
    for i in range(len(expected)):
        options += ["--output", folder / f"out{i}.npy"]
    if failure := run("run", folder / "artifact", "--repeat", 1, *options):
        return failure
    for i, wanted in enumerate(expected):
        try:
            np.testing.assert_allclose(np.load(folder / f"out{i}.npy"), wanted, rtol=1e-3, atol=1e-4)
        except AssertionError as error:
            return f"output {i}: {error}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cores", type=int, default=1)
    options = parser.parse_args()
    faults = 0
    for seed in range(options.seed, options.seed + options.count):
        with tempfile.TemporaryDirectory() as folder:
            if fault := fault_of(seed, options.cores, Path(folder)):
                faults += 1
                print(f"seed {seed} ({KINDS[seed % len(KINDS)].__name__}): {fault}")
    print(f"{options.count - faults} of {options.count} models are as ONNX Runtime has them")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
