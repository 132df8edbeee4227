"""Expressions of f32: products, reductions, moved elements, windows, structured matrices, networks' layers."""
import math

import numpy as np

from numpy_cases import Case, expression, floats, signed


def products() -> list[Case]:
    return [
        expression("argument_twice", "C[i:9, j:9] = sum(r:5) A[i,r] * A[j,r]", [floats(9, 5)], lambda a: a @ a.T),
        expression("three_factors", "C[i:5, j:7] = sum(r:11, s:3) A[i,r] * B[r,s] * D[s,j]",
                   [floats(5, 11), floats(11, 3), floats(3, 7)], lambda a, b, d: a @ b @ d),
        expression("two_products", "T[i:13, k:7] = sum(r:5) A[i,r] * B[r,k]\nC[i:13, j:11] = sum(k:7) T[i,k] * D[k,j]",
                   [floats(13, 5), floats(5, 7), floats(7, 11)], lambda a, b, d: a @ b @ d),
        expression("matrix_cubed", "B[i:7, j:7] = sum(r:7) A[i,r] * A[r,j]; C[i:7, j:7] = sum(r:7) B[i,r] * A[r,j]",
                   [floats(7, 7)], lambda a: np.linalg.matrix_power(a, 3)),
        expression("prime_extents", "C[i:31, j:37] = sum(r:41) A[i,r] * B[r,j]", [floats(31, 41), floats(41, 37)],
                   np.matmul),
        expression("extents_of_one", "C[i:1, j:37, k:1] = sum(r:1) A[i,r] * B[r,j] + D[k]",
                   [floats(1, 1), floats(1, 37), floats(1)], lambda a, b, d: (a @ b)[:, :, None] + d),
        expression("long_sum", "C[i:3] = sum(r:4099) A[i,r] * B[r]", [floats(3, 4099), floats(4099)], np.matmul),
        expression("trace", "t[] = sum(i:11) A[i,i]", [floats(11, 11)], np.trace),
        expression("outer", "C[i:7, j:11] = A[i] * B[j] + A[i]", [floats(7), floats(11)],
                   lambda a, b: np.outer(a, b) + a[:, None]),
        expression("transposed_operands", "C[b:3, i:5, j:7] = sum(r:11) A[b,r,i] * B[b,j,r]",
                   [floats(3, 11, 5), floats(3, 7, 11)], lambda a, b: np.einsum("bri,bjr->bij", a, b)),
        expression("constant_transposed", "C[i:13, j:17] = sum(r:11) A[i,r] * B[j,r]", [floats(13, 11), floats(17, 11)],
                   lambda a, b: a @ b.T, constants=["B"]),
        expression("all_constant", "C[i:9, j:7] = sum(r:5) A[i,r] * B[r,j]", [floats(9, 5), floats(5, 7)], np.matmul,
                   constants=["A", "B"]),
        expression("six_dimensional_sum", "C[a:2, b:1, c:3] = sum(d:5, e:2, f:7) A[a,b,c,d,e,f] * W[d,e,f]",
                   [floats(2, 1, 3, 5, 2, 7), floats(5, 2, 7)], lambda a, w: np.tensordot(a, w, 3)),
        expression("bias_and_residual", "T[i:13, j:19] = sum(r:7) A[i,r] * B[r,j]\n"
                   "C[i:13, j:19] = max(T[i,j] + b[j], 0.0) + X[i,j]",
                   [floats(13, 7), floats(7, 19), floats(19), floats(13, 19)],
                   lambda a, b, bias, x: np.maximum(a @ b + bias, 0) + x, constants=["B", "b"]),
    ]


