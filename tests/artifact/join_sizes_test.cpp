// Which free dimensions become one, by what a file can be read with.
#include "artifact/join_sizes.h"

#include <gmock/gmock.h>

namespace lathe {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// One dimension for each input, of axis 0 and bounds 1..32.
AskedSizes lengths_of(const std::vector<std::string>& inputs) {
  AskedSizes asked;
  for (const std::string& input : inputs) {
    asked.dimensions.push_back({"n_" + input, 1, 32, {{input, 0}}, {}});
    asked.shapes[input] = {32};
  }
  return asked;
}

std::vector<std::string> names(const AskedSizes& asked) {
  std::vector<std::string> all;
  for (const AskedDimension& dimension : asked.dimensions) all.push_back(dimension.name);
  return all;
}

// A file that is read where these inputs agree.
IsRead agreeing(std::vector<std::vector<std::string>> groups) {
  return [groups = std::move(groups)](const std::map<std::string, Shape>& shapes) {
    for (const std::vector<std::string>& group : groups)
      for (const std::string& input : group)
        if (shapes.at(input) != shapes.at(group.front())) return false;
    return true;
  };
}

TEST(JoinSizes, ThoseThatMustAgreeAreOneAndNoOthers) {
  const AskedSizes joined = with_joined(lengths_of({"a", "b", "c"}), agreeing({{"a", "b"}}));
  EXPECT_THAT(names(joined), ElementsAre("n_a", "n_c"));
  EXPECT_EQ(joined.dimensions[0].axes.size(), 2U);
  EXPECT_THAT(joined.dimensions[0].also_called, ElementsAre("n_b"));
  EXPECT_THAT(joined.dimensions[1].also_called, IsEmpty());
}

// As indices may be fewer than what they are taken from, whichever of both comes first.
TEST(JoinSizes, ThoseOfWhichOneMayBeSmallerAreOne) {
  const IsRead is_read = [](const std::map<std::string, Shape>& shapes) {
    return shapes.at("indices") <= shapes.at("data");
  };
  EXPECT_EQ(with_joined(lengths_of({"indices", "data"}), is_read).dimensions.size(), 1U);
  EXPECT_EQ(with_joined(lengths_of({"data", "indices"}), is_read).dimensions.size(), 1U);
}

// A source and a target, each with its mask.
TEST(JoinSizes, TwoLengthsThatMayDifferStayTwo) {
  const AskedSizes joined =
      with_joined(lengths_of({"x", "y", "x_mask", "y_mask"}), agreeing({{"x", "x_mask"}, {"y", "y_mask"}}));
  EXPECT_THAT(names(joined), ElementsAre("n_x", "n_y"));
  EXPECT_THAT(joined.dimensions[0].also_called, ElementsAre("n_x_mask"));
  EXPECT_THAT(joined.dimensions[1].also_called, ElementsAre("n_y_mask"));
}

TEST(JoinSizes, AllThatMustAgreeAreOne) {
  const AskedSizes joined =
      with_joined(lengths_of({"ids", "mask", "types"}), agreeing({{"ids", "mask", "types"}}));
  EXPECT_THAT(names(joined), ElementsAre("n_ids"));
  EXPECT_THAT(joined.dimensions[0].also_called, ElementsAre("n_mask", "n_types"));
}

// Two of three each.
TEST(JoinSizes, LargerGroupsAreToldApart) {
  const AskedSizes joined =
      with_joined(lengths_of({"a", "b", "c", "d", "e", "f"}), agreeing({{"a", "d", "e"}, {"b", "c", "f"}}));
  EXPECT_THAT(names(joined), ElementsAre("n_a", "n_b"));
  EXPECT_THAT(joined.dimensions[0].also_called, ElementsAre("n_d", "n_e"));
}

TEST(JoinSizes, OfVeryManyAllAreOne) {
  std::vector<std::string> inputs;
  for (char c = 'a'; c <= 'x'; ++c) inputs.emplace_back(1, c);
  int readings = 0;
  const IsRead all_agree = agreeing({inputs});
  const AskedSizes joined = with_joined(lengths_of(inputs), [&](const auto& shapes) {
    ++readings;
    return all_agree(shapes);
  });
  EXPECT_EQ(joined.dimensions.size(), 1U);
  EXPECT_LE(readings, 70);
}

TEST(JoinSizes, WhatIsNotAlikeOrNamedByTheUserIsLeft) {
  AskedSizes asked = lengths_of({"a", "b", "c", "d"});
  asked.dimensions[1].most = 16;
  asked.dimensions[2].fixed = 8;
  asked.dimensions[3].is_named_by_user = true;
  EXPECT_EQ(with_joined(asked, agreeing({{"a", "b", "c", "d"}})).dimensions.size(), 4U);
  EXPECT_EQ(with_joined(lengths_of({"a", "b"}), [](const auto&) { return false; }).dimensions.size(), 2U)
      << "what cannot be read at all";
}

// An input another axis of which nobody gave a size has no shape.
TEST(JoinSizes, AnInputWithoutAShapeIsNoFault) {
  AskedSizes asked = lengths_of({"a", "b", "c"});
  asked.shapes.erase("c");
  EXPECT_EQ(with_joined(asked, [](const auto&) { return false; }).dimensions.size(), 3U);
}

}  // namespace
}  // namespace lathe
