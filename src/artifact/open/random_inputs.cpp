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
      // Behind the inputs are counts of free sizes, which nobody gives.
      const auto place = buffers.at(i).at("place").get<size_t>();
      if (place < ranges_.size()) narrow(place, values[i]);
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

NpyArray random_array(const ArtifactTensor& tensor, const std::vector<int64_t>& shape, Interval integers,
                      Rng& rng) {
  auto bytes = static_cast<size_t>(bytes_of(tensor.dtype));
  for (const int64_t extent : shape) bytes *= static_cast<size_t>(extent);
  NpyArray array{tensor.dtype, shape, std::vector<std::byte>(bytes)};
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

// An Error where the artifact has no such dimension.
Status check_names(const FreeSizes& free, const std::map<std::string, int64_t>& sizes) {
  for (const auto& [name, size] : sizes) {
    if (std::ranges::find(free.dimensions, name, &FreeDimension::name) != free.dimensions.end()) continue;
    return fail(ErrorKind::not_found,
                fmt::format("the artifact has no free size '{}'{}", name,
                            free.empty() ? "" : fmt::format("; it has '{}'", free.dimensions[0].name)),
                "--size");
  }
  return {};
}

std::vector<int64_t> shape_of(const Manifest& manifest, size_t input,
                              const std::map<std::string, int64_t>& sizes) {
  std::vector<int64_t> shape = manifest.inputs[input].shape;
  for (const FreeExtent& extent : manifest.free.extents) {
    const auto size = sizes.find(manifest.free.dimensions[extent.dimension].name);
    if (!extent.is_output && extent.tensor == input && size != sizes.end())
      shape[extent.axis] = extent.outer * size->second * extent.inner;
  }
  return shape;
}

}  // namespace

Status set_random_inputs(LoadedArtifact& artifact, const std::string& folder, uint64_t seed,
                         const std::string& source, const std::map<std::string, int64_t>& sizes) {
  LATHE_TRY(const Manifest manifest, read_manifest(folder));
  LATHE_TRY(const IntegerRanges ranges, integer_ranges(folder + "/manifest.json", manifest.inputs));
  LATHE_TRY_STATUS(check_names(manifest.free, sizes));
  Rng rng(seed);
  for (size_t i = 0; i < manifest.inputs.size(); ++i) {
    const std::vector<int64_t> shape = shape_of(manifest, i, sizes);
    LATHE_TRY_STATUS(check_input_shape(manifest, i, shape, sizes.empty() ? source : "--size"));
    LATHE_TRY_STATUS(artifact.set_input(i, random_array(manifest.inputs[i], shape, ranges[i], rng), source));
  }
  return {};
}

}  // namespace lathe
