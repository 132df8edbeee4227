#include "artifact/free_network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "artifact/compared_sizes.h"
#include "artifact/fixed_size.h"
#include "artifact/free_dimensions.h"
#include "artifact/join_sizes.h"
#include "network/compare_sizes.h"
#include "network/follow_size.h"
#include "network/mask_counts.h"

namespace lathe {
namespace {

// Plans that are compiled where fewer sizes serve the others, of all combinations of sizes.
constexpr size_t kMostPlans = 64;
// Where each size has kernels of its own there may be more of them: compiling takes long then, and works.
constexpr size_t kMostExactPlans = 128;
// So often a file is read for numbers that go by a size.
constexpr int64_t kMostReadings = 1024;

struct Dimension {
  AskedDimension asked;
  int64_t working = 2;  // the size at which it is followed
  bool is_free = true;  // else it has one size, another one than in the file
  SizedBy by = SizedBy::exact;
  Compared compared = {};
  std::string why_exact = {};
  UnitPlaces units = UnitPlaces::first;
  std::optional<std::string> refusal = {};  // by fixed_size.h

  bool is_open() const { return !asked.fixed; }
};

class SizedReader {
 public:
  SizedReader(const std::string& path, const OnnxImportOptions& import) : path_(path), import_(import) {}

  Result<SizedGraphs> run(const AskedSizes& asked) {
    shapes_ = asked.shapes;
    for (const AskedDimension& dimension : asked.dimensions) {
      const int64_t working = std::max({dimension.most, dimension.fixed.value_or(1), int64_t{2}});
      dimensions_.push_back({dimension, working, dimension.least != dimension.most});
    }
    std::vector<int64_t> sizes;
    for (const Dimension& dimension : dimensions_) sizes.push_back(dimension.working);
    LATHE_TRY(base_, import_at(sizes));
    for (Dimension& dimension : dimensions_) read_fixed(dimension, sizes);
    for (Dimension& dimension : dimensions_) dimension.compared = compare(dimension, base_, sizes);
    drop_common_numbers();
    for (Dimension& dimension : dimensions_) LATHE_TRY_STATUS(settle(dimension, sizes));
    is_settled_ = true;
    LATHE_TRY_STATUS(compare_combinations());
    return all_graphs();
  }

 private:
  // Dimensions that the file fixes have its extent, but for `changed`.
  Result<Graph> import_at(const std::vector<int64_t>& sizes, const Dimension* changed = nullptr) const {
    OnnxImportOptions options = import_;
    options.input_shapes = shapes_;
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      const bool is_exact = dimensions_[d].is_free && dimensions_[d].by == SizedBy::exact && is_settled_;
      if (!dimensions_[d].is_open() && !is_exact && &dimensions_[d] != changed) continue;
      for (const NamedAxis& axis : dimensions_[d].asked.axes) {
        const auto shape = options.input_shapes.find(axis.input);
        if (shape != options.input_shapes.end() && axis.axis < shape->second.size())
          shape->second[axis.axis] = sizes[d];
      }
    }
    return import_onnx(path_, options);
  }

  // With one place more than the file fixes, which becomes the network where it tells more.
  void read_fixed(Dimension& dimension, const std::vector<int64_t>& sizes) {
    const AskedDimension& asked = dimension.asked;
    if (!asked.fixed || (asked.least == *asked.fixed && asked.most == *asked.fixed)) return;
    const std::map<std::string, Shape> shapes = shapes_;
    for (const NamedAxis& axis : dimension.asked.axes)
      shapes_[axis.input][axis.axis] = *dimension.asked.fixed + 1;
    Result<Graph> other = import_at(sizes);
    const std::vector<FreeInput> others = other ? inputs_of(*other, dimension) : std::vector<FreeInput>();
    const FixedReading reading =
        read_fixed_size(base_, inputs_of(base_, dimension), other ? &*other : nullptr, others,
                        *dimension.asked.fixed, dimension.working);
    dimension.units = reading.units;
    dimension.refusal = reading.refusal;
    if (reading.has_one_more) {
      base_ = std::move(*other);
      ++*dimension.asked.fixed;
    } else {
      shapes_ = shapes;
    }
  }

  size_t number_of(const Dimension& dimension) const {
    return static_cast<size_t>(&dimension - dimensions_.data());
  }

  static std::vector<FreeInput> inputs_of(const Graph& graph, const Dimension& dimension) {
    std::vector<FreeInput> inputs;
    for (const NamedAxis& axis : dimension.asked.axes)
      for (const TensorId id : graph.inputs)
        if (graph.tensor(id).name == axis.input) inputs.push_back({id, axis.axis});
    return inputs;
  }

