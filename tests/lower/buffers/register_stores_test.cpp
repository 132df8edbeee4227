// Where a condition keeps out only what no store to a register buffer writes.
#include "lower/buffers/register_stores.h"

#include <fmt/format.h>

#include "lower/golden.h"

namespace lathe::testing {
namespace {

// A flat program's buffer T of so many elements, its last dimension `width` long, and the stores to it.
Program buffer(int64_t rows, int64_t width, const std::string& scope, const std::string& body) {
  return parsed(fmt::format(R"(
output C: f32[4] [0]
flat
main {{
  for o in 4 {{
    alloc T: f32[{}, {}] {} [0][1] {{
      {}
    }}
  }}
}}
)",
                            rows, width, scope, body));
}

// Whether the first condition in the program is beyond all stores, of the first store to the buffer.
bool is_beyond(const Program& program) {
  const For& outer = *as<For>(program.main);
  const Alloc& alloc = *as<Alloc>(outer.body);
  Known known;
  known.enter(outer);
  RegisterStores stores;
  stores.add(alloc, known);
  for (const For& loop : all<For>(alloc.body)) known.enter(loop);
  const Conjunct condition = all<If>(alloc.body).front().conditions.front();
  return stores.is_beyond(alloc.tensor, all<Store>(alloc.body).front().index[0], condition, known);
}

constexpr const char* kLanes = "for t in 2 { for j in 16 { if 16*t + j < 19 { store T[16*t + j] = 1.0 } } }";

// Room for two whole vectors: where 16*t + j is not below 19 nothing is ever written. With less room the last
// lanes would leave the buffer.
TEST(RegisterStores, BeyondAllThatIsWritten) {
  EXPECT_TRUE(is_beyond(buffer(1, 32, "registers", kLanes)));
  EXPECT_FALSE(is_beyond(buffer(1, 24, "registers", kLanes)));
}

// Another store writes there.
TEST(RegisterStores, AnotherStore) {
  EXPECT_FALSE(is_beyond(buffer(1, 32, "registers", std::string(kLanes) + " store T[20] = 2.0")));
  EXPECT_TRUE(is_beyond(buffer(1, 32, "registers", std::string(kLanes) + " store T[18] = 2.0")));
  EXPECT_FALSE(
      is_beyond(buffer(1, 32, "registers", std::string(kLanes) + " for k in 20 { store T[k] = 2.0 }")));
}

// A store in the body of another buffer is one as any other.
TEST(RegisterStores, InsideOfAnotherBuffer) {
  const std::string inside = " alloc U: f32[1] thread [0] { store U[0] = 1.0 store T[20] = U[0] }";
  EXPECT_FALSE(is_beyond(buffer(1, 32, "registers", kLanes + inside)));
}

// Rows of ten elements in vectors of four: beyond one row lies the next.
TEST(RegisterStores, BeyondARowLiesTheNext) {
  const std::string rows =
      "for t in 2 { for u in 3 { for j in 4 { if 4*u + j < 10 { store T[10*t + 4*u + j] = 1.0 } } } }";
  EXPECT_FALSE(is_beyond(buffer(2, 10, "registers", rows)));
  // With room for whole vectors in each row there is none.
  const std::string apart =
      "for t in 2 { for u in 3 { for j in 4 { if 4*u + j < 10 { store T[12*t + 4*u + j] = 1.0 } } } }";
  EXPECT_TRUE(is_beyond(buffer(2, 12, "registers", apart)));
}

// The condition may hang on loops around the buffer, which are fixed as long as it lives, but not on others.
TEST(RegisterStores, ConditionsOfOtherLoops) {
  EXPECT_TRUE(is_beyond(buffer(1, 8, "registers", "for j in 8 { if 8*o + j < 29 { store T[j] = 1.0 } }")));
  EXPECT_FALSE(is_beyond(
      buffer(1, 8, "registers", "for t in 3 { for j in 8 { if 8*t + j < 19 { store T[j] = 1.0 } } }")));
}

// Each lane has a buffer of its own where the vector loop is outside: none of the others is written.
TEST(RegisterStores, OtherBuffersAreEachLanesOwn) {
  EXPECT_TRUE(is_beyond(buffer(1, 32, "thread", std::string(kLanes) + " store T[20] = 2.0")));
}

}  // namespace
}  // namespace lathe::testing
