#include "measure/candidate/candidate_memory.h"

#include <algorithm>
#include <cstring>

namespace lathe {
namespace {

// Mappings beyond these are dropped, the longest unused first: more than one candidate's buffers in any case.
constexpr size_t kSharedMappingsKept = 256;

// Candidates' own buffers together, beyond which the longest unused are dropped: to map so much anew, a page
// fault for each page, takes a twentieth of a small candidate's trial.
constexpr int64_t kOwnBytesKept = 8 << 20;

void make_fresh(const WatchedBuffer& buffer) {
  std::byte* mapping = const_cast<std::byte*>(buffer.mapping);
  fill_slack(mapping, buffer.layout);
  std::memset(mapping + buffer.layout.data_offset, 0xff, static_cast<size_t>(buffer.layout.bytes));
}

void* data_of(const WatchedBuffer& buffer) {
  return const_cast<std::byte*>(buffer.mapping + buffer.layout.data_offset);
}

}  // namespace

Result<WatchedBuffer> CandidateMemory::shared(int64_t offset, int64_t bytes, MappedBuffer::Access access) {
  const auto known = std::find_if(shared_.begin(), shared_.end(), [&](const Shared& entry) {
    return entry.offset == offset && entry.access == access && entry.memory.layout().bytes == bytes;
  });
  if (known != shared_.end()) {
    shared_.splice(shared_.begin(), shared_, known);
  } else {
    LATHE_TRY(MappedBuffer memory, MappedBuffer::map(file_, offset, bytes, access));
    shared_.push_front({offset, access, std::move(memory)});
  }
  const MappedBuffer& memory = shared_.front().memory;
  return WatchedBuffer{.mapping = memory.mapping(), .layout = memory.layout()};
}

Result<WatchedBuffer> CandidateMemory::own(int64_t bytes, Views& views) {
  const auto kept = std::ranges::find_if(own_, [&](const std::shared_ptr<GuardedBuffer>& buffer) {
    return buffer.use_count() == 1 && buffer->layout().bytes == bytes;
  });
  if (kept != own_.end()) {
    own_.splice(own_.begin(), own_, kept);
  } else {
    LATHE_TRY(GuardedBuffer memory, GuardedBuffer::allocate(bytes));
    own_.push_front(std::make_shared<GuardedBuffer>(std::move(memory)));
  }
  const std::shared_ptr<GuardedBuffer> buffer = own_.front();
  views.own.push_back(buffer);
  int64_t room = kOwnBytesKept;
  std::erase_if(own_, [&](const std::shared_ptr<GuardedBuffer>& each) {
    const int64_t each_bytes = each->layout().bytes;
    if (each_bytes > room) return true;
    room -= each_bytes;
    return false;
  });
  return WatchedBuffer{.mapping = buffer->data() - buffer->layout().data_offset, .layout = buffer->layout()};
}

void CandidateMemory::make_room(size_t buffers) {
  const size_t kept = std::max(kSharedMappingsKept, buffers);
  while (shared_.size() > kept) shared_.pop_back();
}

Result<CandidateMemory::Views> CandidateMemory::arrange(const TrialRequest& request) {
  const std::vector<ModuleBuffer>& buffers = request.module.buffers;
  make_room(buffers.size());
  Views views;
  const auto add = [&](WatchedBuffer buffer, int32_t index, bool is_writable) {
    buffer.index = index;
    views.watched.push_back(buffer);
    if (is_writable) views.writable.push_back(buffer);
    return data_of(buffer);
  };
  LATHE_TRY(WatchedBuffer workspace, own(request.module.workspace_bytes, views));
  views.workspace = add(workspace, kWorkspaceIndex, true);
  for (size_t i = 0; i < buffers.size(); ++i) {
    const bool is_prepared = buffers[i].role == BufferRole::prepared;
    const bool is_writable = is_prepared || buffers[i].role == BufferRole::output;
    const auto access = is_writable ? MappedBuffer::Access::read_write : MappedBuffer::Access::read;
    LATHE_TRY(WatchedBuffer buffer, is_prepared ? own(buffers[i].bytes, views)
                                                : shared(request.offsets[i], buffers[i].bytes, access));
    views.pointers.push_back(add(buffer, static_cast<int32_t>(i), is_writable));
  }
  for (const WatchedBuffer& buffer : views.writable) make_fresh(buffer);
  return views;
}

}  // namespace lathe
