#include "artifact/weights.h"

#include <cstring>
#include <future>
#include <span>

#include "artifact/model.h"
#include "artifact/pack_constants.h"
#include "artifact/runtime/model_tables.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/write_file.h"

namespace lathe {
namespace {

static_assert(sizeof(LatheWeightsHead) == kWeightsHeadBytes);
static_assert(kWeightsHeadBytes % 64 == 0, "blocks behind the head stay aligned");

// Takes the file's bytes, once each: writes them, and makes their id.
class WeightsWriter {
 public:
  static Result<WeightsWriter> create(const std::string& path, int64_t bytes) {
    LATHE_TRY(FileInParts file, FileInParts::create(path, path));
    WeightsWriter writer(std::move(file), bytes);
    LATHE_TRY_STATUS(writer.fill(kWeightsHeadBytes));  // the head, which names the id of what follows
    return writer;
  }

  Status add(int64_t place, std::span<const std::byte> block) {
    LATHE_CHECK(place >= written_);
    LATHE_TRY_STATUS(fill(place));
    return add({reinterpret_cast<const char*>(block.data()), block.size()});
  }

  // Returns the id of the build.
  Result<uint64_t> finish(const Model& model) {
    LATHE_CHECK(written_ == model.weights_bytes);
    LatheWeightsHead head = {};
    std::memcpy(head.magic, LATHE_WEIGHTS_MAGIC, sizeof head.magic);
    head.id = hasher_.finish();
    head.build = build_id(model, head.id);
    model.name.copy(head.name, sizeof head.name - 1);
    LATHE_TRY_STATUS(file_.finish({reinterpret_cast<const char*>(&head), sizeof head}));
    return head.build;
  }

 private:
  WeightsWriter(FileInParts file, int64_t bytes) : file_(std::move(file)) {
    hasher_.add(static_cast<uint64_t>(bytes));
  }

  // With zeros, up to this place.
  Status fill(int64_t place) { return add(std::string(static_cast<size_t>(place - written_), '\0')); }

  // The id of many bytes takes half as long as their way to the file: another thread makes it meanwhile.
  Status add(std::string_view bytes) {
    constexpr size_t kWorthAThread = 1 << 20;
    const auto policy = bytes.size() < kWorthAThread ? std::launch::deferred : std::launch::async;
    const std::future<void> hashed = std::async(policy, [&] { hasher_.add_part(bytes); });
    written_ += static_cast<int64_t>(bytes.size());
    const Status added = file_.add(bytes);
    hashed.wait();
    return added;
  }

  FileInParts file_;
  Hasher hasher_;
  int64_t written_ = 0;
};

}  // namespace

int64_t block_place(int64_t bytes) { return (bytes + 63) / 64 * 64; }

Result<uint64_t> write_weights(Model& model, const std::string& path) {
  LATHE_TRY(WeightsWriter writer, WeightsWriter::create(path, model.weights_bytes));
  for (ModelConstants& constants : model.constants) {
    size_t written = 0;  // they come in the order in which they are kept
    const auto write = [&](size_t, std::span<const std::byte> bytes) {
      return writer.add(constants.places[written++], bytes);
    };
    LATHE_TRY_STATUS(pack_constants(constants, model.kernels[constants.kernel], write));
    constants.values.clear();
  }
  return writer.finish(model);
}

uint64_t weights_id(std::string file) {
  LATHE_CHECK(file.size() >= sizeof(LatheWeightsHead));
  std::memset(file.data(), 0, sizeof(LatheWeightsHead));
  return hash_text(file);
}

}  // namespace lathe
