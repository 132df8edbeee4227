"""Recurrent networks, and networks of rows of a table, of graphs and of games."""
import torch
from exports.architecture import Architecture, of_images
from torch import nn
from torch.nn import functional


class Tagger(nn.Module):
    """A label for each token, by an LSTM in both directions."""

    def __init__(self):
        super().__init__()
        self.tokens, self.body = nn.Embedding(300, 32), nn.LSTM(32, 48, batch_first=True, bidirectional=True)
        self.head = nn.Linear(96, 9)

    def forward(self, tokens):
        return functional.log_softmax(self.head(self.body(self.tokens(tokens))[0]), -1)


class Sequences(nn.Module):
    """A GRU reads a sequence, another one writes by attention over what the first one gave."""

    def __init__(self, width=48):
        super().__init__()
        self.source, self.target = nn.Embedding(200, width), nn.Embedding(200, width)
        self.reader, self.writer = nn.GRU(width, width, batch_first=True), nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(2 * width, 200)

    def forward(self, source, target):
        read, state = self.reader(self.source(source))
        written, _ = self.writer(self.target(target), state)
        mixed = torch.bmm(torch.bmm(written, read.transpose(1, 2)).softmax(-1), read)
        return self.out(torch.cat([written, mixed], -1))


class Bags(nn.Module):
    """The mean of the embeddings of each row's words, then a layer."""

    def __init__(self):
        super().__init__()
        self.words, self.head = nn.EmbeddingBag(400, 32, mode="mean"), nn.Linear(32, 6)

    def forward(self, words):
        return self.head(self.words(words))


class DeepAndCross(nn.Module):
    """Numbers and categories of a row, crossed with themselves three times, beside an MLP."""

    def __init__(self, numbers=8, categories=5, width=8):
        super().__init__()
        self.embedded = nn.ModuleList(nn.Embedding(50, width) for _ in range(categories))
        total = numbers + categories * width
        self.cross = nn.ModuleList(nn.Linear(total, total) for _ in range(3))
        self.deep = nn.Sequential(nn.BatchNorm1d(total), nn.Linear(total, 64), nn.ReLU(), nn.Dropout(), nn.Linear(64, 32), nn.ReLU())
        self.head = nn.Linear(total + 32, 1)

    def forward(self, numbers, categories):
        first = torch.cat([numbers, *(each(categories[:, i]) for i, each in enumerate(self.embedded))], 1)
        x = first
        for layer in self.cross:
            x = first * layer(x) + x
        return torch.sigmoid(self.head(torch.cat([x, self.deep(first)], 1)))


class Factors(nn.Module):
    """A factorisation machine over categories: half of the square of sums less the sum of squares."""

    def __init__(self):
        super().__init__()
        self.linear, self.factors, self.bias = nn.Embedding(200, 1), nn.Embedding(200, 16), nn.Parameter(torch.zeros(1))

    def forward(self, categories):
        places = categories + torch.arange(4) * 50
        factors = self.factors(places)
        crossed = (factors.sum(1) ** 2 - (factors ** 2).sum(1)).sum(1, keepdim=True) / 2
        return torch.sigmoid(self.linear(places).sum(1) + crossed + self.bias)


class GraphAttention(nn.Module):
    """Of nodes whose neighbours a matrix of truths says, and of edges, whose messages are added at their ends."""

    def __init__(self, width=24):
        super().__init__()
        self.project, self.ends, self.out = nn.Linear(width, width), nn.Linear(width, 2), nn.Linear(2 * width, 3)

    def forward(self, x, near, edges):
        y = self.project(x)
        left, right = self.ends(y).split(1, -1)
        scores = functional.leaky_relu(left + right.transpose(0, 1), 0.2).masked_fill(~near, float("-inf"))
        mixed = functional.elu(scores.softmax(-1) @ y)
        added = torch.zeros_like(y).scatter_add(0, edges[1][:, None].expand(-1, y.shape[1]), y[edges[0]])
        return self.out(torch.cat([mixed, added], -1))


class RadialBasis(nn.Module):
    """Gaussians about centres, of normed sums of which a layer is made."""

    def __init__(self):
        super().__init__()
        self.centres, self.widths = nn.Parameter(torch.randn(20, 6)), nn.Parameter(torch.rand(20) + 0.5)
        self.head = nn.Linear(20, 3)

    def forward(self, x):
        distances = torch.linalg.vector_norm(x[:, None] - self.centres[None], dim=-1)
        y = torch.exp(-((distances / self.widths) ** 2))
        return self.head(y / y.sum(-1, keepdim=True))


