// How Winograd's rewrite takes the windows of a product, and which ways are worth a try. Internal to
// rewrite/.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "rewrite/rewrite.h"
#include "rewrite/sliding_product.h"

namespace lathe {

// Windows that have tiles; others stay as they are.
constexpr size_t kMostSides = 3;

// One window, and how it is taken: in tiles of m outputs that lie a dilation apart, or as it is (m = 1).
struct Side {
  SlidingProduct::Window window;
  int64_t extent = 1;  // of the output
  int64_t taps = 1;    // of one part of the window
  int64_t parts = 1;
  int64_t m = 1;

  bool is_tiled() const { return m > 1; }
  bool is_parted() const { return is_tiled() && parts > 1; }
  int64_t points() const { return m + taps - 1; }
  int64_t phases() const { return std::min(window.dilation, extent); }
  // No phase of the window has more results than this; tiles of two are always possible.
  int64_t largest_tile() const {
    return std::max<int64_t>(2, (extent + window.dilation - 1) / window.dilation);
  }
  int64_t tile_span() const { return window.dilation * m; }
  int64_t tiles() const { return (extent + tile_span() - 1) / tile_span(); }
  // Tiles and parts begin at multiples of this.
  int64_t step() const { return parts > 1 ? std::gcd(m, taps) : m; }
  int64_t starts() const { return (m / step()) * (tiles() - 1) + (taps / step()) * (parts - 1) + 1; }
};

// All of a product's windows, as they are.
std::vector<Side> winograd_sides(const Compute& compute, const SlidingProduct& product);
// An Error unless transforms are shared by several results on either side of the product.
Status check_winograd_reuse(const std::string& stage, const Compute& conv, const SlidingProduct& product);

// The parameters worth a try: tiles of 2, and of whatever sides those that leave least to do.
std::vector<RewriteParameters> winograd_choices(const Dag& dag, const std::string& stage);

std::unexpected<Error> refuse_winograd(const std::string& stage, const std::string& reason);

}  // namespace lathe
