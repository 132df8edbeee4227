// Elements moved by the artifact's runtime lie where the layout says, and nothing else is touched.
#include "artifact/runtime/copy_layout.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>

#include "artifact/write/tensor_table.h"
#include "base/rng.h"
#include "base/text_cursor.h"
#include "runtime/thread_pool.h"
#include "target/all.h"

namespace lathe {
namespace {

// Those of this processor, and what is done without any.
std::vector<Instructions> instructions() {
  std::vector<Instructions> here = {{"any", "nothing", nullptr, nullptr, nullptr}};
  for (const TargetRow& row : all_targets()) {
    const Instructions* known = find_instructions(std::string(row.name).c_str());
    if (known != nullptr && known->run_here()) here.push_back(*known);
  }
  return here;
}

// The places of all elements inside, in row-major order.
std::vector<int64_t> places_of(const Layout& layout, const std::vector<int64_t>& shape) {
  std::vector<int64_t> places;
  std::vector<int64_t> index(shape.size(), 0);
  const int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  for (int64_t i = 0; i < count; ++i) {
    places.push_back(flatten(layout, shape, index));
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  return places;
}

constexpr std::byte kUntouched{0xA5};

// Storage `ahead` bytes behind the beginning of a line, with bytes around it that nobody may write to.
class GuardedStorage {
 public:
  GuardedStorage(size_t bytes, size_t ahead) : storage_(bytes + 4 * kLine, kUntouched) {
    before_ = kLine + (-reinterpret_cast<uintptr_t>(storage_.data()) & (kLine - 1)) + ahead;
    bytes_ = {storage_.data() + before_, bytes};
  }
  std::span<std::byte> bytes() { return bytes_; }
  bool is_whole() const {
    const auto untouched = [](std::byte byte) { return byte == kUntouched; };
    const auto begin = storage_.begin() + static_cast<ptrdiff_t>(before_);
    return std::all_of(storage_.begin(), begin, untouched) &&
           std::all_of(begin + static_cast<ptrdiff_t>(bytes_.size()), storage_.end(), untouched);
  }

 private:
  static constexpr size_t kLine = 64;
  std::vector<std::byte> storage_;
  size_t before_ = 0;
  std::span<std::byte> bytes_;
};

// The caller's tensor and the one inside both lie `ahead` bytes behind the beginning of a line.
void check(const Layout& layout, const std::vector<int64_t>& shape, int bytes,
           const Instructions& instruction_set, const LatheParallel* pool, size_t ahead = 16) {
  SCOPED_TRACE(to_string(layout) + " of " + std::to_string(bytes) + " bytes, " + std::to_string(ahead) +
               " ahead");
  const TensorTable table(layout, shape, bytes);
  const std::vector<int64_t> places = places_of(layout, shape);
  const auto size = static_cast<size_t>(bytes);
  GuardedStorage outside(places.size() * size, ahead);
  Rng rng(7);
  for (std::byte& byte : outside.bytes()) byte = static_cast<std::byte>(rng.below(256));
  std::vector<std::byte> expected(static_cast<size_t>(physical_elements(layout, shape)) * size, kUntouched);
  for (size_t i = 0; i < places.size(); ++i)
    std::memcpy(&expected[static_cast<size_t>(places[i]) * size], &outside.bytes()[i * size], size);
  GuardedStorage inside(expected.size(), ahead);
  copy_inside(table.tensor(), instruction_set, outside.bytes().data(), inside.bytes().data(), pool);
  EXPECT_TRUE(std::ranges::equal(inside.bytes(), expected));
  EXPECT_TRUE(inside.is_whole());
  GuardedStorage back(outside.bytes().size(), ahead);
  copy_outside(table.tensor(), instruction_set, inside.bytes().data(), back.bytes().data(), pool);
  EXPECT_TRUE(std::ranges::equal(back.bytes(), outside.bytes()));
  EXPECT_TRUE(back.is_whole());
}

Result<Layout> parsed(const std::string& text) {
  TextCursor cursor(text, "layout");
  return parse_layout(cursor);
}

void check_all(const std::string& text, const std::vector<int64_t>& shape,
               const LatheParallel* pool = nullptr) {
  const Layout layout = parsed(text).value();
  ASSERT_TRUE(verify(layout, shape).has_value());
  for (const Instructions& set : instructions()) {
    for (const int bytes : {1, 2, 4, 8}) check(layout, shape, bytes, set, pool);
  }
}

TEST(CopyLayout, MatricesOfEverySmallSizeAreTransposed) {
  for (int64_t rows = 1; rows <= 37; rows += 3) {
    for (int64_t columns = 1; columns <= 70; columns += 3) check_all("[1][0]", {rows, columns});
  }
}

TEST(CopyLayout, FewChannelsGoInTurns) {
  for (int64_t channels = 2; channels <= 5; ++channels) {
    for (const int64_t places : {2, 15, 16, 17, 31, 67}) {
      check_all("[1][0]", {channels, places});
      check_all("[1][0]", {places, channels});
      check_all("[0][2][1]", {3, channels, places});
      check_all("[1][0+3]", {channels, places});
    }
  }
}

TEST(CopyLayout, PlanesAreCutInTiles) {
  check_all("[1][0]", {131, 1061});
  check_all("[1][0]", {1031, 259});
}

TEST(CopyLayout, BlocksAndRowsOfWhichSomeIsUnused) {
  check_all("[0][1/16][2][3][1%16]", {2, 37, 5, 7});
  check_all("[0][1/4][2/3][1%4][2%3+1]", {3, 10, 11});
  check_all("[1/16][0][1%16]", {33, 77});
  check_all("[0/2][1/8][0%2][1/4%2][1%4]", {5, 23});
  check_all("[0][1+5]", {9, 130});
  check_all("[0][2][3][1]", {2, 3, 19, 23});
  check_all("[2][0][1][3]", {4, 5, 6, 1});
  check_all("[1/32][0][1%32]", {7, 33});
}

// Runs of neighbours on both sides are elements of planes; some are vectors, some parts of them, some
// neither.
TEST(CopyLayout, RunsOfEveryLength) {
  for (const int64_t run : {2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 33, 64, 100}) {
    check_all(fmt::format("[1/{0}][0][1%{0}]", run), {19, 7 * run + 1});
    check_all(fmt::format("[0][2/{0}][1][2%{0}]", run), {2, 11, 5 * run});
    check_all(fmt::format("[0/3][1/{0}][0%3][1%{0}]", run), {22, 9 * run});
    check_all(fmt::format("[1/{0}][0+1][1%{0}+1]", run), {7, 4 * run});
  }
  check_all("[1][0][2]", {9, 13, 21});
  check_all("[0][2][1][3]", {3, 5, 17, 16});
}

// Rows that lie a power of two apart, within the caches.
TEST(CopyLayout, RowsThatCollideWithinTheCachesGoInBlocks) {
  check_all("[1][0]", {1024, 40});
  check_all("[1][0]", {513, 1024});
  check_all("[1][0+24]", {1000, 131});
  check_all("[1][0+3]", {509, 517});
  check_all("[0][2][1]", {3, 67, 1024});
}

TEST(CopyLayout, RankNoneAndOne) {
  check_all("[]", {});
  check_all("[0]", {1});
  check_all("[0]", {1001});
  check_all("[0%8][0/8]", {83});
}

// Any chain of blocks in any order.
TEST(CopyLayout, DrawnLayouts) {
  Rng rng(11);
  int checked = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> shape;
    Layout layout;
    const int rank = static_cast<int>(1 + rng.below(5));
    for (int d = 0; d < rank; ++d) {
      shape.push_back(static_cast<int64_t>(1 + rng.below(rank > 3 ? 9 : 25)));
      int64_t divide = 1;
      while (rng.below(2) == 0) {
        const auto factor = static_cast<int64_t>(1 + rng.below(8));
        layout.dims.push_back({d, divide, factor, static_cast<int64_t>(rng.below(2))});
        divide *= factor;
      }
      layout.dims.push_back({d, divide, 0, static_cast<int64_t>(rng.below(2))});
    }
    for (size_t i = layout.dims.size(); i-- > 1;) std::swap(layout.dims[i], layout.dims[rng.below(i + 1)]);
    // Of two parts that divide alike the one of a single element stands first. Long chains of blocks take
    // more padding than a test has memory for.
    if (!verify(layout, shape) || physical_elements(layout, shape) > 1 << 20) continue;
    ++checked;
    for (const Instructions& set : instructions()) check(layout, shape, 1 << rng.below(4), set, nullptr);
  }
  EXPECT_GT(checked, 100);
}

TEST(CopyLayout, ThreadsShareLargeTensors) {
  ThreadPool pool({.threads = 3});
  check_all("[1][0]", {523, 1031}, pool.parallel());
  check_all("[0][1/16][2][3][1%16]", {3, 50, 41, 47}, pool.parallel());
  check_all("[0][1+5]", {999, 330}, pool.parallel());
}

int64_t count_misplaced(std::span<const std::byte> matrix, std::span<const std::byte> transposed, size_t rows,
                        size_t columns, size_t size) {
  int64_t misplaced = 0;
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c)
      misplaced +=
          std::memcmp(&transposed[(c * rows + r) * size], &matrix[(r * columns + c) * size], size) != 0;
  }
  return misplaced;
}

