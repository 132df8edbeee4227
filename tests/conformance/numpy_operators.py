"""Small cases of every operator, computed by loops over the positions of a kernel and by einsum."""
import numpy as np

from numpy_cases import Case, floats, integers, make_case


def strided(start: int, step: int, count: int) -> slice:
    return slice(start, start + step * (count - 1) + 1, step)


def bordered(image: np.ndarray, padding: int, first: int, dimensions: int) -> np.ndarray:
    """Zeros around `dimensions` dimensions from number `first` on."""
    before_and_after = [(padding, padding) if first <= d < first + dimensions else (0, 0) for d in range(image.ndim)]
    return np.pad(image, before_and_after)


def conv(image, weight, stride=1, padding=0, dilation=1, groups=1):
    dimensions = image.ndim - 2
    padded = bordered(image, padding, 2, dimensions)
    kernel = weight.shape[2:]
    counts = [(n - dilation * (k - 1) - 1) // stride + 1 for n, k in zip(padded.shape[2:], kernel)]
    filters, channels = weight.shape[0] // groups, weight.shape[1]
    result = np.zeros((image.shape[0], weight.shape[0], *counts))
    for position in np.ndindex(*kernel):
        window = padded[(slice(None), slice(None),
                         *(strided(p * dilation, stride, n) for p, n in zip(position, counts)))]
        for group in range(groups):
            rows = slice(group * filters, (group + 1) * filters)
            columns = slice(group * channels, (group + 1) * channels)
            result[:, rows] += np.einsum("nc...,fc->nf...", window[:, columns],
                                         weight[(rows, slice(None), *position)])
    return result


def conv_transpose(image, weight, stride=1, padding=0):
    """Every element of the image is spread over the outputs that a forward convolution would read it for."""
    kernel = weight.shape[2:]
    counts = image.shape[2:]
    spread = [(n - 1) * stride + k for n, k in zip(counts, kernel)]
    result = np.zeros((image.shape[0], weight.shape[1], *spread))
    for position in np.ndindex(*kernel):
        places = (strided(p, stride, n) for p, n in zip(position, counts))
        result[(slice(None), slice(None), *places)] += np.einsum(
            "nc...,cf->nf...", image, weight[(slice(None), slice(None), *position)])
    return result[(slice(None), slice(None), *(slice(padding, n - padding) for n in spread))]


def depthwise_conv(image, weight, **window):
    """A convolution of its own for each channel."""
    parts = [conv(image[:, c:c + 1], weight[c][:, None], **window) for c in range(image.shape[1])]
    return np.concatenate(parts, axis=1)


def conv_bn_relu(image, weight, scale, shift, **window):
    per_channel = (None, slice(None), None, None)
    return np.maximum(conv(image, weight, **window) * scale[per_channel] + shift[per_channel], 0)


def capsule_conv(poses, weight, stride=1, padding=0):
    padded = bordered(poses, padding, 1, 2)
    rows, columns = ((n - k) // stride + 1 for n, k in zip(padded.shape[1:3], weight.shape[:2]))
    result = 0
    for y, x in np.ndindex(*weight.shape[:2]):
        window = padded[:, strided(y, stride, rows), strided(x, stride, columns)]
        result = result + np.einsum("nyxcir,cfrj->nyxfij", window, weight[y, x])
    return result


def shift_conv(image, choice, kernel, dilation=1):
    before = dilation * (kernel - 1) // 2
    reach = dilation * (kernel - 1)
    padded = bordered(image, reach, 1, 2)
    result = np.empty_like(image)
    for c, where in enumerate(choice):
        y = reach - before + where // kernel * dilation
        x = reach - before + where % kernel * dilation
        result[..., c] = padded[:, y:y + image.shape[1], x:x + image.shape[2], c]
    return result


def transposed_softmax(q, k):
    scores = np.einsum("bihd,bjhd->bhij", q, k)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def block_circulant(matrix, block):
    result = np.zeros_like(matrix)
    for i in range(0, matrix.shape[0] - block + 1, block):
        for j in range(0, matrix.shape[1] - block + 1, block):
            rows = matrix[i:i + block, j:j + block]
            # Row k turned left by k: its wrapped diagonals are columns.
            means = np.mean([np.roll(row, -k) for k, row in enumerate(rows)], axis=0)
            result[i:i + block, j:j + block] = [np.roll(means, k) for k in range(block)]
    return result


class Cases(list):
    def add(self, op, draws, reference, **parameters):
        name = f"{op}.{sum(case.entry['op'] == op for case in self)}"
        self.append(make_case({"name": name, "op": op, **parameters}, draws, reference))

    def add_conv(self, op, reference, batch, extents, channels, filters, kernel, stride, groups=1, operands=(),
                 **window):
        """`window` is its padding, and dilation where that is not left to its default."""
        names = ("depth", "height", "width")[-len(extents):] if len(extents) > 1 else ("length",)
        parameters = dict(zip(names, extents), batch=batch, in_channels=channels, out_channels=filters,
                          kernel=kernel, stride=stride, **window)
        if groups > 1:
            parameters["groups"] = window["groups"] = groups
        kernels = (kernel,) * len(extents)
        transposed = reference is conv_transpose
        weight = (channels, filters, *kernels) if transposed else (filters, channels // groups, *kernels)
        draws = [floats(batch, channels, *extents), floats(*weight), *operands]
        self.add(op, draws, lambda *arrays: reference(*arrays, stride=stride, **window), **parameters)

    def add_depthwise(self, batch, extents, channels, kernel, stride, multiplier=1, **window):
        parameters = dict(batch=batch, height=extents[0], width=extents[1], channels=channels, kernel=kernel,
                          stride=stride, **window)
        if multiplier > 1:
            parameters["multiplier"] = multiplier
        self.add("depthwise_conv2d",
                 [floats(batch, channels, *extents), floats(channels, multiplier, kernel, kernel)],
                 lambda image, weight: depthwise_conv(image, weight, stride=stride, **window), **parameters)

    def add_capsule(self, batch, extents, channels, filters, kernel, size, **window):
        self.add("capsule_conv2d",
                 [floats(batch, *extents, channels, size, size), floats(kernel, kernel, channels, filters, size, size)],
                 lambda poses, weight: capsule_conv(poses, weight, **window), batch=batch, height=extents[0],
                 width=extents[1], in_channels=channels, out_channels=filters, kernel=kernel, capsule=size, **window)

    def add_shift(self, batch, extents, channels, kernel, **dilation):
        self.add("shift_conv2d",
                 [floats(batch, *extents, channels), integers(channels, low=0, high=kernel * kernel - 1)],
                 lambda image, choice: shift_conv(image, choice, kernel, **dilation), batch=batch, height=extents[0],
                 width=extents[1], channels=channels, kernel=kernel, **dilation)


def add_products(cases: Cases):
    for m, n, k in ((7, 13, 11), (1, 17, 1), (31, 1, 29)):
        cases.add("matmul", [floats(m, k), floats(k, n)], np.matmul, batch=1, m=m, n=n, k=k)
    cases.add("matmul", [floats(3, 5, 3), floats(3, 3, 19)], np.matmul, batch=3, m=5, n=19, k=3)
    for m, k in ((13, 29), (1, 7)):
        cases.add("gemv", [floats(m, k), floats(k)], np.matmul, m=m, k=k)
    for batch in (1, 3):
        cases.add("bilinear", [floats(batch, 7), floats(5, 7, 3), floats(batch, 3)],
                  lambda x, w, y: np.einsum("br,frs,bs->bf", x, w, y), batch=batch, out_features=5, in1_features=7,
                  in2_features=3)


def add_convolutions(cases: Cases):
    cases.add_conv("conv1d", conv, 1, (13,), 3, 5, 3, 1, padding=0)
    cases.add_conv("conv1d", conv, 3, (17,), 4, 6, 3, 2, groups=2, padding=5, dilation=2)
    cases.add_conv("conv2d", conv, 1, (7, 11), 3, 5, 3, 1, padding=1)
    cases.add_conv("conv2d", conv, 3, (11, 13), 6, 9, 3, 2, groups=3, padding=0, dilation=2)
    cases.add_conv("conv2d", conv, 1, (5, 7), 7, 3, 1, 2, padding=1)
    cases.add_conv("conv2d", conv, 3, (5, 3), 2, 3, 2, 1, padding=4)
    cases.add_conv("conv3d", conv, 1, (3, 5, 7), 2, 3, 3, 1, padding=1)
    cases.add_conv("conv3d", conv, 3, (5, 6, 7), 2, 4, 2, 2, groups=2, padding=0)
    cases.add_conv("conv2d_winograd", conv, 1, (9, 7), 5, 7, 3, 1, padding=1)
    cases.add_conv("conv2d_winograd", conv, 3, (8, 11), 3, 2, 3, 1, padding=0)
    affine = [floats(6, low=0.5, high=2), floats(6)]
    cases.add_conv("conv2d_bn_relu", conv_bn_relu, 1, (9, 5), 3, 6, 3, 1, operands=affine, padding=1)
    cases.add_conv("conv2d_bn_relu", conv_bn_relu, 3, (7, 8), 4, 6, 2, 3, groups=2, operands=affine, padding=0,
                   dilation=3)
    cases.add_depthwise(1, (9, 7), 5, 3, 2, multiplier=3, padding=1)
    cases.add_depthwise(3, (6, 11), 3, 3, 1, padding=5, dilation=2)
    cases.add_conv("conv1d_transpose", conv_transpose, 1, (7,), 3, 5, 3, 2, padding=1)
    cases.add_conv("conv1d_transpose", conv_transpose, 3, (5,), 2, 3, 2, 3, padding=0)
    cases.add_conv("conv1d_transpose", conv_transpose, 1, (9,), 2, 3, 3, 2, padding=4)
    cases.add_conv("conv2d_transpose", conv_transpose, 1, (5, 7), 3, 2, 4, 2, padding=1)
    cases.add_conv("conv2d_transpose", conv_transpose, 3, (4, 3), 5, 3, 3, 1, padding=2)
    cases.add_conv("conv3d_transpose", conv_transpose, 1, (3, 2, 4), 2, 3, 3, 2, padding=1)
    cases.add_conv("conv3d_transpose", conv_transpose, 3, (2, 3, 2), 3, 2, 1, 2, padding=0)


def add_others(cases: Cases):
    cases.add_capsule(1, (7, 5), 2, 3, 3, 4, stride=2, padding=1)
    cases.add_capsule(3, (4, 3), 3, 2, 1, 3, stride=1, padding=0)
    for batch, sequence, heads, size in ((1, 7, 3, 5), (3, 11, 2, 4), (1, 1, 1, 3)):
        shape = (batch, sequence, heads, size)
        cases.add("transpose_batch_matmul_softmax", [floats(*shape), floats(*shape)], transposed_softmax,
                  batch=batch, sequence=sequence, heads=heads, head_dim=size)
    for batch, m, n in ((1, 7, 13), (3, 1, 5)):
        cases.add("frobenius_norm", [floats(batch, m, n)], lambda a: np.sqrt(np.einsum("bij,bij->b", a, a)),
                  batch=batch, m=m, n=n)
    for rows, columns, block in ((12, 8, 4), (13, 11, 3), (5, 7, 1)):
        cases.add("block_circulant_matrix", [floats(rows, columns)],
                  lambda matrix, block=block: block_circulant(matrix, block), rows=rows, cols=columns, block=block)
    cases.add_shift(1, (5, 7), 9, 3)
    cases.add_shift(3, (7, 6), 5, 3, dilation=2)
    cases.add_shift(1, (3, 5), 4, 2)


def operator_cases() -> list[Case]:
    cases = Cases()
    add_products(cases)
    add_convolutions(cases)
    add_others(cases)
    return cases
