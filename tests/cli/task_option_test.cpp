// How --task names a task.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/command_line.h"

namespace lathe {
namespace {

using ::testing::StartsWith;

class TaskOptionTest : public CliTest {
 protected:
  // A task for each length, recorded in r.db; their ids.
  std::vector<std::string> record_tasks(int count) const {
    std::string entries;
    for (int i = 1; i <= count; ++i) {
      entries += (i == 1 ? R"({"name": "v)" : R"(, {"name": "v)") + std::to_string(i) +
                 R"(", "op": "expression", "text": "C[i:)" + std::to_string(i) + R"(] = A[i] + 1.0"})";
    }
    write_workload(entries);
    EXPECT_EQ(lathe("tune --workload w.json --cores 1 --trials 1 --enough 0 --records r.db").status, 0);
    std::vector<std::string> ids;
    for (const auto& task : nlohmann::json::parse(lathe("show r.db --json").out)) ids.push_back(task["task"]);
    return ids;
  }
};

TEST_F(TaskOptionTest, TheFirstDigitsWillDoWhereTheyAreOfOneTask) {
  // More than there are first digits: two of them share one.
  const std::vector<std::string> ids = record_tasks(17);
  ASSERT_EQ(ids.size(), 17U);
  const auto with_start = [&](const std::string& start) {
    return std::ranges::count_if(ids, [&](const std::string& id) { return id.starts_with(start); });
  };
  std::string shared;
  for (const std::string& id : ids) {
    if (with_start(id.substr(0, 1)) > 1) shared = id;
  }
  ASSERT_NE(shared, "");
  size_t digits = 1;
  while (with_start(shared.substr(0, digits)) > 1) ++digits;

  const std::string start = shared.substr(0, digits);
  EXPECT_THAT(lathe("show r.db --task " + start).out, StartsWith(shared + " v"));
  EXPECT_THAT(lathe("explain r.db --task " + start).out, StartsWith("task " + shared + " v"));
  std::string capitals = start;
  for (char& c : capitals) c = static_cast<char>(std::toupper(c));
  EXPECT_THAT(lathe("show r.db --task " + capitals).out, StartsWith(shared + " v"));

  const std::string first = shared.substr(0, 1);
  for (const char* command : {"show", "explain"}) {
    const std::string said = sentence(std::string(command) + " r.db --task " + first);
    EXPECT_THAT(said, StartsWith("lathe: --task: " + std::to_string(with_start(first)) +
                                 " tasks begin with " + first + ": "));
  }
  EXPECT_EQ(sentence("show r.db --task " + shared + "0"),
            "lathe: --task: '" + shared +
                "0' is no task: it has 16 hexadecimal digits, of which the first will do");
}

}  // namespace
}  // namespace lathe
