// Computes in the making whose dimensions are known by name. Internal to rewrite/.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "expr/dag.h"

namespace lathe {

// A dimension of a tensor, or a loop.
struct Dim {
  std::string name;
  int64_t extent = 1;
};
using Dims = std::vector<Dim>;

inline Dims operator+(Dims a, const Dims& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A tensor whose dimensions are known by name.
struct Named {
  Tensor tensor;
  Dims dims;
};

using Values = std::map<std::string, Affine>;

inline Expr read(const Named& named, const Values& values) {
  std::vector<Affine> index;
  for (const Dim& dim : named.dims) index.push_back(values.at(dim.name));
  return load(named.tensor, index);
}

// A compute in the making: its loops, and their values by name.
struct NamedNest {
  Dims dims;
  std::vector<Axis> axes;
  Values values;

  NamedNest(const Dims& spatial_dims, const Dims& reduced) : dims(spatial_dims) {
    for (const Dim& dim : spatial_dims) add(spatial(dim.name, dim.extent));
    for (const Dim& dim : reduced) add(reduce(dim.name, dim.extent));
  }

  Named finish(const std::string& name, const Expr& body, std::vector<Compute>& computes) const {
    std::vector<int64_t> shape;
    for (const Dim& dim : dims) shape.push_back(dim.extent);
    computes.push_back({Tensor(name, shape), axes, Reduction::sum, body});
    return {computes.back().output, dims};
  }

 private:
  void add(const Axis& axis) {
    axes.push_back(axis);
    values.emplace(axis.var.name(), Affine(axis.var));
  }
};

}  // namespace lathe
