#include "runtime/launch.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe {

Status launch(LatheKernel entry, std::span<void* const> buffers, void* workspace, const LatheParallel* pool) {
  const int status = entry(buffers.data(), nullptr, workspace, pool);
  if (status == 0) return {};
  return fail(ErrorKind::invalid_program,
              fmt::format("the kernel ended with status {} in place of 0", status));
}

const LatheParallel* limit_pool(const Module& module, const LatheParallel* pool, LatheParallel& parallel) {
  if (pool == nullptr || module.threads <= 1) return nullptr;
  parallel = *pool;
  parallel.threads = std::min(pool->threads, module.threads);
  return &parallel;
}

Result<Instance> Instance::create(const Module& module, PagePlace place) {
  Instance instance;
  LATHE_TRY(instance.code_, load_object(module));
  instance.module_ = module;
  instance.module_.object.clear();
  for (const ModuleBuffer& buffer : module.buffers) {
    LATHE_TRY(GuardedBuffer memory, GuardedBuffer::allocate(buffer.bytes, place));
    if (buffer.role == BufferRole::output || buffer.role == BufferRole::prepared) memory.fill_with_nan();
    instance.pointers_.push_back(memory.data());
    instance.buffers_.push_back(std::move(memory));
  }
  LATHE_TRY(instance.workspace_, GuardedBuffer::allocate(module.workspace_bytes));
  instance.workspace_.fill_with_nan();
  return instance;
}

Status Instance::prepare(const LatheParallel* pool) {
  return code_.prepare() == nullptr ? Status() : launch_entry(code_.prepare(), pool);
}

void Instance::open_guards() {
  const auto open = [&](GuardedBuffer& buffer) {
    guards_.open(buffer.data() - buffer.layout().data_offset, buffer.layout());
  };
  for (GuardedBuffer& buffer : buffers_) open(buffer);
  open(workspace_);
}

Status Instance::run(const LatheParallel* pool) { return launch_entry(code_.kernel(), pool); }

Status Instance::launch_entry(LatheKernel entry, const LatheParallel* pool) {
  LatheParallel limited;
  return launch(entry, pointers_, workspace_.data(), limit_pool(module_, pool, limited));
}

Status Instance::check_slack() const {
  for (size_t i = 0; i <= buffers_.size(); ++i) {
    const bool is_workspace = i == buffers_.size();
    const GuardedBuffer& buffer = is_workspace ? workspace_ : buffers_[i];
    const std::optional<int64_t> place = buffer.overwritten_slack();
    if (!place) continue;
    const std::string name = is_workspace ? "the workspace" : "buffer '" + module_.buffers[i].name + "'";
    return fail(ErrorKind::wrong_result,
                fmt::format("the kernel wrote outside its buffers, {} of {}",
                            describe_place_outside(*place, buffer.layout().bytes), name));
  }
  return {};
}

}  // namespace lathe