  Compared compare(const Dimension& dimension, const Graph& graph, std::vector<int64_t> sizes) const {
    if (!dimension.is_open()) return {};
    int64_t& size = sizes[number_of(dimension)];
    size = std::max(dimension.asked.least, int64_t{2});
    if (size == dimension.working) ++size;
    const Result<Graph> other = import_at(sizes);
    if (!other) return {};
    Compared compared;
    compared.known = compare_sizes(graph, dimension.working, *other, size);
    if (dimension.is_free) compared.number_ids = numbers_of_size(graph, *other);
    return compared;
  }

  // A number of two sizes has a table for neither: it goes by the one that has more sizes, if each of the
  // other one's has kernels of its own.
  void drop_common_numbers() {
    for (Dimension& dimension : dimensions_) {
      for (Dimension& other : dimensions_) {
        const bool is_wider =
            dimension.asked.most - dimension.asked.least > other.asked.most - other.asked.least;
        if (&dimension == &other || is_wider) continue;
        std::vector<TensorId>& ids = dimension.compared.number_ids;
        if (std::ranges::find_first_of(ids, other.compared.number_ids) != ids.end()) ids = {};
      }
    }
  }

  // What such constants are at each size within the bounds, by reading the file at each. None where there is
  // more to another size than that.
  SizeNumbers numbers_at_all(const Dimension& dimension, const Graph& largest,
                             const std::vector<TensorId>& ids, std::vector<int64_t> sizes) const {
    SizeNumbers numbers{.least = dimension.asked.least, .values = {}};
    if (ids.empty() || dimension.working - dimension.asked.least >= kMostReadings) return {};
    for (int64_t size = dimension.asked.least; size <= dimension.working; ++size) {
      sizes[number_of(dimension)] = size;
      const Result<Graph> graph = import_at(sizes);
      if (!graph || graph->tensors.size() != largest.tensors.size()) return {};
      for (const TensorId id : ids) {
        if (!graph->tensor(id).is_constant() || graph->tensor(id).type != largest.tensor(id).type) return {};
        numbers.values[id].push_back(graph->tensor(id).data);
      }
    }
    return numbers;
  }

  Result<FollowedSize> follow(const Dimension& dimension, const Graph& graph,
                              const Compared& compared) const {
    const std::vector<FreeInput> inputs = inputs_of(graph, dimension);
    if (inputs.empty())
      return fail(ErrorKind::invalid_argument,
                  fmt::format("no input of the model has '{}'", dimension.asked.name), path_);
    if (dimension.refusal) return fail(ErrorKind::unsupported, *dimension.refusal);
    return follow_size(graph, inputs, dimension.working, compared.known, dimension.units, compared.numbers);
  }

  static std::string count_name(const Dimension& dimension) { return "#count of " + dimension.asked.name; }

  Status settle(Dimension& dimension, const std::vector<int64_t>& sizes) {
    Status served = settle_by_one(dimension, sizes);
    if (!served && dimension.asked.fixed.value_or(1) > 1) {
      dimension.compared.known = numbering_constants(base_, *dimension.asked.fixed);
      served = settle_by_one(dimension, sizes);
    }
    if (served) return {};
    const AskedDimension& asked = dimension.asked;
    if (!dimension.is_free)
      return fail(ErrorKind::unsupported,
                  fmt::format("the size of {} cannot be changed to {}: {}", asked.name, asked.most,
                              served.error().message),
                  path_);
    dimension.by = SizedBy::exact;
    dimension.why_exact = served.error().message;
    const int64_t count = asked.most - asked.least + 1;
    if (count <= static_cast<int64_t>(kMostExactPlans)) return {};
    return fail(ErrorKind::unsupported,
                fmt::format("'{}' cannot be free from {} to {}: {} (of at most {} sizes each is compiled by "
                            "itself)",
                            asked.name, asked.least, asked.most, served.error().message, kMostExactPlans),
                path_);
  }

