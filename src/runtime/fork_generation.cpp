#include "runtime/fork_generation.h"

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

// A page that is all zero again in a forked child: 0 says that this process has no number yet.
struct alignas(kPageBytes) WipedPage {
  std::atomic<uint32_t> generation{0};
};
static_assert(sizeof(WipedPage) == kPageBytes, "nothing else is wiped");
WipedPage page;

// The last number that this process or one before it took, which a fork copies.
std::atomic<uint32_t> last_generation{0};

// Settled with the first call, for then the numbers of either kind must be compared with no others.
enum class Wiping : uint8_t { unknown, works, fails };
std::atomic<Wiping> wiping{Wiping::unknown};

// An emulator that takes advice that there is not takes all of it, and heeds none.
Wiping try_wiping() {
  constexpr int kNoAdvice = -1;
  const bool heeds = madvise(&page, kPageBytes, kNoAdvice) != 0;
  return heeds && madvise(&page, kPageBytes, MADV_WIPEONFORK) == 0 ? Wiping::works : Wiping::fails;
}

bool is_wiped() {
  Wiping known = wiping.load(std::memory_order_acquire);
  if (known == Wiping::unknown) {
    const Wiping found = try_wiping();
    if (wiping.compare_exchange_strong(known, found)) known = found;
  }
  return known == Wiping::works;
}

// The last number rises before the page has it: whatever a fork between copies, the child takes a later one.
uint32_t new_generation() {
  const uint32_t next = last_generation.fetch_add(1) + 1;
  uint32_t known = 0;
  return page.generation.compare_exchange_strong(known, next) ? next : known;
}

}  // namespace

uint32_t fork_generation() {
  const uint32_t known = page.generation.load(std::memory_order_relaxed);
  if (known != 0) return known;
  return is_wiped() ? new_generation() : static_cast<uint32_t>(getpid());
}

}  // namespace lathe
