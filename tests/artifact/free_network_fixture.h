// Networks with free sizes, read and run at every size within the bounds.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "artifact/free_network.h"
#include "base/temporary_folder.h"
#include "graph/onnx/models.h"

namespace lathe {

class FreeNetworkTest : public ::testing::Test {
 protected:
  std::string write(const OnnxModel& onnx) const {
    const std::string path = (folder_.path() / "net.onnx").string();
    std::ofstream(path, std::ios::binary) << onnx.bytes();
    return path;
  }

  Result<SizedGraphs> read(const OnnxModel& onnx, const std::map<std::string, Shape>& shapes,
                           const SizeChoices& choices) const {
    OnnxImportOptions import;
    import.input_shapes = shapes;
    return sized_graphs(write(onnx), import, choices);
  }

  // What the plan for that size gives, places that do not count cut off; of one dimension. Behind them are
  // infinities and NaN, and for integers another token.
  static std::vector<Values> run(const SizedGraphs& sized, const std::vector<Values>& inputs, int64_t size) {
    const FreeDimension& dimension = sized.free.dimensions[0];
    const SizedGraph* plan = nullptr;
    for (const SizedGraph& each : sized.graphs)
      if (each.sizes[0] >= size && (plan == nullptr || each.sizes[0] < plan->sizes[0])) plan = &each;
    if (plan == nullptr) {
      ADD_FAILURE() << "no graph takes " << size;
      return {};
    }
    std::vector<Values> padded;
    for (size_t i = 0; i < inputs.size(); ++i)
      padded.push_back(moved_to(inputs[i], plan->graph.tensor(plan->graph.inputs[i]).type.shape, i));
    if (dimension.by == SizedBy::count) padded.push_back({{1}, {static_cast<double>(size)}, DType::i64});
    auto outputs = evaluate_graph(plan->graph, padded);
    EXPECT_TRUE(outputs.has_value()) << outputs.error().to_string();
    if (!outputs) return {};
    for (const FreeExtent& extent : sized.free.extents) {
      if (!extent.is_output) continue;
      Values& output = (*outputs)[extent.tensor];
      EXPECT_EQ(output.shape[extent.axis], extent.outer * plan->sizes[0] * extent.inner);
      output = first_places(output, extent, plan->sizes[0], size);
    }
    return std::move(*outputs);
  }

  static Values moved_to(const Values& from, const Shape& shape, size_t seed) {
    Values to{shape, {}, from.dtype};
    Shape index(shape.size(), 0);
    size_t count = seed;
    do {
      bool inside = true;
      int64_t place = 0;
      for (size_t d = 0; d < shape.size(); ++d) {
        inside = inside && index[d] < from.shape[d];
        place = place * from.shape[d] + index[d];
      }
      const double nothing = !is_float(from.dtype) ? 1
                             : ++count % 3 == 0    ? std::numeric_limits<double>::infinity()
                                                   : std::numeric_limits<double>::quiet_NaN();
      to.data.push_back(inside ? from.data[static_cast<size_t>(place)] : nothing);
    } while (next_index(index, shape));
    return to;
  }

  static Values first_places(const Values& all, const FreeExtent& extent, int64_t planned, int64_t size) {
    Values kept{all.shape, {}, all.dtype};
    kept.shape[extent.axis] = extent.outer * size * extent.inner;
    Shape index(all.shape.size(), 0);
    size_t at = 0;
    do {
      if (index[extent.axis] / extent.inner % planned < size) kept.data.push_back(all.data[at]);
      ++at;
    } while (next_index(index, all.shape));
    return kept;
  }

  // Every size of the one dimension beside the file as it is read there.
  void check_every_size(const OnnxModel& onnx, const SizedGraphs& sized,
                        const std::map<std::string, Shape>& largest) const {
    const FreeDimension& dimension = sized.free.dimensions[0];
    for (int64_t size = dimension.least; size <= dimension.most; ++size) {
      OnnxImportOptions import;
      import.input_shapes = largest;
      for (const FreeExtent& extent : sized.free.extents) {
        if (extent.is_output) continue;
        auto at = import.input_shapes.begin();
        const Graph& graph = sized.graphs[0].graph;
        at = import.input_shapes.find(graph.tensor(graph.inputs[extent.tensor]).name);
        at->second[extent.axis] = size;
      }
      const Result<Graph> exact = import_onnx(write(onnx), import);
      ASSERT_TRUE(exact.has_value()) << exact.error().to_string();
      const std::vector<Values> inputs = random_inputs(*exact, static_cast<uint64_t>(size));
      const auto expected = evaluate_graph(*exact, inputs);
      ASSERT_TRUE(expected.has_value()) << expected.error().to_string();
      EXPECT_LT(relative_difference(run(sized, inputs, size), *expected), 1e-12) << "at size " << size;
    }
  }

  TemporaryFolder folder_;
};

// An input, x where there is one, with that axis open, called `name`.
inline OnnxModel with_open(OnnxModel onnx, int axis, const char* name, int input = 0) {
  onnx.proto.mutable_graph()
      ->mutable_input(input)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(axis)
      ->set_dim_param(name);
  return onnx;
}

}  // namespace lathe
