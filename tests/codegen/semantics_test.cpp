// What statements and accesses mean, on every backend: the same hand-written programs, the same numbers.
#include "codegen/backend_test.h"

namespace lathe::testing {
namespace {

class SemanticsTest : public BackendTest {};
INSTANTIATE_TEST_SUITE_P(Backends, SemanticsTest, kAllBackends, backend_name);

std::vector<double> gemm_reference(const GemmShape& s, const std::vector<double>& a,
                                   const std::vector<double>& b) {
  std::vector<double> c(static_cast<size_t>(s.m * s.n));
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      for (int64_t r = 0; r < s.k; ++r) {
        c[static_cast<size_t>(i * s.n + j)] +=
            a[static_cast<size_t>(i * s.k + r)] * b[static_cast<size_t>(packed_offset(s, r, j))];
      }
    }
  }
  return c;
}

TEST_P(SemanticsTest, GemmWithTailsOfRowsAndColumns) {
  for (const GemmShape shape : {GemmShape{13, 19, 7, 6, 2, 8}, GemmShape{12, 32, 5, 6, 2, 8},
                                GemmShape{3, 5, 1, 4, 3, 8}, GemmShape{14, 33, 9, 12, 2, 16}}) {
    const int64_t width = static_cast<int64_t>(shape.vectors) * shape.lanes;
    const std::vector<double> a = scattered(shape.m * shape.k, 5);
    const std::vector<double> b = scattered((shape.n + width - 1) / width * width * shape.k, 7);
    EXPECT_EQ(result(gemm(shape), {a, b}), gemm_reference(shape, a, b));
  }
}

TEST_P(SemanticsTest, ParallelLoopsRunWithAndWithoutPool) {
  const GemmShape shape{13, 83, 7, 6, 2, 8, true};
  const std::vector<double> a = scattered(shape.m * shape.k, 5);
  const std::vector<double> b = scattered(96 * shape.k, 7);
  for (int threads : {0, 1, 2, 3})
    EXPECT_EQ(result(gemm(shape), {a, b}, threads), gemm_reference(shape, a, b));
}

// The condition reads what a side gives: elsewhere the other side counts, 0 too.
TEST_P(SemanticsTest, ASelectWhoseConditionReadsItsSide) {
  LoweredBuilder builder;
  const Tensor in = builder.input("in", 16);
  const Tensor out = builder.output("out", 24);
  const auto vector = [&] { return vector_load(in, 0, 8); };
  const Expr bound = broadcast(Expr(4.0), 8), zero = broadcast(Expr(0.0), 8);
  const Var i("i");
  const auto element = [&] { return load(in, {Affine(i) + 8}); };
  builder.main(make_seq(
      {vector_store(out, 0, select(bound < vector(), vector(), zero)),
       vector_store(out, 8, select(bound < vector(), zero, vector())),
       loop(i, 8, store(out, Affine(i) + 16, select(Expr(11.0) < element(), element(), Expr(0.0))))}));
  std::vector<double> expected;
  const std::vector<double> x = counted(16);
  for (size_t n = 0; n < 8; ++n) expected.push_back(x[n] > 4 ? x[n] : 0);
  for (size_t n = 0; n < 8; ++n) expected.push_back(x[n] > 4 ? 0 : x[n]);
  for (size_t n = 8; n < 16; ++n) expected.push_back(x[n] > 11 ? x[n] : 0);
  EXPECT_EQ(result(builder.lowered(), {x}), expected);
}

