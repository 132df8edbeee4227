"""Writes one network's model in one kind: by an exporter of PyTorch, or in a form that ONNX Runtime's tools make of that."""
import contextlib
import functools
import multiprocessing
import os
import resource
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from exports.architectures import ARCHITECTURES, CONVERTED

EXPORTERS = ("script", "dynamo", "script_free", "dynamo_free")
QUANTISED = ("qdq", "qoperator", "dynamic")
FORMS = (*QUANTISED, "f16", "bf16")
OPERATOR_SET = 17  # of the older exporter
MAKING_SECONDS = 900
MAKING_BYTES = 12 << 30


def names_of(kind: str) -> list[str]:
    """The networks that there are in this kind."""
    if kind in FORMS:
        return list(CONVERTED)
    return [name for name, each in ARCHITECTURES.items() if not kind.endswith("_free") or any(each.free)]


def inputs_of(name: str, kind: str, more: int) -> dict[str, torch.Tensor]:
    """What the network reads, by name; free extents are so much larger than in a model that fixes them."""
    torch.manual_seed(1)
    architecture = ARCHITECTURES[name]
    sizes = {each: size + (more if kind.endswith("_free") else 0) for each, size in architecture.sizes.items()}
    return {f"input{i}": tensor for i, tensor in enumerate(architecture.inputs(**sizes))}


def export(name: str, kind: str, network: torch.nn.Module, path: Path) -> None:
    inputs = inputs_of(name, kind, 1)  # a batch of one is a constant to the newer exporter
    values, names = tuple(inputs.values()), list(inputs)
    if kind == "bf16":
        values = tuple(each.to(next(network.parameters()).dtype) if each.is_floating_point() else each for each in values)
    axes = dict(zip(names, ARCHITECTURES[name].free)) if kind.endswith("_free") else {}
    if kind.startswith("script"):
        torch.onnx.export(network, values, path, dynamo=False, opset_version=OPERATOR_SET, input_names=names,
                          dynamic_axes={each: free for each, free in axes.items() if free})
        return
    free = tuple({axis: torch.export.Dim.DYNAMIC for axis in axes[each]} for each in names) if axes else None
    torch.onnx.export(network, values, path, dynamo=True, verbose=False, external_data=False, input_names=names,
                      dynamic_shapes=free)


class Samples:
    """Inputs for calibration, as onnxruntime.quantization reads them."""

    def __init__(self, name: str, count: int = 4):
        self.left = []
        for seed in range(count):
            torch.manual_seed(100 + seed)
            values = ARCHITECTURES[name].inputs(**ARCHITECTURES[name].sizes)
            self.left.append({f"input{i}": each.numpy() for i, each in enumerate(values)})

    def get_next(self):
        return self.left.pop() if self.left else None


def convert(name: str, kind: str, source: Path, path: Path) -> None:
    """Weights of 7 bits: by 8 ONNX Runtime's sums of pairs of products pass 2^15 on machines without VNNI, and are cut off."""
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    if kind == "f16":
        from onnxruntime.transformers import float16

        onnx.save(float16.convert_float_to_float16(onnx.load(source)), path)
    elif kind == "dynamic":
        quantization.quantize_dynamic(source, path, reduce_range=True)
    else:
        form = quantization.QuantFormat.QDQ if kind == "qdq" else quantization.QuantFormat.QOperator
        prepared = path.with_suffix(".prepared")  # biases that exporters share stand behind an Identity
        quant_pre_process(source, prepared, skip_symbolic_shape=True)
        quantization.quantize_static(prepared, path, Samples(name), quant_format=form,
                                     per_channel=kind == "qdq", reduce_range=True)
        prepared.unlink()


def reference_of(model: Path) -> Path:
    """The model in f32 that one in bf16 is compared with: its weights are rounded to bf16."""
    return model.with_suffix(".f32.onnx")


def write(name: str, kind: str, folder: Path, path: Path) -> None:
    torch.manual_seed(0)
    network = ARCHITECTURES[name].make().eval()
    with torch.no_grad():
        if kind in EXPORTERS:
            export(name, kind, network, path)
        elif kind == "bf16":
            network = network.bfloat16()
            export(name, kind, network, path)
            export(name, kind, network.float(), reference_of(folder / f"{name}.{kind}.onnx"))
        else:
            source = make(name, "script", folder)
            convert(name, kind, source, path)


def write_or_tell(name: str, kind: str, folder: Path, path: Path) -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)  # exporters print graphs
    os.dup2(nothing, 2)
    torch.set_num_threads(1)
    torch.backends.mha.set_fastpath_enabled(False)  # an operator that the older exporter does not know
    resource.setrlimit(resource.RLIMIT_AS, (MAKING_BYTES, MAKING_BYTES))
    try:
        write(name, kind, folder, path)
    except Exception as error:  # whatever an exporter does not support
        lines = (str(error).strip() or repr(error)).splitlines()
        path.with_suffix(".txt").write_text(f"{type(error).__name__}: {lines[0][:200]}\n")
        path.unlink(missing_ok=True)


@functools.cache
def load_newer_exporter() -> None:
    """Once, for all processes that are forked off: it takes longer than to export a small network."""
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
        torch.onnx.export(torch.nn.Linear(2, 2), (torch.zeros(1, 2),), dynamo=True, verbose=False)


class NotMade(Exception):
    pass


def make(name: str, kind: str, folder: Path) -> Path:
    """The model's file, made once, in a process of its own; NotMade says why there is none."""
    path = folder / f"{name}.{kind}.onnx"
    partial, fault = path.with_suffix(".part"), path.with_suffix(".txt")
    if not path.exists() and not fault.exists():
        if kind.startswith("dynamo") or kind == "bf16":
            load_newer_exporter()
        process = multiprocessing.get_context("fork").Process(target=write_or_tell, args=(name, kind, folder, partial))
        process.start()
        process.join(MAKING_SECONDS)
        if process.is_alive():
            process.kill()
            process.join()
            fault.write_text(f"not ready after {MAKING_SECONDS} s\n")
        elif process.exitcode != 0:
            fault.write_text(f"the exporter ended with status {process.exitcode}\n")
        elif partial.exists():
            partial.rename(path)
    if not path.exists():
        raise NotMade(fault.read_text().strip())
    return path


def feeds_of(name: str, kind: str, session: onnxruntime.InferenceSession) -> dict[str, np.ndarray]:
    """The inputs of the model, in its types; of free extents another size than it was exported with."""
    values = inputs_of(name, kind, 2)
    types = {"tensor(float16)": np.float16, "tensor(float)": np.float32}
    feeds = {}
    for given in session.get_inputs():  # an exporter leaves out what nothing reads
        value = values[given.name]
        if kind == "bf16" and value.is_floating_point():
            value = value.bfloat16().float()
        feeds[given.name] = value.numpy().astype(types.get(given.type, value.numpy().dtype))
    return feeds
