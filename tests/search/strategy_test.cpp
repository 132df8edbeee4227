#include "search/strategy.h"

#include <gtest/gtest.h>

#include "search/all.h"
#include "search/landscape.h"

namespace lathe {
namespace {

// As the papers fix it, where they do.
TEST(Strategy, TheBatchIsTheCallersUnlessAPaperFixesIt) {
  const auto batch = [](const char* text) {
    return make_strategy(text, Landscape::space(), 0).value()->batch();
  };
  EXPECT_EQ(batch("random"), 0);
  EXPECT_EQ(batch("evolutionary"), 0);
  EXPECT_EQ(batch("annealing"), 64);
  EXPECT_EQ(batch("ansor"), 64);
  EXPECT_EQ(batch("bansor"), 16);
  EXPECT_EQ(batch("bansor:batch=64"), 64);
}

}  // namespace
}  // namespace lathe