// Vectors whose elements go between each other's, in as many steps as the stride is long and in fewer.
TEST_P(SemanticsTest, StoresOfSeveralVectorsBetweenEachOther) {
  for (const DType dtype : {DType::f32, DType::u8}) {
    for (const int stride : {2, 3, 4, 8}) {
      LoweredBuilder builder;
      const Tensor in = builder.input("in", 8 * stride, dtype);
      const Tensor out = builder.output("out", 8 * stride, dtype);
      std::vector<Stmt> stores;
      for (int part = 0; part < stride; ++part)
        stores.push_back(vector_store(out, part, vector_load(in, 8 * part, 8), stride));
      builder.main(make_seq(stores));
      const std::vector<double> numbers = counted(8 * stride);
      std::vector<double> expected;
      for (size_t lane = 0; lane < 8; ++lane) {
        for (size_t part = 0; part < static_cast<size_t>(stride); ++part)
          expected.push_back(numbers[8 * part + lane]);
      }
      EXPECT_EQ(result(builder.lowered(), {numbers}), expected) << stride;
    }
  }
}

// Threads have arenas of their own, and see the variables of the loops around.
TEST_P(SemanticsTest, ThreadArenasAndCapturedVariables) {
  LoweredBuilder builder;
  const Tensor in = builder.input("in", 64);
  const Tensor out = builder.output("out", 64);
  const Tensor scratch = builder.buffer("scratch", 8, Arena::thread);
  const Tensor shared = builder.buffer("shared", 64, Arena::workspace);
  const Var o("o"), p("p"), i("i"), j("j"), k("k");
  const Affine row = Affine(o) * 32 + Affine(p) * 8;
  const Stmt fill = loop(i, 8, store(scratch, i, load(in, {row + i}) * Expr(2.0)));
  const Stmt use = loop(j, 8, store(shared, row + j, load(scratch, {Affine(7) - Affine(j)})));
  const Stmt parallel = loop(p, 4, builder.scoped(scratch, make_seq({fill, use})), LoopKind::parallel);
  const Stmt copy = loop(k, 64, store(out, k, load(shared, {k})));
  builder.main(builder.scoped(shared, make_seq({loop(o, 2, parallel), copy})));
  std::vector<double> expected(64);
  for (size_t n = 0; n < 64; ++n) expected[n] = static_cast<double>(2 * (n + 7 - 2 * (n % 8)));
  for (int threads : {0, 2, 3}) EXPECT_EQ(result(builder.lowered(), {counted(64)}, threads), expected);
}

// The side that is not taken may lie outside of the buffer, which ends at a guard page.
TEST_P(SemanticsTest, VectorSelectMasksItsLoads) {
  LoweredBuilder builder;
  const Tensor in = builder.input("in", 30);
  const Tensor out = builder.output("out", 32);
  const Var i("i");
  const Affine at = Affine(i) * 8;
  const Expr low = broadcast(Expr(0), 8) < ramp(at, 8);
  const Expr high = lanes_below(at, 31, 8);
  const Expr value =
      select(low && high, vector_load(in, at - 1, 8) + broadcast(Expr(1.0), 8), broadcast(Expr(-5.0), 8));
  builder.main(loop(i, 4, vector_store(out, at, value)));
  std::vector<double> expected = counted(32);
  expected.front() = expected.back() = -5;
  EXPECT_EQ(result(builder.lowered(), {counted(30)}), expected);
}

TEST_P(SemanticsTest, UniformSelectOverVectors) {
  LoweredBuilder builder;
  const Tensor in = builder.input("in", 16);
  const Tensor out = builder.output("out", 32);
  const Var i("i");
  const Expr taken = broadcast(Expr(i) < Expr(2), 8);
  const Expr zero = broadcast(Expr(0.0), 8);
  builder.main(
      loop(i, 4, vector_store(out, Affine(i) * 8, select(taken, vector_load(in, Affine(i) * 8, 8), zero))));
  std::vector<double> expected = counted(16, 1);
  expected.resize(32, 0);
  EXPECT_EQ(result(builder.lowered(), {counted(16, 1)}), expected);
}

