// A device that runs a program as work-groups of work-items, as the compiler sees it: the limits of one
// work-group are what makes a program legal, all else guides choices.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>

namespace lathe {

struct GpuTarget {
  int compute_units = 8;             // that run work-groups side by side
  int work_group_size = 256;         // the most work-items of a work-group
  int sub_group_width = 1;           // work-items that run in step; 1 where the device does not say
  int64_t local_bytes = 32 << 10;    // of memory that a work-group's items share, at most
  int64_t global_bytes = 2LL << 30;  // of the device's own memory
  int64_t cache_bytes = 1 << 20;     // of the cache before it
  bool operator==(const GpuTarget&) const = default;
};

// What the text form names, in its order; all else follows from the target's name.
constexpr auto text_fields(const GpuTarget&) {
  return std::tuple{std::pair{"compute_units", &GpuTarget::compute_units},
                    std::pair{"work_group_size", &GpuTarget::work_group_size},
                    std::pair{"sub_group_width", &GpuTarget::sub_group_width},
                    std::pair{"local_bytes", &GpuTarget::local_bytes},
                    std::pair{"global_bytes", &GpuTarget::global_bytes},
                    std::pair{"cache_bytes", &GpuTarget::cache_bytes}};
}

}  // namespace lathe
