// Products of narrow types with and without intrinsics, of odd sizes: the naive program, the scheduled and
// the lowered one, machine code and C agree, integers bit by bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>

#include "codegen/machine.h"
#include "compile/compile.h"
#include "expr/parse.h"
#include "loop/interpret.h"
#include "schedule/apply.h"
#include "space/all.h"
#include "target/all.h"
#include "target/detect.h"
#include "test_share.h"

namespace lathe::testing {
namespace {

struct Product {
  const char* a;
  const char* b;
  const char* factors;  // of A[i, r] and B[r, j]
  const char* vnni;     // the intrinsic on a machine with avx512_vnni and avx512_bf16, or none
  const char* plain;    // and on any other
};

constexpr Product kProducts[] = {
    {"u8", "i8", "i32({A}) * i32({B})", "dot4_u8_i8", "dot2_i16"},
    {"i8", "u8", "i32({A}) * i32({B})", "dot4_u8_i8", "dot2_i16"},
    {"u8", "i8", "i32({B}) * i32({A})", "dot4_u8_i8", "dot2_i16"},
    {"i8", "i8", "i32({A}) * i32({B})", "dot2_i16", "dot2_i16"},
    {"u8", "u8", "i32({A}) * i32({B})", "dot2_i16", "dot2_i16"},
    {"i16", "i8", "i32({A}) * i32({B})", "dot2_i16", "dot2_i16"},
    {"u16", "i8", "i32({A}) * i32({B})", nullptr, nullptr},
    {"u8", "i8", "(i32({A}) - 7) * (i32({B}) - 3)", nullptr, nullptr},
    {"bf16", "bf16", "{A} * {B}", "dot2_bf16", nullptr},
    {"f16", "f16", "{A} * {B}", nullptr, nullptr},
};

constexpr const char* kMatmul =
    "input A[{m}, {k}] {a}\ninput W[{k}, {n}] {b}\nC[i:{m}, j:{n}] = sum(r:{k}) {product}\n";
constexpr const char* kConvolution =
    "input A[{k}, 7, {m}] {a}\ninput W[{n}, {k}, 3, 3] {b}\n"
    "P[c:{k}, y:9, x:{m}+2] = select(1 <= y && y < 8 && 1 <= x && x < {m}+1, A[c, y-1, x-1], {a}(0))\n"
    "C[f:{n}, y:7, x:{m}] = sum(c:{k}, p:3, q:3) {product}\n";

struct Sizes {
  int m, n, k;
};

std::string replaced(std::string text, const std::string& what, const std::string& value) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + value.size()))
    text.replace(at, what.size(), value);
  return text;
}

std::string text_of(const Product& product, bool is_convolution, const Sizes& sizes) {
  std::string text = is_convolution ? kConvolution : kMatmul;
  std::string factors = product.factors;
  factors = replaced(factors, "{A}", is_convolution ? "P[c, y+p, x+q]" : "A[i, r]");
  factors = replaced(factors, "{B}", is_convolution ? "W[f, c, p, q]" : "W[r, j]");
  text = replaced(text, "{product}", factors);
  text = replaced(text, "{m}+2", std::to_string(sizes.m + 2));
  text = replaced(text, "{m}+1", std::to_string(sizes.m + 1));
  text = replaced(replaced(text, "{m}", std::to_string(sizes.m)), "{n}", std::to_string(sizes.n));
  text = replaced(text, "{k}", std::to_string(sizes.k));
  return replaced(replaced(text, "{a}", product.a), "{b}", product.b);
}

std::vector<Target> targets() {
  const Target host = detect_target().value();
  std::vector<Target> all{generic_target("x86-avx2")};
  if (host.name == "x86-avx512") all.push_back(generic_target("x86-avx512"));
  if (!host.cpu().extensions.empty()) all.push_back(host);
  return all;
}

// `any` as the type holds it: integers wrap around, floats become small.
double drawn(DType dtype, int any) {
  switch (dtype) {
    case DType::u8: return static_cast<uint8_t>(any);
    case DType::i8: return static_cast<int8_t>(any);
    case DType::u16: return static_cast<uint16_t>(any);
    case DType::i16: return static_cast<int16_t>(any);
    default: return any / 4096.0;
  }
}

