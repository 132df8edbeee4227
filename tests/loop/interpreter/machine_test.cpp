// What instructions do to cells: types, lanes, masks, reductions and fresh memory.
#include "loop/interpreter/machine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "loop/interpreter/compile.h"
#include "loop/samples.h"

namespace lathe::interpreter {
namespace {

// C after the program "main { .. }" over these declarations.
std::vector<double> machine_run(const std::string& declarations, const std::string& main,
                                const std::vector<HostTensor>& inputs = {}) {
  const auto run = interpret(loop_testing::parsed(declarations + main), inputs);
  EXPECT_TRUE(run) << run.error().to_string();
  return run ? run->outputs.at(0).values : std::vector<double>();
}

std::string machine_refusal(const std::string& declarations, const std::string& main,
                            const InterpretOptions& options = {}) {
  const auto run = interpret(loop_testing::parsed(declarations + main), {}, options);
  return run ? "ran" : run.error().to_string();
}

std::string output_of_type(const char* type, int64_t extent) {
  return fmt::format("output C: {}[{}] [0]\n", type, extent);
}

using Numbers = std::vector<double>;

TEST(InterpreterMachine, ReductionsOfIntegersStartAtTheEnds) {
  const auto reduced = [](const char* type, const char* update, const Numbers& values) {
    const HostTensor x{parse_dtype(type).value(), {3}, values};
    return machine_run(
        fmt::format("input X: {}[3] [0]\n", type) + output_of_type(type, 1),
        fmt::format("main {{ for i in 3 {{ block B {{ reduce r: 3 = i C[0] init {}= X[r] }} }} }}", update),
        {x})[0];
  };
  EXPECT_EQ(reduced("i8", "max", {-128, -127, -128}), -127);
  EXPECT_EQ(reduced("i8", "min", {127, 127, 127}), 127);
  EXPECT_EQ(reduced("i32", "max", {-2147483648.0, -2147483648.0, -2147483648.0}), -2147483648.0);
  EXPECT_EQ(reduced("u8", "min", {255, 254, 255}), 254);
  EXPECT_EQ(reduced("i8", "sum", {100, 100, 100}), 44);
  EXPECT_EQ(reduced("i8", "product", {100, 3, 1}), 44);
  EXPECT_EQ(reduced("i64", "product", {3, 5, -7}), -105);
}

TEST(InterpreterMachine, MinimumsAndMaximumsOfFloatsKeepNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto reduced = [](const char* update, const Numbers& values) {
    return machine_run(
        "input X: f32[3] [0]\noutput C: f32[1] [0]\n",
        fmt::format("main {{ for i in 3 {{ block B {{ reduce r: 3 = i C[0] init {}= X[r] }} }} }}", update),
        {{DType::f32, {3}, values}})[0];
  };
  EXPECT_TRUE(std::isnan(reduced("max", {1, nan, 2})));
  EXPECT_TRUE(std::isnan(reduced("min", {nan, 1, 2})));
  EXPECT_EQ(reduced("max", {-1, -3, -2}), -1);
  EXPECT_EQ(reduced("min", {1, 3, 2}), 1);
}

// A sum is rounded after every term.
TEST(InterpreterMachine, FloatsAreRoundedAfterEachOperation) {
  const std::string block = "main { for i in 2 { block B { reduce r: 2 = i C[0] init sum= X[r] } } }";
  const HostTensor x{DType::f32, {2}, {16777216, 1}};
  EXPECT_EQ(machine_run("input X: f32[2] [0]\noutput C: f32[1] [0]\n", block, {x})[0], 16777216);
  EXPECT_EQ(machine_run("input X: f64[2] [0]\noutput C: f64[1] [0]\n", block,
                        {{DType::f64, {2}, {16777216, 1}}})[0],
            16777217);
  EXPECT_EQ(machine_run(output_of_type("f32", 1), "main { store C[0] = 0.1 * 3.0 }")[0],
            static_cast<double>(0.1F * 3.0F));
}

TEST(InterpreterMachine, IntegersWrapAroundAndDivideDown) {
  EXPECT_EQ(
      machine_run(output_of_type("i8", 7),
                  "main { for i in 1 {\n"
                  "store C[0] = i8(i + 127) + i8(1) store C[1] = -i8(i - 128) store C[2] = abs(i8(i - 128))\n"
                  "store C[3] = i8(i - 7) / i8(i + 2) store C[4] = i8(i - 7) % i8(i + 2)\n"
                  "store C[5] = i8(i - 128) / i8(i - 1) store C[6] = i8(i + 16) * i8(i + 17) } }"),
      (Numbers{-128, -128, -128, -4, 1, -128, 16}));
}

TEST(InterpreterMachine, DivisionsOfIntegersBy0Give0) {
  EXPECT_EQ(
      machine_run(output_of_type("i32", 2),
                  "main { for i in 1 { store C[0] = i32(5) / i32(i) store C[1] = i32(i + 5) % i32(i) } }"),
      (Numbers{0, 5}));
}

// C [1] after this value, of i32, was stored.
Result<Interpretation> stored_integer(const Expr& value) {
  Program program = loop_testing::parsed(output_of_type("i32", 1) + "main { store C[0] = 1 }");
  program.main = make_stmt(Store{program.arguments[0].tensor, {Affine(0)}, value, 0, {}});
  return interpret(program, {});
}

TEST(InterpreterMachine, FunctionsOfRealsTakeNoIntegersButForRoundings) {
  const Expr number = literal({DType::i32}, -3);
  for (const UnaryOp op : {UnaryOp::floor, UnaryOp::ceil, UnaryOp::round, UnaryOp::truncate})
    EXPECT_EQ(stored_integer(unary(op, number))->outputs[0].values, Numbers{-3});
  const std::string refused = "a function of reals is applied to an integer";
  EXPECT_EQ(stored_integer(unary(UnaryOp::exp, number)).error().message, refused);
  EXPECT_EQ(stored_integer(binary(BinaryOp::pow, number, number)).error().message, refused);
  EXPECT_EQ(stored_integer(copy_sign(number, number)).error().message, refused);
}

TEST(InterpreterMachine, CastsSaturateFloatsAndWrapIntegers) {
  EXPECT_EQ(machine_run("input X: f32[6] [0]\n" + output_of_type("i8", 6),
                        "main { for i in 6 { store C[i] = i8(X[i]) } }",
                        {{DType::f32, {6}, {-2.9, 2.9, 300, -300, std::nan(""), INFINITY}}}),
            (Numbers{-2, 2, 127, -128, 0, 127}));
  EXPECT_EQ(machine_run("input X: i32[3] [0]\n" + output_of_type("u8", 3),
                        "main { for i in 3 { store C[i] = u8(X[i]) } }", {{DType::i32, {3}, {-1, 256, 300}}}),
            (Numbers{255, 0, 44}));
}

TEST(InterpreterMachine, MaskedLanesReadZeroAndAreNotWritten) {
  const std::string declarations = "input X: f32[4] [0]\n" + output_of_type("f32", 6);
  const HostTensor x{DType::f32, {4}, {1, 2, 3, 4}};
  // Lanes 4 and 5 lie outside of X.
  const Numbers out =
      machine_run(declarations,
                  "flat main { store C[0; 6 by 1] = X[0; 6 by 1 if ramp(0, 1, 6) < broadcast(4, 6)] }", {x});
  EXPECT_EQ(out, (Numbers{1, 2, 3, 4, 0, 0}));
  const Numbers part = machine_run(
      declarations, "flat main { store C[0; 6 by 1 if ramp(0, 1, 6) < broadcast(2, 6)] = f32x6(7.0) }", {x});
  EXPECT_EQ(part[1], 7);
  for (size_t i = 2; i < 6; ++i) EXPECT_TRUE(std::isnan(part[i])) << i;
}

TEST(InterpreterMachine, VectorsTakeStrides) {
  const HostTensor x{DType::f32, {6}, {1, 2, 3, 4, 5, 6}};
  const std::string declarations = "input X: f32[6] [0]\n" + output_of_type("f32", 6);
  EXPECT_EQ(
      machine_run(declarations,
                  "flat main { store C[0; 3 by 2] = X[5; 3 by -1] store C[1; 3 by 2] = X[4; 3 by -2] }", {x}),
      (Numbers{6, 5, 5, 3, 4, 1}));
  EXPECT_EQ(machine_run(output_of_type("i64", 4), "flat main { store C[0; 4 by 1] = ramp(7, -3, 4) }"),
            (Numbers{7, 4, 1, -2}));
}

TEST(InterpreterMachine, NamesLanesThatLieOutside) {
  const std::string declarations = output_of_type("f32", 6) + "table G: f32[2] = {1.0, 2.0}\n";
  EXPECT_EQ(machine_refusal(declarations, "flat main { store C[4; 3 by 1] = f32x3(0.0) }"),
            "store to C: writes outside of C: offset 6, its storage has room for 0 .. 5");
  EXPECT_EQ(machine_refusal(declarations, "flat main { store C[0; 3 by 1] = G[1; 3 by -1] }"),
            "store to C: reads outside of G: offset -1, its storage has room for 0 .. 1");
}

// Every entry of an Alloc is fresh, however much was written in the one before.
TEST(InterpreterMachine, AllocatedMemoryIsFreshAtEachEntry) {
  const Numbers out = machine_run(output_of_type("f32", 6),
                                  "main { for i in 3 { alloc T: f32[4] thread [0] { store C[2*i] = T[1]\n"
                                  "for j in 9 { store T[j%4] = 5.0 } store C[2*i + 1] = T[3] } } }");
  for (size_t i = 0; i < 6; i += 2) {
    EXPECT_TRUE(std::isnan(out[i])) << i;
    EXPECT_EQ(out[i + 1], 5) << i;
  }
}

TEST(InterpreterMachine, WhatVectorsWroteIsFreshToo) {
  const Numbers out = machine_run(output_of_type("f32", 2),
                                  "flat main { for i in 2 { alloc T: f32[9] thread [0] { store C[i] = T[2]\n"
                                  "store T[1; 3 by 1] = f32x3(5.0) } } }");
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_TRUE(std::isnan(out[1]));
}

TEST(InterpreterMachine, ConditionsSkipWhatIsInside) {
  EXPECT_EQ(machine_run(output_of_type("i32", 3),
                        "main { for i in 3 { store C[i] = 0 if i < 2, 1 - i < 1 { store C[i] = 9 } } }"),
            (Numbers{0, 9, 0}));
}

// Loops run the least of their extents, and none where that is not positive.
TEST(InterpreterMachine, LoopsRunTheLeastOfTheirExtents) {
  EXPECT_EQ(
      machine_run(output_of_type("i32", 1),
                  "main { store C[0] = 0 for i in 5 { for j in min(3, i - 1) { store C[0] = C[0] + 1 } } }"),
      (Numbers{0 + 0 + 1 + 2 + 3}));
}

TEST(InterpreterMachine, CountsStepsAndInstances) {
  const std::string program = "main { for i in 10 { for j in 10 { store C[0] = 1.0 } } }";
  EXPECT_EQ(machine_refusal(output_of_type("f32", 1), program, {.step_limit = 110}), "ran");
  EXPECT_EQ(machine_refusal(output_of_type("f32", 1), program, {.step_limit = 109}),
            "the program runs for more steps than allowed");
  const auto run = interpret(loop_testing::parsed(output_of_type("f32", 1) + program), {});
  EXPECT_EQ(run->instances, 100);
}

// Barriers and prefetches, whatever their index, do nothing.
TEST(InterpreterMachine, HintsDoNothing) {
  EXPECT_EQ(
      machine_run("input X: f32[2] [0]\n" + output_of_type("f32", 1),
                  "main { prefetch X[900] store C[0] = X[1] prefetch X[-5] }", {{DType::f32, {2}, {1, 2}}}),
      (Numbers{2}));
}

TEST(InterpreterMachine, RunsCodeByItself) {
  const Program program = loop_testing::parsed(
      "input X: i32[2] [0]\noutput C: i32[2] [0]\nmain { for i in 2 { store C[i] = X[1 - i] } }");
  const ProgramCode code = compile(program, false).value();
  Machine machine(code, nullptr, 100);
  machine.cells(0)[0].i = 4;
  machine.cells(0)[1].i = 7;
  EXPECT_EQ(machine.cells(1)[0].i, -(int64_t{1} << 40));  // nothing yet
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.cells(1)[0].i, 7);
  EXPECT_EQ(machine.cells(1)[1].i, 4);
  EXPECT_EQ(machine.instances(), 2);
  EXPECT_TRUE(machine.coverage().empty());
}

}  // namespace
}  // namespace lathe::interpreter
