#include "measure/worker_status.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstring>

#include "runtime/guarded_layout.h"

namespace lathe {
namespace {

const char* describe_stage(TrialStage stage) {
  switch (stage) {
    case TrialStage::idle: return "before it began";
    case TrialStage::loading: return "while it was loaded";
    case TrialStage::preparing: return "while it prepared its constants";
    case TrialStage::first_run: return "in its first run";
    case TrialStage::timing: return "in a later run";
  }
  return "";
}

std::string describe_end(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const char* name = sigabbrev_np(WTERMSIG(wait_status));
    return name ? fmt::format("was ended by SIG{}", name)
                : fmt::format("was ended by signal {}", WTERMSIG(wait_status));
  }
  return fmt::format("ended its process with exit status {}", WEXITSTATUS(wait_status));
}

// Where a memory fault happened; empty for other signals.
std::string describe_fault(const FaultReport& fault, const Module& module) {
  if (fault.has_address == 0) return {};
  const char* verb = fault.is_write != 0 ? "wrote" : "read";
  const int32_t buffers = static_cast<int32_t>(module.buffers.size());
  if (fault.buffer < kWorkspaceIndex || fault.buffer >= buffers) {
    return fmt::format(": it {} at an address far from all its buffers", verb);
  }
  const bool is_workspace = fault.buffer == kWorkspaceIndex;
  const int64_t bytes =
      is_workspace ? module.workspace_bytes : module.buffers[static_cast<size_t>(fault.buffer)].bytes;
  const std::string name = describe_buffer(fault.buffer, module);
  if (fault.offset >= 0 && fault.offset < bytes) {
    return fmt::format(": it {} at byte {} of {}, which it may only read", verb, fault.offset, name);
  }
  return fmt::format(": it {} outside its buffers, {} of {}", verb,
                     describe_place_outside(fault.offset, bytes), name);
}

}  // namespace

std::string describe_buffer(int32_t index, const Module& module) {
  if (index == kWorkspaceIndex) return "the workspace";
  return "buffer '" + module.buffers[static_cast<size_t>(index)].name + "'";
}

std::string describe_crash(const WorkerStatus& status, int wait_status, const Module& module) {
  std::string sentence =
      fmt::format("the kernel {} {}", describe_end(wait_status), describe_stage(status.stage.load()));
  const int signal = status.fault.signal.load();
  if (signal != 0 && WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == signal) {
    sentence += describe_fault(status.fault, module);
  }
  return sentence;
}

std::string describe_timeout(TrialStage stage, double seconds) {
  return fmt::format("the kernel was still not done after {:.3g} s, {}", seconds, describe_stage(stage));
}

}  // namespace lathe
