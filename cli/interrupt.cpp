#include "cli/interrupt.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string_view>

namespace lathe::cli {
namespace {

struct Interrupt {
  int signal;
  const char* name;
  std::string_view sentence;
};
constexpr std::array<Interrupt, 3> kInterrupts = {{{SIGINT, "SIGINT", "lathe: stopped by SIGINT\n"},
                                                   {SIGTERM, "SIGTERM", "lathe: stopped by SIGTERM\n"},
                                                   {SIGHUP, "SIGHUP", "lathe: stopped by SIGHUP\n"}}};

// Signal handlers take no arguments of their own.
constinit std::atomic<const Interrupt*> noted = nullptr;
constinit std::atomic<bool> is_held = false;
constinit std::atomic<bool> stderr_is_terminal = false;
static_assert(std::atomic<const Interrupt*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void write_out(std::string_view text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

// Inside the handler of this signal it takes effect on return.
void end_by(const Interrupt& interrupt) {
  std::signal(interrupt.signal, SIG_DFL);
  raise(interrupt.signal);
}

void handle(int signal) {
  const int kept_errno = errno;
  for (const Interrupt& interrupt : kInterrupts) {
    if (interrupt.signal != signal) continue;
    const Interrupt* none = nullptr;
    if (is_held && noted.compare_exchange_strong(none, &interrupt)) break;
    if (stderr_is_terminal) write_out("\n");  // a progress line may be open
    write_out(interrupt.sentence);
    end_by(interrupt);
  }
  errno = kept_errno;
}

}  // namespace

void handle_interrupts() {
  stderr_is_terminal = isatty(STDERR_FILENO) != 0;
  struct sigaction action = {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  for (const Interrupt& interrupt : kInterrupts) sigaddset(&action.sa_mask, interrupt.signal);
  for (const Interrupt& interrupt : kInterrupts) {
    struct sigaction before = {};
    sigaction(interrupt.signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(interrupt.signal, &action, nullptr);
  }
}

void hold_interrupts() { is_held = true; }
void release_interrupts() { is_held = false; }

const char* noted_interrupt() {
  const Interrupt* interrupt = noted;
  return interrupt == nullptr ? nullptr : interrupt->name;
}

void end_by_noted_interrupt() {
  const Interrupt* interrupt = noted;
  if (interrupt == nullptr) return;
  std::fflush(nullptr);
  end_by(*interrupt);
}

}  // namespace lathe::cli
