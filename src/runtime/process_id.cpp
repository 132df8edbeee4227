#include "runtime/process_id.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

// Of Linux 4.14: the C library's headers may be older.
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

namespace lathe {
namespace {

constexpr size_t kPageBytes = 4096;

using Number = std::atomic<int>;
std::atomic<Number*> wiped_page{nullptr};

// Whoever unloads a library that this is part of keeps no page of it.
__attribute__((destructor)) void forget_page() {
  if (Number* const page = wiped_page.exchange(nullptr)) munmap(page, kPageBytes);
}

}  // namespace

int process_id() {
  Number* const number = wiped_page.load(std::memory_order_acquire);
  if (number == nullptr) return getpid();
  const int known = number->load(std::memory_order_relaxed);
  if (known != 0) return known;
  const int found = getpid();
  number->store(found, std::memory_order_relaxed);
  return found;
}

void remember_process_id() {
  if (wiped_page.load(std::memory_order_acquire) != nullptr) return;
  void* const page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  // A mapping begins as zeros: the number 0, not known yet.
  Number* none = nullptr;
  const bool is_wiped = madvise(page, kPageBytes, MADV_WIPEONFORK) == 0;
  if (!is_wiped || !wiped_page.compare_exchange_strong(none, static_cast<Number*>(page)))
    munmap(page, kPageBytes);
}

}  // namespace lathe
