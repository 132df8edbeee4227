#include "artifact/weights.h"

#include <cstring>

#include "artifact/model.h"
#include "artifact/runtime/model_tables.h"
#include "base/check.h"
#include "base/hash.h"

namespace lathe {

static_assert(sizeof(LatheWeightsHead) == 64, "blocks behind the head stay aligned");

WeightsFile::WeightsFile() : bytes_(sizeof(LatheWeightsHead), '\0') {}

void WeightsFile::reserve(int64_t bytes) { bytes_.reserve(bytes_.size() + static_cast<size_t>(bytes)); }

int64_t WeightsFile::add(std::span<const std::byte> bytes) {
  const size_t offset = (bytes_.size() + 63) / 64 * 64;
  bytes_.resize(offset + bytes.size());
  if (!bytes.empty()) std::memcpy(bytes_.data() + offset, bytes.data(), bytes.size());
  return static_cast<int64_t>(offset);
}

std::string WeightsFile::finish() {
  LatheWeightsHead head = {};
  std::memcpy(head.magic, LATHE_WEIGHTS_MAGIC, sizeof head.magic);
  head.id = hash_text(bytes_);
  std::memcpy(bytes_.data(), &head, sizeof head);
  return std::move(bytes_);
}

uint64_t WeightsFile::content_id(std::string file) {
  std::memset(file.data(), 0, sizeof(LatheWeightsHead));
  return hash_text(file);
}

std::string WeightsFile::head_for(const Model& model) {
  LatheWeightsHead head;
  std::memcpy(&head, model.weights.data(), sizeof head);
  head.build = build_id(model);
  model.name.copy(head.name, sizeof head.name - 1);
  return {reinterpret_cast<const char*>(&head), sizeof head};
}

uint64_t WeightsFile::id_of(const std::string& file) {
  LATHE_CHECK(file.size() >= sizeof(LatheWeightsHead));
  LatheWeightsHead head;
  std::memcpy(&head, file.data(), sizeof head);
  return head.id;
}

}  // namespace lathe