def reductions() -> list[Case]:
    rows = floats(5, 13)
    return [
        expression("chain_of_reductions", "S[i:7] = sum(r:11) A[i,r] * A[i,r]\no[] = max(i:7) S[i]", [floats(7, 11)],
                   lambda a: (a * a).sum(axis=1).max()),
        expression("largest_of_columns", "m[j:13] = max(i:5) A[i,j]", [rows], lambda a: a.max(axis=0)),
        expression("least_of_rows", "m[i:5] = min(j:13) A[i,j]", [rows], lambda a: a.min(axis=1)),
        expression("largest_sum", "C[i:7, j:5] = max(r:11) A[i,r] + B[r,j]", [floats(7, 11), floats(11, 5)],
                   lambda a, b: (a[:, :, None] + b).max(axis=1)),
        expression("least_distance", "C[i:7] = min(j:5) abs(A[i] - B[j])", [floats(7), floats(5)],
                   lambda a, b: np.abs(a[:, None] - b).min(axis=1)),
        expression("product_of_columns", "m[j:13] = product(i:5) A[i,j]", [rows], lambda a: a.prod(axis=0)),
        expression("product_of_sums", "C[i:7, j:5] = product(r:11) A[i,r] + B[r,j]", [floats(7, 11), floats(11, 5)],
                   lambda a, b: (a[:, :, None] + b).prod(axis=1)),
        expression("squared_distances", "C[i:7, j:5] = sum(r:3) (A[i,r] - B[j,r]) * (A[i,r] - B[j,r])",
                   [floats(7, 3), floats(5, 3)], lambda a, b: ((a[:, None] - b) ** 2).sum(axis=2)),
        expression("several_outputs", "S[i:5] = sum(j:13) A[i,j]\nM[i:5] = max(j:13) A[i,j]\n"
                   "D[i:5, j:13] = A[i,j] - M[i]", [rows],
                   lambda a: (a.sum(axis=1), a - a.max(axis=1, keepdims=True))),
        expression("intermediate_outputs", "E[i:5, j:13] = exp(A[i,j])\nT[i:5] = sum(j:13) E[i,j]\n"
                   "output T\noutput E", [rows], lambda a: (np.exp(a).sum(axis=1), np.exp(a))),
        expression("scalar_operand", "d[] = sum(i:7) A[i] * k[]", [floats(7), floats()], lambda a, k: (a * k).sum()),
        expression("unused_input", "input U[3]\nC[i:4] = 2.0 * A[i]", [floats(3), floats(4)], lambda u, a: 2 * a),
        expression("no_input", "C[i:5, j:3] = f32(3*i + j) * 0.5", [], lambda: np.arange(15.0).reshape(5, 3) / 2),
        expression("words_of_c", "long[auto:5] = double[auto] * main[auto] + sum[auto]", [floats(5)] * 3,
                   lambda a, b, c: a * b + c),
    ]


