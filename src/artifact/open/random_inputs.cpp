#include "artifact/open/random_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "artifact/manifest.h"
#include "base/json.h"
#include "base/read_file.h"
#include "base/rng.h"
#include "expr/dag.h"
#include "expr/index_limit.h"
#include "expr/parse.h"

namespace lathe {
namespace {

using nlohmann::json;

// Few enough to be right wherever an index comes of them on the way.
constexpr Interval kAnyIntegers = {0, 3};

// What each input's integers may be by the kernels that read it.
class IntegerRanges {
 public:
  explicit IntegerRanges(const std::vector<ArtifactTensor>& inputs)
      : ranges_(inputs.size(), kAnyIntegers), known_(inputs.size(), false) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].indices) narrow(i, *inputs[i].indices);
  }

  Interval operator[](size_t input) const { return ranges_[input]; }

  // Buffers of a launch that begin with the inputs of this Dag, in their order.
  void learn(const Dag& dag, const json& buffers) {
    const std::vector<Interval> values = index_values(dag);
    for (size_t i = 0; i < dag.inputs.size(); ++i) {
      if (buffers.at(i).at("storage") != "input" || !index_range(dag, dag.inputs[i])) continue;
      narrow(buffers.at(i).at("place").get<size_t>(), values[i]);
    }
  }

 private:
  void narrow(size_t input, Interval values) {
    Interval& range = ranges_.at(input);
    if (known_[input]) values = {std::max(values.lo, range.lo), std::min(values.hi, range.hi)};
    range = values.lo <= values.hi ? values : Interval{0, 0};
    known_[input] = true;
  }

  std::vector<Interval> ranges_;
  std::vector<bool> known_;  // whether a kernel has narrowed it
};

Result<IntegerRanges> integer_ranges(const std::string& path, const std::vector<ArtifactTensor>& inputs) {
  LATHE_TRY(const std::string text, read_file(path));
  LATHE_TRY(const json manifest, parse_json(text, path));
  IntegerRanges ranges(inputs);
  try {
    for (const char* list : {"launches", "prepares"}) {
      for (const json& launch : manifest.at(list)) {
        const json& kernel = manifest.at("kernels").at(launch.at("kernel").get<size_t>());
        LATHE_TRY(const Dag dag, parse_dag(kernel.at("dag").get<std::string>(), path));
        ranges.learn(dag, launch.at("buffers"));
      }
    }
  } catch (const std::exception&) {  // a key that is missing or of another type, a place that is none
    return fail(ErrorKind::parse, "this is not the manifest of an artifact", path);
  }
  return ranges;
}

NpyArray random_array(const ArtifactTensor& tensor, Interval integers, Rng& rng) {
  NpyArray array{tensor.dtype, tensor.shape, std::vector<std::byte>(tensor.bytes)};
  if (tensor.dtype == DType::boolean) integers = {0, 1};
  visit_storage(tensor.dtype, [&]<class T>(std::type_identity<T>) {
    for (size_t at = 0; at < array.bytes.size(); at += sizeof(T)) {
      const T value = is_float(tensor.dtype) ? static_cast<T>(2 * rng.uniform() - 1)
                                             : static_cast<T>(rng.between(integers.lo, integers.hi));
      std::memcpy(array.bytes.data() + at, &value, sizeof(T));
    }
  });
  return array;
}

}  // namespace

Status set_random_inputs(LoadedArtifact& artifact, const std::string& folder, uint64_t seed,
                         const std::string& source) {
  LATHE_TRY(const Manifest manifest, read_manifest(folder));
  LATHE_TRY(const IntegerRanges ranges, integer_ranges(folder + "/manifest.json", manifest.inputs));
  Rng rng(seed);
  for (size_t i = 0; i < manifest.inputs.size(); ++i)
    LATHE_TRY_STATUS(artifact.set_input(i, random_array(manifest.inputs[i], ranges[i], rng), source));
  return {};
}

}  // namespace lathe
