// Bodies of functions, branches and loops as plain nodes: where a body stands, its tensors have names of
// their own, so that it can stand in several places of one graph.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"

namespace onnx {
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace lathe {

// A body's names, and those that stand for them in the graph around it; others mean the same in both.
using TensorNames = std::unordered_map<std::string, std::string>;

// How many nodes the bodies of a model may come to: a few functions that call each other can come to
// billions.
constexpr size_t kMostNodesOfBodies = 200'000;

// A copy of the node under names of the graph around it; what its own bodies read from outside of them is
// renamed too.
onnx::NodeProto with_names(const onnx::NodeProto& node, const TensorNames& names);

// All names that nodes read, their bodies too.
std::unordered_set<std::string> names_read(const onnx::GraphProto& graph);
std::unordered_set<std::string> names_read(const onnx::NodeProto& node);

// A body of If, Loop or Scan where it stands.
class StandingBody {
 public:
  // `body` must outlive the object. `place`: what all names of this one start with.
  StandingBody(const onnx::GraphProto& body, std::string place);

  // What stays the same however often the body runs: its constants, as Constant nodes.
  std::vector<onnx::NodeProto> constants();
  // One run of it over these inputs, which are as many as the body has: all nodes but the constants. An
  // output that nothing reads has no name. `run` tells the runs of the body apart. `outer`: what stands for
  // names of the graph around it.
  std::vector<onnx::NodeProto> run(size_t run, const std::vector<std::string>& inputs,
                                   const TensorNames& outer = {});
  // The names of the outputs of the last run.
  const std::vector<std::string>& outputs() const { return outputs_; }

 private:
  const onnx::GraphProto& body_;
  std::string place_;
  TensorNames constants_;
  std::unordered_set<std::string> read_;
  std::vector<std::string> outputs_;
};

}  // namespace lathe