TEST_P(SemanticsTest, MaskedLoadsGiveZeroAndMaskedStoresKeep) {
  LoweredBuilder builder;
  const Tensor in = builder.input("in", 13);
  const Tensor out = builder.output("out", 29);
  const Var i("i"), k("k");
  const Affine at = Affine(i) * 8;
  const Expr value = vector_load(in, at, 8, 1, lanes_below(at, 13, 8)) + broadcast(Expr(1.0), 8);
  builder.main(make_seq({loop(k, 29, store(out, k, Expr(-1.0))),
                         loop(i, 2, vector_store(out, at, value, 1, lanes_below(at, 15, 8))),
                         loop(i, 2, vector_store(out, at + 16, value, 1, lanes_below(at, 13, 8)))}));
  std::vector<double> expected = counted(13, 1);
  expected.insert(expected.end(), {1, 1, -1});
  for (double v : counted(13, 1)) expected.push_back(v);
  EXPECT_EQ(result(builder.lowered(), {counted(13)}), expected);
}

TEST_P(SemanticsTest, StridedVectors) {
  for (int64_t stride : {2, 3, -1, 5}) {
    LoweredBuilder builder;
    const int64_t room = 15 * (stride < 0 ? -stride : stride) + 1;
    const Tensor in = builder.input("in", room);
    const Tensor out = builder.output("out", 16 + room);
    const int64_t first = stride < 0 ? room - 1 : 0;
    const Var i("i"), k("k");
    const Expr lanes = vector_load(in, Affine(i) * (8 * stride) + first, 8, stride);
    builder.main(make_seq(
        {loop(k, 16 + room, store(out, k, Expr(-1.0))), loop(i, 2, vector_store(out, Affine(i) * 8, lanes)),
         loop(i, 2, vector_store(out, Affine(i) * (8 * stride) + first + 16, lanes, stride))}));
    std::vector<double> expected(static_cast<size_t>(16 + room), -1);
    for (int64_t n = 0; n < 16; ++n) {
      const int64_t from = first + n * stride;
      expected[static_cast<size_t>(n)] = expected[static_cast<size_t>(16 + from)] = static_cast<double>(from);
    }
    EXPECT_EQ(result(builder.lowered(), {counted(room)}), expected) << "stride " << stride;
  }
}

TEST_P(SemanticsTest, MaskedStridedVectors) {
  LoweredBuilder builder;
  const Tensor in = builder.input("in", 25);
  const Tensor out = builder.output("out", 25);
  const Var i("i"), k("k");
  const Affine at = Affine(i) * 8;
  const Expr mask = lanes_below(at, 13, 8);
  const Expr value = vector_load(in, at * 2, 8, 2, mask) + broadcast(Expr(100.0), 8);
  builder.main(make_seq(
      {loop(k, 25, store(out, k, Expr(-1.0))), loop(i, 2, vector_store(out, at * 2, value, 2, mask))}));
  std::vector<double> expected(25, -1);
  for (size_t n = 0; n < 25; n += 2) expected[n] = 100.0 + static_cast<double>(n);
  EXPECT_EQ(result(builder.lowered(), {counted(25)}), expected);
}

// Each is stored in front of one that is there already and must stay.
TEST_P(SemanticsTest, MaskedStoresOfNarrowedValuesWriteNoMoreThanTheirLanes) {
  for (const auto& [wide, narrow] : {std::pair(DType::i32, DType::i8),
                                     {DType::i64, DType::i32},
                                     {DType::i64, DType::i8},
                                     {DType::f64, DType::f32}}) {
    for (const int64_t live : {1, 2, 3, 7}) {
      LoweredBuilder builder;
      const Tensor in = builder.input("in", 32, wide);
      const Tensor out = builder.output("out", 32, narrow);
      const Var i("i"), k("k");
      const Affine at = Affine(i) * 16;
      const Expr value = cast({narrow, 16}, vector_load(in, at, 16));
      builder.main(make_seq({loop(k, 32, store(out, k, cast({narrow}, Expr(100)))),
                             loop(i, 2, vector_store(out, at, value, 1, lanes_below(Affine(0), live, 16)))}));
      std::vector<double> expected(32, 100);
      for (size_t n = 0; n < 32; ++n) {
        if (static_cast<int64_t>(n) % 16 < live) expected[n] = -static_cast<double>(n) - 1;
      }
      std::vector<double> values = counted(32, 1);
      for (double& element : values) element = -element;
      EXPECT_EQ(result(builder.lowered(), {values}), expected) << to_string(narrow) << ", " << live;
    }
  }
}

