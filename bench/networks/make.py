#!/usr/bin/env python3
"""Writes the networks that docs/notes/networks.md has figures of, with random weights from a fixed seed: the ten of
models/, twelve as PyTorch exports them, and the quantized forms of three that ONNX Runtime's quantizer makes (QDQ, signed
bytes, one scale a channel). One that is there already is left as it is.

Needs the packages of tools/exports/requirements.txt.

usage: make.py FOLDER [NETWORK ...]
"""
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from onnxruntime import quantization
from torch import nn
from torchvision import models

ROOT = Path(__file__).resolve().parents[2]
OPERATOR_SET = 17
GRAPHS = ("bert_base", "dcgan", "dqn", "lstm_lm", "mobilenet_v2", "overfeat", "r3d_18", "resnet18", "resnet50",
          "yolo_v1")
QUANTIZED = ("resnet18", "mobilenet_v2", "bert_base")
CALIBRATION_SAMPLES = 4


class Attention(nn.Module):
    """Heads over tokens [N, T, width]; with `key_heads` fewer keys than queries; `rotates` as a Llama does."""

    def __init__(self, width: int, heads: int, key_heads: int, causal: bool, rotates: bool, bias: bool):
        super().__init__()
        self.heads, self.key_heads, self.size = heads, key_heads, width // heads
        self.causal, self.rotates = causal, rotates
        self.query = nn.Linear(width, width, bias)
        self.key, self.value = (nn.Linear(width, key_heads * self.size, bias) for _ in range(2))
        self.out = nn.Linear(width, width, bias)

    def turned(self, x: torch.Tensor) -> torch.Tensor:
        frequencies = 10000 ** (-torch.arange(0, self.size, 2).float() / self.size)
        angles = torch.arange(x.shape[-2]).float()[:, None] * torch.cat([frequencies, frequencies])[None]
        first, second = x.chunk(2, -1)
        return x * angles.cos() + torch.cat([-second, first], -1) * angles.sin()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, tokens, width = x.shape

        def heads(y: torch.Tensor, count: int) -> torch.Tensor:
            return y.view(batch, tokens, count, self.size).transpose(1, 2)

        query, key, value = (heads(self.query(x), self.heads), heads(self.key(x), self.key_heads),
                             heads(self.value(x), self.key_heads))
        if self.rotates:
            query, key = self.turned(query), self.turned(key)
        key, value = (y.repeat_interleave(self.heads // self.key_heads, 1) for y in (key, value))
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        return self.out(mixed.transpose(1, 2).reshape(batch, tokens, width))


class RmsNorm(nn.Module):
    """As Llama's code spells it."""

    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class Block(nn.Module):
    """Of a transformer that normalises first: GPT-2's, or with `gated` Llama's."""

    def __init__(self, width: int, heads: int, key_heads: int, inner: int, causal: bool, gated: bool):
        super().__init__()
        self.gated = gated
        self.attention = Attention(width, heads, key_heads, causal, rotates=gated, bias=not gated)
        self.norms = nn.ModuleList((RmsNorm if gated else nn.LayerNorm)(width) for _ in range(2))
        self.up, self.down = nn.Linear(width, inner, not gated), nn.Linear(inner, width, not gated)
        self.gate = nn.Linear(width, inner, False) if gated else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norms[0](x))
        y = self.norms[1](x)
        inner = nn.functional.silu(self.gate(y)) * self.up(y) if self.gated else nn.functional.gelu(self.up(y))
        return x + self.down(inner)


class WhisperEncoder(nn.Module):
    """Of the sizes of whisper-tiny: 80 mel bands of 3000 frames."""

    def __init__(self, width: int = 384, heads: int = 6, layers: int = 4, tokens: int = 1500):
        super().__init__()
        self.first = nn.Conv1d(80, width, 3, padding=1)
        self.second = nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.places = nn.Parameter(torch.randn(tokens, width))
        self.blocks = nn.Sequential(*(Block(width, heads, heads, 4 * width, False, False) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = nn.functional.gelu(self.second(nn.functional.gelu(self.first(x))))
        return self.norm(self.blocks(x.permute(0, 2, 1) + self.places))


class Unet(nn.Module):
    """Four levels, two convolutions each, from 32 channels on."""

    def __init__(self, channels: int = 32, levels: int = 4):
        super().__init__()

        def twice(inputs: int, outputs: int) -> nn.Module:
            layers = []
            for source in (inputs, outputs):
                layers += [nn.Conv2d(source, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU()]
            return nn.Sequential(*layers)

        widths = [channels << level for level in range(levels + 1)]
        self.down = nn.ModuleList(twice(a, b) for a, b in zip([3] + widths[:-1], widths))
        self.larger = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(widths[:-1], widths[1:]))
        self.up = nn.ModuleList(twice(b, a) for a, b in zip(widths[:-1], widths[1:]))
        self.out = nn.Conv2d(channels, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        levels = [self.down[0](x)]
        for block in self.down[1:]:
            levels.append(block(nn.functional.max_pool2d(levels[-1], 2)))
        x = levels.pop()
        for larger, block in zip(reversed(self.larger), reversed(self.up)):
            x = block(torch.cat([larger(x), levels.pop()], 1))
        return self.out(x)


class FirstResult(nn.Module):
    """Of a segmentation model, which gives a dictionary."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(x)["out"]


IMAGE = (1, 3, 224, 224)
CLASSIFIERS = ("convnext_tiny", "vit_b_16", "swin_t", "efficientnet_b0", "densenet121", "regnet_y_400mf",
               "mobilenet_v3_large")
EXPORTED = {
    **{name: (lambda name=name: getattr(models, name)(weights=None), IMAGE) for name in CLASSIFIERS},
    "deeplabv3": (lambda: FirstResult(models.segmentation.deeplabv3_resnet50(weights=None, weights_backbone=None)),
                  IMAGE),
    "unet": (Unet, (1, 3, 256, 256)),
    "gpt_block": (lambda: Block(768, 12, 12, 3072, causal=True, gated=False), (1, 256, 768)),
    "llama_block": (lambda: Block(768, 12, 4, 2048, causal=True, gated=True), (1, 256, 768)),
    "whisper_encoder": (WhisperEncoder, (1, 80, 3000)),
}


def give_zero_weights_numbers(model: nn.Module) -> None:
    """Some heads begin with zeros, of which any compiler is right."""
    for weights in model.parameters():
        if weights.dim() > 1 and not weights.any():
            nn.init.normal_(weights, std=0.02)


def export(name: str, path: Path) -> None:
    make, shape = EXPORTED[name]
    torch.manual_seed(2026)
    model = make().eval()
    give_zero_weights_numbers(model)
    torch.onnx.export(model, (torch.randn(*shape),), str(path), dynamo=False, opset_version=OPERATOR_SET,
                      input_names=["x"], output_names=["y"])


class Samples(quantization.CalibrationDataReader):
    """Random inputs of a model, by which its scales are chosen."""

    def __init__(self, path: Path):
        generator = np.random.default_rng(2026)
        graph = onnx.load(path).graph
        filled = {tensor.name for tensor in graph.initializer}
        self.left = []
        for _ in range(CALIBRATION_SAMPLES):
            sample = {}
            for value in graph.input:
                if value.name in filled:
                    continue
                kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
                shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
                integral = np.issubdtype(kind, np.integer)
                drawn = generator.integers(0, 2, shape) if integral else generator.standard_normal(shape)
                sample[value.name] = drawn.astype(kind)
            self.left.append(sample)

    def get_next(self):
        return self.left.pop() if self.left else None


def quantize(source: Path, path: Path) -> None:
    quantization.quantize_static(source, path, Samples(source), quant_format=quantization.QuantFormat.QDQ,
                                 per_channel=True, activation_type=quantization.QuantType.QInt8,
                                 weight_type=quantization.QuantType.QInt8)


def make(name: str, folder: Path) -> None:
    path = folder / f"{name}.onnx"
    if path.exists():
        return
    if name in GRAPHS:
        subprocess.run([sys.executable, ROOT / "models/materialize.py", folder, name], check=True)
    elif name in EXPORTED:
        export(name, path)
    else:
        source = name.removesuffix("_qdq")
        make(source, folder)
        quantize(folder / f"{source}.onnx", path)


def main() -> int:
    every = list(GRAPHS) + list(EXPORTED) + [f"{name}_qdq" for name in QUANTIZED]
    if len(sys.argv) < 2 or any(name not in every for name in sys.argv[2:]):
        print(f"usage: make.py FOLDER [NETWORK ...], of {', '.join(every)}", file=sys.stderr)
        return 1
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or every:
        make(name, folder)
        print(folder / f"{name}.onnx", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
