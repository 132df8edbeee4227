// How operator families read a node: attributes by name, operands by place, each with its mistakes.
#include "graph/onnx/node.h"

#include <gtest/gtest.h>

#include "graph/onnx/proto.h"

namespace lathe {
namespace {

// A node in the making, with the tensors that it reads.
class NodeReader {
 public:
  onnx::AttributeProto& attribute(const char* name, onnx::AttributeProto_AttributeType type) {
    onnx::AttributeProto& added = *proto_.add_attribute();
    added.set_name(name);
    added.set_type(type);
    return added;
  }
  NodeReader& constant(DType dtype, const Shape& shape, const std::vector<double>& values) {
    tensors_.push_back({"c" + std::to_string(tensors_.size()), {dtype, shape}, to_bytes(dtype, values)});
    return *this;
  }
  NodeReader& computed(bool is_model_input) {
    tensors_.push_back({"t", {DType::i64, {1}}, nullptr});
    is_model_input_ = is_model_input;
    return *this;
  }
  NodeReader& left_out() {
    tensors_.push_back({"", {}, nullptr});
    return *this;
  }
  // The node, as long as this lives.
  OnnxNode node(int64_t operator_set = 17) {
    std::vector<OnnxOperand> operands;
    for (const GraphTensor& tensor : tensors_)
      operands.push_back({tensor.name.empty() ? nullptr : &tensor, is_model_input_});
    return {proto_, std::move(operands), operator_set};
  }

