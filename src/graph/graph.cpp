#include "graph/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "graph/index_inputs.h"
#include "graph/stored_types.h"

namespace lathe {

GraphOp::GraphOp() = default;
GraphOp::GraphOp(const GraphOp& other) = default;
GraphOp::GraphOp(GraphOp&& other) noexcept = default;
GraphOp& GraphOp::operator=(const GraphOp& other) = default;
GraphOp& GraphOp::operator=(GraphOp&& other) noexcept = default;
GraphOp::~GraphOp() = default;

size_t most_operands(const GraphOp& op) {
  return std::visit([](const auto& o) { return o.kMostOperands; }, op);
}

const char* name_of(const GraphOp& op) {
  return std::visit(
      [](const auto& o) {
        if constexpr (requires { o.name(); }) {
          return o.name();
        } else {
          return o.kName;
        }
      },
      op);
}

bool moves_elements(const GraphOp& op) {
  return std::visit([]<class Op>(const Op&) { return requires { Op::kMovesElements; }; }, op);
}

FusionRole role_of(const GraphOp& op) {
  return std::visit([](const auto& o) { return o.kRole; }, op);
}

const StepLoop* loop_of(const GraphOp& op) {
  return std::visit(
      []<class Op>(const Op& o) -> const StepLoop* {
        if constexpr (Op::kRole == FusionRole::border)
          return &o.loop;
        else
          return nullptr;
      },
      op);
}

namespace {
bool is_at(const GraphOp& op, StepSide side) {
  return std::visit(
      [&]<class Op>(const Op&) {
        if constexpr (Op::kRole == FusionRole::border)
          return Op::kSide == side;
        else
          return false;
      },
      op);
}
}  // namespace

bool is_entry(const GraphOp& op) { return is_at(op, StepSide::entry); }
bool is_exit(const GraphOp& op) { return is_at(op, StepSide::exit); }

std::string to_string(const GraphOp& op) {
  return fmt::format("{}({})", name_of(op), std::visit([](const auto& o) { return attributes_of(o); }, op));
}

std::vector<int> producers_of(const Graph& graph) {
  std::vector<int> producers(graph.tensors.size(), -1);
  for (size_t n = 0; n < graph.nodes.size(); ++n) producers[graph.nodes[n].output] = static_cast<int>(n);
  return producers;
}

std::vector<std::vector<size_t>> consumers_of(const Graph& graph) {
  std::vector<std::vector<size_t>> consumers(graph.tensors.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (TensorId input : graph.nodes[n].inputs) {
      std::vector<size_t>& list = consumers[input];
      if (list.empty() || list.back() != n) list.push_back(n);
    }
  }
  return consumers;
}

bool is_output(const Graph& graph, TensorId id) {
  return std::find(graph.outputs.begin(), graph.outputs.end(), id) != graph.outputs.end();
}

std::string wrong_number_of_inputs(size_t has, size_t least, size_t most) {
  const std::string taken = least == most ? std::to_string(least) : fmt::format("{} to {}", least, most);
  return fmt::format("it has {} input{}, and takes {}", has, has == 1 ? "" : "s", taken);
}

std::string label_of(const GraphNode& node) {
  return fmt::format("node '{}' ({})", node.name, name_of(node.op));
}

Result<TensorType> infer_type(const GraphNode& node, std::span<const TensorType> inputs) {
  std::vector<TensorType> widened(inputs.begin(), inputs.end());
  if (!keeps_stored_type(node.op))
    for (TensorType& input : widened) input.dtype = info_of(input.dtype).computed_in;
  const auto infer_checked = [&](const auto& op) -> Result<TensorType> {
    if (inputs.size() >= op.kLeastOperands && inputs.size() <= op.kMostOperands) return infer(op, widened);
    return fail(ErrorKind::invalid_argument,
                wrong_number_of_inputs(inputs.size(), op.kLeastOperands, op.kMostOperands));
  };
  Result<TensorType> type = std::visit(infer_checked, node.op);
  if (!type) {
    type.error().message = fmt::format("{}: {}", label_of(node), type.error().message);
  }
  return type;
}

std::string to_string(const Graph& graph) {
  const auto names = [&](const std::vector<TensorId>& ids) {
    std::vector<std::string_view> list;
    for (TensorId id : ids) list.push_back(graph.tensors[id].name);
    return fmt::format("{}", fmt::join(list, ", "));
  };
  std::string text = fmt::format("graph {}\n", graph.name);
  for (TensorId id : graph.inputs) {
    text += fmt::format("  input {} {}\n", graph.tensors[id].name, to_string(graph.tensors[id].type));
  }
  for (const RequiredValues& each : graph.required)
    text += fmt::format("  required {} from {} to {}\n", each.input, each.values.lo, each.values.hi);
  for (const GraphTensor& tensor : graph.tensors) {
    if (tensor.is_constant()) text += fmt::format("  constant {} {}\n", tensor.name, to_string(tensor.type));
  }
  for (const GraphNode& node : graph.nodes) {
    const GraphTensor& output = graph.tensors[node.output];
    text += fmt::format("  {} {} = {} of {}\n", output.name, to_string(output.type), to_string(node.op),
                        names(node.inputs));
  }
  return text + fmt::format("  output {}\n", names(graph.outputs));
}

Status GraphBuilder::add_name(const std::string& name, TensorId id) {
  if (names_.emplace(name, id).second) return {};
  return fail(ErrorKind::invalid_argument, fmt::format("there are two tensors named '{}'", name));
}

Result<TensorId> GraphBuilder::empty(std::string name, TensorType type) {
  LATHE_CHECK(elements_of(type.shape) == 0);
  const TensorId id = kFirstEmpty + empty_.size();
  LATHE_TRY_STATUS(add_name(name, id));
  empty_.push_back({std::move(name), std::move(type), std::make_shared<const Bytes>()});
  return id;
}

Result<TensorId> GraphBuilder::add(GraphTensor tensor) {
  LATHE_TRY_STATUS(check_shape(tensor.type.shape, fmt::format("tensor '{}'", tensor.name)));
  LATHE_TRY_STATUS(add_name(tensor.name, graph_.tensors.size()));
  graph_.tensors.push_back(std::move(tensor));
  return graph_.tensors.size() - 1;
}

Result<TensorId> GraphBuilder::input(std::string name, TensorType type) {
  LATHE_TRY(const TensorId id, add({std::move(name), std::move(type), nullptr}));
  graph_.inputs.push_back(id);
  return id;
}

Result<TensorId> GraphBuilder::constant(std::string name, TensorType type,
                                        std::shared_ptr<const Bytes> data) {
  LATHE_CHECK(data != nullptr);
  if (static_cast<int64_t>(data->size()) != bytes_of(type)) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("constant '{}' has {} bytes of data, and {} takes {}", name, data->size(),
                            to_string(type), bytes_of(type)));
  }
  return add({std::move(name), std::move(type), std::move(data)});
}

