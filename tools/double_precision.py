"""Evaluates an ONNX model in double precision, to tell whose rounding a difference between two programs is.

By onnx's reference implementation, every float of the model made a double. That is slow: minutes for a network that
finds text on a large picture.
"""
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun


class BatchNormalization(OpRun):
    """By the given mean and variance: onnx's takes a model of opset 9 that states a momentum for one in training."""

    op_domain = ""

    def _run(self, x, scale, bias, mean, variance, epsilon=1e-5, **_):
        shape = (-1,) + (1,) * (x.ndim - 2)
        scale, bias, mean, variance = (t.reshape(shape) for t in (scale, bias, mean, variance))
        return ((x - mean) / np.sqrt(variance + epsilon) * scale + bias,)


def widen(tensor: TensorProto) -> None:
    if tensor.data_type == TensorProto.FLOAT:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name))


def evaluate(path: Path, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The model's outputs for the inputs, f32 or already f64, in double precision."""
    model = onnx.load(path)
    for tensor in model.graph.initializer:
        widen(tensor)
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                widen(attribute.t)
            if node.op_type == "Constant" and attribute.name in ("value_float", "value_floats"):
                numbers = np.asarray(helper.get_attribute_value(attribute), np.float64)
                attribute.CopyFrom(helper.make_attribute("value", numpy_helper.from_array(numbers)))
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.DOUBLE
    for value in [*model.graph.input, *model.graph.output, *model.graph.value_info]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    evaluator = ReferenceEvaluator(model, new_ops=[BatchNormalization])
    wide = {name: a.astype(np.float64) if a.dtype == np.float32 else a for name, a in inputs.items()}
    return evaluator.run(None, wide)
