#include "cli/open_records.h"

#include <fmt/format.h>

#include "cli/console.h"

namespace lathe::cli {
namespace {

Result<RecordStore> noted(Result<RecordStore> store) {
  if (!store) return store;
  LATHE_TRY_STATUS(store->set_aside_misfits());
  if (!store->damage().empty()) {
    to_stderr(
        "lathe: note: {0}: {1}; the rest is used, and `lathe records repair {0}` moves the damage aside\n",
        store->path(), told_damage(store->damage()));
  }
  return store;
}

std::string counted(size_t count, const char* what) {
  return count == 1 ? fmt::format("1 {} is damaged", what) : fmt::format("{} {}s are damaged", count, what);
}

}  // namespace

Result<RecordStore> open_records(const std::string& path) { return noted(RecordStore::open(path)); }

Result<RecordStore> open_records_to_read(const std::string& path) {
  return noted(RecordStore::open_read_only(path));
}

std::string told_damage(const Damage& damage) {
  if (damage.records.empty()) {
    const auto& [hash, task] = *damage.tasks.begin();
    return fmt::format("{}: {}, {}", counted(damage.tasks.size(), "task"), hash, task.reason);
  }
  const auto& [id, reason] = *damage.records.begin();
  const size_t more = damage.records.size() - 1;
  return fmt::format("{}: record {}, {}{}", counted(damage.records.size(), "record"), id, reason,
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

}  // namespace lathe::cli
