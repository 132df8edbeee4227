// Which task the first digits of a hash mean.
#include "session/commands/find_task.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/hash.h"
#include "records/sample_record.h"

namespace lathe {
namespace {

class TaskByDigits : public ::testing::Test {
 protected:
  void SetUp() override { store_.emplace(RecordStore::open(":memory:").value()); }

  void add(uint64_t hash, const std::string& name) {
    Record record = sample_record(1e-3);
    record.task.hash = hash;
    record.task.name = name;
    ASSERT_TRUE(store_->append(record).has_value());
  }
  uint64_t found(const std::string& digits) const {
    const Result<uint64_t> hash = find_task(*store_, digits);
    EXPECT_TRUE(hash.has_value()) << hash.error().to_string();
    return hash.value_or(0);
  }
  std::string refused(const std::string& digits, ErrorKind kind) const {
    const Result<uint64_t> hash = find_task(*store_, digits);
    EXPECT_FALSE(hash.has_value()) << hash.value_or(0);
    if (hash) return "";
    EXPECT_EQ(hash.error().kind, kind);
    return hash.error().to_string();
  }

  std::optional<RecordStore> store_;
};

TEST_F(TaskByDigits, AsManyAsTellItFromTheOthersWillDo) {
  add(0xab00000000000001, "first");
  add(0xab00000000000002, "second");
  add(0x0c00000000000003, "third");
  EXPECT_EQ(found("0"), 0x0c00000000000003U);
  EXPECT_EQ(found("0C"), 0x0c00000000000003U);
  EXPECT_EQ(found("ab00000000000001"), 0xab00000000000001U);
  EXPECT_EQ(found("AB00000000000002"), 0xab00000000000002U);
}

TEST_F(TaskByDigits, SeveralAreNamedInTheOrderOfTheirDigits) {
  add(0xab00000000000002, "second");
  add(0xab00000000000001, "first");
  EXPECT_EQ(refused("Ab", ErrorKind::invalid_argument),
            "--task: 2 tasks begin with Ab: ab00000000000001 (first), ab00000000000002 (second)");
  for (uint64_t i = 3; i < 7; ++i) add(0xab00000000000000 + i, "v" + std::to_string(i));
  EXPECT_EQ(refused("ab", ErrorKind::invalid_argument),
            "--task: 6 tasks begin with ab: ab00000000000001 (first), ab00000000000002 (second), "
            "ab00000000000003 (v3), ab00000000000004 (v4) ..");
}

TEST_F(TaskByDigits, WhatIsNoHashIsRefused) {
  add(1, "first");
  for (const std::string digits : {"", "0x1", "g", "00 ", "00000000000000010", "-1"}) {
    EXPECT_EQ(
        refused(digits, ErrorKind::invalid_argument),
        "--task: '" + digits + "' is no task: it has 16 hexadecimal digits, of which the first will do");
  }
}

TEST_F(TaskByDigits, ATaskWithoutRecordsIsNotFound) {
  EXPECT_EQ(refused("1", ErrorKind::not_found), "--task: :memory: has no records of task 1");
  // Known, but nothing is recorded of it.
  ASSERT_TRUE(store_->known_as(sample_record(1).task).has_value());
  EXPECT_EQ(refused("0000000000000001", ErrorKind::not_found),
            "--task: :memory: has no records of task 0000000000000001");
  EXPECT_EQ(no_such_task(*store_, "Ab").error().to_string(), "--task: :memory: has no records of task Ab");
}

// Records of other targets and numbers of cores are of the same task.
TEST_F(TaskByDigits, ATaskIsOneWhereverItWasMeasured) {
  add(7, "first");
  Record elsewhere = sample_record(1e-3);
  elsewhere.task.hash = 7;
  elsewhere.target = "aarch64-neon";
  elsewhere.cores = 4;
  ASSERT_TRUE(store_->append(elsewhere).has_value());
  EXPECT_EQ(found("0"), 7U);
}

}  // namespace
}  // namespace lathe
