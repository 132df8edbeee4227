// A network as a value: typed tensors, some with constant data, and nodes in topological order. Made by
// `GraphBuilder` (which infers every type) or by the ONNX import; passes are functions from graph to graph.
// Copies share the constant data, which is never written after it was made; safe to read from many threads.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "expr/affine.h"
#include "graph/operators/arg_extremum.h"
#include "graph/operators/batch_norm.h"
#include "graph/operators/coded.h"
#include "graph/operators/conv.h"
#include "graph/operators/conv_transpose.h"
#include "graph/operators/cumsum.h"
#include "graph/operators/einsum.h"
#include "graph/operators/elementwise.h"
#include "graph/operators/gather.h"
#include "graph/operators/gemm.h"
#include "graph/operators/loop_steps.h"
#include "graph/operators/lrn.h"
#include "graph/operators/matmul.h"
#include "graph/operators/move.h"
#include "graph/operators/normalise.h"
#include "graph/operators/pad.h"
#include "graph/operators/pool.h"
#include "graph/operators/pow.h"
#include "graph/operators/rearrange.h"
#include "graph/operators/reduce.h"
#include "graph/operators/resize.h"
#include "graph/operators/scatter.h"
#include "graph/operators/set_places.h"
#include "graph/operators/top_places.h"
#include "graph/operators/top_threshold.h"
#include "graph/operators/trilu.h"
#include "graph/operators/view.h"
#include "graph/operators/zip.h"
#include "graph/tensor_type.h"

namespace lathe {

// Every operator; a new one is added here and in its family's file, and the compiler names what is missing.
using AnyGraphOp =
    std::variant<ConvOp, ConvTransposeOp, MaxPoolOp, AveragePoolOp, LpPoolOp, GlobalAveragePoolOp, LrnOp,
                 GemmOp, MatMulOp, EinsumOp, MapOp, ZipOp, PowOp, WhereOp, CastOp, BitCastOp, RoundToCodeOp,
                 EncodeOp, DecodeOp, TriluOp, BatchNormOp, LayerNormOp, GroupNormOp, MeanVarianceNormOp,
                 LpNormOp, ReduceOp, ArgExtremumOp, TopPlacesOp, TopThresholdOp, SetPlacesOp, SoftmaxOp,
                 HardmaxOp, CumSumOp, TransposeOp, SliceOp, ConcatOp, PadOp, ExpandOp, GatherOp, GatherByOp,
                 GatherElementsOp, ScatterOp, TileOp, DepthToSpaceOp, SpaceToDepthOp, ResizeOp, IdentityOp,
                 ReshapeOp, TakeStepOp, StepStateOp, LastStateOp, StackStepsOp, StepsWhileOp, CopyOp>;

// One of them; std::visit and std::get_if take it as the variant that it is. It is copied, moved and
// destroyed in one place: a variant of fifty does so by functions that each file which handles graphs would
// compile again, which was a fifth of the time that the library took to build.
class GraphOp : public AnyGraphOp {
 public:
  template <class Op>
    requires(!std::derived_from<Op, AnyGraphOp> && std::constructible_from<AnyGraphOp, Op>)
  GraphOp(Op op) : AnyGraphOp(std::move(op)) {}
  GraphOp();  // the first of them
  GraphOp(const GraphOp& other);
  GraphOp(GraphOp&& other) noexcept;
  GraphOp& operator=(const GraphOp& other);
  GraphOp& operator=(GraphOp&& other) noexcept;
  ~GraphOp();
};

// How many operands it takes at most.
size_t most_operands(const GraphOp& op);
// "Conv".
const char* name_of(const GraphOp& op);
FusionRole role_of(const GraphOp& op);
// Whether each element of its result is one of an operand's.
bool moves_elements(const GraphOp& op);
// The loop at whose border the operator stands, or null.
const StepLoop* loop_of(const GraphOp& op);
bool is_entry(const GraphOp& op);  // of a loop
bool is_exit(const GraphOp& op);
// "Conv(kernel [3,3], pads [1,1,1,1])".
std::string to_string(const GraphOp& op);

// An index into Graph::tensors.
using TensorId = size_t;

using Bytes = std::vector<std::byte>;

struct GraphTensor {
  std::string
      name;  // unique in its graph, but that an output may be a copy of the input or constant so named
  TensorType type;
  std::shared_ptr<const Bytes> data;  // row-major, little-endian, for a constant; else null