def moves() -> list[Case]:
    def depth_to_space(a):
        result = np.empty((2, 3, 8, 6))
        for y, x in np.ndindex(2, 2):
            first = 3 * y + 6 * x
            result[:, :, y::2, x::2] = a[:, first:first + 3]
        return result

    return [
        expression("transposes", "C[k:5, i:3, j:7] = A[i,j,k] + B[k,j,i]", [floats(3, 7, 5), floats(5, 7, 3)],
                   lambda a, b: a.transpose(2, 0, 1) + b.transpose(0, 2, 1)),
        expression("six_dimensions", "C[a:2, b:3, c:1, d:5, e:2, f:3] = A[f,e,d,c,b,a] * B[a,f]",
                   [floats(3, 2, 5, 1, 3, 2), floats(2, 3)], lambda a, b: a.T * b.reshape(2, 1, 1, 1, 1, 3)),
        expression("strides_and_reversals", "C[i:6, j:4] = A[11 - 2*i, 3*j + 1] - A[2*i, 10 - 3*j]", [floats(12, 11)],
                   lambda a: a[11::-2, 1::3] - a[0::2, 10:0:-3]),
        expression("diagonals", "D[i:9] = A[i,i] - A[i, i + 1] + A[i + 1, i]", [floats(10, 10)],
                   lambda a: np.diag(a)[:9] - np.diag(a, 1) + np.diag(a, -1)),
        expression("split_index", "C[i:35] = A[i / 7, i % 7]", [floats(5, 7)], np.ravel),
        expression("joined_index", "C[i:5, j:7] = A[7*i + j]", [floats(35)], lambda a: a.reshape(5, 7)),
        expression("permuted_by_modulo", "C[i:12] = A[(5*i + 3) % 12]", [floats(12)],
                   lambda a: np.array([a[(5 * i + 3) % 12] for i in range(12)])),
        expression("depth_to_space", "C[n:2, c:3, y:8, x:6] = A[n, c + 3*(y % 2) + 6*(x % 2), y / 2, x / 2]",
                   [floats(2, 12, 4, 3)], depth_to_space),
        expression("concatenation", "C[i:9, j:3] = select(i < 4, A[i,j], B[i - 4, j])", [floats(4, 3), floats(5, 3)],
                   lambda a, b: np.concatenate([a, b])),
        expression("nearest_upsampling", "C[c:3, y:10, x:9] = A[c, y / 2, x / 3]", [floats(3, 5, 3)],
                   lambda a: a.repeat(2, axis=1).repeat(3, axis=2)),
        expression("linear_upsampling",
                   "C[i:12] = A[i / 2] * (1.0 - 0.5 * f32(i % 2)) + A[i / 2 + 1] * (0.5 * f32(i % 2))", [floats(7)],
                   lambda a: np.interp(np.arange(12) / 2, np.arange(7), a)),
        expression("reflected_border",
                   "input A[7]\nC[i:11] = A[select(i < 2, 2 - i, select(i >= 9, 14 - i, i - 2))]", [floats(7)],
                   lambda a: np.pad(a, 2, "reflect")),
        expression("repeated_border",
                   "input A[5, 7]\nC[y:9, x:11] = A[min(max(y - 2, 0), 4), min(max(x - 2, 0), 6)]", [floats(5, 7)],
                   lambda a: np.pad(a, 2, "edge")),
        expression("zero_border",
                   "C[y:7, x:9] = select(y >= 1 && y < 6 && x >= 2 && x < 7, A[y - 1, x - 2], 0.0)", [floats(5, 5)],
                   lambda a: np.pad(a, ((1, 1), (2, 2)))),
    ]


def slices(a: np.ndarray, kernel: tuple, stride: int, counts: tuple) -> np.ndarray:
    """The last two dimensions as each position of the kernel sees them."""
    return np.stack([a[..., y:y + stride * (counts[0] - 1) + 1:stride, x:x + stride * (counts[1] - 1) + 1:stride]
                     for y, x in np.ndindex(*kernel)])


def windows() -> list[Case]:
    def stencil(a):
        result = a.copy()
        result[1:-1] = np.convolve(a, [0.25, 0.5, 0.25], "valid")
        return result

    def inner_mean(a):
        count = slices(np.pad(np.ones((5, 5)), 1), (3, 3), 1, (5, 5)).sum(axis=0)
        return slices(np.pad(a, 1), (3, 3), 1, (5, 5)).sum(axis=0) / count

    inside = "y + p >= 1 && y + p < 6 && x + q >= 1 && x + q < 6"
    return [
        expression("max_pool", "P[n:2, c:3, y:4, x:5] = max(p:3, q:2) A[n, c, 2*y + p, 2*x + q]", [floats(2, 3, 9, 10)],
                   lambda a: slices(a, (3, 2), 2, (4, 5)).max(axis=0)),
        expression("min_pool_with_border",
                   f"P[y:5, x:5] = min(p:3, q:3) select({inside}, A[y + p - 1, x + q - 1], inf)", [floats(5, 5)],
                   lambda a: slices(np.pad(a, 1, constant_values=np.inf), (3, 3), 1, (5, 5)).min(axis=0)),
        expression("mean_without_border",
                   f"S[y:5, x:5] = sum(p:3, q:3) select({inside}, A[y + p - 1, x + q - 1], 0.0)\n"
                   f"N[y:5, x:5] = sum(p:3, q:3) select({inside}, 1.0, 0.0)\nM[y:5, x:5] = S[y,x] / N[y,x]",
                   [floats(5, 5)], inner_mean),
        expression("stencil", "C[i:13] = select(i >= 1 && i < 12, "
                   "0.25 * A[i - 1] + 0.5 * A[i] + 0.25 * A[i + 1], A[i])", [floats(13)], stencil),
        expression("table_of_weights",
                   "table G[3, 3] = {1, 0, -1, 2, 0, -2, 1, 0, -1}\n"
                   "C[y:5, x:6] = sum(p:3, q:3) A[y + p, x + q] * G[p,q]", [floats(7, 8)],
                   lambda a: np.tensordot([1, 0, -1, 2, 0, -2, 1, 0, -1], slices(a, (3, 3), 1, (5, 6)), 1)),
        expression("strided_and_dilated", "C[i:9] = sum(k:4) A[2*i + 3*k] * w[k]", [floats(26), floats(4)],
                   lambda a, w: sum(w[k] * a[3 * k:3 * k + 17:2] for k in range(4))),
    ]


