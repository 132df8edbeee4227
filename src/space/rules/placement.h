// Where a stage without a reduction is made that a product alone reads, or one that moves whole planes: once
// for all; block by block, just before it is read there (Ansor's compute location), so that it stays in the
// caches, and is made again where blocks overlap; or inside of the product, in every place that reads it. The
// last is for what pads an image: it needs no pass of its own, and the border's tiles are cut off from the
// others (lower/loops/peel_tails.h), which read the image itself. So does a transform of such an image,
// unless it would gather an element more than once.
#pragma once

#include <string>

#include "space/rules/decider.h"

namespace lathe {

enum class Place : uint8_t { whole, at_block, inside };
struct Placement {
  Place place = Place::whole;
  std::string consumer = {};  // block and loop, for those that are not whole
  std::string loop = {};
};
Placement decide_placement(Decider& decider, const Compute& compute);

}  // namespace lathe
