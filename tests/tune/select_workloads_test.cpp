#include "tune/select_workloads.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/temporary_folder.h"

namespace lathe {
namespace {

class SelectWorkloads : public ::testing::Test {
 protected:
  std::string path() const { return (folder_.path() / "w.json").string(); }

  // A file of entries with these names.
  void write(const std::vector<std::string>& names) const {
    std::string text;
    for (const std::string& name : names) {
      text += (text.empty() ? "" : ", ") +
              (R"({"name": ")" + name + R"x(", "op": "expression", "text": "o[i:3] = f32(i)"})x");
    }
    std::ofstream(path()) << "[" << text << "]";
  }

  // The names that are left, or the error's sentence.
  std::vector<std::string> names(const std::string& filter) const {
    const auto workloads = select_workloads(path(), filter);
    if (!workloads) return {workloads.error().to_string()};
    std::vector<std::string> names;
    for (const Workload& workload : *workloads) names.push_back(workload.name);
    return names;
  }

  TemporaryFolder folder_;
};

using Names = std::vector<std::string>;

TEST_F(SelectWorkloads, AnExpressionIsFoundAnywhereInAName) {
  write({"conv1", "conv2", "mm"});
  EXPECT_EQ(names(""), (Names{"conv1", "conv2", "mm"}));
  EXPECT_EQ(names("v[2-9]|^m"), (Names{"conv2", "mm"}));
  EXPECT_EQ(names("("), (Names{"--filter: '(' is no regular expression"}));
  EXPECT_EQ(names("x"), (Names{"--filter: no entry of " + path() + " has a name that matches 'x'"}));
}

// std::regex has no limit of its own: it calls itself until the stack is full.
TEST_F(SelectWorkloads, LongExpressionsAreRefusedAndAllOthersEnd) {
  const std::string longest(1000, 'a');
  write({"b", longest});
  EXPECT_EQ(names(longest), (Names{longest}));
  EXPECT_EQ(names(".*"), (Names{"b", longest}));
  EXPECT_EQ(names(fmt::format("{}aa{}", std::string(499, '('), std::string(499, ')'))), (Names{longest}));
  EXPECT_EQ(names(std::string(1001, 'a')),
            (Names{"--filter: the expression has 1001 bytes, and at most 1000 are allowed"}));
  EXPECT_EQ(names(std::string(20000, '(') + std::string(20000, ')')),
            (Names{"--filter: the expression has 40000 bytes, and at most 1000 are allowed"}));
}

}  // namespace
}  // namespace lathe
