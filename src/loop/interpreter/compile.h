// Loop program -> interpreter's code. One compiler object serves one program.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "loop/interpreter/code.h"
#include "loop/loop.h"

namespace lathe::interpreter {

// Code of `prepare`, then `main`. The buffers are the arguments, then the prepared ones, in order, then those
// under Allocs and the tables. An Error names the access of something that is not there, or that the
// interpreter cannot run.
Result<ProgramCode> compile(const Program& program, bool with_coverage);

class Compiler {
 public:
  Compiler(const Program& program, bool with_coverage);
  Result<ProgramCode> run();

 private:
  enum class Role : uint8_t { input, constant, output, prepared, literal, allocated };
  struct BufferInfo {
    Tensor tensor;
    Role role = Role::input;
    int id = 0;
    std::vector<int64_t> capacity;  // room in each logical dimension
    Layout layout;
    std::vector<int64_t> physical;
  };
  // Where an access goes.
  struct Address {
    int buffer = 0;
    SlotValue offset;
    int access = 0;  // into ProgramCode::accesses
  };

  void fail(ErrorKind kind, std::string message);
  void add_buffer(const Tensor& tensor, const Layout& layout, Role role);
  const BufferInfo* find_buffer(const Tensor& tensor, bool writes);
  bool may_access(const BufferInfo& info, bool writes);

  StatementCode statement(const Stmt& stmt);
  StatementCode loop(const For& loop);
  StatementCode block(const Block& block);
  StatementCode alloc(const Alloc& alloc);
  StatementCode branch(const If& branch);
  StatementCode store(const Store& store);
  std::vector<Guard> guards(const std::vector<Conjunct>& conjuncts);
  std::vector<Interval> narrow(const std::vector<Guard>& guards);
  void restore(const std::vector<Guard>& guards, const std::vector<Interval>& ranges);
  void block_body(const Block& block);
  void add_coverage(const Block& block, const Address& address, StatementCode& code);

  Address address(const Tensor& tensor, std::span<const Affine> index, bool writes, bool lanes);
  Linear flat_offset(const BufferInfo& info, std::span<const Affine> index, bool lanes, int access);
  Linear layout_offset(const BufferInfo& info, std::span<const Affine> index, int access);
  void check(const Linear& value, int64_t room, int access, int dimension);

  // Compiles an expression; its lanes start at the register that `top_` was.
  int expression(const Expr& e);
  friend struct ExpressionCompiler;
  int allocate(int lanes);
  size_t emit(Instruction instruction);
  int opaque_slot(const Expr& e);

  const Program& program_;
  bool with_coverage_;
  ProgramCode code_;
  SlotPlan plan_;
  std::vector<BufferInfo> buffers_;                   // innermost last
  std::vector<Instruction>* instructions_ = nullptr;  // null where no code may run: bindings, conditions
  std::string statement_;                             // what is compiled now, for errors
  bool preparing_ = false;
  int top_ = 0;
  std::optional<Error> error_;
};

}  // namespace lathe::interpreter
