// Schedules written by hand for a device of many threads, of any size, and a run of a module on such a
// device.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "codegen/machine.h"
#include "runtime/device.h"

namespace lathe::testing {

struct HandTrace {
  std::string name;
  std::string dag;
  std::string trace;
  int barriers = 0;  // that its kernel needs
};
// How GoogleTest names it.
inline void PrintTo(const HandTrace& hand, std::ostream* out) { *out << hand.name; }

// A product of a x c and c x b: blocks of 32 x 32, both operands staged in shared memory, 64 threads of which
// each has 2 x 2 tiles of 2 x 2 that lie 16 apart.
HandTrace staged_product(int a, int b, int c);
// A depthwise 3 x 3 convolution of an image of y x x: tiles of 4 x 4, image and weights staged.
HandTrace depthwise(int y, int x);
// A softmax of `rows` rows in one kernel: two rows a block, maximum and sum in two steps each.
HandTrace softmax(int rows, int columns);
// Each of them at three sizes, some with tails.
std::vector<HandTrace> hand_traces();

// As run_module does, on the first device.
Result<std::vector<HostTensor>> run_on_device(const Module& module, std::span<const Argument> arguments,
                                              std::span<const HostTensor> inputs);

// The text without its barrier number `place`; `text` itself where it has no such barrier.
std::string without_barrier(const std::string& text, int place);

}  // namespace lathe::testing
