// The small matrices by which Winograd's minimal filtering transforms weights, data and results (Toom-Cook;
// Lavin and Gray 2016).
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace lathe {

// Toom-Cook tables for m outputs and a window of r, n = m + r - 1 points (the last at infinity), row-major.
struct WinogradTables {
  std::vector<double> data;    // B^T [n, n]
  std::vector<double> weight;  // G [n, r]
  std::vector<double> output;  // A^T [m, n]
};
// The points are dyadic, so that every table entry that is 0 is exactly 0. An Error for m below 2, r below 2
// or n above 8: tables of more points hold numbers so far apart that f32 loses the result among them.
Result<WinogradTables> winograd_tables(int64_t m, int64_t r);

}  // namespace lathe
