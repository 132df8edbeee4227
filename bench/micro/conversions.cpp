// What conversions at an artifact's interface take, beside a memory copy of the same bytes, in turns: how
// fast tensors move between row-major storage and layouts that kernels choose. With a target's name as
// argument (`x86-avx2` on a machine that has more), as its models do it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/runtime/copy_layout.h"
#include "artifact/write/tensor_table.h"
#include "base/text_cursor.h"
#include "measure/timing.h"
#include "runtime/buffer.h"
#include "target/detect.h"

namespace {

using namespace lathe;  // NOLINT(google-build-using-namespace): a program of one file

struct Case {
  std::string layout;
  std::vector<int64_t> shape;
};

constexpr int kTurns = 9;
constexpr double kBytesOfSample = 5e7;

// The least seconds of a run of each, the work in turns.
std::vector<double> time_in_turns(const std::vector<std::function<void()>>& work, int64_t bytes) {
  const int runs = std::max(1, static_cast<int>(kBytesOfSample / static_cast<double>(bytes)));
  std::vector<double> least(work.size(), 1e9);
  for (int turn = 0; turn < kTurns; ++turn) {
    for (size_t i = 0; i < work.size(); ++i) {
      const double begin = monotonic_seconds();
      for (int run = 0; run < runs; ++run) work[i]();
      least[i] = std::min(least[i], (monotonic_seconds() - begin) / runs);
    }
  }
  return least;
}

void print_case(const Case& tensor, int64_t element_bytes, const Instructions& instructions) {
  TextCursor cursor(tensor.layout, "layout");
  const Layout layout = parse_layout(cursor).value();
  const TensorTable table(layout, tensor.shape, element_bytes);
  int64_t bytes = element_bytes;
  for (const int64_t extent : tensor.shape) bytes *= extent;
  const int64_t inside_bytes = physical_elements(layout, tensor.shape) * element_bytes;
  GuardedBuffer outside = GuardedBuffer::allocate(bytes).value();
  GuardedBuffer copy = GuardedBuffer::allocate(bytes).value();
  GuardedBuffer inside = GuardedBuffer::allocate(inside_bytes).value();
  std::byte* const from = outside.data();
  std::byte* const into = inside.data();
  const auto copy_plainly = [&] { std::memcpy(copy.data(), from, static_cast<size_t>(bytes)); };
  const auto convert_in = [&] { copy_inside(table.tensor(), instructions, from, into, nullptr); };
  const auto convert_out = [&] { copy_outside(table.tensor(), instructions, into, from, nullptr); };
  // Pages that nobody wrote to are all one page of zeros, which the first cache holds.
  std::memset(from, 1, static_cast<size_t>(bytes));
  copy_plainly();
  convert_in();
  const std::vector<double> seconds = time_in_turns({copy_plainly, convert_in, convert_out}, bytes);
  const double rate = static_cast<double>(bytes) * 1e-9;
  fmt::print("{:<24} {:>20} {} {:>10.1f} KB  copy {:6.2f} GB/s  in {:6.2f} ({:.2f})  out {:6.2f} ({:.2f})\n",
             tensor.layout, fmt::format("{}", fmt::join(tensor.shape, "x")), element_bytes,
             static_cast<double>(bytes) / 1e3, rate / seconds[0], rate / seconds[1], seconds[0] / seconds[1],
             rate / seconds[2], seconds[0] / seconds[2]);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string target = argc > 1 ? argv[1] : detect_target().value().name;
  const Instructions* const instructions = find_instructions(target.c_str());
  if (instructions == nullptr) {
    fmt::print(stderr, "conversions: '{}' is no target of this machine's models\n", target);
    return 1;
  }
  const std::vector<Case> cases = {{"[1][0]", {200, 257}},
                                   {"[1][0]", {512, 512}},
                                   {"[1][0]", {1000, 1000}},
                                   {"[1][0]", {1024, 1024}},
                                   {"[1][0]", {3000, 5000}},
                                   {"[1][0]", {3001, 5003}},
                                   {"[1][0]", {4096, 4096}},
                                   {"[1][0]", {6007, 10009}},
                                   {"[0][2][3][1]", {1, 64, 56, 56}},
                                   {"[0][2][3][1]", {1, 3, 224, 224}},
                                   {"[0][2][3][1]", {32, 64, 112, 112}},
                                   {"[0][2][3][1]", {32, 512, 28, 28}},
                                   {"[0][1/16][2][3][1%16]", {1, 256, 56, 56}},
                                   {"[0][1/16][2][3][1%16]", {32, 64, 112, 112}},
                                   {"[1/16][0][1%16]", {512, 512}},
                                   {"[1/16][0][1%16]", {4096, 4096}},
                                   {"[1/4][0][1%4]", {2048, 512}},
                                   {"[1/64][0][1%64]", {4096, 4096}},
                                   {"[1/6][0][1%6]", {1008, 1008}},
                                   {"[0/8][1/8][0%8][1%8]", {1024, 1024}},
                                   {"[0][2][1][3]", {32, 512, 12, 64}},
                                   {"[0][1+16]", {4096, 4096}}};
  for (const int64_t bytes : {int64_t{4}, int64_t{1}, int64_t{2}, int64_t{8}}) {
    for (const Case& tensor : cases) print_case(tensor, bytes, *instructions);
  }
  return 0;
}
