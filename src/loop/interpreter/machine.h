// Runs the interpreter's code on buffers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "loop/interpreter/code.h"

namespace lathe::interpreter {

struct Buffer {
  std::vector<Cell> cells;
  // Of an allocated buffer: the offsets written since it was entered, so that the next entry need not clear
  // all of it; once there are as many as elements, they are not listed any more.
  bool lists_writes = false;
  bool cleared = false;
  std::vector<int64_t> written;
  int64_t lifetime = 0;
};

// How often the points of one block's domain were reached.
struct CoverageCount {
  struct Point {
    int64_t lifetime = -1;  // of the output's buffer, in which `times` and `value` were seen
    int64_t times = 0;
    double value = 0;
  };
  std::vector<Point> points;
  int64_t visited = 0;  // points reached at least once
  int64_t most = 0;     // within one lifetime of the output
  bool same_value = true;
};

class Machine {
 public:
  // `code` must outlive the machine. `shuffle`, if not null, orders the iterations of parallel loops.
  Machine(const ProgramCode& code, Rng* shuffle, int64_t step_limit);

  std::vector<Cell>& cells(size_t buffer) { return buffers_[buffer].cells; }
  Status run();
  const std::vector<CoverageCount>& coverage() const { return coverage_; }
  int64_t instances() const { return instances_; }

 private:
  bool execute(const StatementCode& code);
  bool loop(const StatementCode& code);
  bool iteration(const StatementCode& code, int64_t i);
  bool shuffled(const StatementCode& code, int64_t extent);
  void fresh(int buffer);
  bool compute(const StatementCode& code);
  void count(const StatementCode& code);
  bool instructions(const std::vector<Instruction>& list);
  bool step(const Instruction& in);
  void operate(const SlotOp& op);
  int64_t value(const SlotValue& v) const { return slots_[static_cast<size_t>(v.slot)] + v.constant; }
  bool passes(const std::vector<Guard>& guards) const;
  Cell* element(const Instruction& in);
  void wrote(Buffer& buffer, int64_t offset);

  bool load_lanes(const Instruction& in);
  bool store_lanes(const Instruction& in);
  bool unary(const Instruction& in);
  bool binary(const Instruction& in);
  bool integer_binary(const Instruction& in);
  void convert(const Instruction& in);
  void keep_bits(const Instruction& in);
  void dot(const Instruction& in);
  void combine(const Instruction& in);
  bool fail(std::string message);
  bool fail_access(int access, int64_t index, int64_t room);

  const ProgramCode& code_;
  Rng* shuffle_;
  int64_t steps_left_;
  int64_t instances_ = 0;
  std::vector<int64_t> slots_;
  std::vector<Cell> registers_;
  std::vector<Buffer> buffers_;
  std::vector<CoverageCount> coverage_;
  std::optional<Error> error_;
};

}  // namespace lathe::interpreter
