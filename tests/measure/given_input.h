// Bytes at hand as a candidate's input.
#pragma once

#include <algorithm>
#include <span>

#include "measure/candidate_runner.h"

namespace lathe {

// The values must live as long as the result.
inline MeasureInput given_input(uint64_t id, uint64_t generation, std::span<const std::byte> bytes) {
  return {id, generation, static_cast<int64_t>(bytes.size()),
          [bytes](std::span<std::byte> to) { std::ranges::copy(bytes, to.begin()); }};
}

inline MeasureInput given_input(uint64_t id, uint64_t generation, std::span<const float> values) {
  return given_input(id, generation, std::as_bytes(values));
}

}  // namespace lathe
