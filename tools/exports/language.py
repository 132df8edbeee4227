"""Networks of tokens: encoders, decoders, steps of decoders over a past, experts."""
import torch
from exports.architecture import Architecture
from torch import nn
from torch.nn import functional


class Bert(nn.Module):
    """An encoder over tokens, of which a mask says which are there; the first one's hidden numbers are pooled."""

    def __init__(self, width=96, heads=4, tokens=1000, places=64, layers=2):
        super().__init__()
        self.heads, self.embedded = heads, nn.Embedding(tokens, width)
        self.places, self.kinds = nn.Embedding(places, width), nn.Embedding(2, width)
        self.norm, self.pooled = nn.LayerNorm(width), nn.Linear(width, width)
        self.layers = nn.ModuleList(nn.ModuleDict({
            "inputs": nn.Linear(width, 3 * width), "mixed": nn.Linear(width, width), "first": nn.LayerNorm(width),
            "up": nn.Linear(width, 4 * width), "down": nn.Linear(4 * width, width), "second": nn.LayerNorm(width)})
            for _ in range(layers))

    def forward(self, tokens, mask, kinds):
        batch, length = tokens.shape
        places = torch.arange(length)[None]
        x = self.norm(self.embedded(tokens) + self.places(places) + self.kinds(kinds))
        bias = (1 - mask[:, None, None].to(x.dtype)) * torch.finfo(x.dtype).min
        for layer in self.layers:
            q, k, v = layer["inputs"](x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
            scores = torch.matmul(q, k.transpose(-1, -2)) / (q.shape[-1] ** 0.5) + bias
            mixed = torch.matmul(scores.softmax(-1), v).transpose(1, 2).reshape(batch, length, -1)
            x = layer["first"](x + layer["mixed"](mixed))
            x = layer["second"](x + layer["down"](functional.gelu(layer["up"](x))))
        return x, torch.tanh(self.pooled(x[:, 0]))


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


class RootMeanSquare(nn.Module):
    """nn.RMSNorm, written out as most do: the older exporter does not know it."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight


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
        self.norms = nn.ModuleList([RootMeanSquare(width), RootMeanSquare(width)])

    def rotated(self, x, first=0):
        frequencies = 1 / (10000 ** (torch.arange(0, self.size, 2).float() / self.size))
        angles = (torch.arange(x.shape[-2]).float() + first)[:, None] * frequencies[None]
        angles = torch.cat([angles, angles], -1)
        first, second = x.chunk(2, -1)
        return x * angles.cos() + torch.cat([-second, first], -1) * angles.sin()

    def projected(self, y):
        batch, places, _ = y.shape
        query = self.query(y).view(batch, places, self.heads, self.size).transpose(1, 2)
        key = self.key(y).view(batch, places, self.key_heads, self.size).transpose(1, 2)
        return query, key, self.value(y).view(batch, places, self.key_heads, self.size).transpose(1, 2)

    def finished(self, x, mixed):
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape[0], x.shape[1], -1))
        y = self.norms[1](x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))

    def forward(self, x):
        query, key, value = self.projected(self.norms[0](x))
        shared = self.heads // self.key_heads
        key, value = (t.repeat_interleave(shared, 1) for t in (self.rotated(key), value))
        mixed = functional.scaled_dot_product_attention(self.rotated(query), key, value, is_causal=True)
        return self.finished(x, mixed)


class GroupedStep(GroupedBlock):
    """One token more: its key and value behind those of the past."""

    def forward(self, x, keys, values):
        query, key, value = self.projected(self.norms[0](x))
        past = keys.shape[2]
        keys, values = torch.cat([keys, self.rotated(key, past)], 2), torch.cat([values, value], 2)
        shared = self.heads // self.key_heads
        mixed = functional.scaled_dot_product_attention(
            self.rotated(query, past), keys.repeat_interleave(shared, 1), values.repeat_interleave(shared, 1))
        return self.finished(x, mixed), keys, values


class CrossedStep(nn.Module):
    """A step of Whisper's decoder: a token that sees the past's, then the encoder's results."""

    def __init__(self, width=96, heads=6, tokens=500, places=64):
        super().__init__()
        self.heads, self.tokens, self.places = heads, nn.Embedding(tokens, width), nn.Parameter(torch.randn(places, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(4))
        self.inputs, self.mixed = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.query, self.pair, self.crossed = nn.Linear(width, width), nn.Linear(width, 2 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def attended(self, query, key, value):
        return functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2)

    def forward(self, token, keys, values, encoded):
        past = keys.shape[2]
        x = self.tokens(token) + self.places[past:past + 1]
        query, key, value = (self.split(each) for each in self.inputs(self.norms[0](x)).chunk(3, -1))
        keys, values = torch.cat([keys, key], 2), torch.cat([values, value], 2)
        x = x + self.mixed(self.attended(query, keys, values))
        key, value = (self.split(each) for each in self.pair(encoded).chunk(2, -1))
        x = x + self.crossed(self.attended(self.split(self.query(self.norms[1](x))), key, value))
        x = x + self.down(functional.gelu(self.up(self.norms[2](x))))
        return self.norms[3](x) @ self.tokens.weight.T, keys, values


class Relative(nn.Module):
    """A block of a T5's encoder: a bias for each bucket of distances, no places, a gated GELU by tanh."""

    def __init__(self, width=96, heads=4, buckets=16, tokens=500):
        super().__init__()
        self.heads, self.buckets = heads, buckets
        self.tokens, self.bias = nn.Embedding(tokens, width), nn.Embedding(buckets, heads)
        self.inputs, self.mixed = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.norms = nn.ModuleList([RootMeanSquare(width), RootMeanSquare(width)])
        self.gate, self.up = nn.Linear(width, 192, bias=False), nn.Linear(width, 192, bias=False)
        self.down = nn.Linear(192, width, bias=False)

    def bucket(self, length):
        distance = torch.arange(length)[None] - torch.arange(length)[:, None]
        half = self.buckets // 2
        far = distance.abs()
        exact = half // 2
        spread = exact + (torch.log(far.float().clamp(min=1) / exact) / 3.4657 * (half - exact)).long()
        return torch.where(distance > 0, half, 0) + torch.where(far < exact, far, spread.clamp(max=half - 1))

    def forward(self, tokens):
        x = self.tokens(tokens)
        batch, length, width = x.shape
        q, k, v = self.inputs(self.norms[0](x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        bias = self.bias(self.bucket(length)).permute(2, 0, 1)[None]
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) + bias
        mixed = torch.einsum("bhqk,bhkd->bhqd", scores.softmax(-1), v)
        x = x + self.mixed(mixed.transpose(1, 2).reshape(batch, length, width))
        y = self.norms[1](x)
        return x + self.down(functional.gelu(self.gate(y), approximate="tanh") * self.up(y))


class Experts(nn.Module):
    """Each token by the two of eight experts that a router gives it: TopK, weights of those alone."""

    def __init__(self, width=64, inner=96, experts=8):
        super().__init__()
        self.router, self.norm = nn.Linear(width, experts), nn.LayerNorm(width)
        self.up, self.down = nn.Parameter(torch.randn(experts, width, inner) / 8), nn.Parameter(torch.randn(experts, inner, width) / 10)

    def forward(self, x):
        y = self.norm(x)
        shares, chosen = self.router(y).softmax(-1).topk(2, -1)
        shares = shares / shares.sum(-1, keepdim=True)
        each = torch.zeros(*y.shape[:2], self.up.shape[0]).scatter(-1, chosen, shares)
        results = torch.einsum("bnei,eiw->bnew", functional.silu(torch.einsum("bnw,ewi->bnei", y, self.up)), self.down)
        return x + torch.einsum("bnew,bne->bnw", results, each)


class Translation(nn.Module):
    """nn.Transformer between two sequences, with the causal mask of the second one."""

    def __init__(self):
        super().__init__()
        self.body = nn.Transformer(64, 4, 2, 2, 128, batch_first=True)

    def forward(self, source, target):
        return self.body(source, target, tgt_mask=nn.Transformer.generate_square_subsequent_mask(10))


def drawn(batch: int, length: int) -> torch.Tensor:
    return torch.randint(0, 500, (batch, length))


def read(batch: int, length: int) -> tuple[torch.Tensor, ...]:
    mask = torch.ones(batch, length, dtype=torch.int64)
    mask[-1, length - length // 4:] = 0
    return drawn(batch, length), mask, torch.zeros(batch, length, dtype=torch.int64)


def behind(batch: int, past: int) -> tuple[torch.Tensor, ...]:
    return torch.randn(batch, 1, 128), torch.randn(batch, 2, past, 32), torch.randn(batch, 2, past, 32)


def crossed(batch: int, past: int) -> tuple[torch.Tensor, ...]:
    return (torch.randint(0, 500, (batch, 1)), torch.randn(batch, 6, past, 16), torch.randn(batch, 6, past, 16),
            torch.randn(batch, 20, 96))


PLACES = {0: "batch", 1: "length"}
PAST = {0: "batch", 2: "past"}
SHORT = {"batch": 1, "length": 16}
LANGUAGE: dict[str, Architecture] = {
    "bert": Architecture(Bert, read, (PLACES, PLACES, PLACES), SHORT),
    "encoder": Architecture(
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 2),
        lambda batch, length: (torch.randn(batch, length, 64),), (PLACES,), SHORT),
    "transformer": Architecture(Translation, lambda batch: (torch.randn(batch, 16, 64), torch.randn(batch, 10, 64)),
                                ({0: "batch"}, {0: "batch"})),
    "gpt": Architecture(Decoder, lambda batch, length: (drawn(batch, length),), (PLACES,), SHORT),
    "llama": Architecture(GroupedBlock, lambda batch, length: (torch.randn(batch, length, 128),), (PLACES,), SHORT),
    "llama_step": Architecture(GroupedStep, behind, ({0: "batch"}, PAST, PAST), {"batch": 1, "past": 12}),
    "whisper_step": Architecture(CrossedStep, crossed, ({0: "batch"}, PAST, PAST, {0: "batch"}), {"batch": 1, "past": 12}),
    "t5": Architecture(Relative, lambda batch, length: (drawn(batch, length),), (PLACES,), SHORT),
    "experts": Architecture(Experts, lambda batch, length: (torch.randn(batch, length, 64),), (PLACES,), SHORT),
}