  // By kernels that serve other sizes than their own; an Error says why that cannot be.
  Status settle_by_one(Dimension& dimension, const std::vector<int64_t>& sizes) {
    LATHE_TRY(FollowedSize followed, follow(dimension, base_, dimension.compared));
    if (followed.is_apart()) {
      dimension.by = SizedBy::parts;
    } else if (!dimension.is_free) {
      return fail(ErrorKind::unsupported, *followed.together);
    } else if (followed.least_size > dimension.asked.least) {
      return fail(
          ErrorKind::unsupported,
          fmt::format("{}: at the largest size it reads one of the first or last {} places, and the bounds "
                      "do not say that there are always so many",
                      followed.least_reader, followed.least_size));
    } else {
      LATHE_TRY_STATUS(with_count(followed, dimension.working, count_name(dimension)));
      dimension.by = SizedBy::count;
    }
    Compared& compared = dimension.compared;
    if (!compared.number_ids.empty()) {
      compared.numbers = numbers_at_all(dimension, base_, compared.number_ids, sizes);
      LATHE_TRY(followed, follow(dimension, base_, compared));
      LATHE_TRY_STATUS(with_count(followed, dimension.working, count_name(dimension)));
      dimension.by = SizedBy::count;
    }
    return check_sizes(dimension, followed, sizes);
  }

  // The same of several sizes at once, which may meet: as many of each as all combinations of them allow.
  Status compare_combinations() {
    size_t open = 0;
    for (const Dimension& dimension : dimensions_) {
      if (!dimension.is_open()) return {};  // the file is read at one size alone
      ++open;
    }
    if (open < 2) return {};
    const auto all = static_cast<double>(most_compared(base_));
    const auto each = static_cast<size_t>(std::pow(all, 1 / static_cast<double>(open)));
    std::vector<std::vector<int64_t>> choices;
    for (const Dimension& dimension : dimensions_)
      choices.push_back(
          sizes_compared(dimension.asked.least, dimension.asked.most, std::max(kFewestCompared, each)));
    return for_each_combination(choices, [this](const std::vector<int64_t>& at) { return compare_at(at); });
  }

  // `sizes` has an entry for each of dimensions_.
  Status compare_at(const std::vector<int64_t>& sizes) {
    LATHE_TRY(const Graph followed, graph_at(sizes, false));
    LATHE_TRY(const Graph read, import_at(sizes));
    std::vector<std::string> told;
    for (size_t d = 0; d < sizes.size(); ++d)
      told.push_back(fmt::format("{} = {}", dimensions_[d].asked.name, sizes[d]));
    const Status same = check_same(followed, read, fmt::format("at {}", fmt::join(told, ", ")));
    if (same) return {};
    return fail(ErrorKind::unsupported, "its sizes cannot be free together: " + same.error().message, path_);
  }

  // What follows from the largest size is what the file says at others.
  Status check_sizes(const Dimension& dimension, const FollowedSize& followed, std::vector<int64_t> sizes) {
    if (!dimension.is_free) return {};
    if (!dimension.is_open()) return check_fixed(dimension, followed, std::move(sizes));
    for (const int64_t size :
         sizes_compared(dimension.asked.least, dimension.asked.most, most_compared(base_))) {
      sizes[number_of(dimension)] = size;
      LATHE_TRY(const Graph graph, import_at(sizes));
      LATHE_TRY(const Graph followed_graph, at_size(followed, size));
      LATHE_TRY_STATUS(check_same(followed_graph, graph, fmt::format("at size {}", size)));
    }
    return {};
  }

  // The same of a file that fixes the size. What it reads at a place behind the first may be counted from the
  // end: that shows where the file can be read at another size.
  Status check_fixed(const Dimension& dimension, const FollowedSize& followed,
                     std::vector<int64_t> sizes) const {
    for (const int64_t size :
         sizes_compared(dimension.asked.least, dimension.asked.most, most_compared(base_))) {
      LATHE_TRY(const Graph followed_graph, at_size(followed, size));
      sizes[number_of(dimension)] = size;
      const Result<Graph> graph = import_at(sizes, &dimension);
      const bool has_fixed_places = followed.least_size > 1 || !followed.from_end.empty();
      if (!graph && has_fixed_places)
        return fail(
            ErrorKind::unsupported,
            fmt::format("{}: it reads one of the first or last {} places, and the file, which fixes the "
                        "size, does not say from where that is counted",
                        followed.least_reader, followed.least_size));
      if (!graph) continue;
      if (has_fixed_places)
        LATHE_TRY_STATUS(check_same(followed_graph, *graph, fmt::format("at size {}", size)));
      if (const auto otherwise = contradiction(followed_graph, *graph))
        return fail(ErrorKind::unsupported, fmt::format("{} (at size {})", *otherwise, size));
    }
    return {};
  }