void check_streamed(const std::vector<int64_t>& shape, int bytes, size_t ahead,
                    const Instructions& instruction_set, const LatheParallel* pool) {
  const auto rows = static_cast<size_t>(shape[0]);
  const auto columns = static_cast<size_t>(shape[1]);
  const auto size = static_cast<size_t>(bytes);
  SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(columns) + " of " + std::to_string(bytes) +
               " bytes, " + std::to_string(ahead) + " ahead");
  const TensorTable table(*parsed("[1][0]"), shape, bytes);
  GuardedStorage outside(rows * columns * size, ahead);
  GuardedStorage inside(rows * columns * size, ahead);
  GuardedStorage back(rows * columns * size, ahead);
  uint64_t drawn = 5;
  for (std::byte& byte : outside.bytes()) {
    drawn = drawn * 0x5851F42D4C957F2D + 1;
    byte = static_cast<std::byte>(drawn >> 56);
  }
  copy_inside(table.tensor(), instruction_set, outside.bytes().data(), inside.bytes().data(), pool);
  EXPECT_EQ(count_misplaced(outside.bytes(), inside.bytes(), rows, columns, size), 0);
  EXPECT_TRUE(inside.is_whole());
  copy_outside(table.tensor(), instruction_set, inside.bytes().data(), back.bytes().data(), pool);
  EXPECT_TRUE(std::ranges::equal(back.bytes(), outside.bytes()));
  EXPECT_TRUE(back.is_whole());
}

