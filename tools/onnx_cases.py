"""ONNX's own backend tests as models with the inputs that a user would give them.

Many cases read a shape, axes or bounds as an input of the model, where Lathe wants a constant: those that are
integers or flags of at most one dimension and lead to such a place are made initializers of the model. Inputs that are
sequences or optionals are made in the model, of inputs for the tensors that they hold, and outputs that are
sequences are compared tensor by tensor.
"""
import copy
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.loader import load_model_tests

# What the package keeps as files beside the node tests that it generates. `real` and `light` are downloads.
FOLDERS = ("simple", "pytorch-operator", "pytorch-converted")

# The inputs by whose values the shape of a result is known, or which element is read where.
SHAPE_LIKE = {
    "AffineGrid": [1], "CenterCropPad": [1], "Col2Im": [1, 2], "ConstantOfShape": [0], "CumProd": [1], "CumSum": [1],
    "DFT": [1, 2], "Dropout": [2], "Expand": [1], "MaxUnpool": [2], "MelWeightMatrix": [0, 1, 2], "NonMaxSuppression": [2], "OneHot": [1], "Pad": [1, 3],
    "Range": [0, 1, 2],
    "ReduceL1": [1], "ReduceL2": [1], "ReduceLogSum": [1], "ReduceLogSumExp": [1], "ReduceMax": [1],
    "ReduceMean": [1], "ReduceMin": [1], "ReduceProd": [1], "ReduceSum": [1], "ReduceSumSquare": [1],
    "Reshape": [1], "Resize": [3], "STFT": [1, 3], "SequenceAt": [1], "SequenceErase": [1], "SequenceInsert": [2], "Slice": [1, 2, 3, 4], "Split": [1], "SplitToSequence": [1],
    "Squeeze": [1], "Tile": [1], "TopK": [1], "Trilu": [1], "Unsqueeze": [1],
    "BlackmanWindow": [0], "HammingWindow": [0], "HannWindow": [0],
}  # fmt: skip
# Numbers of any type that stand where a shape may stand, or a constant.
SCALES = {"Dropout": [1], "Loop": [0, 1], "MelWeightMatrix": [3, 4], "OneHot": [1], "Pad": [2], "Range": [0, 1, 2], "Resize": [1, 2], "Upsample": [1]}
# Whose result does not hold the values of the operand.
VALUE_FREE = {"Shape", "Size"}


@dataclass
class Case:
    name: str
    model: onnx.ModelProto
    inputs: list  # NumPy arrays; what is none (a sequence, an absent optional) as the package has it
    outputs: list
    rtol: float
    atol: float
    turned: int = 0  # inputs that became initializers


def read_tensor(path: Path, value_info):
    """The array in a .pb file; a sequence or an optional is left as its bytes."""
    data = path.read_bytes()
    if value_info.type.WhichOneof("value") != "tensor_type":
        return data
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


def stored_case(test) -> Case:
    folder = Path(test.model_dir)
    model = onnx.load(folder / "model.onnx")
    data = folder / "test_data_set_0"
    initial = {tensor.name for tensor in model.graph.initializer}
    wanted = [value for value in model.graph.input if value.name not in initial]
    inputs = [read_tensor(data / f"input_{i}.pb", value) for i, value in enumerate(wanted)]
    outputs = [read_tensor(data / f"output_{i}.pb", value) for i, value in enumerate(model.graph.output)]
    return Case(test.name, model, inputs, outputs, test.rtol, test.atol)