 private:
  onnx::NodeProto proto_;
  std::vector<GraphTensor> tensors_;
  bool is_model_input_ = false;
};

std::string finished(const OnnxNode& node) {
  const Status status = node.finish();
  return status ? "finished" : status.error().message;
}

TEST(OnnxNode, ReadsAttributesOfEveryType) {
  NodeReader reader;
  reader.attribute("i", onnx::AttributeProto_AttributeType_INT).set_i(-5);
  reader.attribute("f", onnx::AttributeProto_AttributeType_FLOAT).set_f(0.5F);
  reader.attribute("s", onnx::AttributeProto_AttributeType_STRING).set_s("text");
  onnx::AttributeProto& integers = reader.attribute("is", onnx::AttributeProto_AttributeType_INTS);
  integers.add_ints(3);
  integers.add_ints(-4);
  reader.attribute("fs", onnx::AttributeProto_AttributeType_FLOATS).add_floats(1.5F);
  reader.attribute("t", onnx::AttributeProto_AttributeType_TENSOR).mutable_t()->set_name("inner");
  OnnxNode node = reader.node();
  EXPECT_EQ(node.integer("i", 7), -5);
  EXPECT_EQ(node.real("f", 7), 0.5);
  EXPECT_EQ(node.text("s", "other"), "text");
  EXPECT_EQ(node.integers("is", {}), (Shape{3, -4}));
  EXPECT_EQ(node.reals("fs"), (std::vector<double>{1.5}));
  ASSERT_NE(node.tensor("t"), nullptr);
  EXPECT_EQ(node.tensor("t")->name(), "inner");
  EXPECT_EQ(finished(node), "finished");
}

TEST(OnnxNode, TakesDefaultsForWhatIsAbsent) {
  NodeReader reader;
  OnnxNode node = reader.node();
  EXPECT_FALSE(node.has("i"));
  EXPECT_EQ(node.integer("i", 7), 7);
  EXPECT_EQ(node.real("f", 0.25), 0.25);
  EXPECT_EQ(node.text("s", "other"), "other");
  EXPECT_EQ(node.integers("is", {1, 2}), (Shape{1, 2}));
  EXPECT_TRUE(node.reals("fs").empty());
  EXPECT_EQ(node.tensor("t"), nullptr);
  EXPECT_EQ(finished(node), "finished");
}

TEST(OnnxNode, RemembersTheFirstAttributeOfAWrongType) {
  NodeReader reader;
  for (const char* name : {"a", "b"}) reader.attribute(name, onnx::AttributeProto_AttributeType_GRAPH);
  const auto mistake = [&](auto read) {
    OnnxNode node = reader.node();
    read(node);
    return finished(node);
  };
  EXPECT_EQ(mistake([](OnnxNode& n) { return n.integer("a", 1); }), "attribute 'a' is not an integer");
  EXPECT_EQ(mistake([](OnnxNode& n) { return n.real("a", 1); }), "attribute 'a' is not a number");
  EXPECT_EQ(mistake([](OnnxNode& n) { return n.text("a", ""); }), "attribute 'a' is not a text");
  EXPECT_EQ(mistake([](OnnxNode& n) { return n.integers("a", {}); }),
            "attribute 'a' is not a list of integers");
  EXPECT_EQ(mistake([](OnnxNode& n) { return n.reals("a"); }), "attribute 'a' is not a list of numbers");
  EXPECT_EQ(mistake([](OnnxNode& n) { return n.tensor("a"); }), "attribute 'a' is not a tensor");
  EXPECT_EQ(mistake([](OnnxNode& n) { return n.integer("b", 1) + n.integer("a", 1); }),
            "attribute 'b' is not an integer");
}

// An integer is no number: models say which one they mean.
TEST(OnnxNode, AnIntegerIsNotReadAsANumber) {
  NodeReader reader;
  reader.attribute("a", onnx::AttributeProto_AttributeType_INT).set_i(3);
  OnnxNode node = reader.node();
  EXPECT_EQ(node.real("a", 0.5), 0.5);
  EXPECT_EQ(finished(node), "attribute 'a' is not a number");
}

TEST(OnnxNode, NamesAnAttributeThatNobodyReads) {
  NodeReader reader;
  reader.attribute("known", onnx::AttributeProto_AttributeType_INT);
  reader.attribute("unknown", onnx::AttributeProto_AttributeType_INT);
  OnnxNode node = reader.node();
  EXPECT_TRUE(node.has("unknown"));
  EXPECT_EQ(finished(node), "it has the attribute 'known', which Lathe does not support");
  node.integer("known", 0);
  EXPECT_EQ(finished(node), "it has the attribute 'unknown', which Lathe does not support");
  EXPECT_EQ(node.finish().error().kind, ErrorKind::unsupported);
}

TEST(OnnxNode, TellsOperandsThatAreThere) {
  NodeReader reader;
  reader.constant(DType::f32, {2, 1}, {1, 2}).left_out().computed(false);
  const OnnxNode node = reader.node(9);
  EXPECT_EQ(node.operator_set(), 9);
  EXPECT_EQ(node.input_count(), 3U);
  EXPECT_EQ(node.output_count(), 0U);
  EXPECT_TRUE(node.has_input(0));
  EXPECT_FALSE(node.has_input(1));
  EXPECT_TRUE(node.has_input(2));
  EXPECT_FALSE(node.has_input(3));
  EXPECT_TRUE(node.is_constant(0));
  EXPECT_FALSE(node.is_constant(2));
  EXPECT_EQ(node.shape(0), (Shape{2, 1}));
}

TEST(OnnxNode, ReadsConstantIntegers) {
  NodeReader reader;
  reader.constant(DType::i64, {2}, {-3, 0x1p53}).constant(DType::i32, {1}, {7});
  const OnnxNode node = reader.node();
  EXPECT_EQ(node.constant_integers(0).value(), (Shape{-3, int64_t{1} << 53}));
  EXPECT_EQ(node.constant_integers(1).value(), Shape{7});
  EXPECT_EQ(node.constant_shape(1).value(), Shape{7});
  EXPECT_EQ(node.constant_shape(2).value(), Shape{});
}

TEST(OnnxNode, NamesOperandsThatAreNoConstantIntegers) {
  NodeReader reader;
  reader.constant(DType::f32, {1}, {1}).constant(DType::i64, {2}, {1, -0x1p54});
  const OnnxNode node = reader.node();
  EXPECT_EQ(node.constant_integers(0).error().message, "input 0, 'c0', is of type f32, and must be i64");
  EXPECT_EQ(node.constant_integers(1).error().message,
            "input 1, 'c1', holds -1.80144e+16, and Lathe supports integers up to 2^53 there");
  NodeReader computed, given;
  EXPECT_EQ(computed.computed(false).node().constant_integers(0).error().message,
            "input 0, 't', is computed, and Lathe supports a constant there");
  EXPECT_EQ(given.computed(true).node().constant_integers(0).error().message,
            "input 0, 't', is an input of the model, and Lathe supports a constant there");
}

TEST(OnnxNode, IntegersAreAnAttributeOrAnOperand) {
  NodeReader attribute;
  attribute.attribute("axes", onnx::AttributeProto_AttributeType_INTS).add_ints(2);
  attribute.constant(DType::i64, {1}, {5});
  OnnxNode older = attribute.node();
  EXPECT_EQ(older.integers_of("axes", 0, {9}).value(), Shape{2});
  NodeReader operand;
  operand.constant(DType::i64, {1}, {5});
  OnnxNode newer = operand.node();
  EXPECT_EQ(newer.integers_of("axes", 0, {9}).value(), Shape{5});
  EXPECT_EQ(newer.integers_of("axes", 1, {9}).value(), Shape{9});
  EXPECT_EQ(newer.bounds_of("axes", 1).value(), Shape{});
}

TEST(OnnxNode, BoundsBeyond2To53AreHeldBack) {
  NodeReader reader;
  reader.constant(DType::i64, {4}, {0x1p62, -0x1p63, 3, -4});
  EXPECT_EQ(reader.node().bounds_of("ends", 0).value(),
            (Shape{int64_t{1} << 53, -(int64_t{1} << 53), 3, -4}));
  NodeReader real;
  real.constant(DType::f32, {1}, {1});
  EXPECT_EQ(real.node().bounds_of("ends", 0).error().message,
            "input 0, 'c0', is of type f32, and must be i64");
}

TEST(OnnxNode, ReadsConstantNumbers) {
  NodeReader reader;
  reader.constant(DType::f32, {2}, {0.5, 2}).constant(DType::boolean, {}, {1}).constant(DType::f32, {}, {3});
  const OnnxNode node = reader.node();
  EXPECT_EQ(node.constant_numbers(1).value(), (std::vector<double>{1}));
  EXPECT_EQ(node.constant_reals(0).value(), (std::vector<double>{0.5, 2}));
  EXPECT_EQ(node.constant_real(2, 9).value(), 3);
  EXPECT_EQ(node.constant_real(3, 9).value(), 9);
  EXPECT_TRUE(node.constant_flag(1).value());
  EXPECT_FALSE(node.constant_flag(3).value());
}

TEST(OnnxNode, NamesOperandsThatAreNotOneNumber) {
  NodeReader reader;
  reader.constant(DType::f32, {2}, {0.5, 2})
      .constant(DType::i64, {}, {1})
      .constant(DType::boolean, {2}, {1, 0});
  const OnnxNode node = reader.node();
  EXPECT_EQ(node.constant_reals(1).error().message, "input 1, 'c1', is of type i64, and must be f32");
  EXPECT_EQ(node.constant_real(0, 9).error().message, "input 0, 'c0', is f32[2], and must be one f32");
  EXPECT_EQ(node.constant_real(1, 9).error().message, "input 1, 'c1', is i64[], and must be one f32");
  EXPECT_EQ(node.constant_flag(2).error().message, "input 2, 'c2', is bool[2], and must be one bool");
  EXPECT_EQ(node.constant_flag(1).error().message, "input 1, 'c1', is i64[], and must be one bool");
  NodeReader computed;
  EXPECT_EQ(computed.computed(false).node().constant_numbers(0).error().kind, ErrorKind::unsupported);
}

TEST(RequireAttribute, NamesTheOnlyValueThatIsSupported) {
  EXPECT_TRUE(require_attribute("mode", 1, 1));
  EXPECT_EQ(require_attribute("mode", 0.5, 1).error().to_string(),
            "attribute 'mode' is 0.5, and Lathe supports 1");
}

}  // namespace
}  // namespace lathe
