#include "measure/evict_buffers.h"

#include "measure/evict.h"

namespace lathe {
namespace {

// Of a larger buffer a run leaves hardly anything that the next one finds in a cache.
constexpr int64_t kSelfDisplacingBytes = 256 << 20;

}  // namespace

void evict_cold_buffers(const Module& module, const std::function<const void*(size_t)>& pointer_of) {
  for (size_t i = 0; i < module.buffers.size(); ++i) {
    const ModuleBuffer& buffer = module.buffers[i];
    const bool has_just_been_written = buffer.role == BufferRole::input;
    if (!has_just_been_written && buffer.bytes <= kSelfDisplacingBytes)
      evict_from_caches(pointer_of(i), buffer.bytes);
  }
}

}  // namespace lathe
