// Expressions as LLVM values. Parts that an expression shares are computed once a statement; an element that
// was read where the guard is at least as wide is not read again, by whatever expression. One a function.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "codegen/llvm/index_emitter.h"
#include "codegen/llvm/memory_emitter.h"

namespace lathe::llvm_backend {

class ValueEmitter {
 public:
  ValueEmitter(Builder& builder, MemoryEmitter& memory, IndexEmitter& indices, const Target& target)
      : builder_(builder), memory_(memory), indices_(indices), target_(target) {}

  // Forgets what is known: memory may have changed.
  void begin_statement() {
    known_.clear();
    guards_.clear();
    loaded_.clear();
  }
  // The value; loads in it happen in the guard's lanes only.
  llvm::Value* emit(const Expr& e, const Guard& guard = {});

 private:
  llvm::Value* visit(const Literal& e, const Expr& self, const Guard& guard);
  llvm::Value* visit(const Index& e, const Expr& self, const Guard& guard);
  llvm::Value* visit(const Load& e, const Expr& self, const Guard& guard);
  llvm::Value* visit(const Unary& e, const Expr& self, const Guard& guard);
  llvm::Value* visit(const Binary& e, const Expr& self, const Guard& guard);
  llvm::Value* visit(const Select& e, const Expr& self, const Guard& guard);
  llvm::Value* visit(const Cast& e, const Expr& self, const Guard& guard);
  llvm::Value* visit(const Broadcast& e, const Expr& self, const Guard& guard);
  llvm::Value* visit(const BitCast& e, const Expr& self, const Guard& guard);
  llvm::Value* visit(const Ramp& e, const Expr& self, const Guard& guard);
  llvm::Value* visit(const Call& e, const Expr& self, const Guard& guard);

  llvm::Value* multiply_add(const Expr& e, const Guard& guard);
  llvm::Value* compare(const Binary& e, const Guard& guard);
  // A comparison of index vectors in 32 bits, where both sides fit; null where they may not.
  llvm::Value* narrow_compare(const Binary& e, const Guard& guard);
  llvm::Value* logical(const Binary& e, const Guard& guard);
  llvm::Value* arithmetic(BinaryOp op, llvm::Value* a, llvm::Value* b, DType dtype);
  // A function of f64 of C's mathematics library, lane by lane.
  llvm::Value* library_call(const char* name, const std::vector<llvm::Value*>& operands);
  llvm::Value* float_parts(UnaryOp op, llvm::Value* a);
  llvm::Value* extremum(BinaryOp op, llvm::Value* a, llvm::Value* b, DType dtype);
  llvm::Value* integer_division(BinaryOp op, llvm::Value* a, llvm::Value* b, DType dtype);
  llvm::Value* shift(BinaryOp op, llvm::Value* a, llvm::Value* b, DType dtype);
  llvm::Value* unsigned_division(BinaryOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* splat(llvm::Value* value, int lanes);

  Builder& builder_;
  MemoryEmitter& memory_;
  IndexEmitter& indices_;
  const Target& target_;
  struct Loaded {
    const Load* load;
    Type type;
    Guard guard;
    llvm::Value* value;
  };

  std::map<std::pair<const ExprNode*, Guard>, llvm::Value*> known_;
  std::vector<Loaded> loaded_;
  std::vector<Guard> guards_;  // of the selects around, outermost first: what is known under one holds within
};

}  // namespace lathe::llvm_backend
