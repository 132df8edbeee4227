// The last step of compiling and tuning, and what is said of a model beside it.
#include "session/commands/write_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "artifact/artifact_fixture.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;
using ::testing::StartsWith;

template <class T>
std::string why_not(const Result<T>& result) {
  return result ? std::string() : result.error().to_string();
}

class WriteModel : public ArtifactTest {
 protected:
  Model model() const {
    return compile_operator(parse_workloads(kMatmul, "test")->front(), options_).value();
  }
};

TEST(FolderBelow, HasNoSlashTooMany) {
  EXPECT_EQ(folder_below("o", "mm"), "o/mm");
  EXPECT_EQ(folder_below("o/", "mm"), "o/mm");
  EXPECT_EQ(folder_below("o//", "mm"), "o/mm");
  EXPECT_EQ(folder_below("o//", "mm"), "o/mm");
  EXPECT_EQ(folder_below("", "mm"), "mm");
  EXPECT_EQ(folder_below("/", "mm"), "/mm");
}

TEST(CheckName, IsOfOneModelThatCanBearIt) {
  EXPECT_EQ(why_not(check_name("", 3)), "");
  EXPECT_EQ(why_not(check_name("first_2", 1)), "");
  EXPECT_EQ(why_not(check_name("first", 2)), "--name: one name is given, and 2 models are written");
  EXPECT_EQ(why_not(check_name("a b", 1)),
            "--name: 'a b' names no model: a name has letters, digits and underscores, at most 243");
  EXPECT_EQ(why_not(check_name(std::string(243, 'n'), 1)), "");
  EXPECT_THAT(why_not(check_name(std::string(244, 'n'), 1)), StartsWith("--name: 'nnn"));
}

TEST(CheckCompiler, FindsTheOneThatLinks) { EXPECT_EQ(why_not(check_compiler()), ""); }

TEST_F(WriteModel, IsWrittenAndRun) {
  std::vector<WorkState> told;
  const Result<WrittenModel> written =
      write_model(model(), folder(), {}, [&](const WorkState& state) { told.push_back(state); });
  ASSERT_TRUE(written.has_value()) << why_not(written);
  EXPECT_EQ(written->name, "mm");
  EXPECT_EQ(written->folder, folder());
  ASSERT_TRUE(written->time.has_value()) << written->untimed.value_or("");
  EXPECT_GT(written->time->seconds, 0);
  EXPECT_GE(written->time->samples, 1U);
  EXPECT_FALSE(written->untimed.has_value());
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].what, "mm: the artifact is run");
  EXPECT_GT(told[0].expected_seconds, 0);
  LoadedArtifact artifact = std::move(LoadedArtifact::open(folder(), 1).value());
  check_matmul(artifact, random_floats(19 * 17, 1), random_floats(17 * 21, 2));
}

TEST_F(WriteModel, WithoutTimeItIsWrittenAllTheSame) {
  const Result<WrittenModel> written = write_model(model(), folder(), Deadline::in(0), {});
  ASSERT_TRUE(written.has_value()) << why_not(written);
  EXPECT_FALSE(written->time.has_value());
  EXPECT_EQ(written->untimed, "there was no time left to run it");
  EXPECT_TRUE(LoadedArtifact::open(folder(), 1).has_value());
}

TEST_F(WriteModel, UntimedItIsNeverRun) {
  ASSERT_EQ(why_not(write_untimed(model(), folder())), "");
  LoadedArtifact artifact = std::move(LoadedArtifact::open(folder(), 1).value());
  check_matmul(artifact, random_floats(19 * 17, 3), random_floats(17 * 21, 4));
}

TEST_F(WriteModel, AsSourcesItHasNoLibrary) {
  const Result<WrittenModel> written = write_model_sources(model(), folder());
  ASSERT_TRUE(written.has_value()) << why_not(written);
  EXPECT_EQ(written->name, "mm");
  EXPECT_FALSE(written->time.has_value());
  EXPECT_FALSE(written->untimed.has_value());
  EXPECT_TRUE(fs::exists(folder() + "/kernel0.c"));
  EXPECT_FALSE(fs::exists(folder() + "/model.so"));
}

TEST_F(WriteModel, SomebodyElsesFilesStay) {
  fs::create_directory(folder());
  std::ofstream(folder() + "/weights.bin") << "mine";
  const std::string refused = folder() + "/weights.bin: the file is no artifact's, ";
  EXPECT_THAT(why_not(write_model(model(), folder(), {}, {})), StartsWith(refused));
  EXPECT_THAT(why_not(write_untimed(model(), folder())), StartsWith(refused));
  EXPECT_THAT(why_not(write_model_sources(model(), folder())), StartsWith(refused));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder()), fs::directory_iterator()), 1);
}

// A model of kernels that were compiled and compared so.
Model model_of_kernels(size_t count) {
  Model model;
  model.name = "net";
  model.kernels.resize(count);
  for (size_t i = 0; i < count; ++i) model.kernels[i].task.name = "k" + std::to_string(i);
  return model;
}

TEST(UncomparedNote, NamesTheKernelsAndSaysWhy) {
  Model model = model_of_kernels(3);
  EXPECT_EQ(uncompared_note(model), std::nullopt);
  model.kernels[0].uncompared = "there was no time left to run it";
  EXPECT_EQ(uncompared_note(model),
            "net: kernels whose results were not all compared with a reference: 1 of 3 (k0: there was no "
            "time left to run it)");
  model.kernels[2].uncompared = "it is large";
  EXPECT_EQ(uncompared_note(model),
            "net: kernels whose results were not all compared with a reference: 2 of 3 (k0: there was no "
            "time left to run it; k2: it is large)");
}

TEST(UntunedNote, CountsTheKernelsThatNoRecordIsOf) {
  Model model = model_of_kernels(3);
  EXPECT_EQ(untuned_note(model, ""), std::nullopt);
  EXPECT_EQ(untuned_note(model, "r.db"),
            "net: kernels that r.db has no usable program for, compiled untuned: 3 of 3");
  model.kernels[0].record = 7;
  // It was faster than what is recorded.
  model.kernels[1].goes_before_records = true;
  EXPECT_EQ(untuned_note(model, "r.db"),
            "net: kernels that r.db has no usable program for, compiled untuned: 1 of 3");
  model.kernels[2].record = 8;
  EXPECT_EQ(untuned_note(model, "r.db"), std::nullopt);
}

}  // namespace
}  // namespace lathe
