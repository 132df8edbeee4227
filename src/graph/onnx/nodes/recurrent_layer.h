// What the attributes and inputs of a recurrent ONNX node say: extents, directions and activations.
#pragma once

#include <string>
#include <vector>

#include "graph/onnx/node.h"

namespace lathe {

// The inputs of LSTM; GRU and RNN have the first six of them.
namespace recurrent {
constexpr size_t kData = 0, kWeights = 1, kRecurrence = 2, kBias = 3, kLengths = 4, kState = 5, kCell = 6;
constexpr size_t kPeepholes = 7;
// Those of DynamicQuantizeLSTM: behind each the zero points.
constexpr size_t kWeightsScale = 8, kRecurrenceScale = 10;
}  // namespace recurrent

// A function of one number; alpha and beta are those of ONNX, or 0 where it has none.
struct Activation {
  std::string name;
  double alpha = 0;
  double beta = 0;
};

struct RecurrentLayer {
  int64_t gates = 1;  // of one state
  int64_t places = 1;
  int64_t batch = 1;
  int64_t inputs = 1;
  int64_t hidden = 1;
  std::vector<bool> backwards;  // for each direction
  bool is_batch_first = false;
  bool has_columns =
      false;        // whether the weights of a gate are columns, as ONNX Runtime's quantizer has them
  double clip = 0;  // what activations read lies between -clip and clip; 0: anywhere
  std::vector<Activation> activations;  // those of one direction after those of the other

  size_t directions() const { return backwards.size(); }
  const Activation& activation(size_t direction, size_t number) const {
    return activations[direction * (activations.size() / backwards.size()) + number];
  }
};

// `activations`: the ones of a direction where the node names none; `has_columns`: as in RecurrentLayer. An
// Error where an input's shape does not fit, or names a function that ONNX does not have.
Result<RecurrentLayer> read_recurrent_layer(OnnxNode& node, int64_t gates,
                                            const std::vector<std::string>& activations,
                                            bool has_columns = false);

}  // namespace lathe
