// The baseline `random`: uniform over the sketches and over each sketch's legal points, without repetition.
#pragma once

#include <cstdint>
#include <memory>

#include "search/strategy.h"

namespace lathe {

std::unique_ptr<Strategy> make_random(SearchSpace space, uint64_t seed);

}  // namespace lathe
