"""Networks of images, of videos and of points."""
import torch
from exports.architecture import Architecture, of_images, of_one_batch, of_torchvision
from torch import nn
from torch.nn import functional
from torchvision import models


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
        second = self.down[1](functional.max_pool2d(first, 2))
        third = self.down[2](functional.max_pool2d(second, 2))
        up = self.up[0](torch.cat([self.transposed(third), second], 1))
        up = functional.interpolate(up, scale_factor=2, mode="bilinear")
        return self.out(self.up[1](torch.cat([up, first], 1)))


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
        grid = functional.affine_grid(turned, (1, 3, 16, 16), align_corners=False)
        sampled = functional.grid_sample(x, grid, align_corners=False)
        larger = functional.interpolate(x, size=(20, 20), mode="bicubic")
        return sampled, larger, torch.remainder(x, 0.3), x.roll(1, 2), functional.pixel_shuffle(x.repeat(1, 4, 1, 1), 2)


class SuperResolution(nn.Module):
    """What it adds to a bicubic enlargement: convolutions at the small size, then pixels from channels."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 32, 5, padding=2), nn.PReLU(32), nn.Conv2d(32, 32, 3, padding=1),
                                  nn.LeakyReLU(0.2), nn.Conv2d(32, 12, 3, padding=1, padding_mode="reflect"))

    def forward(self, x):
        base = functional.interpolate(x, scale_factor=2, mode="bicubic", align_corners=False)
        return (base + functional.pixel_shuffle(self.body(x), 2)).clamp(0, 1)


class ModulatedConvolution(nn.Module):
    """StyleGAN's: weights scaled by a style for each image, normalised, as one convolution of a group an image."""

    def __init__(self, channels=16, maps=16, style=32):
        super().__init__()
        self.style, self.weight = nn.Linear(style, channels), nn.Parameter(torch.randn(maps, channels, 3, 3))
        self.noise = nn.Parameter(torch.randn(1, 1, 16, 16))

    def forward(self, x, style):
        batch, channels, height, width = x.shape
        weight = self.weight[None] * self.style(style)[:, None, :, None, None]
        weight = weight * torch.rsqrt(weight.square().sum((2, 3, 4), keepdim=True) + 1e-8)
        x = functional.conv2d(x.reshape(1, batch * channels, height, width), weight.flatten(0, 1), padding=1, groups=batch)
        x = functional.leaky_relu(x.reshape(batch, -1, height, width) + self.noise, 0.2) * 2**0.5
        return functional.interpolate(x, scale_factor=2, mode="nearest")


class DiffusionBlock(nn.Module):
    """Of a U-Net that removes noise: group norms, an embedding of the time step, attention over places and a context."""

    def __init__(self, width=64, times=128, context=32):
        super().__init__()
        self.norms = nn.ModuleList(nn.GroupNorm(32, width) for _ in range(3))
        self.first, self.second = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)
        self.times = nn.Sequential(nn.Linear(times, times), nn.SiLU(), nn.Linear(times, width))
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.crossed = nn.MultiheadAttention(width, 4, kdim=context, vdim=context, batch_first=True)
        self.gate, self.out = nn.Linear(width, 8 * width), nn.Linear(4 * width, width)

    def embedded(self, step):
        frequencies = torch.exp(-9.21034 * torch.arange(64) / 64)
        angles = step[:, None] * frequencies[None]
        return torch.cat([angles.cos(), angles.sin()], -1)

    def forward(self, x, step, context):
        y = self.first(functional.silu(self.norms[0](x))) + self.times(self.embedded(step))[:, :, None, None]
        x = x + self.second(functional.silu(self.norms[1](y)))
        y = self.norms[2](x).flatten(2).transpose(1, 2)
        y = y + self.attention(y, y, y, need_weights=False)[0]
        y = y + self.crossed(y, context, context, need_weights=False)[0]
        value, gate = self.gate(y).chunk(2, -1)
        return x + self.out(value * functional.gelu(gate)).transpose(1, 2).reshape(x.shape)


class Points(nn.Module):
    """PointNet: one turn of all points, learned from them, features of each, the largest of each feature."""

    def __init__(self):
        super().__init__()

        def layers(*widths):
            return nn.Sequential(*(each for a, b in zip(widths, widths[1:])
                                   for each in (nn.Conv1d(a, b, 1), nn.BatchNorm1d(b), nn.ReLU())))

        self.turn, self.matrix = layers(3, 32, 64), nn.Linear(64, 9)
        self.features, self.head = layers(3, 64, 128), nn.Linear(128, 10)

    def forward(self, x):
        matrix = self.matrix(self.turn(x).max(2)[0]).view(-1, 3, 3) + torch.eye(3)
        return functional.log_softmax(self.head(self.features(torch.bmm(matrix, x)).max(2)[0]), 1)


class NearestPoints(nn.Module):
    """An edge convolution over the points nearest to each: distances, TopK, gathered neighbours."""

    def __init__(self, near=4):
        super().__init__()
        self.near, self.edges, self.head = near, nn.Conv2d(6, 32, 1), nn.Linear(32, 5)

    def forward(self, x):
        batch, axes, count = x.shape
        distances = -torch.cdist(x.transpose(1, 2), x.transpose(1, 2))
        places = distances.topk(self.near, -1)[1].reshape(batch, 1, -1).expand(-1, axes, -1)
        near = torch.gather(x, 2, places).view(batch, axes, count, self.near)
        centre = x[..., None].expand_as(near)
        y = functional.leaky_relu(self.edges(torch.cat([near - centre, centre], 1)), 0.2)
        return self.head(y.amax(3).mean(2))