def as_array(value):
    """The package has scalars of NumPy, and messages where NumPy has no such element type."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return np.asarray(value) if isinstance(value, np.generic) else value


def generated_case(test) -> Case:
    inputs, outputs = ([as_array(value) for value in values] for values in test.data_sets[0])
    return Case(test.name, test.model, inputs, outputs, test.rtol, test.atol)


def places_of(node, table: dict) -> list[str]:
    return [node.input[i] for i in table.get(node.op_type, []) if i < len(node.input) and node.input[i]]


def nodes_of(graph) -> list:
    """With those of the bodies of branches and loops, which read tensors of the graph around them by name."""
    nodes = []
    for node in graph.node:
        nodes.append(node)
        for attribute in node.attribute:
            nodes += nodes_of(attribute.g)
    return nodes


def inputs_behind(graph, table: dict) -> set[str]:
    """Names of the tensors whose values lead to a place of the table."""
    nodes = nodes_of(graph)
    producer = {name: node for node in nodes for name in node.output}
    found, pending = set(), []
    for node in nodes:
        pending += places_of(node, table)
    while pending:
        name = pending.pop()
        if name in found:
            continue
        found.add(name)
        node = producer.get(name)
        if node is not None and node.op_type not in VALUE_FREE:
            pending += [each for each in node.input if each]
            pending += [output.name for attribute in node.attribute for output in attribute.g.output]
    return found


def may_be_constant(name: str, array, scales: set[str]) -> bool:
    if not isinstance(array, np.ndarray) or array.ndim > 1:
        return False
    return array.dtype in (np.int64, np.int32, np.bool_) or name in scales


def with_constants(case: Case) -> Case:
    graph = case.model.graph
    initial = {tensor.name for tensor in graph.initializer}
    names = [value.name for value in graph.input if value.name not in initial]
    scales = inputs_behind(graph, SCALES)
    wanted = inputs_behind(graph, SHAPE_LIKE) | scales
    chosen = {
        name: array
        for name, array in zip(names, case.inputs)
        if name in wanted and may_be_constant(name, array, scales)
    }
    if not chosen:
        return case
    model = copy.deepcopy(case.model)
    kept = [value for value in model.graph.input if value.name not in chosen]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    for name, array in chosen.items():
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    inputs = [array for name, array in zip(names, case.inputs) if name not in chosen]
    return Case(case.name, model, inputs, case.outputs, case.rtol, case.atol, len(chosen))


def held_tensors(value) -> list:
    """Those of a sequence, or the one of an optional or none."""
    return [] if value is None else value if isinstance(value, list) else [value]


def maker_of(name: str, value_type, value, parts: list[str]):
    """Nodes that give the sequence or optional of that name, of its tensors."""
    if value_type.WhichOneof("value") == "sequence_type":
        element = value_type.sequence_type.elem_type.tensor_type.elem_type
        if not parts:
            return [helper.make_node("SequenceEmpty", [], [name], dtype=element)]
        return [helper.make_node("SequenceConstruct", parts, [name])]
    inner = value_type.optional_type.elem_type
    if value is None:
        return [helper.make_node("Optional", [], [name], type=inner)]
    if inner.WhichOneof("value") == "tensor_type":
        return [helper.make_node("Optional", parts, [name])]
    return [*maker_of(f"{name}#held", inner, value, parts), helper.make_node("Optional", [f"{name}#held"], [name])]


def without_sequences(case: Case) -> Case:
    """The same with inputs for the tensors of sequences and optionals, which nodes make."""
    graph = case.model.graph
    if all(value.type.WhichOneof("value") == "tensor_type" for value in graph.input):
        return case
    model = copy.deepcopy(case.model)
    del model.graph.input[:], model.graph.node[:]
    inputs = []
    for value, array in zip(graph.input, case.inputs):
        if value.type.WhichOneof("value") == "tensor_type":
            model.graph.input.append(value)
            inputs.append(array)
            continue
        tensors = [np.asarray(each) for each in held_tensors(array)]
        parts = [f"{value.name}#{i}" for i in range(len(tensors))]
        for part, tensor in zip(parts, tensors):
            dtype = helper.np_dtype_to_tensor_dtype(tensor.dtype)
            model.graph.input.append(helper.make_tensor_value_info(part, dtype, tensor.shape))
        inputs += tensors
        model.graph.node.extend(maker_of(value.name, value.type, array, parts))
    model.graph.node.extend(graph.node)
    return Case(case.name, model, inputs, case.outputs, case.rtol, case.atol)


def with_flat_outputs(case: Case) -> Case:
    outputs = [tensor for output in case.outputs for tensor in held_tensors(output)]
    return Case(case.name, case.model, case.inputs, outputs, case.rtol, case.atol, case.turned)


def has_elements(value) -> bool:
    return not isinstance(value, np.ndarray) or value.size > 0


def all_cases(wanted=None) -> list[Case]:
    """Every case of the package in its order, or those of these names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = collect_testcases(None)
    cases = []
    for test in tests:
        if wanted is None or test.name in wanted:
            cases.append(generated_case(test))
    for kind in FOLDERS:
        for test in load_model_tests(kind=kind):
            if wanted is None or test.name in wanted:
                cases.append(stored_case(test))
    return [with_flat_outputs(with_constants(without_sequences(case))) for case in cases]
