#include "codegen/entry.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

TEST(EntrySymbols, FollowFromThePrefix) {
  const EntrySymbols symbols = entry_symbols("conv_3");
  EXPECT_EQ(symbols.kernel, "conv_3_kernel");
  EXPECT_EQ(symbols.prepare, "conv_3_prepare");
  EXPECT_EQ(symbols, entry_symbols("conv_3"));
  EXPECT_NE(symbols, entry_symbols("conv_4"));
}

}  // namespace
}  // namespace lathe
