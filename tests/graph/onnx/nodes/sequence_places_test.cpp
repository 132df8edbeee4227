#include "graph/onnx/nodes/sequence_places.h"

#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

constexpr int kI64 = onnx::TensorProto_DataType_INT64;

OnnxModel reverse_model(const Shape& shape, int64_t sequences) {
  OnnxModel model;
  model.operator_set(10).input("x", shape).input("l", {sequences}, kI64);
  return std::move(model.node("n", "ReverseSequence", {"x", "l"}, "y").output("y"));
}

// Columns are sequences, unless the axes say otherwise; a length of 1 leaves all as it is.
TEST(OnnxReverseSequence, TurnsThePlacesWithinEachLength) {
  const Values x = numbered({3, 2}), lengths{{2}, {3, 1}, DType::i64};
  EXPECT_EQ(run_network(reverse_model({3, 2}, 2), {x, lengths}).data, (Numbers{5, 2, 3, 4, 1, 6}));
  OnnxModel rows = reverse_model({2, 3, 2}, 2).attribute("batch_axis", 0).attribute("time_axis", 1);
  const Values two{{2}, {2, 3}, DType::i64};
  EXPECT_EQ(run_network(rows, {numbered({2, 3, 2}), two}).data,
            (Numbers{3, 4, 1, 2, 5, 6, 11, 12, 9, 10, 7, 8}));
  EXPECT_EQ(
      import_error(reverse_model({3, 2}, 3)),
      "node 'n' (ReverseSequence): its lengths [3] are not those of the sequences of [3,2] along axis 0");
}

OnnxModel cache_model(const Shape& cache, const Shape& update, bool has_places) {
  OnnxModel model;
  model.operator_set(24).input("c", cache).input("u", update);
  std::vector<std::string> inputs{"c", "u"};
  if (has_places) {
    model.input("p", {cache[0]}, kI64);
    inputs.emplace_back("p");
  }
  return std::move(model.node("n", "TensorScatter", inputs, "y").output("y"));
}

TEST(OnnxTensorScatter, WritesFromAPlaceOfEachSequenceOn) {
  const Values cache = numbered({2, 3, 1}), update{{2, 2, 1}, {-1, -2, -3, -4}};
  const Values places{{2}, {1, 0}, DType::i64}, late{{2}, {2, 4}, DType::i64};
  EXPECT_EQ(run_network(cache_model({2, 3, 1}, {2, 2, 1}, false), {cache, update}).data,
            (Numbers{-1, -2, 3, -3, -4, 6}));
  EXPECT_EQ(run_network(cache_model({2, 3, 1}, {2, 2, 1}, true), {cache, update, places}).data,
            (Numbers{1, -1, -2, -3, -4, 6}));
  OnnxModel round = cache_model({2, 3, 1}, {2, 2, 1}, true).attribute("mode", "circular");
  EXPECT_EQ(run_network(round, {cache, update, late}).data, (Numbers{-2, 2, -1, 4, -3, -4}));
}

TEST(OnnxTensorScatter, NamesWhatItCannotTake) {
  EXPECT_EQ(import_error(cache_model({2, 3, 1}, {2, 4, 1}, false)),
            "node 'n' (TensorScatter): its cache [2,3,1] and update [2,4,1] do not fit together");
  EXPECT_EQ(import_error(cache_model({2, 3, 1}, {2, 2, 1}, false).attribute("mode", "ring")),
            "node 'n' (TensorScatter): attribute 'mode' is 'ring', and must be linear or circular");
}

}  // namespace
}  // namespace lathe
