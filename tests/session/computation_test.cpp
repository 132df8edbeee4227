// What is to be computed, from a formula or a file, and what it says of itself.
#include "lathe/computation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/compiler_version.h"
#include "lathe/lathe.h"
#include "session/computation_state.h"
#include "session/network_file.h"
#include "session/session_fixture.h"
#include "target/all.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// "A: f32[9,7]", with "constant " before where it is one.
std::vector<std::string> in_text(const std::vector<TensorInfo>& tensors) {
  std::vector<std::string> texts;
  for (const TensorInfo& tensor : tensors) {
    std::string text = (tensor.is_constant ? "constant " : "") + tensor.name + ": " + tensor.type + "[";
    for (const int64_t extent : tensor.shape) text += std::to_string(extent) + ",";
    texts.push_back(text + "]");
  }
  return texts;
}

Formula formula_of(const std::string& text) {
  Formula formula;
  formula.text = text;
  return formula;
}

TEST(ComputationOfAFormula, ListsItsTensorsInOrder) {
  Formula formula =
      formula_of("input T[50, 3] input I[4] i64 C[i:4, j:3] = T[I[i], j] * W[j]  D[j:3] = W[j] + 1.0");
  formula.constants = {"W", "T"};
  const Result<Computation> computation = make_operator(formula, {"x86-avx2", 1});
  ASSERT_TRUE(computation.has_value()) << refusal_of(computation);
  EXPECT_THAT(in_text(computation->inputs()),
              ElementsAre("constant T: f32[50,3,]", "I: i64[4,]", "constant W: f32[3,]"));
  EXPECT_THAT(in_text(computation->outputs()), ElementsAre("C: f32[4,3,]", "D: f32[3,]"));
  EXPECT_EQ(computation->name(), "operator");
  EXPECT_THAT(computation->notes(), IsEmpty());
}

TEST(ComputationOfAFormula, ACopySharesWhatItHolds) {
  const Computation first = make_operator(formula_of("B[i:9] = A[i]"), {"x86-avx2", 1}).value();
  const Computation second = first;
  EXPECT_EQ(&first.state(), &second.state());
}

TEST(ComputationOfAFormula, KeepsItsTargetAndWhatIsExact) {
  Formula formula = formula_of("B[i:9] = A[i]");
  formula.exact_specials = true;
  const Computation computation = make_operator(formula, {foreign_target(), 3}).value();
  EXPECT_EQ(computation.state().target.name, foreign_target());
  EXPECT_EQ(cores_of(computation.state().target), 3);
  EXPECT_TRUE(computation.state().source.exact_specials);
}

std::string refused_formula(const std::string& text, const std::string& name = "operator",
                            const std::vector<std::string>& constants = {}) {
  Formula formula = formula_of(text);
  formula.name = name;
  formula.constants = constants;
  return refusal_of(make_operator(formula, {"x86-avx2", 1}));
}

TEST(ComputationOfAFormula, WhatIsWrongIsSaidWithItsPlace) {
  EXPECT_EQ(refused_formula("C[i:9] = A[j]"), "text:1:12: 'j' is no axis of this compute");
  EXPECT_EQ(refused_formula(""), "text: nothing is computed: there is no output");
  EXPECT_EQ(refused_formula("C[i:9] = A[i] \xff"), "text:1:15: expected a name");
  EXPECT_EQ(refused_formula("C[i:9] = A[i]", "operator", {"B"}),
            "constant 'B' is no input of the expression");
  EXPECT_THAT(refused_formula("C[i:9] = A[i]", "a b"), StartsWith("--name: 'a b' names no model"));
}

TEST(ComputationOfAFormula, ATargetThatThereIsNotIsRefused) {
  const Formula formula = formula_of("B[i:9] = A[i]");
  EXPECT_EQ(refusal_of(make_operator(formula, {"x86-avx2", -1})),
            "cores: the number of cores must be at least 1, or 0 for all");
  EXPECT_THAT(refusal_of(make_operator(formula, {"pdp11", 0})), HasSubstr("'pdp11'"));
}

using ComputationOfANetwork = SessionTest;

TEST_F(ComputationOfANetwork, ListsItsTensorsAndNotes) {
  NetworkFile file;
  file.path = model_file(folder_, declared_otherwise(small_conv_model()), "my-net.onnx");
  const Result<Computation> computation = make_network(file, {"x86-avx2", 1});
  ASSERT_TRUE(computation.has_value()) << refusal_of(computation);
  EXPECT_EQ(computation->name(), "my-net");
  EXPECT_THAT(in_text(computation->inputs()), ElementsAre("x: f32[1,2,5,5,]"));
  EXPECT_THAT(in_text(computation->outputs()), ElementsAre("y: f32[1,4,5,5,]"));
  EXPECT_THAT(computation->notes(), ElementsAre(HasSubstr("output 'y' is declared as f32[7]")));
  EXPECT_EQ(cores_of(computation->state().target), 1);
}

TEST_F(ComputationOfANetwork, ShapesThatAreGivenTakeThePlaceOfTheFiles) {
  OnnxModel model;
  model.input("x", {2, 3}).node("n", "Relu", {"x"}, "y").output("y");
  NetworkFile file;
  file.path = model_file(folder_, model);
  file.inputs["x"] = {5, 6};
  const Result<Computation> computation = make_network(file, {"x86-avx2", 1});
  ASSERT_TRUE(computation.has_value()) << refusal_of(computation);
  EXPECT_THAT(in_text(computation->outputs()), ElementsAre("y: f32[5,6,]"));
  file.inputs["z"] = {1};
  EXPECT_THAT(refusal_of(make_network(file, {"x86-avx2", 1})), HasSubstr("'z'"));
}

TEST_F(ComputationOfANetwork, WhatCannotBeReadIsNamed) {
  NetworkFile file;
  file.path = path("none.onnx");
  EXPECT_THAT(refusal_of(make_network(file)), StartsWith(path("none.onnx") + ": "));
  file.path = path("w.json");
  EXPECT_THAT(refusal_of(make_network(file)), StartsWith(path("w.json") + ": "));
  EXPECT_EQ(refusal_of(make_network(file, {"native", -2})),
            "cores: the number of cores must be at least 1, or 0 for all");
}

TEST(DescribeTarget, PrintsItInAFormThatIsRead) {
  const Result<std::string> text = describe_target({foreign_target(), 3});
  ASSERT_TRUE(text.has_value()) << refusal_of(text);
  EXPECT_THAT(*text, StartsWith(foreign_target() + " "));
  EXPECT_THAT(*text, HasSubstr(" cores=3 "));
  EXPECT_EQ(cores_of(parse_target(*text).value()), 3);
  EXPECT_EQ(refusal_of(describe_target({"x86-avx2", -1})),
            "cores: the number of cores must be at least 1, or 0 for all");
  EXPECT_THAT(refusal_of(describe_target({"pdp11", 0})), HasSubstr("'pdp11'"));
  EXPECT_EQ(refusal_of(describe_target({"native", 100'000})), "--cores: 100000 cores are more than the " +
                                                                  std::to_string(allowed_cpus().size()) +
                                                                  " that this process may use");
}

TEST(Version, IsThatOfTheRecords) { EXPECT_EQ(version(), compiler_version()); }

TEST(TensorInfoOf, SpellsTheType) {
  EXPECT_EQ(in_text({tensor_info("t", DType::i64, {}, true)}), std::vector<std::string>{"constant t: i64[]"});
}

}  // namespace
}  // namespace lathe
