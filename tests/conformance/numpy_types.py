"""Expressions with indices that are read, with integers, conditions and doubles."""
import numpy as np

from numpy_cases import Case, expression, floats, integers, truths

I8 = np.int8
I64 = np.int64
U32 = np.uint32
U64 = np.uint64


def last_update(s, w, d):
    result = d.copy()
    for place, value in zip(s, w):
        if place >= 0:
            result[place] = value
    return result


def indirect() -> list[Case]:
    table = floats(11, 6)
    return [
        expression("embedding", "input E[11, 6]\nO[i:7, d:6] = E[s[i], d]", [table, integers(7, low=0, high=10)],
                   lambda e, s: e[s]),
        expression("constant_embedding", "input E[11, 6]\nO[i:7, d:6] = E[s[i], d] * w[d]",
                   [table, integers(7, low=0, high=10), floats(6)], lambda e, s, w: e[s] * w, constants=["E", "s"]),
        expression("weighted_bag", "input E[11, 6]\nO[b:3, d:6] = sum(k:4) E[s[b,k], d] * w[b,k]",
                   [table, integers(3, 4, low=0, high=10), floats(3, 4)],
                   lambda e, s, w: np.einsum("bkd,bk->bd", e[s], w)),
        expression("rows_and_columns", "input A[9, 8]\nC[i:5, j:7] = A[s[i], t[j]]",
                   [floats(9, 8), integers(5, low=0, high=8), integers(7, low=0, high=7)],
                   lambda a, s, t: a[np.ix_(s, t)]),
        expression("index_of_an_index", "input A[9]\ninput t[6] i32\nC[i:11] = A[t[s[i]]]",
                   [floats(9), integers(6, low=0, high=8), integers(11, low=0, high=5)], lambda a, t, s: a[t[s]]),
        expression("index_beside_an_axis", "input A[9, 4]\nC[h:5, c:4] = A[h + s[c] % 3 + s[c] / 3, c]",
                   [floats(9, 4), integers(4, low=0, high=8)],
                   lambda a, s: np.stack([a[k % 3 + k // 3:k % 3 + k // 3 + 5, c] for c, k in enumerate(s)], axis=1)),
        expression("index_left_out", "input E[9, 4]\ninput s[7] i32\n"
                   "O[i:7, d:4] = select(s[i] >= 0, E[s[i], d], 0.0)", [floats(9, 4), integers(7, low=-3, high=8)],
                   lambda e, s: np.where(s[:, None] >= 0, e[s], 0)),
        expression("one_hot", "input s[7] i32\nO[i:7, j:5] = select(s[i] == j, 1.0, 0.0)", [integers(7, low=0, high=5)],
                   lambda s: np.eye(6)[s][:, :5]),
        expression("histogram", "input s[31] i32\nH[b:5] = sum(i:31) select(s[i] == b, w[i], 0.0)",
                   [integers(31, low=0, high=4), floats(31)], lambda s, w: np.bincount(s, w, 5)),
        expression("last_update", "input s[31] i32\nL[b:9] = max(i:31) select(s[i] == b, i32(i), -1)\n"
                   "input w[31]\nC[b:9] = select(L[b] < 0, D[b], w[L[b]])",
                   [integers(31, low=-2, high=6), floats(31), floats(9)], last_update),
        expression("computed_index", "K[i:7] = i32(4.0 * abs(B[i]))\ninput A[5]\nC[i:7] = A[K[i]]",
                   [floats(5), floats(7, low=-0.99, high=0.99)], lambda a, b: a[(4 * np.abs(b)).astype(int)]),
    ]


def arithmetic() -> list[Case]:
    def mixed(s):
        return (s * 3 - 7) // 4 + s % 5 - np.abs(s) + np.clip(s, -3, 6)

    return [
        expression("integer_arithmetic", "input s[19] i32\n"
                   "C[i:19] = (s[i] * 3 - 7) / 4 + s[i] % 5 - abs(s[i]) + min(max(s[i], -3), 6)",
                   [integers(19, low=-50, high=50)], mixed),
        expression("wide_integer_arithmetic", "input s[19] i64\n"
                   "C[i:19] = (s[i] * 3 - 7) / 4 + s[i] % 5 - abs(s[i]) + min(max(s[i], -3), 6)",
                   [integers(19, low=-10**12, high=10**12, dtype=I64)], mixed),
        expression("long_products_wrap_around", "input A[5, 9] i64\ninput B[9] i64\nC[i:5] = sum(r:9) A[i,r] * B[r] * 3",
                   [integers(5, 9, low=-2**62, high=2**62, dtype=I64), integers(9, low=-2**62, high=2**62, dtype=I64)],
                   lambda a, b: a @ b * 3),
        expression("products_of_widened", "input A[37] i32\ninput B[37] i32\nC[i:37] = i64(A[i]) * i64(B[i])",
                   [integers(37, low=-2**31, high=2**31 - 1), integers(37, low=-2**31, high=2**31 - 1)],
                   lambda a, b: a.astype(I64) * b),
        expression("unsigned_division", "input A[37] u32\ninput B[37] u32\nC[i:37] = A[i] / B[i] + A[i] % B[i] * u32(3)",
                   [integers(37, low=0, high=2**32 - 1, dtype=U32), integers(37, low=1, high=2**31, dtype=U32)],
                   lambda a, b: a // b + a % b * U32(3)),
        expression("bits", "input A[37] u64\ninput B[37] u64\n"
                   "C[i:37] = bit_xor(bit_and(A[i], shift_left(B[i], u64(7))), bit_or(shift_right(A[i], u64(9)), B[i]))",
                   [integers(37, low=0, high=2**62, dtype=U64)] * 2,
                   lambda a, b: (a & (b << U64(7))) ^ ((a >> U64(9)) | b)),
        expression("bits_of_floats", "C[i:37] = bit_cast(f32, bit_xor(bit_cast(u32, A[i]), u32(2147483648)))",
                   [floats(37)], lambda a: -a),
        expression("functions_of_doubles", "input A[37] f64\nC[i:37] = exp(A[i]) + tanh(A[i]) * pow(abs(A[i]), f64(1.7))",
                   [floats(37, dtype=np.float64)], lambda a: np.exp(a) + np.tanh(a) * np.abs(a) ** 1.7, wide=True),
        expression("remainders_of_floats", "C[i:37] = A[i] * 9.0 % B[i]", [floats(37), floats(37, low=0.5, high=2)],
                   lambda a, b: np.fmod(a * np.float32(9), b)),
        expression("bytes_wrap_around", "input A[37] i8\ninput B[37] i8\nC[i:37] = A[i] + B[i] * i8(3)",
                   [integers(37, low=-128, high=127, dtype=I8)] * 2, lambda a, b: a + b * I8(3)),
        expression("indices_as_values", "C[i:7, j:5] = 10*i - j / 2", [],
                   lambda: 10 * np.arange(7)[:, None] - np.arange(5) // 2),
        expression("floats_to_integers", "C[i:37] = i32(8.0 * A[i])", [floats(37)],
                   lambda a: (8 * a).astype(np.int32)),
        expression("integers_to_floats", "input s[37] i32\nC[i:37] = f32(s[i]) * 0.25 + f32(i)",
                   [integers(37, low=-1000, high=1000)], lambda s: s * 0.25 + np.arange(37)),
        expression("negative_literals", "input s[9] i32\nC[i:9] = select(s[i] < -2, i8(200), i8(-3))",
                   [integers(9, low=-9, high=9)], lambda s: np.where(s < -2, I8(-56), I8(-3))),
    ]


def reductions() -> list[Case]:
    def extremes(a, b):
        return a.max(axis=1), b.min(axis=1)

    def dequantised(a, b):
        return (a.astype(np.float64) @ b) * 0.05

    product = ("input A[5, 37] i8\ninput B[37, 17] i8\n"
               "C[i:5, j:17] = sum(r:37) i32(A[i,r]) * i32(B[r,j])\n")
    bytes_of_a_product = [integers(5, 37, low=-128, high=127, dtype=I8), integers(37, 17, low=-128, high=127, dtype=I8)]
    cases = [
        expression("sum_of_squares", "input A[5, 31] i32\nC[i:5] = sum(r:31) A[i,r] * A[i,r]",
                   [integers(5, 31, low=-1000, high=1000)], lambda a: (a * a).sum(axis=1, dtype=np.int32)),
        expression("sum_that_wraps_around", "input A[3, 9] i32\nS[i:3] = sum(r:9) A[i,r]\nC[i:3] = f32(S[i])",
                   [integers(3, 9, low=0, high=2**31 - 1)],
                   lambda a: a.sum(axis=1, dtype=np.int32).astype(np.float64)),
        expression("product_of_bytes", product, bytes_of_a_product,
                   lambda a, b: a.astype(np.int32) @ b.astype(np.int32)),
        expression("dequantised_product", product + "D[i:5, j:17] = f32(C[i,j]) * 0.05", bytes_of_a_product,
                   dequantised, constants=["B"]),
        expression("count", "N[i:5] = sum(j:13) select(A[i,j] > 0.0, 1, 0)", [floats(5, 13)],
                   lambda a: (a > 0).sum(axis=1)),
        expression("place_of_the_largest", "M[i:5] = max(j:13) A[i,j]\n"
                   "K[i:5] = min(j:13) select(A[i,j] == M[i], j, 13)", [floats(5, 13)],
                   lambda a: a.argmax(axis=1)),
        expression("sum_in_double", "C[i:5] = sum(r:4099) f64(A[i,r]) * f64(B[r])", [floats(5, 4099), floats(4099)],
                   np.matmul, wide=True),
        expression("doubles", "input A[7, 31] f64\nC[i:7] = max(r:31) sqrt(abs(A[i,r])) / 3.0",
                   [floats(7, 31, dtype=np.float64)], lambda a: np.sqrt(np.abs(a)).max(axis=1) / 3, wide=True),
    ]
    for name, dtype in (("i8", I8), ("i32", np.int32), ("i64", I64)):
        text = (f"input A[5, 31] {name}\ninput B[5, 31] {name}\n"
                "largest[i:5] = max(r:31) A[i,r]\nleast[i:5] = min(r:31) B[i,r]")
        draws = [integers(5, 31, low=-100, high=-3, dtype=dtype), integers(5, 31, low=3, high=100, dtype=dtype)]
        cases.append(expression(f"extremes_of_{name}", text, draws, extremes))
    return cases


def conditions() -> list[Case]:
    return [
        expression("truths", "C[i:37] = A[i] < B[i] && !(A[i] == 0.0)", [floats(37), floats(37)],
                   lambda a, b: (a < b) & (a != 0)),
        expression("choice_by_truths", "input m[37] bool\nC[i:37] = select(m[i], A[i], B[i]) + f32(!m[i])",
                   [truths(37), floats(37), floats(37)], lambda m, a, b: np.where(m, a, b) + ~m),
    ]


def narrow() -> list[Case]:
    def halves(*shape):
        return floats(*shape, dtype=np.float16)

    def single(x):
        return x.astype(np.float32)

    return [
        expression("bytes_without_sign", "input A[37] u8\ninput B[37] u8\nC[i:37] = A[i] * 3 - B[i] / 7 + max(A[i], B[i])",
                   [integers(37, low=0, high=255, dtype=np.uint8)] * 2,
                   lambda a, b: a * np.uint8(3) - b // np.uint8(7) + np.maximum(a, b)),
        expression("words", "input A[37] i16\ninput B[37] i16\nC[i:37] = A[i] * B[i] - abs(A[i])",
                   [integers(37, low=-2**15, high=2**15 - 1, dtype=np.int16)] * 2, lambda a, b: a * b - np.abs(a)),
        expression("words_without_sign", "input A[41] u16\nC[i:41] = select(A[i] < 40000, A[i] % 7, A[i] + 30000)",
                   [integers(41, low=0, high=2**16 - 1, dtype=np.uint16)],
                   lambda a: np.where(a < 40000, a % np.uint16(7), a + np.uint16(30000))),
        expression("quantised_product", "input A[5, 37] u8\ninput B[37, 17] i8\n"
                   "C[i:5, j:17] = sum(r:37) i32(A[i,r]) * i32(B[r,j])",
                   [integers(5, 37, low=0, high=255, dtype=np.uint8), integers(37, 17, low=-128, high=127, dtype=I8)],
                   lambda a, b: a.astype(np.int32) @ b.astype(np.int32), constants=["B"]),
        expression("quantised", "C[i:37] = u8(min(max(floor(A[i] * 100.0 + 0.5) + 128.0, 0.0), 255.0))",
                   [floats(37, low=-2, high=2)],
                   lambda a: np.clip(np.floor(single(a) * np.float32(100) + np.float32(0.5)) + 128, 0, 255)
                   .astype(np.uint8)),
        expression("bytes_as_indices", "input s[7] u8\ninput E[201, 6]\nO[i:7, d:6] = E[s[i] + 1, d]",
                   [integers(7, low=0, high=199, dtype=np.uint8), floats(201, 6)],
                   lambda s, e: e[s.astype(int) + 1]),
        expression("half_product", "input A[5, 37] f16\ninput B[37, 17] f16\nC[i:5, j:17] = sum(r:37) A[i,r] * B[r,j]",
                   [halves(5, 37), halves(37, 17)], lambda a, b: a.astype(np.float64) @ b, constants=["B"]),
        expression("half_results", "input A[41] f16\ninput B[41] f16\nC[i:41] = f16(exp(A[i]) + B[i])",
                   [halves(41), halves(41)], lambda a, b: (np.exp(single(a)) + single(b)).astype(np.float16)),
        expression("halves_moved", "input A[5, 37] f16\nC[j:37, i:5] = A[i, j]", [halves(5, 37)], lambda a: a.T),
    ]


def typed_expressions() -> list[Case]:
    return [case for group in (indirect, arithmetic, reductions, conditions, narrow) for case in group()]
