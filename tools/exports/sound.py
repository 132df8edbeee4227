"""Networks of sound: of samples, of spectra, of frames."""
import torch
from exports.architecture import Architecture, of_images
from torch import nn
from torch.nn import functional


class SpeechEncoder(nn.Module):
    """Whisper's encoder in small: two convolutions over frames, then a transformer."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv1d(80, 96, 3, padding=1), nn.Conv1d(96, 96, 3, stride=2, padding=1)
        layer = nn.TransformerEncoderLayer(96, 6, 384, activation="gelu", batch_first=True, norm_first=True)
        self.layers, self.places = nn.TransformerEncoder(layer, 2), nn.Parameter(torch.randn(50, 96))

    def forward(self, x):
        x = functional.gelu(self.second(functional.gelu(self.first(x))))
        return self.layers(x.permute(0, 2, 1) + self.places)


class DilatedConvolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(16, 16, 3, dilation=2 ** i) for i in range(4))
        self.norm = nn.GroupNorm(4, 16)

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = x + functional.silu(self.norm(layer(functional.pad(x, (2 * 2 ** i, 0)))))
        return x


class Samples(nn.Module):
    """wav2vec's way from samples to frames: strided convolutions, one normed over time, and places by a grouped one."""

    def __init__(self, width=64):
        super().__init__()
        self.first, self.norm = nn.Conv1d(1, width, 10, 5, bias=False), nn.GroupNorm(width, width)
        self.others = nn.ModuleList(nn.Conv1d(width, width, kernel, 2, bias=False) for kernel in (3, 3, 2))
        self.places = nn.utils.parametrizations.weight_norm(nn.Conv1d(width, width, 16, padding=8, groups=8), dim=2)
        self.project, self.layer = nn.Linear(width, width), nn.TransformerEncoderLayer(width, 4, 128, batch_first=True)

    def forward(self, x):
        x = (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + 1e-7)
        x = functional.gelu(self.norm(self.first(x[:, None])))
        for layer in self.others:
            x = functional.gelu(layer(x))
        x = self.project(x.transpose(1, 2))
        return self.layer(x + functional.gelu(self.places(x.transpose(1, 2))[..., :-1]).transpose(1, 2))


class Conformer(nn.Module):
    """A block: half a step of an MLP, attention, a gated depthwise convolution, half a step again."""

    def __init__(self, width=64, heads=4):
        super().__init__()

        def halved():
            return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width))

        self.before, self.after, self.norms = halved(), halved(), nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.gated, self.pointwise = nn.Conv1d(width, 2 * width, 1), nn.Conv1d(width, width, 1)
        self.depthwise, self.norm = nn.Conv1d(width, width, 15, padding=7, groups=width), nn.BatchNorm1d(width)

    def forward(self, x):
        x = x + self.before(x) / 2
        y = self.norms[0](x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        y = functional.glu(self.gated(self.norms[1](x).transpose(1, 2)), 1)
        x = x + self.pointwise(functional.silu(self.norm(self.depthwise(y)))).transpose(1, 2)
        return self.norms[2](x + self.after(x) / 2)


class Spectrum(nn.Module):
    """A front end: frames, their Fourier transform, bands, a logarithm, then a small classifier."""

    def __init__(self, length=256, step=128, bands=32):
        super().__init__()
        self.length, self.step = length, step
        self.register_buffer("window", torch.hann_window(length))
        self.register_buffer("bands", torch.rand(length // 2 + 1, bands))
        self.classify = nn.Sequential(nn.Conv1d(bands, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(),
                                      nn.Linear(32, 4))

    def forward(self, x):
        spectrum = torch.stft(x, self.length, self.step, window=self.window, center=True, return_complex=False)
        power = spectrum.square().sum(-1).transpose(1, 2)
        return self.classify(torch.log10((power @ self.bands).clamp(min=1e-10)).transpose(1, 2))


class Vocoder(nn.Module):
    """HiFi-GAN in small: frames to samples by transposed convolutions and dilated ones behind each."""

    def __init__(self, width=32):
        super().__init__()
        self.first, self.last = nn.Conv1d(40, width, 7, padding=3), nn.Conv1d(width // 4, 1, 7, padding=3)
        self.ups = nn.ModuleList([nn.ConvTranspose1d(width, width // 2, 8, 4, 2), nn.ConvTranspose1d(width // 2, width // 4, 4, 2, 1)])
        self.rest = nn.ModuleList(nn.ModuleList(nn.Conv1d(c, c, 3, dilation=d, padding=d) for d in (1, 3, 5))
                                  for c in (width // 2, width // 4))

    def forward(self, x):
        x = self.first(x)
        for up, rest in zip(self.ups, self.rest):
            x = up(functional.leaky_relu(x, 0.1))
            for layer in rest:
                x = x + layer(functional.leaky_relu(x, 0.1))
        return torch.tanh(self.last(functional.leaky_relu(x)))


FRAMES = {"batch": 1, "length": 40}
SOUND: dict[str, Architecture] = {
    "speech": of_images(SpeechEncoder, 80, 100),
    "dilated": Architecture(DilatedConvolutions, lambda batch, length: (torch.randn(batch, 16, length),),
                            ({0: "batch", 2: "length"},), FRAMES),
    "samples": Architecture(Samples, lambda batch, length: (torch.randn(batch, length),), ({0: "batch", 1: "length"},),
                            {"batch": 1, "length": 1600}),
    "conformer": Architecture(Conformer, lambda batch, length: (torch.randn(batch, length, 64),),
                              ({0: "batch", 1: "length"},), FRAMES),
    "spectrum": Architecture(Spectrum, lambda batch: (torch.randn(batch, 2048),), ({0: "batch"},)),
    "vocoder": Architecture(Vocoder, lambda batch, length: (torch.randn(batch, 40, length),), ({0: "batch", 2: "length"},),
                            FRAMES),
}