def structured() -> list[Case]:
    return [
        expression("circulant", "C[i:7, j:5] = sum(k:7) c[(i - k) % 7] * A[k,j]", [floats(7), floats(7, 5)],
                   lambda c, a: np.stack([np.roll(c, k) for k in range(7)], axis=1) @ a),
        expression("hankel", "C[i:6, j:4] = sum(k:5) h[i + k] * A[k,j]", [floats(10), floats(5, 4)],
                   lambda h, a: np.lib.stride_tricks.sliding_window_view(h, 5) @ a),
        expression("toeplitz", "C[i:6] = sum(k:5) t[i - k + 4] * x[k]", [floats(10), floats(5)],
                   lambda t, x: np.convolve(t, x)[4:10]),
        expression("lower_triangle", "C[i:9, j:7] = sum(r:9) select(r <= i, A[i,r] * B[r,j], 0.0)",
                   [floats(9, 9), floats(9, 7)], lambda a, b: np.tril(a) @ b),
        expression("strict_upper_triangle", "input A[11, 11]\ns[i:11] = sum(r:11) select(r > i, A[i,r], 0.0)",
                   [floats(11, 11)], lambda a: np.triu(a, 1).sum(axis=1)),
        expression("band", "C[i:9, j:5] = sum(r:9) select(r - i <= 2 && i - r <= 1, A[i,r] * B[r,j], 0.0)",
                   [floats(9, 9), floats(9, 5)], lambda a, b: np.triu(np.tril(a, 2), -1) @ b),
        expression("running_sum", "C[i:13] = sum(r:13) select(r <= i, A[r], 0.0)", [floats(13)], np.cumsum),
        expression("running_largest", "C[i:13] = max(r:13) select(r <= i, A[r], -inf)", [floats(13)],
                   np.maximum.accumulate),
    ]


