#include "artifact/runtime/model_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cstdio>
#include <cstring>

namespace lathe {
namespace {

constexpr const char* kFile = "weights.bin";

// Null where there is nothing to allocate, or no memory.
std::byte* allocate(int64_t bytes) {
  const size_t rounded =
      (static_cast<size_t>(bytes) + kModelAlignment - 1) / kModelAlignment * kModelAlignment;
  void* memory = nullptr;
  if (rounded == 0 || posix_memalign(&memory, kModelAlignment, rounded) != 0) return nullptr;
  return static_cast<std::byte*>(memory);
}

}  // namespace

bool AlignedBlock::create(int64_t bytes, const char* purpose) {
  data_ = allocate(bytes);
  return data_ != nullptr || bytes == 0 ||
         model_error("there is no memory left for %s, %" PRId64 " bytes", purpose, bytes);
}

bool AlignedBlock::create_copy(int64_t bytes, const LatheTensor& tensor) {
  std::byte* const data = allocate(bytes);
  if (data == nullptr)
    return model_error("there is no memory left for a copy of '%s', %" PRId64 " bytes", tensor.name, bytes);
  // A fork may come between: what is there is zero.
  std::memset(data, 0, static_cast<size_t>(bytes));
  data_ = data;
  return true;
}

MappedWeights::~MappedWeights() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

bool MappedWeights::map(const LatheModelTables& tables, const char* folder) {
  char path[PATH_MAX];
  const int length = std::snprintf(path, sizeof path, "%s/%s", folder, kFile);
  if (length < 0 || static_cast<size_t>(length) >= sizeof path)
    return model_error("the weights cannot be opened: the folder's name is too long");
  // A pipe would wait for who writes to it.
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return model_error("the weights %s cannot be opened: %m", path);
  const bool mapped = map_file(tables, folder, file);
  close(file);
  return mapped;
}

bool MappedWeights::map_file(const LatheModelTables& tables, const char* folder, int file) {
  const lathe_model_info& info = tables.info;
  LatheWeightsHead head = {};
  const ssize_t head_bytes = read(file, &head, sizeof head);
  const int64_t bytes = head_bytes < 0 ? -1 : lseek(file, 0, SEEK_END);
  if (bytes < 0) return model_error("the weights %s/%s cannot be read: %m", folder, kFile);
  const bool has_head = head_bytes == static_cast<ssize_t>(sizeof head) &&
                        std::memcmp(head.magic, LATHE_WEIGHTS_MAGIC, sizeof head.magic) == 0;
  if (has_head && head.build != info.build) {
    head.name[sizeof head.name - 1] = '\0';
    return model_error("the weights %s/%s are those of '%s', build %016" PRIx64
                       ", and the library is that of '%s', build %016" PRIx64,
                       folder, kFile, head.name, head.build, info.name, info.build);
  }
  if (bytes != tables.weights_bytes) {
    return model_error("the weights %s/%s have %" PRId64 " bytes in place of %" PRId64, folder, kFile, bytes,
                       tables.weights_bytes);
  }
  if (!has_head) return model_error("%s/%s is not the weights of a model", folder, kFile);
  // Read now, all at once, and not page by page during the first run.
  void* const mapping =
      mmap(nullptr, static_cast<size_t>(bytes), PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (mapping == MAP_FAILED) return model_error("the weights %s/%s cannot be mapped: %m", folder, kFile);
  data_ = static_cast<std::byte*>(mapping);
  bytes_ = static_cast<size_t>(bytes);
  return true;
}

}  // namespace lathe
