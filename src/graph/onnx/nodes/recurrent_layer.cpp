#include "graph/onnx/nodes/recurrent_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace lathe {
namespace {

struct ActivationKind {
  std::string_view name;
  bool has_alpha;
  double alpha;
  bool has_beta;
  double beta;
};

constexpr std::array kActivations = {ActivationKind{"Relu", false, 0, false, 0},
                                     ActivationKind{"Tanh", false, 0, false, 0},
                                     ActivationKind{"Sigmoid", false, 0, false, 0},
                                     ActivationKind{"Softsign", false, 0, false, 0},
                                     ActivationKind{"Softplus", false, 0, false, 0},
                                     ActivationKind{"LeakyRelu", true, 0.01, false, 0},
                                     ActivationKind{"Elu", true, 1, false, 0},
                                     ActivationKind{"ThresholdedRelu", true, 1, false, 0},
                                     ActivationKind{"HardSigmoid", true, 0.2, true, 0.5},
                                     ActivationKind{"Affine", true, 1, true, 0},
                                     ActivationKind{"ScaledTanh", true, 1, true, 1}};

// Parameters are listed for those activations alone that have one, in order.
Result<std::vector<Activation>> read_activations(OnnxNode& node, const std::vector<std::string>& names) {
  const std::vector<double> alphas = node.reals("activation_alpha"), betas = node.reals("activation_beta");
  size_t alpha = 0, beta = 0;
  std::vector<Activation> activations;
  for (const std::string& name : names) {
    const auto kind = std::ranges::find(kActivations, name, &ActivationKind::name);
    if (kind == kActivations.end())
      return fail(ErrorKind::unsupported,
                  fmt::format("it has the activation '{}', which Lathe does not support", name));
    Activation& made = activations.emplace_back(name, kind->alpha, kind->beta);
    if (kind->has_alpha && alpha < alphas.size()) made.alpha = alphas[alpha++];
    if (kind->has_beta && beta < betas.size()) made.beta = betas[beta++];
  }
  return activations;
}

Status require_shape(const OnnxNode& node, size_t input, const Shape& shape) {
  if (!node.has_input(input) || node.shape(input) == shape) return {};
  return fail(ErrorKind::invalid_argument, fmt::format("input {} has shape {}, and must be {}", input,
                                                       to_string(node.shape(input)), to_string(shape)));
}

Status check_shapes(const OnnxNode& node, const RecurrentLayer& layer) {
  const auto directions = static_cast<int64_t>(layer.directions());
  const int64_t rows = layer.gates * layer.hidden;
  Shape state{directions, layer.batch, layer.hidden};
  if (layer.is_batch_first) std::swap(state[0], state[1]);
  Shape weights{directions, rows, layer.inputs}, recurrence{directions, rows, layer.hidden};
  for (Shape* shape : {&weights, &recurrence})
    if (layer.has_columns) std::swap((*shape)[1], (*shape)[2]);
  LATHE_TRY_STATUS(require_shape(node, recurrent::kWeights, weights));
  LATHE_TRY_STATUS(require_shape(node, recurrent::kRecurrence, recurrence));
  LATHE_TRY_STATUS(require_shape(node, recurrent::kBias, {directions, 2 * rows}));
  LATHE_TRY_STATUS(require_shape(node, recurrent::kLengths, {layer.batch}));
  LATHE_TRY_STATUS(require_shape(node, recurrent::kState, state));
  LATHE_TRY_STATUS(require_shape(node, recurrent::kCell, state));
  return require_shape(node, recurrent::kPeepholes, {directions, 3 * layer.hidden});
}

Result<std::vector<bool>> read_directions(OnnxNode& node) {
  const std::string direction = node.text("direction", "forward");
  if (direction == "forward") return std::vector<bool>{false};
  if (direction == "reverse") return std::vector<bool>{true};
  if (direction == "bidirectional") return std::vector<bool>{false, true};
  return fail(ErrorKind::invalid_argument,
              fmt::format("its direction '{}' is none of forward, reverse and bidirectional", direction));
}

}  // namespace

Result<RecurrentLayer> read_recurrent_layer(OnnxNode& node, int64_t gates,
                                            const std::vector<std::string>& activations, bool has_columns) {
  RecurrentLayer layer;
  layer.has_columns = has_columns;
  layer.gates = gates;
  LATHE_TRY(layer.backwards, read_directions(node));
  layer.is_batch_first = node.integer("layout", 0) != 0;
  layer.clip = node.real("clip", 0);
  const Shape& data = node.shape(recurrent::kData);
  const Shape& recurrence = node.shape(recurrent::kRecurrence);
  if (data.size() != 3 || recurrence.size() != 3)
    return fail(ErrorKind::invalid_argument, fmt::format("data {} and recurrence {} must have three axes",
                                                         to_string(data), to_string(recurrence)));
  layer.places = data[layer.is_batch_first ? 1 : 0];
  layer.batch = data[layer.is_batch_first ? 0 : 1];
  layer.inputs = data[2];
  layer.hidden = node.integer("hidden_size", recurrence[has_columns ? 1 : 2]);
  LATHE_TRY_STATUS(check_shapes(node, layer));
  std::vector<std::string> names = node.texts("activations");
  const size_t count = layer.directions() * activations.size();
  if (names.empty())
    for (size_t i = 0; i < count; ++i) names.push_back(activations[i % activations.size()]);
  if (names.size() != count)
    return fail(ErrorKind::invalid_argument,
                fmt::format("it names {} activations, and must name {}", names.size(), count));
  LATHE_TRY(layer.activations, read_activations(node, names));
  return layer;
}

}  // namespace lathe
