#include "explain/comparable.h"

#include <algorithm>
#include <string>
#include <utility>

namespace lathe {
namespace {

using Maker = std::pair<std::string, std::string>;  // processor, version

Maker maker_of(const Record& record) { return {record.machine, record.compiler_version}; }

}  // namespace

Comparable comparable(std::vector<Record> records, std::string_view machine,
                      std::string_view compiler_version) {
  Maker chosen(machine, compiler_version);
  const auto works = [](const Record& record) { return record.measurement.ok(); };
  const bool is_here = std::ranges::any_of(
      records, [&](const Record& record) { return works(record) && maker_of(record) == chosen; });
  if (!is_here) {
    const auto last = std::find_if(records.rbegin(), records.rend(), works);
    if (last == records.rend()) return {std::move(records), 0};
    chosen = maker_of(*last);
  }
  const size_t left_aside =
      std::erase_if(records, [&](const Record& record) { return maker_of(record) != chosen; });
  return {std::move(records), left_aside};
}

}  // namespace lathe