  // Which axes of the outputs the dimensions stand in, of the graph at one tuple of sizes: those of all. An
  // axis has one free size at the most.
  Status take_extents(std::vector<FreeExtent> extents) {
    std::set<std::pair<size_t, size_t>> seen;
    for (const FreeExtent& extent : extents)
      if (!seen.insert({extent.tensor, extent.axis}).second) return holds_two(extent);
    if (extents_) {
      for (const FreeExtent& extent : extents)
        if (std::ranges::find(*extents_, extent) == extents_->end()) return holds_two(extent);
    } else {
      extents_ = std::move(extents);
    }
    return {};
  }

  std::unexpected<Error> holds_two(const FreeExtent& extent) const {
    return fail(ErrorKind::unsupported,
                fmt::format("axis {} of output '{}' holds two sizes at once, which cannot both be free",
                            extent.axis, base_.tensor(base_.outputs[extent.tensor]).name),
                path_);
  }

  Result<SizedGraphs> all_graphs() {
    SizedGraphs all;
    std::vector<size_t> number(dimensions_.size());
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      const AskedDimension& asked = dimensions_[d].asked;
      number[d] = all.free.dimensions.size();
      if (dimensions_[d].is_free)
        all.free.dimensions.push_back({asked.name, asked.least, asked.most, dimensions_[d].by});
    }
    std::vector<std::vector<int64_t>> choices = sizes_compiled(all.free.dimensions, kMostPlans);
    size_t count = 1;
    for (const std::vector<int64_t>& sizes : choices) count *= sizes.size();
    if (count > kMostExactPlans)
      return fail(
          ErrorKind::unsupported,
          fmt::format("there are {} combinations of sizes, each of which would be compiled by itself, "
                      "and {} at most may be",
                      count, kMostExactPlans),
          path_);
    for (size_t i = 0; i < count; ++i) {
      std::vector<int64_t> sizes;  // the largest first
      size_t rest = i;
      for (const std::vector<int64_t>& each : choices) {
        sizes.push_back(each[each.size() - 1 - rest % each.size()]);
        rest /= each.size();
      }
      Result<Graph> graph = graph_at(sizes_of_all(sizes, number), true);
      if (!graph) return std::unexpected(at_sizes(std::move(graph.error()), sizes, number));
      all.graphs.push_back({std::move(sizes), std::move(*graph)});
    }
    add_extents(all.free, number);
    return all;
  }

  // An entry for each of dimensions_, of those of the free ones.
  std::vector<int64_t> sizes_of_all(const std::vector<int64_t>& free,
                                    const std::vector<size_t>& number) const {
    std::vector<int64_t> sizes;
    for (size_t d = 0; d < dimensions_.size(); ++d)
      sizes.push_back(dimensions_[d].is_free ? free[number[d]] : dimensions_[d].asked.most);
    return sizes;
  }