Result<TensorId> GraphBuilder::node(std::string name, GraphOp op, std::vector<TensorId> inputs,
                                    std::string output_name) {
  GraphNode node{std::move(name), std::move(op), std::move(inputs), graph_.tensors.size()};
  std::vector<TensorType> types;
  for (TensorId id : node.inputs) {
    LATHE_CHECK(!is_empty(id));
    types.push_back(graph_.tensors[id].type);
  }
  LATHE_TRY(TensorType type, infer_type(node, types));
  LATHE_TRY(node.output, add({std::move(output_name), std::move(type), nullptr}));
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().output;
}

bool GraphBuilder::require(TensorId condition, bool truth) {
  const std::optional<RequiredValues> values = values_for(graph_, condition, truth);
  if (values) graph_.required.push_back(*values);
  return values.has_value();
}

Status GraphBuilder::output(TensorId id) {
  const GraphTensor& tensor = graph_.tensors[id];
  const auto gives = [&](const GraphNode& node) { return graph_.tensors[node.output].name == tensor.name; };
  if (const auto found = std::ranges::find_if(graph_.nodes, gives); found != graph_.nodes.end()) {
    id = found->output;
  } else {
    const std::string name = tensor.name;
    id = graph_.tensors.size();
    graph_.tensors.push_back({name, tensor.type, nullptr});
    graph_.nodes.push_back({name, IdentityOp{}, {names_.at(name)}, id});
  }
  if (is_output(graph_, id)) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("output '{}' is listed twice", graph_.tensors[id].name));
  }
  graph_.outputs.push_back(id);
  return {};
}

bool GraphBuilder::is_input(TensorId id) const {
  return std::find(graph_.inputs.begin(), graph_.inputs.end(), id) != graph_.inputs.end();
}

std::optional<TensorId> GraphBuilder::find(const std::string& name) const {
  const auto found = names_.find(name);
  if (found == names_.end()) return std::nullopt;
  return found->second;
}

}  // namespace lathe
