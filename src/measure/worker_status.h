// What a worker leaves behind for its parent when it cannot answer any more: how far its trial has come, and
// what its fault handler saw. Lies in shared memory, survives the worker, and is written by async-signal-safe
// code.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "module/module.h"

namespace lathe {

enum class TrialStage : int32_t { idle, loading, preparing, first_run, timing };

// The buffer index that stands for the module's workspace, and for no buffer at all.
constexpr int32_t kWorkspaceIndex = -1;
constexpr int32_t kNoBuffer = -2;

struct FaultReport {
  std::atomic<int32_t> signal{0};  // 0: none; written last
  int32_t is_write = 0;
  int32_t has_address = 0;     // only memory faults have one
  int32_t buffer = kNoBuffer;  // the module's buffer that lies nearest
  int64_t offset = 0;          // of the address, from that buffer's first data byte
};

struct WorkerStatus {
  std::atomic<TrialStage> stage{TrialStage::idle};
  FaultReport fault;
};

// One sentence for a worker that ended in the middle of a trial. `wait_status` is what waitpid gave.
std::string describe_crash(const WorkerStatus& status, int wait_status, const Module& module);

// One sentence for a worker that was still at work after so many seconds.
std::string describe_timeout(TrialStage stage, double seconds);

// "buffer 'A'" or "the workspace".
std::string describe_buffer(int32_t index, const Module& module);

}  // namespace lathe
