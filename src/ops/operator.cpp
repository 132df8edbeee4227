#include "ops/operator.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "task/task.h"

namespace lathe {
namespace {

int64_t saturating_product(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

}  // namespace

int64_t Parameters::operator[](std::string_view name) const {
  const auto found =
      std::ranges::find(values_, name, [](const auto& entry) -> std::string_view { return entry.first; });
  LATHE_CHECK(found != values_.end());
  return found->second;
}

Result<Operator> finish(const DagBuilder& builder, std::vector<std::string> constants, int64_t flops) {
  LATHE_TRY(Dag dag, builder.build());
  return Operator{std::move(dag), std::move(constants), flops, {}};
}

Result<Operator> finish(const DagBuilder& builder, std::vector<std::string> constants) {
  LATHE_TRY(Dag dag, builder.build());
  const int64_t flops = flops_of(dag);
  return Operator{std::move(dag), std::move(constants), flops, {}};
}

int64_t multiply_adds(std::initializer_list<int64_t> extents) {
  int64_t count = 2;
  for (const int64_t extent : extents) count = saturating_product(count, extent);
  return count;
}

int64_t power(int64_t base, size_t exponent) {
  int64_t result = 1;
  for (size_t i = 0; i < exponent; ++i) result = saturating_product(result, base);
  return result;
}

}  // namespace lathe
