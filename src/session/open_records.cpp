#include "session/open_records.h"

#include <fmt/format.h>

namespace lathe {
namespace {

std::string counted(size_t count, const char* what) {
  return count == 1 ? fmt::format("1 {} is damaged", what) : fmt::format("{} {}s are damaged", count, what);
}

// "3 records are damaged: record 7, its column seconds holds '-1.0', and 2 more", or the tasks.
std::string told_damage(const Damage& damage) {
  if (damage.records.empty()) {
    const auto& [hash, task] = *damage.tasks.begin();
    return fmt::format("{}: {}, {}", counted(damage.tasks.size(), "task"), hash, task.reason);
  }
  const auto& [id, reason] = *damage.records.begin();
  const size_t more = damage.records.size() - 1;
  return fmt::format("{}: record {}, {}{}", counted(damage.records.size(), "record"), id, reason,
                     more == 0 ? "" : fmt::format(", and {} more", more));
}

Result<RecordStore> noted(Result<RecordStore> store, const Teller& note) {
  if (!store) return store;
  store->tell_damage([path = store->path(), note, told = Damage()](Damage damage) mutable {
    std::erase_if(damage.records, [&](const auto& record) { return told.records.contains(record.first); });
    std::erase_if(damage.tasks, [&](const auto& task) { return told.tasks.contains(task.first); });
    if (damage.empty()) return;
    tell(note,
         fmt::format("{0}: {1}; the rest is used, and `lathe records repair {0}` moves the damage aside",
                     path, told_damage(damage)));
    told.records.merge(damage.records);
    told.tasks.merge(damage.tasks);
  });
  return store;
}

}  // namespace

Result<RecordStore> open_records(const std::string& path, const Teller& note) {
  return noted(RecordStore::open(path), note);
}

Result<RecordStore> open_records_to_read(const std::string& path, const Teller& note) {
  return noted(RecordStore::open_read_only(path), note);
}

}  // namespace lathe