  // What is compiled for one size alone says which.
  Error at_sizes(Error error, const std::vector<int64_t>& sizes, const std::vector<size_t>& number) const {
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      const Dimension& dimension = dimensions_[d];
      if (dimension.by != SizedBy::exact) continue;
      error.message += fmt::format(" (where '{}' is {}; each of its sizes is compiled by itself: {})",
                                   dimension.asked.name, sizes[number[d]], dimension.why_exact);
    }
    return error;
  }

  void add_extents(FreeSizes& free, const std::vector<size_t>& number) const {
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      if (!dimensions_[d].is_free) continue;
      for (const NamedAxis& axis : dimensions_[d].asked.axes)
        for (size_t i = 0; i < base_.inputs.size(); ++i)
          if (base_.tensor(base_.inputs[i]).name == axis.input)
            free.extents.push_back({false, i, axis.axis, number[d]});
    }
    for (FreeExtent extent : *extents_) {
      extent.dimension = number[extent.dimension];
      free.extents.push_back(extent);
    }
  }

  // Dimensions whose sizes one graph serves: those first that have one size alone, then those by parts.
  std::vector<size_t> followed_dimensions() const {
    std::vector<size_t> order;
    for (size_t d = 0; d < dimensions_.size(); ++d)
      if (dimensions_[d].by != SizedBy::exact) order.push_back(d);
    std::ranges::stable_sort(order, {},
                             [&](size_t d) { return std::pair(dimensions_[d].is_free, dimensions_[d].by); });
    return order;
  }

  // The network at these sizes, one for each of dimensions_; `counted`: as what is compiled, in which what
  // does not count is left out.
  Result<Graph> graph_at(const std::vector<int64_t>& sizes, bool counted) {
    std::vector<int64_t> read;  // at which the file is read
    bool has_exact = false;
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      const bool is_exact = dimensions_[d].is_free && dimensions_[d].by == SizedBy::exact;
      has_exact = has_exact || is_exact;
      read.push_back(is_exact ? sizes[d] : dimensions_[d].working);
    }
    Graph graph = base_;
    if (has_exact) {
      LATHE_TRY(graph, import_at(read));
    }
    const std::vector<size_t> order = followed_dimensions();
    LATHE_TRY(std::vector<Compared> compared, compared_at(order, graph, has_exact, read));
    std::vector<FreeExtent> extents;
    for (size_t i = 0; i < order.size(); ++i) {
      const size_t d = order[i];
      const Dimension& dimension = dimensions_[d];
      const Result<FollowedSize> followed_there = follow(dimension, graph, compared[i]);
      if (!followed_there)
        return fail(ErrorKind::unsupported,
                    fmt::format("'{}' cannot be free beside the other sizes: {}", dimension.asked.name,
                                followed_there.error().message),
                    path_);
      const FollowedSize& followed = *followed_there;
      for (size_t o = 0; dimension.is_free && o < graph.outputs.size(); ++o) {
        for (const FreePart& part : followed.parts[graph.outputs[o]])
          extents.push_back({true, o, part.axis, d, part.outer, part.inner});
      }
      for (size_t later = i + 1; later < order.size(); ++later)
        keep_first_places(compared[later].numbers, followed, sizes[d]);
      const bool by_count = counted && dimension.by == SizedBy::count;
      LATHE_TRY(graph, by_count ? with_count(followed, sizes[d], count_name(dimension))
                                : at_size(followed, sizes[d]));
    }
    if (counted) LATHE_TRY_STATUS(take_extents(std::move(extents)));
    return graph;
  }

  // What tells the sizes apart, of these dimensions: where others are exact, of the network as it is there.
  Result<std::vector<Compared>> compared_at(const std::vector<size_t>& order, const Graph& graph,
                                            bool has_exact, const std::vector<int64_t>& read) {
    std::vector<Compared> all;
    for (const size_t d : order) {
      const Dimension& dimension = dimensions_[d];
      if (!has_exact) {
        all.push_back(dimension.compared);
        continue;
      }
      const auto [known, is_new] = compared_.try_emplace({d, read});
      Compared& there = known->second;
      if (is_new) {
        there = compare(dimension, graph, read);
        there.numbers = numbers_at_all(dimension, graph, there.number_ids, read);
      }
      if (!there.number_ids.empty() && there.numbers.values.empty())
        return fail(ErrorKind::unsupported,
                    fmt::format("'{}' cannot be free beside the other sizes: '{}' goes by it, and what else "
                                "the network is goes by it too",
                                dimension.asked.name, graph.tensor(there.number_ids[0]).name),
                    path_);
      all.push_back(there);
    }
    return all;
  }

  const std::string& path_;
  const OnnxImportOptions& import_;
  std::map<std::string, Shape> shapes_;
  std::vector<Dimension> dimensions_;
  bool is_settled_ = false;
  Graph base_;
  std::map<std::pair<size_t, std::vector<int64_t>>, Compared> compared_;  // by dimension, and sizes read at
  std::optional<std::vector<FreeExtent>> extents_;  // of outputs, by the numbers of dimensions_
};

}  // namespace

Result<SizedGraphs> sized_graphs(const std::string& path, const OnnxImportOptions& import,
                                 const SizeChoices& choices) {
  LATHE_TRY(const std::vector<DeclaredInput> declared, declared_inputs(path));
  LATHE_TRY(const AskedSizes asked, asked_sizes(declared, import.input_shapes, choices));
  Result<SizedGraphs> graphs = SizedReader(path, import).run(asked);
  if (graphs) return graphs;
  const AskedSizes joined = with_joined(asked, [&](const std::map<std::string, Shape>& shapes) {
    OnnxImportOptions options = import;
    options.input_shapes = shapes;
    return import_onnx(path, options).has_value();
  });
  if (joined.dimensions.size() == asked.dimensions.size()) return graphs;
  Result<SizedGraphs> by_fewer = SizedReader(path, import).run(joined);
  if (!by_fewer) return graphs;
  for (const AskedDimension& dimension : joined.dimensions)
    if (!dimension.also_called.empty())
      by_fewer->graphs.front().graph.notes.push_back(
          fmt::format("'{}' stands for '{}' too: the file cannot be read where they differ", dimension.name,
                      fmt::join(dimension.also_called, "', '")));
  return by_fewer;
}

}  // namespace lathe
