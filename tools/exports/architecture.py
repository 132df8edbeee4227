"""One network of the suite: how it is made, what it reads, and which of its extents may be free."""
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import nn
from torchvision import models


@dataclass(frozen=True)
class Architecture:
    """`inputs` takes the extents of `sizes` by name; `free` names, for each input, the axes that have one of them."""

    make: Callable[[], nn.Module]
    inputs: Callable[..., tuple[torch.Tensor, ...]]
    free: tuple[dict[int, str], ...] = ()
    sizes: dict[str, int] = field(default_factory=lambda: {"batch": 1})


def image(*shape: int) -> Callable[..., tuple[torch.Tensor, ...]]:
    """One tensor of normal numbers, of any batch."""
    return lambda batch: (torch.randn(batch, *shape),)


def of_images(make: Callable[[], nn.Module], *shape: int) -> Architecture:
    return Architecture(make, image(*shape), ({0: "batch"},))


def of_one_batch(make: Callable[[], nn.Module], *shapes: tuple[int, ...]) -> Architecture:
    """Of tensors of fixed shapes."""
    return Architecture(make, lambda: tuple(torch.randn(*shape) for shape in shapes), sizes={})


def of_torchvision(name: str, *shape: int, module=models, **options) -> Architecture:
    return of_images(lambda: getattr(module, name)(weights=None, **options), *shape)
