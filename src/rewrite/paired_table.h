// A table of n results over k values as two tables, one applied to what the other gives: two results that
// differ in the sign of some terms are the sum and the difference of what they have in common and of the
// rest.
//
//   [0 -c -b  a  1]        u = -b x2 + x4, v = -(c/a) x1 + x3
//   [0  c -b -a  1]        u + a v, u - a v                        (4 multiply-adds, 6 without)
//
// The tables of points that come with both signs are of this form (Toom-Cook, winograd_tables). Internal to
// rewrite/.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace lathe {

// Row-major.
struct PairedTable {
  int64_t between = 0;
  std::vector<double> first;   // [between, k]
  std::vector<double> second;  // [n, between]
};

// `table` [n, k] by pairs of results, or by pairs of values: those that enter every result with the same
// coefficient or its negative are added and subtracted first. Nothing where no pair saves operations. Between
// the two come first what has no partner, then the two parts of each pair.
std::optional<PairedTable> pair_results(const std::vector<double>& table, int64_t k);
std::optional<PairedTable> pair_values(const std::vector<double>& table, int64_t k);

}  // namespace lathe
