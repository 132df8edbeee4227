#include "graph/onnx/nodes/skip_norm.h"

#include <fmt/format.h>

#include "graph/onnx/nodes/composed.h"

namespace lathe {
namespace {

constexpr double kEpsilon = 1e-12;

// Behind the normalised sum its statistics and the sum itself.
std::vector<ImportedOutput> with_sum(StepList& steps, const OnnxNode& node, size_t sum, double epsilon) {
  std::vector<ImportedOutput> outputs{steps.finish()};
  add_statistics(steps, sum, {node.shape(0).size() - 1}, node.shape(0), epsilon, outputs);
  steps.add(IdentityOp{}, {sum});
  outputs.emplace_back(steps.finish());
  return outputs;
}

// What a row looks up of a table.
size_t rows_of(StepList& steps, size_t table, size_t ids) { return steps.add(GatherByOp{0}, {table, ids}); }

}  // namespace

ImportedOutputs import_skip_layer_norm(OnnxNode& node) {
  constexpr size_t kGamma = 2, kBeta = 3, kBias = 4;
  LATHE_TRY_STATUS(node.require_inputs({0, 1, kGamma}));
  StepList steps(node.input_count());
  size_t sum = steps.add(ZipOp{ZipFunction::add}, {0, 1});
  if (node.has_input(kBias)) sum = steps.add(ZipOp{ZipFunction::add}, {sum, kBias});
  std::vector<size_t> operands{sum, kGamma};
  if (node.has_input(kBeta)) operands.push_back(kBeta);
  const double epsilon = node.real("epsilon", kEpsilon);
  steps.add(LayerNormOp{node.shape(0).size() - 1, epsilon}, operands);
  return with_sum(steps, node, sum, epsilon);
}

ImportedOutputs import_skip_simplified_layer_norm(OnnxNode& node) {
  constexpr size_t kGamma = 2, kBias = 3;
  LATHE_TRY_STATUS(node.require_inputs({0, 1, kGamma}));
  StepList steps(node.input_count());
  size_t sum = steps.add(ZipOp{ZipFunction::add}, {0, 1});
  if (node.has_input(kBias)) sum = steps.add(ZipOp{ZipFunction::add}, {sum, kBias});
  const size_t rank = node.shape(0).size();
  const double epsilon = node.real("epsilon", kEpsilon);
  const size_t root = add_root_mean_square(steps, sum, {rank - 1}, node.shape(0), epsilon);
  const size_t normalised = steps.add(ZipOp{ZipFunction::div}, {sum, root});
  steps.add(ZipOp{ZipFunction::mul}, {normalised, kGamma});
  return with_sum(steps, node, sum, epsilon);
}

ImportedOutputs import_embed_layer_norm(OnnxNode& node) {
  constexpr size_t kIds = 0, kSegmentIds = 1, kWords = 2, kPlaces = 3, kSegments = 4, kGamma = 5, kBeta = 6,
                   kMask = 7, kPlaceIds = 8;
  LATHE_TRY_STATUS(node.require_inputs({kIds, kWords, kPlaces, kGamma, kBeta}));
  const Shape& ids = node.shape(kIds);
  const Shape& places = node.shape(kPlaces);
  if (ids.size() != 2 || places.size() != 2 || places[0] < ids[1]) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("its ids {} and rows of places {} do not fit together", to_string(ids),
                            to_string(places)));
  }
  node.integer("mask_index_type", 0);  // what the mask counts to is its second output in any case
  StepList steps(node.input_count());
  size_t sum = rows_of(steps, kWords, kIds);
  const size_t rows = node.has_input(kPlaceIds)
                          ? rows_of(steps, kPlaces, kPlaceIds)
                          : steps.add(SliceOp{{0, 0}, {1, 1}, {ids[1], places[1]}}, {kPlaces});
  sum = steps.add(ZipOp{ZipFunction::add}, {sum, rows});
  if (node.has_input(kSegments) && node.has_input(kSegmentIds))
    sum = steps.add(ZipOp{ZipFunction::add}, {sum, rows_of(steps, kSegments, kSegmentIds)});
  steps.add(LayerNormOp{2, node.real("epsilon", kEpsilon)}, {sum, kGamma, kBeta});
  std::vector<ImportedOutput> outputs{steps.finish()};
  if (node.has_input(kMask)) {
    ReduceOp count;
    count.axes = {1};
    count.keeps_axes = false;
    const size_t is_one = steps.add(CastOp{DType::i32}, {steps.add(CastOp{DType::boolean}, {kMask})});
    steps.add(count, {is_one});
  } else {
    steps.constant(DType::i32, {ids[0]}, std::vector<double>(static_cast<size_t>(ids[0]), 0));
  }
  outputs.emplace_back(steps.finish());
  steps.add(IdentityOp{}, {sum});
  outputs.emplace_back(steps.finish());
  return outputs;
}

}  // namespace lathe
