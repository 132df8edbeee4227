#include "artifact/free_dimensions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lathe {
namespace {

std::unexpected<Error> refused(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message), "--input");
}

class Asker {
 public:
  Asker(const std::vector<DeclaredInput>& inputs, const std::map<std::string, Shape>& shapes,
        const SizeChoices& choices)
      : inputs_(inputs), shapes_(shapes), choices_(choices) {}

  Result<AskedSizes> run() {
    for (const DeclaredInput& input : inputs_) LATHE_TRY_STATUS(read_free(input));
    for (const DeclaredInput& input : inputs_) LATHE_TRY_STATUS(read_shape(input));
    if (choices_.batch) LATHE_TRY_STATUS(add_batch());
    return std::move(asked_);
  }

 private:
  Status read_free(const DeclaredInput& input) {
    const auto free = choices_.free.find(input.name);
    if (free == choices_.free.end()) return {};
    for (const FreeAxis& axis : free->second) {
      if (axis.axis >= input.shape.size())
        return refused(fmt::format("input '{}' has {} dimension{}, and dimension {} is given bounds",
                                   input.name, input.shape.size(), input.shape.size() == 1 ? "" : "s",
                                   axis.axis));
      LATHE_TRY_STATUS(add(input, axis));
    }
    return {};
  }

  Status add(const DeclaredInput& input, const FreeAxis& axis) {
    const DeclaredExtent& declared = input.shape[axis.axis];
    std::string key = axis.name.empty() ? declared.name : axis.name;
    if (key.empty() && declared.extent)
      key = fmt::format("{}={}..{}", *declared.extent, axis.least, axis.most);
    if (key.empty()) key = fmt::format("{}[{}]", input.name, axis.axis);
    const std::string symbol = declared.extent ? "" : declared.name;
    const auto [entry, is_new] = numbers_.try_emplace(key, asked_.dimensions.size());
    if (is_new) {
      const bool is_named = !axis.name.empty() || !declared.name.empty();
      asked_.dimensions.push_back({is_named ? key : fmt::format("{}[{}]", input.name, axis.axis),
                                   axis.least,
                                   axis.most,
                                   {},
                                   declared.extent,
                                   !axis.name.empty()});
    }
    AskedDimension& dimension = asked_.dimensions[entry->second];
    if (dimension.least != axis.least || dimension.most != axis.most)
      return refused(fmt::format("'{}' is {}..{} in one input and {}..{} in input '{}'", dimension.name,
                                 dimension.least, dimension.most, axis.least, axis.most, input.name));
    if (dimension.fixed != declared.extent)
      return refused(
          fmt::format("'{}' stands for axes that the file gives different extents, one of them of "
                      "input '{}'",
                      dimension.name, input.name));
    dimension.axes.push_back({input.name, axis.axis});
    if (!symbol.empty()) of_symbol_.try_emplace(symbol, entry->second);
    return {};
  }

  const AskedDimension* dimension_of(const std::string& input, size_t axis) const {
    for (const AskedDimension& dimension : asked_.dimensions)
      for (const NamedAxis& own : dimension.axes)
        if (own.input == input && own.axis == axis) return &dimension;
    return nullptr;
  }

  // Where the file calls an axis as one that was left free, it is free with it.
  Status read_shape(const DeclaredInput& input) {
    const auto given = shapes_.find(input.name);
    if (given != shapes_.end() && given->second.size() != input.shape.size()) {
      asked_.shapes[input.name] = given->second;  // the import refuses it
      return {};
    }
    Shape shape;
    bool is_whole = true;
    for (size_t d = 0; d < input.shape.size(); ++d) {
      const DeclaredExtent& declared = input.shape[d];
      const AskedDimension* own = dimension_of(input.name, d);
      const auto symbol = of_symbol_.find(declared.extent ? "" : declared.name);
      if (own == nullptr && symbol != of_symbol_.end()) {
        AskedDimension& dimension = asked_.dimensions[symbol->second];
        if (given != shapes_.end())
          return refused(fmt::format("'{}' is {}..{} in one input and {} in input '{}'", dimension.name,
                                     dimension.least, dimension.most, given->second[d], input.name));
        dimension.axes.push_back({input.name, d});
        own = &dimension;
      }
      if (own != nullptr) {
        shape.push_back(own->fixed.value_or(own->most));
      } else if (given != shapes_.end()) {
        shape.push_back(given->second[d]);
      } else {
        is_whole = is_whole && declared.extent.has_value();
        shape.push_back(declared.extent.value_or(1));
      }
    }
    if (is_whole) asked_.shapes[input.name] = std::move(shape);
    return {};
  }

  // One dimension of one size for the leading axes of all inputs that the file gives the same extent.
  Status add_batch() {
    AskedDimension batch{"the batch", *choices_.batch, *choices_.batch, {}, {}};
    for (const DeclaredInput& input : inputs_) {
      if (input.shape.empty() || dimension_of(input.name, 0) != nullptr) continue;
      const auto shape = asked_.shapes.find(input.name);
      if (shape == asked_.shapes.end()) {
        LATHE_TRY_STATUS(open_batch(input));
        continue;
      }
      if (!input.shape[0].extent) {
        shape->second[0] = *choices_.batch;
        continue;
      }
      if (batch.fixed && *batch.fixed != shape->second[0])
        return fail(ErrorKind::invalid_argument,
                    fmt::format("the leading extents of the inputs are {} and, of '{}', {}: give the shapes "
                                "by --input",
                                *batch.fixed, input.name, shape->second[0]),
                    "--batch");
      batch.fixed = shape->second[0];
      batch.axes.push_back({input.name, 0});
    }
    if (!batch.axes.empty()) asked_.dimensions.push_back(std::move(batch));
    return {};
  }

  // An input whose batch alone the file leaves open.
  Status open_batch(const DeclaredInput& input) {
    Shape shape = {*choices_.batch};
    for (size_t d = 1; d < input.shape.size(); ++d) {
      if (!input.shape[d].extent) return {};
      shape.push_back(*input.shape[d].extent);
    }
    if (input.shape[0].extent) return {};
    asked_.shapes[input.name] = std::move(shape);
    return {};
  }

  const std::vector<DeclaredInput>& inputs_;
  const std::map<std::string, Shape>& shapes_;
  const SizeChoices& choices_;
  AskedSizes asked_;
  std::map<std::string, size_t> numbers_;
  std::map<std::string, size_t> of_symbol_;
};

}  // namespace

Result<AskedSizes> asked_sizes(const std::vector<DeclaredInput>& inputs,
                               const std::map<std::string, Shape>& shapes, const SizeChoices& choices) {
  for (const auto& [name, axes] : choices.free) {
    if (std::ranges::find(inputs, name, &DeclaredInput::name) == inputs.end() && !axes.empty())
      return fail(ErrorKind::not_found,
                  fmt::format("the model has no input '{}', for which a shape is given", name), "--input");
  }
  return Asker(inputs, shapes, choices).run();
}

}  // namespace lathe