// The side that is not taken lies outside of the buffer, which ends at a guard page.
TEST_P(SemanticsTest, SelectReadsOnlyTheSideItTakes) {
  LoweredBuilder builder;
  const Tensor in = builder.input("in", 16);
  const Tensor out = builder.output("out", 18);
  const Var i("i");
  const Expr at(i);
  const Expr far = load(in, {Affine(i) * 100000});
  const Expr near = select(at < Expr(1), far, load(in, {Affine(i) - 1}));
  const Expr value = select(Expr(0) < at && at < Expr(17), near + Expr(1.0), Expr(-1.0));
  std::vector<double> expected = counted(18, 10);
  expected.front() = expected.back() = -1;
  EXPECT_EQ(map(builder, out, i, value, {counted(16, 10)}), expected);
}

TEST_P(SemanticsTest, LogicalOperatorsReadTheRightSideOnlyWhereItCounts) {
  LoweredBuilder builder;
  const Tensor in = builder.input("in", 1);
  const Tensor out = builder.output("out", 8);
  const Var i("i");
  const Expr positive = Expr(0.0) < load(in, {(Affine(i) - 4) * 50000});  // readable where i = 4
  const Expr both = Expr(i) == Expr(4) && positive;
  const Expr either = Expr(i) != Expr(4) || positive;
  const Expr value = select(both, Expr(1.0), Expr(0.0)) + select(either, Expr(10.0), Expr(0.0));
  EXPECT_EQ(map(builder, out, i, value, {{5}}), (std::vector<double>{10, 10, 10, 10, 11, 10, 10, 10}));
  EXPECT_EQ(map(builder, out, i, value, {{-5}}), (std::vector<double>{10, 10, 10, 10, 0, 10, 10, 10}));
}

// An index read from memory is itself guarded: outside, neither it nor what it points to is there.
TEST_P(SemanticsTest, IndirectLoads) {
  LoweredBuilder builder;
  const Tensor where = builder.input("where", 6, DType::i32);
  const Tensor in = builder.input("in", 10);
  const Tensor out = builder.output("out", 8);
  const Var i("i");
  const Expr index = load(where, {(Affine(i) - 1) * 20000 - (Affine(i) - 1) * 19999});
  const Expr far = load(where, {Affine(i) * 100000});
  const Expr inside = Expr(0) < Expr(i) && Expr(i) < Expr(7);
  const Expr value = select(inside, load(in, {to_affine(index) * 2 + 1}),
                            select(Expr(i) < Expr(0), load(in, {to_affine(far)}), Expr(-1.0)));
  EXPECT_EQ(map(builder, out, i, value, {{4, 0, 3, 1, 2, 4}, counted(10)}),
            (std::vector<double>{-1, 9, 1, 7, 3, 5, 9, -1}));
}

TEST_P(SemanticsTest, LoopsWithTheLeastOfTwoExtentsMayNotRun) {
  LoweredBuilder builder;
  const Tensor out = builder.output("out", 20);
  const Var k("k"), i("i"), j("j");
  const Stmt inner = make_stmt(For{j,
                                   {Affine(4), Affine(10) - Affine(i) * 4},
                                   LoopKind::serial,
                                   store(out, Affine(i) * 4 + j, cast({DType::f32, 1}, Expr(j)))});
  builder.main(make_seq({loop(k, 20, store(out, k, Expr(-1.0))), loop(i, 5, inner)}));
  std::vector<double> expected(20, -1);
  for (size_t n = 0; n < 10; ++n) expected[n] = static_cast<double>(n % 4);
  EXPECT_EQ(result(builder.lowered(), {}), expected);
}

