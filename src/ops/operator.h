// What the operator library hands out, and how an operator is entered in its table (ops/all.h).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "expr/dag.h"

namespace lathe {

// An operator on given shapes.
struct Operator {
  Dag dag;
  std::vector<std::string> constants;  // inputs whose values are known beforehand
  int64_t flops = 0;                   // of the direct form; what throughput is reported in
  std::string algorithm;               // the algorithm that is required, such as "winograd"; empty: any
};

// An integer parameter of an operator.
struct OperatorParameter {
  std::string_view name;
  int64_t least = 1;
  std::optional<int64_t> fallback = {};  // none: it must be given
};

// Checked values by name.
class Parameters {
 public:
  void set(std::string_view name, int64_t value) { values_.emplace_back(name, value); }
  // The value of a parameter that the operator's entry lists.
  int64_t operator[](std::string_view name) const;

 private:
  std::vector<std::pair<std::string, int64_t>> values_;
};

struct OperatorEntry {
  std::string_view name;
  std::vector<OperatorParameter> parameters;
  Result<Operator> (*make)(const Parameters&);
};

// The Operator of what `builder` holds; an Error where the shapes make no Dag.
Result<Operator> finish(const DagBuilder& builder, std::vector<std::string> constants, int64_t flops);
// The same for operators whose work is counted on the Dag.
Result<Operator> finish(const DagBuilder& builder, std::vector<std::string> constants = {});

// Two operations for each multiply-add; the largest integer where the product does not fit.
int64_t multiply_adds(std::initializer_list<int64_t> extents);
// The integer power that counts the points of a square or cubic kernel; saturates likewise.
int64_t power(int64_t base, size_t exponent);

}  // namespace lathe
