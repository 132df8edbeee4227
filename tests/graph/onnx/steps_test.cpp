#include "graph/onnx/steps.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

OnnxConstant one_real(double value) {
  return {{DType::f32, {}}, to_bytes(DType::f32, std::vector<double>{value})};
}

// "Add of 0 1", or the constant's value.
std::string text_of(const ImportedStep& step) {
  if (const auto* constant = std::get_if<OnnxConstant>(&step.value))
    return std::to_string(values_of({"c", constant->type, constant->data})[0]).substr(0, 4);
  std::string text = std::string(name_of(std::get<GraphOp>(step.value))) + " of";
  for (const size_t read : step.reads) text += " " + std::to_string(read);
  return text;
}

TEST(StepsOf, AnOperatorReadsAllOperandsInOrder) {
  const std::vector<ImportedStep> steps = steps_of(GraphOp(WhereOp{}), 3);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(text_of(steps[0]), "Where of 0 1 2");
  EXPECT_EQ(text_of(steps_of(GraphOp(IdentityOp{}), 0)[0]), "Identity of");
}

TEST(StepsOf, AConstantReadsNothing) {
  const std::vector<ImportedStep> steps = steps_of(one_real(0.25), 3);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(text_of(steps[0]), "0.25");
  EXPECT_TRUE(steps[0].reads.empty());
}

TEST(StepsOf, StepsAreThemselves) {
  std::vector<ImportedStep> given{{one_real(2)}, {GraphOp(ZipOp{}), {1, 0}}};
  const std::vector<ImportedStep> steps = steps_of(given, 1);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(text_of(steps[0]), "2.00");
  EXPECT_EQ(text_of(steps[1]), "Add of 1 0");
}

TEST(StepList, NumbersStepsBehindTheOperands) {
  StepList steps(2);
  EXPECT_EQ(steps.add(ZipOp{}, {0, 1}), 2U);
  EXPECT_EQ(steps.real(0.5), 3U);
  EXPECT_EQ(steps.add(one_real(4)), 4U);
  EXPECT_EQ(steps.add(ZipOp{ZipFunction::mul}, {2, 3}), 5U);
  const std::vector<ImportedStep> first = steps.finish();
  ASSERT_EQ(first.size(), 4U);
  EXPECT_EQ(text_of(first[1]), "0.50");
  EXPECT_EQ(text_of(first[3]), "Mul of 2 3");
}

// Steps of a second output are numbered behind those of the first, which they may read.
// Of 18 tensors 16 and 2 are joined, then both.
TEST(StepList, JoinsSomeTensorsAtATime) {
  StepList steps(18);
  std::vector<size_t> parts;
  for (size_t i = 0; i < 18; ++i) parts.push_back(i);
  EXPECT_EQ(steps.joined(parts, 1), 20U);
  const std::vector<ImportedStep> made = steps.finish();
  ASSERT_EQ(made.size(), 3U);
  EXPECT_EQ(text_of(made[1]), "Concat of 16 17");
  EXPECT_EQ(text_of(made[2]), "Concat of 18 19");
  EXPECT_EQ(std::get<ConcatOp>(std::get<GraphOp>(made[2].value)).axis, 1U);
}

TEST(StepList, CountsOnBehindAnOutput) {
  StepList steps(1);
  EXPECT_EQ(steps.add(MapOp{}, {0}), 1U);
  EXPECT_EQ(steps.finish().size(), 1U);
  EXPECT_TRUE(steps.finish().empty());
  EXPECT_EQ(steps.add(MapOp{}, {1}), 2U);
  EXPECT_EQ(steps.finish().size(), 1U);
}

}  // namespace
}  // namespace lathe