class Splines(nn.Module):
    """A Kolmogorov-Arnold layer: for each pair of numbers a sum of B-splines, grown degree by degree."""

    def __init__(self, inputs=6, outputs=5, grid=5, degree=3):
        super().__init__()
        self.degree = degree
        self.register_buffer("knots", torch.arange(-degree, grid + degree + 1) * (2 / grid) - 1)
        self.weight = nn.Parameter(torch.randn(outputs, inputs, grid + degree) / 4)
        self.base = nn.Linear(inputs, outputs)

    def forward(self, x):
        knots, y = self.knots, x[..., None]
        bases = ((y >= knots[:-1]) & (y < knots[1:])).to(x.dtype)
        for k in range(1, self.degree + 1):
            rising = (y - knots[:-k - 1]) / (knots[k:-1] - knots[:-k - 1]) * bases[..., :-1]
            bases = rising + (knots[k + 1:] - y) / (knots[k + 1:] - knots[1:-k]) * bases[..., 1:]
        return self.base(functional.silu(x)) + torch.einsum("bik,oik->bo", bases, self.weight)


class Dueling(nn.Module):
    """A value and advantages of each move, of four frames of a game."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(4, 16, 8, 4), nn.ReLU(), nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.Flatten())
        self.value, self.advantage = nn.Linear(2592, 1), nn.Linear(2592, 6)

    def forward(self, frames):
        y = self.body(frames.float() / 255)
        advantage = self.advantage(y)
        q = self.value(y) + advantage - advantage.mean(1, keepdim=True)
        return q, q.argmax(1)


class Actor(nn.Module):
    """A policy's mean and spread, tanh-squashed."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(17, 64), nn.Tanh(), nn.LayerNorm(64), nn.Linear(64, 64), nn.Mish())
        self.mean, self.spread = nn.Linear(64, 6), nn.Linear(64, 6)

    def forward(self, x):
        y = self.body(x)
        return torch.tanh(self.mean(y)), functional.softplus(self.spread(y).clamp(-20, 2))


def tokens(batch: int, length: int) -> tuple[torch.Tensor, ...]:
    return (torch.randint(0, 200, (batch, length)),)


def both(batch: int, length: int) -> tuple[torch.Tensor, ...]:
    return torch.randint(0, 200, (batch, length)), torch.randint(0, 200, (batch, 7))


def of_nodes(nodes: int) -> tuple[torch.Tensor, ...]:
    near = torch.eye(nodes, dtype=torch.bool) | (torch.rand(nodes, nodes) > 0.7)
    return torch.randn(nodes, 24), near, torch.randint(0, nodes, (2, 30))


def rows(*widths: int):
    return lambda batch: tuple(torch.randn(batch, width) for width in widths)


PLACES = {0: "batch", 1: "length"}
SHORT = {"batch": 1, "length": 12}
TABLES: dict[str, Architecture] = {
    "lstm": of_images(lambda: nn.LSTM(32, 64, 2, batch_first=True, bidirectional=True), 20, 32),
    "gru": Architecture(lambda: nn.GRU(32, 64, 1), lambda batch: (torch.randn(20, batch, 32),), ({1: "batch"},)),
    "tagger": Architecture(Tagger, tokens, (PLACES,), SHORT),
    "sequences": Architecture(Sequences, both, (PLACES, {0: "batch"}), SHORT),
    "mlp": Architecture(lambda: nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.SELU(), nn.Linear(64, 64), nn.Hardswish(),
                                              nn.Linear(64, 4), nn.Softmax(-1)), rows(20), ({0: "batch"},)),
    "bags": Architecture(Bags, tokens, (PLACES,), SHORT),
    "deep_and_cross": Architecture(DeepAndCross, lambda batch: (torch.randn(batch, 8), torch.randint(0, 50, (batch, 5))),
                                   ({0: "batch"}, {0: "batch"})),
    "factors": Architecture(Factors, lambda batch: (torch.randint(0, 50, (batch, 4)),), ({0: "batch"},)),
    "graph_attention": Architecture(GraphAttention, of_nodes, ({0: "nodes"}, {0: "nodes", 1: "nodes"}, {}), {"nodes": 12}),
    "radial_basis": Architecture(RadialBasis, rows(6), ({0: "batch"},)),
    "splines": Architecture(Splines, rows(6), ({0: "batch"},)),
    "dqn": Architecture(Dueling, lambda batch: (torch.randint(0, 255, (batch, 4, 84, 84), dtype=torch.uint8),),
                        ({0: "batch"},)),
    "actor": Architecture(Actor, rows(17), ({0: "batch"},)),
}
