#include "experiment/measured_table.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

MeasuredTable small() {
  MeasuredTable table{.name = "matmul",
                      .task = {.hash = 7, .name = "matmul", .dag = "C[i:8, j:8] = sum(r:8) A[i,r] * B[r,j]"},
                      .target = "x86-avx2",
                      .machine = "a machine",
                      .cores = 2,
                      .compiler_version = "0",
                      .space = "lathe",
                      .sketches = {{"tile", {{{"i", SplitParameter{8, 2, false, 8}}}}},
                                   {"plain", {{{"unroll", OrderedParameter{{0, 16}}}}}, {{"order", {2}}}}},
                      .entries = {}};
  table.entries = {{TableEntry::Outcome::measured, 1e-3, 0.01},
                   {TableEntry::Outcome::measured, 2.5e-6, 0.9},
                   {TableEntry::Outcome::failed},
                   {TableEntry::Outcome::illegal},
                   {TableEntry::Outcome::measured, 123.0, 0},
                   {TableEntry::Outcome::measured, 1e-12, 0}};
  return table;
}

TEST(MeasuredTable, WhatIsWrittenIsReadBack) {
  const MeasuredTable before = small();
  const std::string bytes = table_bytes(before);
  const MeasuredTable after = read_table(bytes, "a.table").value();
  EXPECT_EQ(after.task, before.task);
  EXPECT_EQ(after.cores, 2);
  EXPECT_TRUE(after.sketches[0].fixed.empty());
  EXPECT_EQ(after.sketches[1].fixed, before.sketches[1].fixed);
  ASSERT_EQ(after.entries.size(), 6U);
  EXPECT_NEAR(after.entries[0].seconds, 1e-3, 3e-7);
  EXPECT_NEAR(after.entries[0].spread, 0.01, 1e-9);
  EXPECT_NEAR(after.entries[1].seconds, 2.5e-6, 8e-10);
  EXPECT_NEAR(after.entries[1].spread, 0.254, 1e-9);
  EXPECT_EQ(after.entries[2].outcome, TableEntry::Outcome::failed);
  EXPECT_EQ(after.entries[3].outcome, TableEntry::Outcome::illegal);
  EXPECT_NEAR(after.entries[4].seconds, 123, 0.04);
  EXPECT_NEAR(after.entries[5].seconds, 1e-9, 1e-15) << "no less is told apart";
  EXPECT_EQ(table_bytes(after), bytes);
}

TEST(MeasuredTable, EveryPointHasItsPlace) {
  const MeasuredTable table = small();
  EXPECT_EQ(table.size(), 6);
  const TableIndex index(table);
  ASSERT_EQ(index.points().size(), 6U);
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(index.place_of(index.points()[i]), i);
  EXPECT_EQ(index.place_of({0, {3}}), std::nullopt);
}

TEST(MeasuredTable, ADamagedFileIsASentence) {
  const std::string bytes = table_bytes(small());
  const auto fault = [](const std::string& text) {
    const auto table = read_table(text, "a.table");
    return table ? "" : table.error().to_string();
  };
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = bytes;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  EXPECT_NE(fault("").find("this is no table"), std::string::npos);
  EXPECT_NE(fault("{}\n").find("this is no table"), std::string::npos);
  EXPECT_NE(fault(bytes.substr(0, bytes.size() - 1))
                .find("its 6 points need 18 bytes behind the header, and there are 17"),
            std::string::npos);
  EXPECT_NE(fault(changed("\"lathe_table\":1", "\"lathe_table\":2")).find("its version is not 1"),
            std::string::npos);
  EXPECT_NE(fault(changed("\"cores\":2", "\"cores\":0")).find("its cores are no number"), std::string::npos);
  EXPECT_NE(fault(changed("\"space\":\"lathe\"", "\"space\":7")).find("no text 'space'"), std::string::npos);
  EXPECT_NE(fault(changed("\"split\":8", "\"split\":9223372036854775807")).find("a.table"),
            std::string::npos);
}

}  // namespace
}  // namespace lathe
