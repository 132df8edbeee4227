#include "artifact/runtime/model_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace lathe {

MappedFile::MappedFile(const std::string& path, int64_t expected_bytes) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw ModelError("the weights " + path + " cannot be opened: " + std::strerror(errno));
  struct stat status = {};
  const bool right_size = fstat(file, &status) == 0 && status.st_size == expected_bytes;
  void* mapping = MAP_FAILED;
  // Read now, all at once, and not page by page during the first run.
  if (right_size) {
    mapping =
        mmap(nullptr, static_cast<size_t>(expected_bytes), PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  }
  const int reason = errno;
  close(file);
  if (!right_size) {
    throw ModelError("the weights " + path + " have " + std::to_string(status.st_size) +
                     " bytes in place of " + std::to_string(expected_bytes));
  }
  if (mapping == MAP_FAILED) {
    throw ModelError("the weights " + path + " cannot be mapped: " + std::strerror(reason));
  }
  data_ = static_cast<std::byte*>(mapping);
  bytes_ = static_cast<size_t>(expected_bytes);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace lathe