def softmax(a):
    powers = np.exp(a - a.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def layers() -> list[Case]:
    def causal_attention(q, k, v):
        scores = np.where(np.tri(9, dtype=bool), q @ k.T, -np.inf)
        return softmax(scores) @ v

    def layer_norm(a, gamma, beta):
        centred = a - a.mean(axis=1, keepdims=True)
        return centred / np.sqrt((centred ** 2).mean(axis=1, keepdims=True) + 1e-5) * gamma + beta

    rows = [floats(5, 13, low=-3, high=3)]
    largest = "M[i:5] = max(j:13) A[i,j]\n"
    mean = "m[i:5] = sum(j:13) A[i,j] / 13.0\n"
    return [
        expression("softmax", largest + "E[i:5, j:13] = exp(A[i,j] - M[i])\nT[i:5] = sum(j:13) E[i,j]\n"
                   "C[i:5, j:13] = E[i,j] / T[i]", rows, softmax),
        expression("log_softmax", largest + "T[i:5] = sum(j:13) exp(A[i,j] - M[i])\n"
                   "C[i:5, j:13] = A[i,j] - M[i] - log(T[i])", rows, lambda a: np.log(softmax(a))),
        expression("causal_attention",
                   "S[i:9, j:9] = sum(r:4) Q[i,r] * K[j,r]\nM[i:9] = max(j:9) select(j <= i, S[i,j], -inf)\n"
                   "E[i:9, j:9] = select(j <= i, exp(S[i,j] - M[i]), 0.0)\nT[i:9] = sum(j:9) E[i,j]\n"
                   "O[i:9, d:5] = sum(j:9) E[i,j] / T[i] * V[j,d]", [floats(9, 4), floats(9, 4), floats(9, 5)],
                   causal_attention),
        expression("layer_norm", mean + "v[i:5] = sum(j:13) (A[i,j] - m[i]) * (A[i,j] - m[i]) / 13.0\n"
                   "C[i:5, j:13] = (A[i,j] - m[i]) / sqrt(v[i] + 1e-5) * gamma[j] + beta[j]",
                   [*rows, floats(13), floats(13)], layer_norm, constants=["gamma", "beta"]),
        expression("gelu", "C[i:31] = 0.5 * A[i] * (1.0 + erf(A[i] * 0.7071067811865476))",
                   [floats(31, low=-4, high=4)],
                   lambda a: np.array([x / 2 * (1 + math.erf(x / math.sqrt(2))) for x in a])),
        expression("gelu_by_tanh",
                   "C[i:31] = 0.5 * A[i] * (1.0 + tanh(0.7978845608 * (A[i] + 0.044715 * pow(A[i], 3.0))))",
                   [floats(31, low=-4, high=4)],
                   lambda a: a / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a ** 3)))),
        expression("silu_and_softplus", "C[i:31] = A[i] / (1.0 + exp(-A[i])) + log(1.0 + exp(A[i]))",
                   [floats(31, low=-8, high=8)], lambda a: a / (1 + np.exp(-a)) + np.log1p(np.exp(a))),
        expression("group_mean", "m[n:2, g:3] = sum(c:4, x:5) A[n, 4*g + c, x] * 0.05\n"
                   "C[n:2, c:12, x:5] = A[n,c,x] - m[n, c / 4]", [floats(2, 12, 5)],
                   lambda a: a - a.reshape(2, 3, 20).mean(axis=2).repeat(4, axis=1)[:, :, None]),
    ]


def functions() -> list[Case]:
    return [
        expression("powers", "C[i:13] = pow(A[i], 5.0) + pow(A[i], -3.0) + pow(A[i], 17.0) + pow(abs(A[i]), 2.5)",
                   [signed(13, low=0.5, high=1.5)], lambda a: a ** 5 + a ** -3 + a ** 17 + np.abs(a) ** 2.5),
        expression("powers_of_tensors", "C[i:11, j:7] = pow(A[i], B[j])",
                   [signed(11, low=0.5, high=2), lambda generator: np.arange(-3, 4, dtype=np.float32)],
                   lambda a, b: a[:, None] ** b),
        expression("clamps", "C[i:17] = min(max(3.0 * A[i], -1.0), 1.0) + abs(A[i]) - floor(4.0 * A[i])", [floats(17)],
                   lambda a: np.clip(3 * a, -1, 1) + np.abs(a) - np.floor(4 * a)),
        expression("conditions", "C[i:17] = select(!(A[i] < 0.0) && (i % 3 != 1 || A[i] >= 0.5), A[i], -2.0 * A[i])",
                   [floats(17)],
                   lambda a: np.where((a >= 0) & ((np.arange(17) % 3 != 1) | (a >= 0.5)), a, -2 * a)),
        expression("roots_and_logarithms", "C[i:17] = log(A[i]) + sqrt(A[i]) / A[i]", [floats(17, low=0.01, high=9)],
                   lambda a: np.log(a) + np.sqrt(a) / a),
        expression("sines", "C[i:37] = sin(A[i]) + cos(3.0 * A[i])", [floats(37, low=-9, high=9)],
                   lambda a: np.sin(a) + np.cos(3 * a)),
        expression("roundings", "C[i:37] = ceil(A[i]) + 10.0 * round(A[i]) + 100.0 * truncate(A[i])\n"
                   "D[i:37] = copy_sign(2.0, A[i]) * A[i]", [lambda generator: np.arange(-18, 19, dtype=np.float32) / 4],
                   lambda a: (np.ceil(a) + 10 * np.round(a) + 100 * np.trunc(a), np.copysign(2, a) * a)),
    ]


def float_expressions() -> list[Case]:
    groups = (products, reductions, moves, windows, structured, layers, functions)
    return [case for group in groups for case in group()]
