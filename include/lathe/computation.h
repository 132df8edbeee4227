// What is to be computed, by an operator (operator.h) or a network (network.h), on a target. An immutable
// handle: copies share what they hold, and any number of threads may use one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lathe/result.h"

namespace lathe {

// An input or output, row-major.
struct TensorInfo {
  std::string name;
  std::string type;            // "f32", "i64", "bool" .. (docs/artifact_format.md)
  std::vector<int64_t> shape;  // where sizes are free, at the largest
  std::vector<int64_t> least;  // the same at the smallest
  bool is_constant = false;    // of an input: its values are seldom others than in the run before
};

class Computation {
 public:
  struct State;  // of the library alone
  explicit Computation(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  // What its model is called by.
  const std::string& name() const;
  // Of an operator in the order of first use in its formula, of a network in the file's.
  std::vector<TensorInfo> inputs() const;
  std::vector<TensorInfo> outputs() const;
  // Sentences worth knowing of what was read, such as inputs that nothing reads.
  std::vector<std::string> notes() const;

  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace lathe
