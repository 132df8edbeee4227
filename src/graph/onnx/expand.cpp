#include "graph/onnx/expand.h"

#include <fmt/format.h>

#include "graph/onnx/proto.h"

namespace lathe {
namespace {

// Writes steps one after another; each but the last gives a tensor of its own.
class Steps {
 public:
  explicit Steps(const onnx::NodeProto& node) : node_(node) {}

  // The step's output.
  std::string add(const std::string& type, const std::vector<std::string>& inputs) {
    onnx::NodeProto& step = steps_.emplace_back();
    step.set_op_type(type);
    step.set_domain(node_.domain());
    for (const std::string& input : inputs) step.add_input(input);
    const size_t number = steps_.size();
    step.add_output(fmt::format("{}#{}", node_.output(0), number));
    step.set_name(fmt::format("{}#{}", node_.name().empty() ? node_.output(0) : node_.name(), number));
    return step.output(0);
  }

  std::string add_number(float value) {
    std::string output = add("Constant", {});
    onnx::AttributeProto& attribute = *steps_.back().add_attribute();
    attribute.set_name("value_float");
    attribute.set_type(onnx::AttributeProto_AttributeType_FLOAT);
    attribute.set_f(value);
    return output;
  }

  std::vector<onnx::NodeProto> finish() {
    steps_.back().set_output(0, node_.output(0));
    steps_.back().set_name(node_.name());
    return std::move(steps_);
  }

 private:
  const onnx::NodeProto& node_;
  std::vector<onnx::NodeProto> steps_;
};

// Of one operand nothing, of several one after another.
std::vector<onnx::NodeProto> expand_variadic(const onnx::NodeProto& node) {
  const bool is_mean = node.op_type() == "Mean";
  const std::string type = is_mean ? "Add" : node.op_type();
  Steps steps(node);
  std::string so_far = node.input(0);
  for (int i = 1; i < node.input_size(); ++i) so_far = steps.add(type, {so_far, node.input(i)});
  if (node.input_size() == 1) {
    steps.add("Identity", {so_far});
  } else if (is_mean) {
    const std::string count = steps.add_number(static_cast<float>(node.input_size()));
    steps.add("Div", {so_far, count});
  }
  return steps.finish();
}

std::vector<onnx::NodeProto> expand_clip(const onnx::NodeProto& node) {
  Steps steps(node);
  std::string so_far = node.input(0);
  if (!node.input(1).empty()) so_far = steps.add("Max", {so_far, node.input(1)});
  if (node.input_size() > 2 && !node.input(2).empty()) steps.add("Min", {so_far, node.input(2)});
  return steps.finish();
}

}  // namespace

std::vector<onnx::NodeProto> expand_onnx_node(
    const onnx::NodeProto& node, const std::function<bool(const std::string&)>& is_real_constant) {
  if (node.output_size() != 1 || node.input_size() == 0) return {};
  const std::string& type = node.op_type();
  const bool is_pairwise = type == "Sum" || type == "Max" || type == "Min";
  if (type == "Mean" || (is_pairwise && node.input_size() != 2)) return expand_variadic(node);
  if (type != "Clip" || node.input_size() > 3) return {};
  for (int i = 1; i < node.input_size(); ++i)
    if (!node.input(i).empty() && !is_real_constant(node.input(i))) return expand_clip(node);
  return {};
}

}  // namespace lathe