// All numbers of integer types; floats that products and sums of f32 hold nearly exactly.
std::vector<HostTensor> inputs_of(const Task& task) {
  Rng rng(3);
  std::vector<HostTensor> inputs;
  for (const Tensor& tensor : task.dag.inputs) {
    HostTensor input{tensor->dtype, tensor->shape, {}};
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      const int any = static_cast<int>(rng.below(65536)) - 32768;
      input.values.push_back(as_stored(tensor->dtype, drawn(tensor->dtype, any)));
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

void expect_equal(const char* form, const std::vector<double>& expected, const std::vector<double>& got,
                  bool is_exact) {
  ASSERT_EQ(expected.size(), got.size()) << form;
  double largest = 1;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(expected[i], got[i], is_exact ? 0 : 2e-5 * largest) << form << ", element " << i;
}

// `intrinsic`: nothing where small sizes leave open whether one is used, empty for none.
void check(const Task& task, const std::optional<std::string>& intrinsic, bool with_c) {
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space) << space.error().to_string();
  const Trace trace = space->trace(space->preferred_points().front()).value();
  const std::string text = to_string(trace);
  if (intrinsic && !intrinsic->empty()) {
    EXPECT_NE(text.find("intrinsic=" + *intrinsic), std::string::npos) << text;
  } else if (intrinsic) {
    EXPECT_EQ(text.find("tensorize"), std::string::npos) << text;
  }
  const std::vector<HostTensor> inputs = inputs_of(task);
  const bool is_exact = !is_float(task.dag.outputs[0]->dtype);
  const auto expected = interpret(naive_program(task), inputs).value().outputs.at(0).values;
  const Result<Program> program = apply_trace(task, trace);
  ASSERT_TRUE(program) << program.error().to_string();
  LowerOptions options;
  options.verifies = true;
  const Result<LoweredProgram> lowered = lower(*program, task.target, options);
  ASSERT_TRUE(lowered) << lowered.error().to_string();
  expect_equal("lowered", expected, interpret(lowered->program, inputs).value().outputs.at(0).values,
               is_exact);
  const Module module = compile_program(*program, task.target).value();
  const auto got = run_module(module, lowered->program.arguments, inputs, nullptr);
  ASSERT_TRUE(got) << got.error().to_string();
  expect_equal("LLVM", expected, got->at(0).values, is_exact);
  if (!with_c) return;
  const auto c = run_machine(*lowered, Backend::c, inputs);
  ASSERT_TRUE(c) << c.error().to_string();
  expect_equal("C", expected, c->at(0).values, is_exact);
}

constexpr Sizes kSizes[] = {{13, 19, 11}, {6, 32, 16}, {5, 3, 4}, {1, 37, 7}, {14, 17, 3}};

class Intrinsics : public ::testing::TestWithParam<Product> {};

TEST_P(Intrinsics, AgreeInEveryFormAndSize) {
  const Product& product = GetParam();
  for (const bool is_convolution : {false, true}) {
    for (const Sizes& sizes : std::span(kSizes).first(kDrawnShare > 1 ? 3 : std::size(kSizes))) {
      for (const Target& target : targets()) {
        for (const bool free_layouts : {false, true}) {
          const std::string text = text_of(product, is_convolution, sizes);
          const Result<Dag> dag = parse_dag(text);
          ASSERT_TRUE(dag) << dag.error().to_string() << "\n" << text;
          const Task task = make_task("product", *dag, target, {"W"}, free_layouts).value();
          SCOPED_TRACE(fmt::format("{} free={} {}", print(target), free_layouts, text));
          const char* name = target.cpu().extensions.empty() ? product.plain : product.vnni;
          std::optional<std::string> intrinsic = name == nullptr ? "" : name;
          // A group of four is longer than three channels; two are taken then.
          if (*intrinsic == "dot4_u8_i8" && sizes.k < 4) intrinsic = "dot2_i16";
          const bool is_large = is_convolution ? sizes.n > 3 : free_layouts || sizes.n >= 32;
          if (!is_large) intrinsic.reset();
          check(task, intrinsic, !free_layouts && sizes.k == 11);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Products, Intrinsics, ::testing::ValuesIn(kProducts), [](const auto& tested) {
  return fmt::format("{}_{}_{}", tested.param.a, tested.param.b, tested.index);
});

}  // namespace
}  // namespace lathe::testing
