"""Networks as engineers write them, with random weights: a maker, and one example of the inputs, by name."""
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torchvision import models


@dataclass(frozen=True)
class Architecture:
    make: Callable[[], nn.Module]
    inputs: Callable[[], tuple[torch.Tensor, ...]]


class Decoder(nn.Module):
    """Blocks of a GPT over tokens [N, places]."""

    def __init__(self, width=128, heads=4, tokens=1000, places=64, layers=2):
        super().__init__()
        self.tokens, self.places = nn.Embedding(tokens, width), nn.Embedding(places, width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, 4 * width, activation="gelu", batch_first=True, norm_first=True)
            for _ in range(layers))
        self.head = nn.Linear(width, tokens)

    def forward(self, tokens):
        places = tokens.shape[1]
        x = self.tokens(tokens) + self.places(torch.arange(places, device=tokens.device))
        mask = torch.triu(torch.full((places, places), float("-inf")), 1)
        for layer in self.layers:
            x = layer(x, src_mask=mask)
        return self.head(x)


class GroupedBlock(nn.Module):
    """A block of a Llama: rotated queries and keys, fewer keys than queries, a gated MLP."""

    def __init__(self, width=128, heads=4, key_heads=2, inner=256):
        super().__init__()
        self.heads, self.key_heads, self.size = heads, key_heads, width // heads
        self.query, self.out = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, key_heads * self.size, bias=False)
        self.value = nn.Linear(width, key_heads * self.size, bias=False)
        self.gate, self.up = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)
        self.norms = nn.ModuleList([nn.RMSNorm(width), nn.RMSNorm(width)])

    def rotated(self, x):
        frequencies = 1 / (10000 ** (torch.arange(0, self.size, 2).float() / self.size))
        angles = torch.arange(x.shape[-2]).float()[:, None] * frequencies[None]
        angles = torch.cat([angles, angles], -1)
        first, second = x.chunk(2, -1)
        return x * angles.cos() + torch.cat([-second, first], -1) * angles.sin()

    def forward(self, x):
        batch, places, _ = x.shape
        y = self.norms[0](x)
        query = self.query(y).view(batch, places, self.heads, self.size).transpose(1, 2)
        key = self.key(y).view(batch, places, self.key_heads, self.size).transpose(1, 2)
        value = self.value(y).view(batch, places, self.key_heads, self.size).transpose(1, 2)
        shared = self.heads // self.key_heads
        key, value = (t.repeat_interleave(shared, 1) for t in (self.rotated(key), value))
        mixed = nn.functional.scaled_dot_product_attention(self.rotated(query), key, value, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, places, -1))
        y = self.norms[1](x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class Unet(nn.Module):
    def __init__(self):
        super().__init__()

        def block(inputs, outputs):
            return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())

        self.down = nn.ModuleList([block(3, 16), block(16, 32), block(32, 64)])
        self.transposed, self.up = nn.ConvTranspose2d(64, 32, 2, 2), nn.ModuleList([block(64, 32), block(48, 16)])
        self.out = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        first = self.down[0](x)
        second = self.down[1](nn.functional.max_pool2d(first, 2))
        third = self.down[2](nn.functional.max_pool2d(second, 2))
        up = self.up[0](torch.cat([self.transposed(third), second], 1))
        up = nn.functional.interpolate(up, scale_factor=2, mode="bilinear")
        return self.out(self.up[1](torch.cat([up, first], 1)))


