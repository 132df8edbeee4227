// What finds no memory is an Error, and everything else passes as it is.
#include "base/memory.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace lathe::testing {
namespace {

TEST(WithinMemory, IsAnErrorWhereThereIsNone) {
  const Result<int> none = within_memory([]() -> Result<int> { throw std::bad_alloc(); });
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(none.error().message, "the machine has not enough memory for it");
  EXPECT_FALSE(within_memory([]() -> Status { throw std::bad_array_new_length(); }));
}

TEST(WithinMemory, LetsResultsAndOtherExceptionsPass) {
  EXPECT_EQ(within_memory([] { return Result<int>(7); }).value(), 7);
  const Result<int> own = within_memory([]() -> Result<int> { return fail(ErrorKind::io, "full"); });
  ASSERT_FALSE(own);
  EXPECT_EQ(own.error().message, "full");
  EXPECT_THROW(static_cast<void>(within_memory([]() -> Status { throw std::runtime_error("x"); })),
               std::runtime_error);
}

}  // namespace
}  // namespace lathe::testing
