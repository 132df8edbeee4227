#include "conformance/zoo.h"

namespace lathe::testing {
namespace {

constexpr ZooCase kCases[] = {
    {.name = "naive_matmul", .dag = "C[i:13, j:19] = sum(r:11) A[i,r] * B[r,j]"},
    {.name = "packed_matmul_peeled",
     .dag = "C[i:29, j:43] = sum(r:17) A[i,r] * B[r,j]",
     .constants = {"B"},
     .trace = R"(split C i [6]
split C j [2 8]
reorder C j.0 i.0 r i.1 j.1 j.2
parallel C j.0
unroll C i.1
unroll C j.1
vectorize C j.2
tail C i peel
tail C j pad
cache_read C B B.pack at=prepare scope=workspace layout=[1/16][0][1%16]
cache_write C C.reg at=i.0 scope=registers
tail C.reg.out i guard
tail C.reg.out j mask)"},
    {.name = "matmul_in_k_blocks",
     .dag = "C[i:14, j:24] = sum(r:21) A[i,r] * B[r,j]",
     .trace = R"(split C i [4]
split C j [8]
split C r [5]
reorder C r.0 i.0 j.0 r.1 i.1 j.1
unroll C i.1
vectorize C j.1
tail C r bound
tail C i pad
cache_read C A A.pack at=r.0 scope=thread layout=[0/4][1][0%4]
cache_write C C.reg at=j.0 scope=registers
tail C.reg.in i guard
tail C.reg.out i guard)"},
    {.name = "convolution_with_padding_bias_and_relu",
     .dag = R"(X.pad[c:3, h:9, w:9] = select(h > 0 && h < 8 && w > 0 && w < 8, X[c, h-1, w-1], 0.0)
Y[o:16, h:7, w:7] = sum(c:3, p:3, q:3) X.pad[c, h + p, w + q] * W[o, c, p, q]
Z[o:16, h:7, w:7] = max(Y[o, h, w] + b[o], 0.0))",
     .constants = {"W"},
     .trace = R"(inline X.pad
split Y o [8]
split Y w [4]
reorder Y o.0 h w.0 c p q w.1 o.1
unroll Y w.1
vectorize Y o.1
tail Y w peel
cache_read Y W W.pack at=prepare scope=workspace layout=[0/8][1][2][3][0%8]
cache_write Y Y.reg at=w.0 scope=registers
parallel Y o.0)"},
    {.name = "softmax",
     .dag = R"(M[i:5] = max(j:21) X[i, j]
E[i:5, j:21] = exp(X[i, j] - M[i])
S[i:5] = sum(j:21) E[i, j]
Y[i:5, j:21] = E[i, j] / S[i])",
     .trace = R"(split E j [8]
vectorize E j.1
tail E j mask
split Y j [8]
vectorize Y j.1
tail Y j guard)"},
    {.name = "depthwise_strided",
     .dag = "Y[c:6, h:4, w:9] = sum(p:3, q:3) X[c, 2*h + p, 2*w + q] * W[c, p, q]",
     .trace = R"(split Y w [8]
reorder Y c h w.0 p q w.1
vectorize Y w.1
tail Y w mask
parallel Y c)"},
    {.name = "overlapping_tiles", .dag = "Y[i:9, j:21] = X[i, j] * 2.0 + Z[j]", .trace = R"(split Y j [8]
vectorize Y j.1
tail Y j overlap
split Y i [4]
unroll Y i.1
tail Y i bound)"},
    {.name = "transposed_by_division",
     .dag = R"(D[y:9, x:9] = select(y % 2 == 0 && x % 2 == 0, X[y / 2, x / 2], 0.0)
Y[y:7, x:7] = sum(p:3, q:3) D[y + p, x + q] * W[p, q])",
     .trace = "inline D"},
    {.name = "gather",
     .dag = R"(input X[4, 5]
input I[12] i32
Y[i:12, j:5] = X[I[i], j] + X[0, j] * 0.5)",
     .trace = R"(split Y j [4]
vectorize Y j.1
tail Y j mask)"},
    {.name = "indices_computed_and_inlined",
     .dag = R"(input X[5, 7]
K[i:12] = i32(4.0 * abs(B[i]))
Y[i:12, j:7] = X[K[i] % 5, j] * Z[j] + f32(K[i]))",
     .trace = R"(inline K
split Y j [4]
vectorize Y j.1
tail Y j mask)"},
    {.name = "maths",
     .dag = "Y[i:37] = tanh(X[i]) + erf(X[i]) * exp(X[i]) - sqrt(abs(X[i])) + log(abs(X[i]) + 1.0)",
     .trace = R"(split Y i [8]
vectorize Y i.1
tail Y i mask)"},
    {.name = "largest_and_smallest",
     .dag = R"(A[i:6] = max(j:33) X[i, j]
B[i:6] = min(j:33) X[i, j]
Y[i:6] = A[i] - B[i])",
     .trace = R"(reorder A j i
cache_write B B.reg at=i scope=registers)"},
    {.name = "products_in_parts",
     .dag = R"(input N[6, 33] i32
A[i:6] = product(j:33) X[i, j] + 0.75
B[i:6] = product(j:33) N[i, j] + 3
Y[i:6] = A[i] + f32(B[i]))",
     .trace = R"(split A j [8]
rfactor A j.1
split B i [4]
reorder B i.0 j i.1
vectorize B i.1
tail B i mask
vectorize A.rf j.1)"},
    {.name = "largest_and_smallest_integers",
     .dag = R"(input X[6, 33] i32
A[i:6] = max(j:33) -X[i, j] - 5
B[i:6] = min(j:33) X[i, j] + 7
Y[i:6] = f32(A[i] * B[i]))",
     .trace = R"(split A i [4]
reorder A i.0 j i.1
vectorize A i.1
tail A i mask
reorder B j i
cache_write B B.reg at=i scope=registers)"},
    {.name = "blocked_layouts",
     .dag = "Y[c:20, h:5, w:6] = max(p:2, q:2) X[c, h + p, w + q]",
     .trace = R"(layout X [0/8][1][2][0%8]
layout Y [0/8][1][2][0%8]
split Y c [8]
reorder Y c.0 h w p q c.1
vectorize Y c.1
tail Y c pad)",
     .free_layouts = true},
};

}  // namespace

std::span<const ZooCase> zoo() { return kCases; }

}  // namespace lathe::testing