  bool is_constant() const { return data != nullptr; }
};

struct GraphNode {
  std::string name;
  GraphOp op;
  std::vector<TensorId> inputs;
  TensorId output = 0;
};

// What all elements of an input of integers must lie between for the graph to be run at all.
struct RequiredValues {
  std::string input;
  Interval values;

  bool operator==(const RequiredValues&) const = default;
};

struct Graph {
  std::string name;
  std::vector<GraphTensor> tensors;
  std::vector<GraphNode> nodes;         // producers before consumers
  std::vector<TensorId> inputs;         // in the order of the model
  std::vector<TensorId> outputs;        // in the order of the model; each is some node's output
  std::vector<std::string> data_files;  // that constants were read from, beside the model's own file
  std::vector<RequiredValues> required;
  std::vector<std::string> notes;  // what was noticed when the model was read: a sentence each, for people

  const GraphTensor& tensor(TensorId id) const { return tensors[id]; }
};

// For each tensor the node that gives it, or -1 for inputs and constants.
std::vector<int> producers_of(const Graph& graph);
// For each tensor the nodes that read it, each once, ascending.
std::vector<std::vector<size_t>> consumers_of(const Graph& graph);
// Whether a tensor is an output of the graph.
bool is_output(const Graph& graph, TensorId id);
// "it has 1 input, and takes 2": for an operator that takes so many.
std::string wrong_number_of_inputs(size_t has, size_t least, size_t most);
// What sentences call a node: "node 'c1' (Conv)".
std::string label_of(const GraphNode& node);
// The type that a node gives for operands of these types, which most operators widen where they are only
// stored (graph/stored_types.h); an Error names the node.
Result<TensorType> infer_type(const GraphNode& node, std::span<const TensorType> inputs);
// The whole graph, a line a tensor or node; constants without their data.
std::string to_string(const Graph& graph);
// What must hold of every graph: indices in range, names unique, producers before consumers, every type as
// inferred, constant data of the type's size. For graphs that were edited by hand.
Status verify(const Graph& graph);

// A constant's values.
std::vector<double> values_of(const GraphTensor& constant);
// The bytes that hold `values` as elements of `dtype`, rounded.
std::shared_ptr<const Bytes> to_bytes(DType dtype, std::span<const double> values);

// Collects a graph in the order in which it is written and infers the types.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name) { graph_.name = std::move(name); }

  // An Error if the name is taken or the shape has an extent below 1.
  Result<TensorId> input(std::string name, TensorType type);
  // The same, or if the data does not have the type's size.
  Result<TensorId> constant(std::string name, TensorType type, std::shared_ptr<const Bytes> data);
  // A tensor of that type, which has no elements, and so no place in the graph: no node may read it, and it
  // is no output. An Error if the name is taken.
  Result<TensorId> empty(std::string name, TensorType type);
  bool is_empty(TensorId id) const { return id >= kFirstEmpty; }
  // An Error names the node if the operator does not take such inputs.
  Result<TensorId> node(std::string name, GraphOp op, std::vector<TensorId> inputs, std::string output_name);
  // Of an input or a constant, which nothing computes, a copy is the output. An Error if it is one already.
  Status output(TensorId id);

  // Lets the graph be run only where a bool of one element is that truth; false where no range of an input's
  // values makes it so (graph/index_inputs.h).
  bool require(TensorId condition, bool truth);

  // The tensor of that name, if there is one.
  std::optional<TensorId> find(const std::string& name) const;
  const GraphTensor& tensor(TensorId id) const {
    return is_empty(id) ? empty_[id - kFirstEmpty] : graph_.tensors[id];
  }
  bool is_input(TensorId id) const;
  // The graph; the builder is used up.
  Graph build() { return std::move(graph_); }

 private:
  static constexpr TensorId kFirstEmpty = TensorId{1} << 62;

  Status add_name(const std::string& name, TensorId id);
  Result<TensorId> add(GraphTensor tensor);
  Graph graph_;
  std::vector<GraphTensor> empty_;
  std::unordered_map<std::string, TensorId> names_;
};

}  // namespace lathe
