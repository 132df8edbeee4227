#include "graph/onnx/nodes/flex_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/onnx/bodies.h"
#include "graph/onnx/proto.h"

namespace lathe {

namespace {

class FlexAttention {
 public:
  FlexAttention(const onnx::NodeProto& node, const BodyImport& import, size_t& nodes)
      : node_(node), writer_(node, import, nodes), place_(writer_.place()) {}

  Status add() {
    LATHE_TRY_STATUS(read());
    const Shape &q = query_, &k = key_;
    const std::string scores = name("scores");
    LATHE_TRY_STATUS(add_scale(name("scale")));
    LATHE_TRY_STATUS(writer_.add_plain("Mul", {node_.input(0), name("scale")}, name("query")));
    LATHE_TRY_STATUS(add_turned(node_.input(1), name("key")));
    LATHE_TRY_STATUS(add_shared_product(name("query"), q[2], q[3], name("key"), k[2], name("products")));
    LATHE_TRY_STATUS(add_cast(name("products"), scores));
    LATHE_TRY(const std::string modified, modified_by("score_mod", scores));
    LATHE_TRY_STATUS(writer_.add_plain("Softmax", {modified}, name("weights"), "axis", -1));
    LATHE_TRY(const std::string weights, modified_by("prob_mod", name("weights")));
    LATHE_TRY_STATUS(add_cast(node_.input(2), name("values")));
    const int64_t size = value_[3];
    LATHE_TRY_STATUS(add_shared_product(weights, q[2], k[2], name("values"), size, name("mixed")));
    return writer_.add_plain("CastLike", {name("mixed"), node_.input(0)}, node_.output(0));
  }

 private:
  std::string name(const char* what) const { return fmt::format("{}#{}", place_, what); }

  Status read() {
    if (node_.input_size() != 3 || node_.output_size() != 1)
      return fail(ErrorKind::invalid_argument, "it has not three inputs and one output");
    LATHE_TRY(const GraphTensor* const query, writer_.tensor(node_.input(0)));
    query_ = query->type.shape;
    LATHE_TRY(const GraphTensor* const key, writer_.tensor(node_.input(1)));
    key_ = key->type.shape;
    LATHE_TRY(const GraphTensor* const value, writer_.tensor(node_.input(2)));
    value_ = value->type.shape;
    const Shape &q = query_, &k = key_, &v = value_;
    const bool fit = q.size() == 4 && k.size() == 4 && v.size() == 4 && k[0] == q[0] && v[0] == q[0] &&
                     k[1] == v[1] && q[1] % k[1] == 0 && k[2] == v[2] && k[3] == q[3];
    if (!fit) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("its queries {}, keys {} and values {} do not fit together", to_string(q),
                              to_string(k), to_string(v)));
    }
    scale_ = static_cast<float>(1 / std::sqrt(static_cast<double>(q[3])));
    precision_ = query->type.dtype == DType::f64 ? onnx::TensorProto_DataType_DOUBLE
                                                 : onnx::TensorProto_DataType_FLOAT;
    for (const onnx::AttributeProto& attribute : node_.attribute()) {
      if (attribute.name() == "scale")
        scale_ = attribute.f();
      else if (attribute.name() == "softmax_precision")
        precision_ = attribute.i();
      else if (attribute.name() != "score_mod" && attribute.name() != "prob_mod")
        return fail(ErrorKind::unsupported,
                    fmt::format("it has the attribute '{}', which Lathe does not support", attribute.name()));
    }
    return {};
  }

  // A number of the queries' type.
  Status add_scale(const std::string& output) {
    const std::string real = output + "#f32";
    onnx::NodeProto node = writer_.plain("Constant", {}, real);
    onnx::AttributeProto& value = *node.add_attribute();
    value.set_name("value_float");
    value.set_type(onnx::AttributeProto_AttributeType_FLOAT);
    value.set_f(scale_);
    LATHE_TRY_STATUS(writer_.add(node));
    return writer_.add_plain("CastLike", {real, node_.input(0)}, output);
  }

  // To the type that the Softmax is computed in.
  Status add_cast(const std::string& input, const std::string& output) {
    return writer_.add_plain("Cast", {input}, output, "to", precision_);
  }

  Status add_turned(const std::string& input, const std::string& output) {
    onnx::NodeProto node = writer_.plain("Transpose", {input}, output);
    onnx::AttributeProto& order = *node.add_attribute();
    order.set_name("perm");
    order.set_type(onnx::AttributeProto_AttributeType_INTS);
    for (const int64_t axis : {0, 1, 3, 2}) order.add_ints(axis);
    return writer_.add(node);
  }

  Status add_reshaped(const std::string& input, const Shape& shape, const std::string& output) {
    LATHE_TRY_STATUS(writer_.add_integers(output + "#shape", shape));
    return writer_.add_plain("Reshape", {input, output + "#shape"}, output);
  }

  // Of [N, heads of queries, rows, inner] and [N, heads of keys, inner, columns]. Heads that share keys stand
  // side by side, so they are rows of one product.
  Status add_shared_product(const std::string& left, int64_t rows, int64_t inner, const std::string& right,
                            int64_t columns, const std::string& output) {
    const int64_t batch = query_[0], heads = query_[1], shared = key_[1];
    if (heads == shared) return writer_.add_plain("MatMul", {left, right}, output);
    const std::string grouped = output + "#grouped", product = output + "#product";
    LATHE_TRY_STATUS(add_reshaped(left, {batch, shared, heads / shared * rows, inner}, grouped));
    LATHE_TRY_STATUS(writer_.add_plain("MatMul", {grouped, right}, product));
    return add_reshaped(product, {batch, heads, rows, columns}, output);
  }

  // What the body of that attribute makes of the tensor; the tensor itself where there is none.
  Result<std::string> modified_by(const char* attribute, const std::string& tensor) {
    const auto has_name = [&](const onnx::AttributeProto& each) { return each.name() == attribute; };
    if (std::ranges::none_of(node_.attribute(), has_name)) return tensor;
    LATHE_TRY(const onnx::GraphProto* const body, writer_.body(attribute));
    if (body->input_size() != 1 || body->output_size() != 1)
      return fail(ErrorKind::invalid_argument,
                  fmt::format("'{}' has not one input and one output", attribute));
    StandingBody standing(*body, name(attribute));
    LATHE_TRY_STATUS(writer_.add_all(standing.constants()));
    LATHE_TRY_STATUS(writer_.add_all(standing.run(0, {tensor})));
    const std::string& output = standing.outputs().front();
    LATHE_TRY(const GraphTensor* const given, writer_.tensor(output));
    LATHE_TRY(const GraphTensor* const taken, writer_.tensor(tensor));
    if (given->type == taken->type) return output;
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' makes {} of {}, and must keep the type", attribute, to_string(given->type),
                            to_string(taken->type)));
  }

  const onnx::NodeProto& node_;
  NodeWriter writer_;
  const std::string& place_;
  Shape query_, key_, value_;
  float scale_ = 0;
  int64_t precision_ = 0;
};

}  // namespace

bool is_flex_attention(const onnx::NodeProto& node) {
  return node.domain() == "ai.onnx.preview" && node.op_type() == "FlexAttention";
}

Status add_flex_attention(const onnx::NodeProto& node, const BodyImport& import, size_t& nodes) {
  return FlexAttention(node, import, nodes).add();
}

}  // namespace lathe