TEST_P(SemanticsTest, IfNeedsAllConjuncts) {
  LoweredBuilder builder;
  const Tensor out = builder.output("out", 10);
  const Var k("k"), i("i");
  const Stmt guarded =
      make_stmt(If{{{.value = Affine(i) + 3, .bound = 10}, {.value = Affine(0) - Affine(i), .bound = -1}},
                   store(out, i, Expr(1.0))});
  builder.main(make_seq({loop(k, 10, store(out, k, Expr(0.0))), loop(i, 10, guarded)}));
  EXPECT_EQ(result(builder.lowered(), {}), (std::vector<double>{0, 0, 1, 1, 1, 1, 1, 0, 0, 0}));
}

// Two buffers of disjoint lifetimes on the same bytes: nothing of one may move across the other.
TEST_P(SemanticsTest, BuffersMayShareMemoryOneAfterTheOther) {
  LoweredBuilder builder;
  const Tensor in = builder.input("in", 8);
  const Tensor out = builder.output("out", 16);
  const Tensor first = builder.buffer("first", 8, Arena::workspace);
  const Tensor second = builder.overlapping("second", first);
  const auto through = [&](const Tensor& buffer, double factor, int64_t at) {
    const Expr scaled = vector_load(in, 0, 8) * broadcast(Expr(factor), 8);
    return builder.scoped(buffer, make_seq({vector_store(buffer, 0, scaled),
                                            vector_store(out, at, vector_load(buffer, 0, 8))}));
  };
  builder.main(make_seq({through(first, 2, 0), through(second, 3, 8)}));
  std::vector<double> expected;
  for (int n = 0; n < 8; ++n) expected.push_back(2 * n);
  for (int n = 0; n < 8; ++n) expected.push_back(3 * n);
  EXPECT_EQ(result(builder.lowered(), {counted(8)}), expected);
}

TEST_P(SemanticsTest, LiteralTables) {
  LoweredBuilder builder;
  const Tensor table = Tensor::literal("table", {5}, {0.5, -1, 3, 1e-3, 1e20});
  const Tensor out = builder.output("out", 10);
  const Var i("i");
  std::vector<double> expected;
  for (int n = 0; n < 10; ++n)
    expected.push_back(static_cast<float>(table->literal[static_cast<size_t>(n % 5)]));
  EXPECT_EQ(map(builder, out, i, load(table, {modulo(i, 5)}), {}), expected);
}

TEST_P(SemanticsTest, PrefetchNeverFaults) {
  LoweredBuilder builder;
  const Tensor in = builder.input("in", 4);
  const Tensor out = builder.output("out", 4);
  const Var i("i");
  const Stmt prefetch = make_stmt(Prefetch{in, {Affine(i) * 1000000 - 70000}});
  builder.main(loop(i, 4, make_seq({prefetch, store(out, i, load(in, {i}))})));
  EXPECT_EQ(result(builder.lowered(), {counted(4)}), counted(4));
}

TEST_P(SemanticsTest, PrepareFillsWhatTheKernelReads) {
  LoweredBuilder builder;
  const Tensor in = builder.input("in", 8);
  const Tensor out = builder.output("out", 8);
  const Tensor packed = builder.prepared("packed", 8);
  const Var i("i"), j("j");
  builder.prepare(loop(i, 8, store(packed, Affine(7) - Affine(i), load(in, {i}))));
  builder.main(loop(j, 8, store(out, j, load(packed, {j}))));
  EXPECT_EQ(result(builder.lowered(), {counted(8)}), (std::vector<double>{7, 6, 5, 4, 3, 2, 1, 0}));
}

TEST_P(SemanticsTest, NamesMayBeAnything) {
  LoweredBuilder builder;
  const Tensor in = builder.input("for", 4);
  const Tensor other = builder.input("for", 4);
  const Tensor out = builder.output("C.out/1", 4);
  const Var i("i.0");
  EXPECT_EQ(map(builder, out, i, load(in, {i}) + load(other, {i}), {counted(4), counted(4, 10)}),
            (std::vector<double>{10, 12, 14, 16}));
}

}  // namespace
}  // namespace lathe::testing
