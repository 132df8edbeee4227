// A network's programs are compiled and compared on several threads as they would be on one.
#include "artifact/compile_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <set>
#include <thread>

#include "artifact/artifact_fixture.h"
#include "graph/onnx/models.h"
#include "tune/in_process_runner.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

class CompileTasksTest : public ArtifactTest {
 protected:
  void SetUp() override {
    ArtifactTest::SetUp();
    if (allowed_cpus().size() < 2) GTEST_SKIP() << "there is one cpu";
    options_.runner = &runner_;
    options_.another_runner = [this]() -> Result<std::unique_ptr<CandidateRunner>> {
      ++others_;
      auto other = std::make_unique<testing::InProcessRunner>();
      other->spoil = spoil_;
      return other;
    };
  }

  // Products of many sizes, one after another.
  Network products() {
    constexpr int kProducts = 12;
    OnnxModel onnx;
    onnx.input("t0", {8, 16});
    for (int i = 0; i < kProducts; ++i) {
      const std::string number = std::to_string(i);
      onnx.initializer("w" + number, {16 + i, 17 + i});
      onnx.node("n" + number, "MatMul", {"t" + number, "w" + number}, "t" + std::to_string(i + 1));
    }
    onnx.output("t12");
    std::ofstream(folder("net.onnx"), std::ios::binary) << onnx.bytes();
    return load_network(folder("net.onnx"), {}, options_.target).value();
  }

  testing::InProcessRunner runner_;
  std::function<void(const Module&, const MeasureInputs&, const testing::Outputs&)> spoil_;
  std::atomic<int> others_ = 0;
};

TEST_F(CompileTasksTest, ThreadsGiveWhatOneGives) {
  const Network network = products();
  const auto together = compile_tasks(network, options_);
  ASSERT_TRUE(together.has_value()) << together.error().to_string();
  EXPECT_GE(others_, 1);
  EXPECT_LE(runner_.runs, static_cast<int>(together->size()));
  options_.another_runner = {};
  const auto alone = compile_tasks(network, options_);
  ASSERT_TRUE(alone.has_value()) << alone.error().to_string();
  ASSERT_EQ(together->size(), alone->size());
  for (size_t i = 0; i < alone->size(); ++i) {
    EXPECT_EQ((*together)[i].module.object, (*alone)[i].module.object);
    EXPECT_EQ((*together)[i].checked, Checked::full);
  }
}

// Whoever listens need not know of other threads.
TEST_F(CompileTasksTest, EverythingIsToldInTheCallingThread) {
  const Network network = products();
  const auto calling = std::this_thread::get_id();
  spoil_ = [](const Module&, const MeasureInputs&, const testing::Outputs& outputs) {
    testing::spoil_element(outputs, 0);
  };
  // What other threads compute is wrong, so that they have something to reject.
  std::vector<std::string> rejected;
  options_.rejected = [&](const std::string& sentence) {
    EXPECT_EQ(std::this_thread::get_id(), calling);
    rejected.push_back(sentence);
  };
  options_.progress = [&](size_t, size_t) { EXPECT_EQ(std::this_thread::get_id(), calling); };
  options_.watch.observer = [&](const WorkState&) { EXPECT_EQ(std::this_thread::get_id(), calling); };
  options_.watch.stop = [&] {
    EXPECT_EQ(std::this_thread::get_id(), calling);
    return false;
  };
  const auto compiled = compile_tasks(network, options_);
  ASSERT_FALSE(compiled.has_value());
  EXPECT_THAT(compiled.error().to_string(), HasSubstr("no program of it is right"));
  ASSERT_FALSE(rejected.empty());
  EXPECT_THAT(rejected.front(), HasSubstr("the program of trial 0 is not used, wrong_result"));
}

TEST_F(CompileTasksTest, ARunnerThatDoesNotStartIsAnError) {
  options_.another_runner = []() -> Result<std::unique_ptr<CandidateRunner>> {
    return fail(ErrorKind::not_found, "the program lathe-worker is missing");
  };
  const auto compiled = compile_tasks(products(), options_);
  ASSERT_FALSE(compiled.has_value());
  EXPECT_THAT(compiled.error().to_string(), HasSubstr("lathe-worker is missing"));
}

TEST_F(CompileTasksTest, ProgressEndsWithAll) {
  std::vector<size_t> told;
  size_t all = 0;
  options_.progress = [&](size_t done, size_t of) {
    told.push_back(done);
    all = of;
  };
  const auto compiled = compile_tasks(products(), options_);
  ASSERT_TRUE(compiled.has_value()) << compiled.error().to_string();
  EXPECT_TRUE(std::ranges::is_sorted(told));
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), compiled->size());
  EXPECT_EQ(all, compiled->size());
}

}  // namespace
}  // namespace lathe
