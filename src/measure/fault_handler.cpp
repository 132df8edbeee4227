#include "measure/fault_handler.h"

#include <ucontext.h>

#include <array>
#include <csignal>

#include "measure/fault_kind.h"

namespace lathe {
namespace {

// A handler can reach nothing but globals.
struct HandlerState {
  WorkerStatus* status = nullptr;
  std::vector<WatchedBuffer> buffers;
  std::atomic_flag reported;
};

HandlerState& state() {
  static HandlerState instance;
  return instance;
}

constexpr size_t kStackBytes = 64 << 10;

void locate(const std::byte* address, FaultReport& report) {
  for (const WatchedBuffer& buffer : state().buffers) {
    const std::byte* begin = buffer.mapping - kGuardBytes;
    const std::byte* end = buffer.mapping + buffer.layout.mapped_bytes + kGuardBytes;
    if (address < begin || address >= end) continue;
    report.buffer = buffer.index;
    report.offset = address - (buffer.mapping + buffer.layout.data_offset);
  }
}

void handle_fault(int signal, siginfo_t* info, void* context) {
  if (!state().reported.test_and_set()) {
    FaultReport& report = state().status->fault;
    if (signal == SIGSEGV || signal == SIGBUS) {
      report.has_address = 1;
      report.is_write = was_write(*static_cast<const ucontext_t*>(context));
      locate(static_cast<const std::byte*>(info->si_addr), report);
    }
    report.signal.store(signal);
  }
  // Back to the instruction that faulted, which now ends the process with the same signal.
  ::signal(signal, SIG_DFL);
}

}  // namespace

void install_fault_handler(WorkerStatus* status) {
  state().status = status;
  alignas(64) static std::array<std::byte, kStackBytes> stack;
  stack_t alternate{};
  alternate.ss_sp = stack.data();
  alternate.ss_size = stack.size();
  sigaltstack(&alternate, nullptr);
  struct sigaction action{};
  action.sa_sigaction = handle_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(signal, &action, nullptr);
}

void watch_buffers(std::vector<WatchedBuffer> buffers) { state().buffers = std::move(buffers); }

}  // namespace lathe
