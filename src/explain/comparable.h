// Which of a task's records can be set side by side.
#pragma once

#include <string_view>
#include <vector>

#include "records/record.h"

namespace lathe {

struct Comparable {
  std::vector<Record> records;  // of one processor and one version of the compiler
  size_t left_aside = 0;        // how many are of others: their times say nothing beside these
};

// Those of this processor and version where one of them has a program that works; else those that are as the
// last that works; all where none does. In their order.
Comparable comparable(std::vector<Record> records, std::string_view machine,
                      std::string_view compiler_version);

}  // namespace lathe
