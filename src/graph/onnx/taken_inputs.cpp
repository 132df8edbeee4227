#include "graph/onnx/taken_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/graph.h"
#include "graph/onnx/empty.h"
#include "graph/onnx/node_types.h"
#include "graph/onnx/proto.h"

namespace lathe {

namespace {

// So many operands take those of any number.
constexpr size_t kMany = 64;

}  // namespace

Result<std::vector<bool>> taken_inputs(const onnx::NodeProto& node, const OnnxOperator& row,
                                       const std::function<bool(const std::string&)>& is_empty,
                                       const std::string& hint) {
  const auto name_of = [&](size_t input) { return node.input(static_cast<int>(input)); };
  // Of the inputs that must be there the elements may be none; others are left out then.
  const bool takes_none = is_own_domain(node.domain()) && takes_no_elements(row.type);
  const bool are_many = row.operands == row.most_inputs && row.operands >= kMany;
  const size_t must = are_many                          ? row.operands
                      : takes_none && row.operands == 0 ? row.least_inputs
                                                        : std::min(row.operands, row.least_inputs);
  const auto is_left_out = [&](size_t input) {
    return name_of(input).empty() || (input >= must && is_empty(name_of(input)));
  };
  const auto refuse_empty = [&](size_t input) {
    return fail(ErrorKind::unsupported,
                fmt::format("input {}, '{}', has no elements, which Lathe does not support there{}", input,
                            name_of(input), hint));
  };
  auto last = static_cast<size_t>(node.input_size());
  while (last > 0 && is_left_out(last - 1)) --last;
  const bool lacks_elements =
      last < std::min(row.least_inputs, static_cast<size_t>(node.input_size())) && !name_of(last).empty();
  const bool is_last = lacks_elements && row.takes_empty_last && last + 1 == row.least_inputs;
  if (lacks_elements && !is_last) return refuse_empty(last);
  if (is_last) ++last;
  if (last < row.least_inputs || last > row.most_inputs)
    return fail(ErrorKind::invalid_argument, wrong_number_of_inputs(last, row.least_inputs, row.most_inputs));
  std::vector<bool> taken;
  for (size_t i = 0; i < last; ++i) {
    taken.push_back(!is_left_out(i) || (!is_last && i < must));
    if (taken.back() && is_empty(name_of(i)) && !takes_none) return refuse_empty(i);
  }
  return taken;
}

void drop_empty_inputs(onnx::NodeProto& node, const std::function<bool(const std::string&)>& is_empty) {
  auto& inputs = *node.mutable_input();
  if (!std::ranges::all_of(inputs, is_empty))
    inputs.erase(std::remove_if(inputs.begin(), inputs.end(), is_empty), inputs.end());
}

}  // namespace lathe
