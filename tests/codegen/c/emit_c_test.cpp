#include "codegen/c/emit_c.h"

#include <gmock/gmock.h>

#include "codegen/lowered_builder.h"

namespace lathe::testing {
namespace {

using ::testing::HasSubstr;

// What follows the preamble.
std::string emitted(const LoweredProgram& lowered) {
  const auto text = emit_c(lowered, entry_symbols("test"));
  EXPECT_TRUE(text) << text.error().to_string();
  const std::string all = text.value_or("");
  return all.substr(all.find("\n\nint test_kernel") + 2);
}

TEST(EmitC, VectorsAreLoopsOverLanes) {
  LoweredBuilder builder;
  const Tensor in = builder.input("in", 16);
  const Tensor out = builder.output("out", 16);
  const Var i("i.0");
  const Affine at = Affine(i) * 8;
  const Expr value = max(vector_load(in, at, 8) * broadcast(Expr(0.5), 8), broadcast(Expr(0.0), 8));
  builder.main(loop(i, 2, vector_store(out, at, value, 1, lanes_below(at, 13, 8))));
  EXPECT_EQ(emitted(builder.lowered()),
            R"(int test_kernel(void* const* buffers, const int64_t* sizes, void* workspace_,
                const LatheParallel* pool) {
  char* workspace = (char*)workspace_;
  const int32_t thread = 0;
  (void)buffers, (void)sizes, (void)workspace, (void)pool, (void)thread;
  float* restrict out = (float*)buffers[1];
  const float* restrict in = (const float*)buffers[0];
  for (int64_t i_0 = 0; i_0 < 2; ++i_0) {
    for (int lane = 0; lane < 8; ++lane) {
      if (((8 * i_0 + 1 * lane) < 13)) {
        out[8 * i_0 + lane] = lathe_max_f32(0.0f, (in[8 * i_0 + lane] * 0x1p-1f));
      }
    }
  }
  return 0;
}
)");
}

TEST(EmitC, IntrinsicsAddUpTheirGroupLaneByLane) {
  LoweredBuilder builder;
  const Tensor a = builder.input("a", 4, DType::u8);
  const Tensor b = builder.input("b", 32, DType::i8);
  const Tensor c = builder.output("c", 8, DType::i32);
  const Expr value = call("dot4_u8_i8", {vector_load(c, Affine(0), 8), vector_load(a, Affine(0), 4),
                                         vector_load(b, Affine(0), 32)});
  builder.main(vector_store(c, Affine(0), value));
  const std::string text = emitted(builder.lowered());
  EXPECT_THAT(text, HasSubstr("lathe_add_i32(c[0 + lane], lathe_mul_i32(((int32_t)a[0 + 0]), "
                              "((int32_t)b[0 + (4 * lane + 0)])))"));
  EXPECT_THAT(text, HasSubstr("lathe_mul_i32(((int32_t)a[0 + 3]), ((int32_t)b[0 + (4 * lane + 3)]))"));
}

TEST(EmitC, ParallelLoopsAreFunctionsOfTheirOwn) {
  const GemmShape shape{.m = 2, .n = 16, .k = 9, .rows = 2, .vectors = 1, .lanes = 8, .parallel = true};
  const auto text = emit_c(gemm(shape), entry_symbols("test"));
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("static void test_kernel_part(void* context_, int64_t begin, int64_t end, "
                               "int32_t thread) {"));
  EXPECT_THAT(*text, HasSubstr("for (int64_t panel = begin; panel < end; ++panel) {"));
  EXPECT_THAT(*text, HasSubstr("pool->run(pool, test_kernel_part, &context, count);"));
  EXPECT_THAT(
      *text, HasSubstr("= lathe_fma_f32(A[(18 * row + r)], B[(72 * panel + 8 * r) + lane], acc[0 + lane]);"));
}

TEST(EmitC, LiteralsAreExact) {
  LoweredBuilder builder;
  const Tensor out = builder.output("out", 8);
  std::vector<Stmt> stores;
  const std::vector<double> values = {0.1, -3.0, INFINITY, -INFINITY, 1e30, -0.0};
  for (double value : values) stores.push_back(store(out, static_cast<int64_t>(stores.size()), Expr(value)));
  builder.main(make_seq(stores));
  const std::string text = emitted(builder.lowered());
  for (const char* expected : {"out[0] = 0x1.99999ap-4f;", "out[1] = (-3.0f);", "out[2] = (float)INFINITY;",
                               "out[3] = -(float)INFINITY;", "out[5] = (-0.0f);"}) {
    EXPECT_THAT(text, HasSubstr(expected));
  }
}

TEST(EmitC, RefusesWhatLoweringLeftUndone) {
  LoweredBuilder builder;
  const Tensor out = builder.output("out", 8);
  const Var i("i");
  builder.main(loop(i, 8, store(out, i, Expr(1.0)), LoopKind::unrolled));
  const auto text = emit_c(builder.lowered(), entry_symbols("test"));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "loop 'i' reached code generation: unroll_loops expands it");
}

}  // namespace
}  // namespace lathe::testing