TEST(CopyLayout, LinesThatGoPastTheCachesBeginAnywhere) {
  ThreadPool pool({.threads = 3});
  for (const Instructions& set : instructions()) {
    for (const int bytes : {1, 2, 4, 8}) {
      const int64_t columns = (int64_t{9} << 20) / bytes / 1723;
      check_streamed({1723, columns}, bytes, 0, set, nullptr);
      check_streamed({1723, columns + 1}, bytes, 24, set, pool.parallel());
      check_streamed({columns, 1723}, bytes, 63, set, nullptr);
      check_streamed({2048, (int64_t{9} << 20) / bytes / 2048}, bytes, 0, set, pool.parallel());
    }
  }
}

// Rows a multiple of 512 bytes apart go in blocks: whole ones, tails, few columns, and rows that begin and
// end within a line, or between the elements of one.
TEST(CopyLayout, RowsThatCollideGoInBlocks) {
  ThreadPool pool({.threads = 3});
  for (const Instructions& set : instructions()) {
    for (const int bytes : {1, 2, 4, 8}) {
      const auto columns_of = [&](int64_t rows) { return (int64_t{8} << 20) / bytes / rows; };
      check_streamed({1536, columns_of(1536) + 37}, bytes, 0, set, nullptr);
      check_streamed({2560, columns_of(2560) + 5}, bytes, 16, set, pool.parallel());
      check_streamed({1024, columns_of(1024) + 1}, bytes, 63, set, pool.parallel());
      check_streamed({columns_of(16), 16}, bytes, 8, set, nullptr);
    }
    check(*parsed("[1][0+12]"), {500, 4200}, 4, set, pool.parallel(), 48);
    check(*parsed("[0][2][1+479]"), {3, 33, 84900}, 1, set, pool.parallel());
  }
}

// In lanes of 16 bytes, wherever these begin; others go through the caches.
TEST(CopyLayout, RunsThatGoPastTheCachesBeginAnywhere) {
  struct Case {
    int64_t run;
    int bytes;
    size_t ahead;
  };
  ThreadPool pool({.threads = 3});
  for (const Instructions& set : instructions()) {
    for (const auto& [run, bytes, ahead] : std::initializer_list<Case>{{4, 4, 0},
                                                                       {8, 4, 16},
                                                                       {16, 4, 48},
                                                                       {20, 4, 32},
                                                                       {16, 1, 4},
                                                                       {6, 8, 16},
                                                                       {32, 8, 0},
                                                                       {6, 4, 16}}) {
      const int64_t rows = (int64_t{8} << 20) / bytes / (37 * run) + 3;
      check(*parsed(fmt::format("[1/{0}][0][1%{0}]", run)),
            {rows, 37 * run + static_cast<int64_t>(ahead % 3)}, bytes, set,
            ahead == 0 ? nullptr : pool.parallel(), ahead);
    }
    check(*parsed("[0][2][1][3]"), {7, 130, 40, 64}, 4, set, pool.parallel(), 48);
  }
}

// Some are so short that no line, or hardly one, is whole.
TEST(CopyLayout, ShortRowsThatGoPastTheCaches) {
  ThreadPool pool({.threads = 2});
  for (const Instructions& set : instructions()) {
    for (const int64_t rows : {3, 9, 17, 40, 63, 65, 129}) {
      check_streamed({rows, (int64_t{8} << 20) / 8 / rows + 1}, 8, 8, set, nullptr);
      check_streamed({rows, (int64_t{8} << 20) / 2 / rows + 1}, 2, 32, set, pool.parallel());
    }
    check(*parsed("[0][2][3][1]"), {3, 40, 100, 101}, 8, set, pool.parallel());
    check(*parsed("[0][1/16][2][3][1%16]"), {3, 50, 90, 101}, 8, set, pool.parallel());
    check(*parsed("[0][1+5]"), {999, 1303}, 8, set, pool.parallel());
  }
}

}  // namespace
}  // namespace lathe
