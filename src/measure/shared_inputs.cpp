#include "measure/shared_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace lathe {
namespace {

constexpr int64_t kLayouts = 3;

}  // namespace

Result<std::vector<int64_t>> SharedInputs::share(const Module& module,
                                                 const std::vector<MeasureInput>& inputs) {
  ++use_;
  if (inputs.size() != module.buffers.size()) {
    return fail(ErrorKind::invalid_argument, fmt::format("the module has {} buffers, bytes are given for {}",
                                                         module.buffers.size(), inputs.size()));
  }
  for (Entry& entry : inputs_) {
    const bool is_wanted = std::ranges::find(inputs, entry.id, &MeasureInput::id) != inputs.end();
    if (is_wanted && entry.id != 0) entry.last_use = use_;
  }
  int64_t present = 0;
  for (const MeasureInput& input : inputs) present += input.bytes;
  drop_unused(present);  // before others come: there need not be room for both
  std::vector<int64_t> offsets;
  size_t slot = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ModuleBuffer& buffer = module.buffers[i];
    int64_t offset = 0;
    if (buffer.role == BufferRole::output) {
      LATHE_TRY(offset, share_output(slot++, buffer.bytes));
    } else if (buffer.role != BufferRole::prepared) {
      LATHE_TRY(offset, share_input(buffer, inputs[i]));
    }
    offsets.push_back(offset);
  }
  drop_unused(present);
  return offsets;
}

std::vector<std::span<const std::byte>> SharedInputs::outputs(const Module& module) const {
  std::vector<std::span<const std::byte>> bytes;
  size_t slot = 0;
  for (const ModuleBuffer& buffer : module.buffers) {
    if (buffer.role == BufferRole::output) bytes.push_back(outputs_[slot++].bytes());
  }
  return bytes;
}

Result<int64_t> SharedInputs::share_input(const ModuleBuffer& buffer, const MeasureInput& input) {
  if (input.bytes != buffer.bytes) {
    return fail(ErrorKind::invalid_argument, fmt::format("buffer '{}' has {} bytes, {} are given",
                                                         buffer.name, buffer.bytes, input.bytes));
  }
  auto entry = std::find_if(inputs_.begin(), inputs_.end(),
                            [&](const Entry& e) { return e.id == input.id && e.id != 0; });
  const bool is_present = entry != inputs_.end() && entry->generation == input.generation &&
                          static_cast<int64_t>(entry->buffer.bytes().size()) == input.bytes;
  if (!is_present) {
    if (entry != inputs_.end()) inputs_.erase(entry);
    LATHE_TRY(SharedBuffer memory, SharedBuffer::allocate(memory_, input.bytes));
    if (input.bytes > 0) input.write(memory.bytes());
    ++copies_;
    inputs_.push_front({input.id, input.generation, use_, std::move(memory)});
    entry = inputs_.begin();
  }
  return entry->buffer.offset();
}

Result<int64_t> SharedInputs::share_output(size_t slot, int64_t bytes) {
  if (slot >= outputs_.size()) outputs_.resize(slot + 1);
  SharedBuffer& output = outputs_[slot];
  if (output.offset() == 0 || static_cast<int64_t>(output.bytes().size()) != bytes) {
    LATHE_TRY(output, SharedBuffer::allocate(memory_, bytes));
  }
  return output.offset();
}

void SharedInputs::drop_unused(int64_t present) {
  const int64_t room = kept_bytes_ == 0 ? 0 : std::max(kept_bytes_, kLayouts * present);
  int64_t kept = 0;
  for (const Entry& entry : inputs_) kept += static_cast<int64_t>(entry.buffer.bytes().size());
  while (kept > room) {
    const auto oldest = std::min_element(inputs_.begin(), inputs_.end(), [](const Entry& a, const Entry& b) {
      return a.last_use < b.last_use;
    });
    if (oldest->last_use == use_) return;
    kept -= static_cast<int64_t>(oldest->buffer.bytes().size());
    inputs_.erase(oldest);
  }
}

}  // namespace lathe
