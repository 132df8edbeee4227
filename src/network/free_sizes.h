// Sizes that a network leaves free: whoever runs it may choose them within bounds. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lathe {

// How sizes that no kernels were made for are served: `parts`, as several runs of smaller sizes whose results
// lie side by side; `count`, at a larger size that is told how many places count; `exact`: there are none.
enum class SizedBy : uint8_t { parts, count, exact };

struct FreeDimension {
  std::string name;  // the file's or the user's
  int64_t least = 1;
  int64_t most = 1;
  SizedBy by = SizedBy::parts;
};

// An axis of an input or output that holds outer x size x inner places.
struct FreeExtent {
  bool is_output = false;
  size_t tensor = 0;  // its number
  size_t axis = 0;
  size_t dimension = 0;  // its number
  int64_t outer = 1;
  int64_t inner = 1;

  bool operator==(const FreeExtent&) const = default;
};

struct FreeSizes {
  std::vector<FreeDimension> dimensions;  // empty: all sizes are fixed
  // Ascending; of outputs not those that follow an `exact` size alone, which each size's own kernels know.
  std::vector<FreeExtent> extents;

  bool empty() const { return dimensions.empty(); }
};

// Sizes within the bounds, ascending, at which what follows from one size is compared with what the file
// says: all of them where these are no more than `count`; else the ends and the middle with their neighbours,
// Fibonacci's numbers, so that dimensions are compared where they are equal, and others evenly between, with
// every remainder.
std::vector<int64_t> sizes_compared(int64_t least, int64_t most, size_t count);

// The sizes, ascending, that kernels are made for: powers of two for `parts`; for `count` four to each power
// of two, from 16 on, so that what is computed for nothing is a ninth of all in the mean and a fifth at most,
// eight in the upper half of the bounds, where half of all sizes lie, and below 16 4, 8 and 12; every size
// for `exact`. `most` is always one of them.
std::vector<int64_t> sizes_compiled(const FreeDimension& dimension);
// The same of several dimensions, whose combinations are `limit` at most where that can be had by leaving
// every second size out.
std::vector<std::vector<int64_t>> sizes_compiled(const std::vector<FreeDimension>& dimensions, size_t limit);

}  // namespace lathe