class SpeechEncoder(nn.Module):
    """Whisper's encoder in small: two convolutions over frames, then a transformer."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv1d(80, 96, 3, padding=1), nn.Conv1d(96, 96, 3, stride=2, padding=1)
        layer = nn.TransformerEncoderLayer(96, 6, 384, activation="gelu", batch_first=True, norm_first=True)
        self.layers, self.places = nn.TransformerEncoder(layer, 2), nn.Parameter(torch.randn(50, 96))

    def forward(self, x):
        x = nn.functional.gelu(self.second(nn.functional.gelu(self.first(x))))
        return self.layers(x.permute(0, 2, 1) + self.places)


class DilatedConvolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(16, 16, 3, dilation=2 ** i) for i in range(4))
        self.norm = nn.GroupNorm(4, 16)

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = x + nn.functional.silu(self.norm(layer(nn.functional.pad(x, (2 * 2 ** i, 0)))))
        return x


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 32, 8, 8)
        self.places = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
        self.channels = nn.Sequential(nn.LayerNorm(32), nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32))
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        y = self.patches(x).flatten(2)
        y = (y + self.places(y)).transpose(1, 2)
        return self.head((y + self.channels(y)).mean(1))


class Resampling(nn.Module):
    """What moves and resamples images: a grid, bicubic sizes, rolls, shuffles."""

    def forward(self, x):
        turned = torch.tensor([[[1.0, 0.1, 0], [0, 0.9, 0.1]]])
        grid = nn.functional.affine_grid(turned, (1, 3, 16, 16), align_corners=False)
        sampled = nn.functional.grid_sample(x, grid, align_corners=False)
        larger = nn.functional.interpolate(x, size=(20, 20), mode="bicubic")
        return sampled, larger, torch.remainder(x, 0.3), x.roll(1, 2), nn.functional.pixel_shuffle(x.repeat(1, 4, 1, 1), 2)


def image(*shape: int) -> Callable[[], tuple[torch.Tensor, ...]]:
    return lambda: (torch.randn(*shape),)


def of_torchvision(name: str, *shape: int, module=models, **options) -> Architecture:
    return Architecture(lambda: getattr(module, name)(weights=None, **options), image(*shape))


CLASSIFIERS = (
    "alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "efficientnet_v2_s", "googlenet", "maxvit_t",
    "mnasnet1_0", "mobilenet_v2", "mobilenet_v3_large", "regnet_y_400mf", "resnet18", "resnext50_32x4d",
    "shufflenet_v2_x1_0", "squeezenet1_1", "swin_t", "swin_v2_t", "vgg11", "vit_b_16", "wide_resnet50_2")

ARCHITECTURES: dict[str, Architecture] = {
    **{name: of_torchvision(name, 1, 3, 224, 224) for name in CLASSIFIERS},
    "inception_v3": of_torchvision("inception_v3", 1, 3, 299, 299),
    **{name: of_torchvision(name, 1, 3, 128, 128, module=models.segmentation, weights_backbone=None)
       for name in ("deeplabv3_mobilenet_v3_large", "fcn_resnet50", "lraspp_mobilenet_v3_large")},
    **{name: of_torchvision(name, 1, 3, 4, 64, 64, module=models.video) for name in ("r3d_18", "mc3_18", "r2plus1d_18")},
    "raft_small": Architecture(lambda: models.optical_flow.raft_small(weights=None),
                               lambda: (torch.randn(1, 3, 128, 128), torch.randn(1, 3, 128, 128))),
    "fasterrcnn_mobilenet": of_torchvision("fasterrcnn_mobilenet_v3_large_320_fpn", 1, 3, 128, 128,
                                           module=models.detection, weights_backbone=None),
    "ssdlite": of_torchvision("ssdlite320_mobilenet_v3_large", 1, 3, 320, 320, module=models.detection,
                              weights_backbone=None),
    "lstm": Architecture(lambda: nn.LSTM(32, 64, 2, batch_first=True, bidirectional=True), image(1, 20, 32)),
    "gru": Architecture(lambda: nn.GRU(32, 64, 1), image(20, 1, 32)),
    "encoder": Architecture(
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 2), image(2, 16, 64)),
    "transformer": Architecture(lambda: nn.Transformer(64, 4, 2, 2, 128, batch_first=True),
                                lambda: (torch.randn(2, 16, 64), torch.randn(2, 10, 64))),
    "gpt": Architecture(Decoder, lambda: (torch.randint(0, 1000, (1, 32)),)),
    "llama": Architecture(GroupedBlock, image(1, 24, 128)),
    "unet": Architecture(Unet, image(1, 3, 64, 64)),
    "speech": Architecture(SpeechEncoder, image(1, 80, 100)),
    "dilated": Architecture(DilatedConvolutions, image(1, 16, 50)),
    "mixer": Architecture(Mixer, image(1, 3, 32, 32)),
    "resampling": Architecture(Resampling, image(1, 3, 16, 16)),
    "gan": Architecture(
        lambda: nn.Sequential(nn.ConvTranspose2d(32, 64, 4, 1, 0, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
                              nn.ConvTranspose2d(64, 3, 4, 2, 1), nn.Tanh()), image(1, 32, 1, 1)),
}