class DarkBlock(nn.Module):
    """A one-stage detector's backbone, neck and head, boxes decoded on a grid."""

    def __init__(self):
        super().__init__()

        def block(inputs, outputs, stride=1):
            return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.SiLU())

        self.stem, self.deep = nn.Sequential(block(3, 16, 2), block(16, 32, 2)), block(32, 64, 2)
        self.halves, self.joined = block(32, 32), nn.Conv2d(128, 32, 1)
        self.fused, self.heads = block(64, 32), nn.ModuleList([nn.Conv2d(32, 15, 1), nn.Conv2d(32, 15, 1)])

    def pooled(self, x):
        pools = [x]
        for _ in range(3):
            pools.append(functional.max_pool2d(pools[-1], 5, 1, 2))
        return pools

    def decoded(self, x, head, stride):
        y = head(x)
        batch, _, height, width = y.shape
        y = y.view(batch, 3, 5, height, width).permute(0, 1, 3, 4, 2).sigmoid()
        rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        grid = torch.stack([columns, rows], -1).to(y.dtype)
        centres = (y[..., :2] * 2 - 0.5 + grid) * stride
        return torch.cat([centres, (y[..., 2:4] * 2) ** 2 * 8, y[..., 4:]], -1).reshape(batch, -1, 5)

    def forward(self, x):
        first = self.stem(x)
        a, b = self.halves(first).chunk(2, 1)
        first = torch.cat([a + functional.silu(b), b], 1)
        second = self.deep(first)
        second = self.joined(torch.cat(self.pooled(second[:, :32]), 1))
        first = self.fused(torch.cat([functional.interpolate(second, scale_factor=2.0), first], 1))
        return torch.cat([self.decoded(first, self.heads[0], 4), self.decoded(second, self.heads[1], 8)], 1)


def dcgan() -> nn.Module:
    return nn.Sequential(nn.ConvTranspose2d(32, 64, 4, 1, 0, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
                         nn.ConvTranspose2d(64, 3, 4, 2, 1), nn.Tanh())


CLASSIFIERS = (
    "alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "efficientnet_v2_s", "googlenet", "maxvit_t",
    "mnasnet1_0", "mobilenet_v2", "mobilenet_v3_large", "mobilenet_v3_small", "regnet_x_400mf", "regnet_y_400mf", "resnet18",
    "resnext50_32x4d", "shufflenet_v2_x1_0", "squeezenet1_1", "swin_t", "swin_v2_t", "vgg11", "vit_b_16", "wide_resnet50_2")
OF_PLACES = ("deeplabv3_mobilenet_v3_large", "deeplabv3_resnet50", "fcn_resnet50", "lraspp_mobilenet_v3_large")


def detector(name: str, extent: int) -> Architecture:
    return of_one_batch(lambda: getattr(models.detection, name)(weights=None, weights_backbone=None),
                        (1, 3, extent, extent))


VISION: dict[str, Architecture] = {
    **{name: of_torchvision(name, 3, 224, 224) for name in CLASSIFIERS},
    "inception_v3": of_torchvision("inception_v3", 3, 299, 299),
    **{name: of_torchvision(name, 3, 128, 128, module=models.segmentation, weights_backbone=None) for name in OF_PLACES},
    **{name: of_torchvision(name, 3, 4, 64, 64, module=models.video) for name in ("r3d_18", "mc3_18", "r2plus1d_18")},
    "s3d": of_torchvision("s3d", 3, 16, 224, 224, module=models.video),
    "mvit_v2_s": of_torchvision("mvit_v2_s", 3, 8, 64, 64, module=models.video, spatial_size=(64, 64), temporal_size=8),
    "swin3d_t": of_torchvision("swin3d_t", 3, 4, 64, 64, module=models.video),
    "raft_small": of_one_batch(lambda: models.optical_flow.raft_small(weights=None), (1, 3, 128, 128), (1, 3, 128, 128)),
    "fasterrcnn_mobilenet": detector("fasterrcnn_mobilenet_v3_large_320_fpn", 128),
    "retinanet": detector("retinanet_resnet50_fpn_v2", 128),
    "ssdlite": detector("ssdlite320_mobilenet_v3_large", 320),
    "unet": of_images(Unet, 3, 64, 64),
    "mixer": of_images(Mixer, 3, 32, 32),
    "resampling": of_one_batch(Resampling, (1, 3, 16, 16)),
    "super_resolution": of_images(SuperResolution, 3, 24, 24),
    "dcgan": of_images(dcgan, 32, 1, 1),
    "stylegan": Architecture(ModulatedConvolution, lambda batch: (torch.randn(batch, 16, 16, 16), torch.randn(batch, 32)),
                             ({0: "batch"}, {0: "batch"})),
    "diffusion": Architecture(
        DiffusionBlock,
        lambda batch: (torch.randn(batch, 64, 16, 16), torch.rand(batch) * 100, torch.randn(batch, 7, 32)),
        ({0: "batch"}, {0: "batch"}, {0: "batch"})),
    "points": Architecture(Points, lambda batch, count: (torch.randn(batch, 3, count),), ({0: "batch", 2: "count"},),
                           {"batch": 1, "count": 128}),
    "nearest_points": of_images(NearestPoints, 3, 40),
    "detector": of_images(DarkBlock, 3, 64, 64),
}
