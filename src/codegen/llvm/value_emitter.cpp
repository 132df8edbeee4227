#include "codegen/llvm/value_emitter.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

#include "base/check.h"
#include "codegen/llvm/conversions.h"
#include "codegen/llvm/intrinsic_emitter.h"
#include "codegen/llvm/types.h"
#include "codegen/patterns.h"

namespace lathe::llvm_backend {
namespace {

using Predicate = llvm::CmpInst::Predicate;

bool is_float(const llvm::Value* value) { return value->getType()->isFPOrFPVectorTy(); }

// An index vector as base + lane * stride.
struct Lanes {
  Affine base;
  int64_t stride = 0;
};

std::optional<Lanes> as_lanes(const Expr& e) {
  if (const auto* ramp = e.as<Ramp>()) return Lanes{ramp->base, ramp->stride};
  if (const auto* splat = e.as<Broadcast>()) {
    if (const auto* index = splat->operand.as<Index>()) return Lanes{index->value, 0};
  }
  return std::nullopt;
}

llvm::Constant* lane_constants(llvm::IntegerType* type, int64_t stride, int lanes) {
  std::vector<llvm::Constant*> values;
  for (int lane = 0; lane < lanes; ++lane)
    values.push_back(llvm::ConstantInt::getSigned(type, lane * stride));
  return llvm::ConstantVector::get(values);
}

// Each is one instruction.
llvm::Intrinsic::ID rounding_of(UnaryOp op) {
  switch (op) {
    case UnaryOp::ceil: return llvm::Intrinsic::ceil;
    case UnaryOp::round: return llvm::Intrinsic::roundeven;
    case UnaryOp::truncate: return llvm::Intrinsic::trunc;
    default: return llvm::Intrinsic::floor;
  }
}

Predicate predicate_of(BinaryOp op, DType dtype) {
  const bool floating = lathe::is_float(dtype);
  const bool has_sign = !is_unsigned(dtype);
  switch (op) {
    case BinaryOp::less:
      return floating ? Predicate::FCMP_OLT : has_sign ? Predicate::ICMP_SLT : Predicate::ICMP_ULT;
    case BinaryOp::less_equal:
      return floating ? Predicate::FCMP_OLE : has_sign ? Predicate::ICMP_SLE : Predicate::ICMP_ULE;
    case BinaryOp::equal: return floating ? Predicate::FCMP_OEQ : Predicate::ICMP_EQ;
    case BinaryOp::not_equal: return floating ? Predicate::FCMP_UNE : Predicate::ICMP_NE;
    default: return Predicate::BAD_ICMP_PREDICATE;
  }
}

}  // namespace

llvm::Value* ValueEmitter::emit(const Expr& e, const Guard& guard) {
  const bool narrower = guards_.empty() || guards_.back() != guard;
  if (narrower) guards_.push_back(guard);
  llvm::Value* value = nullptr;
  for (const Guard& outer : guards_) {
    const auto known = known_.find({e.get(), outer});
    if (known != known_.end()) value = known->second;
    if (value != nullptr) break;
  }
  if (value == nullptr) {
    value = std::visit([&](const auto& node) { return visit(node, e, guard); }, e->node);
    known_.emplace(std::pair(e.get(), guard), value);
  }
  if (narrower) guards_.pop_back();
  return value;
}

llvm::Value* ValueEmitter::visit(const Literal& e, const Expr& self, const Guard&) {
  llvm::Type* type = value_type(builder_.getContext(), self.type());
  if (type->isFPOrFPVectorTy()) return llvm::ConstantFP::get(type, e.value);
  if (lathe::is_float(self.type().dtype))
    return llvm::ConstantInt::get(type, storage_bits(self.type().dtype, e.value));
  return llvm::ConstantInt::getSigned(type, e.integer);
}

llvm::Value* ValueEmitter::visit(const Index& e, const Expr&, const Guard& guard) {
  return indices_.value(e.value, guard);
}

llvm::Value* ValueEmitter::visit(const Load& e, const Expr& self, const Guard& guard) {
  if (e.mask.defined()) return memory_.load(e, self.type(), emit(e.mask, guard), guard);
  for (const Loaded& known : loaded_) {
    const bool is_same = known.load->tensor == e.tensor && known.load->index == e.index &&
                         known.load->stride == e.stride && known.type == self.type();
    if (is_same && std::ranges::find(guards_, known.guard) != guards_.end()) return known.value;
  }
  llvm::Value* value = memory_.load(e, self.type(), nullptr, guard);
  loaded_.push_back({&e, self.type(), guard, value});
  return value;
}

llvm::Value* ValueEmitter::visit(const Unary& e, const Expr&, const Guard& guard) {
  llvm::Value* a = emit(e.operand, guard);
  const bool floating = is_float(a);
  switch (e.op) {
    case UnaryOp::negate: return floating ? builder_.CreateFNeg(a) : builder_.CreateNeg(a);
    case UnaryOp::sqrt: return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a);
    case UnaryOp::floor:
    case UnaryOp::ceil:
    case UnaryOp::round:
    case UnaryOp::truncate: return floating ? builder_.CreateUnaryIntrinsic(rounding_of(e.op), a) : a;
    case UnaryOp::logical_not: return builder_.CreateNot(a);
    case UnaryOp::abs:
      if (floating) return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
      if (is_unsigned(e.operand.type().dtype)) return a;
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, builder_.getFalse());
    case UnaryOp::pow2:
    case UnaryOp::exponent:
    case UnaryOp::mantissa: return float_parts(e.op, a);
    case UnaryOp::exp:
    case UnaryOp::log:
    case UnaryOp::tanh:
    case UnaryOp::erf:
    case UnaryOp::sin:
    case UnaryOp::cos: return library_call(library_function(e.op), {a});
  }
  check_failed("every operation has code", __FILE__, __LINE__);
}

llvm::Value* ValueEmitter::library_call(const char* name, const std::vector<llvm::Value*>& operands) {
  llvm::Type* number = builder_.getDoubleTy();
  llvm::Type* type = operands[0]->getType();
  LATHE_CHECK(type->getScalarType() == number);
  const std::vector<llvm::Type*> parameters(operands.size(), number);
  llvm::Module* module = builder_.GetInsertBlock()->getModule();
  llvm::FunctionCallee callee =
      module->getOrInsertFunction(name, llvm::FunctionType::get(number, parameters, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (vector == nullptr) return builder_.CreateCall(callee, operands);
  llvm::Value* result = llvm::PoisonValue::get(type);
  for (uint64_t lane = 0; lane < vector->getNumElements(); ++lane) {
    std::vector<llvm::Value*> elements;
    for (llvm::Value* operand : operands) elements.push_back(builder_.CreateExtractElement(operand, lane));
    result = builder_.CreateInsertElement(result, builder_.CreateCall(callee, elements), lane);
  }
  return result;
}

// IEEE 754 from the bits: sign, biased exponent, fraction.
llvm::Value* ValueEmitter::float_parts(UnaryOp op, llvm::Value* a) {
  llvm::Type* type = a->getType();
  const bool wide = type->getScalarType()->isDoubleTy();
  const uint64_t fraction_bits = wide ? 52 : 23;
  const uint64_t bias = wide ? 1023 : 127;
  llvm::Type* bits = type->getWithNewType(wide ? builder_.getInt64Ty() : builder_.getInt32Ty());
  const auto constant = [&](uint64_t value) { return llvm::ConstantInt::get(bits, value); };
  if (op == UnaryOp::pow2) {
    // A whole number of that size fits in 32 bits, which every machine converts a vector to. Of NaN, which
    // what it is multiplied by has as well, any integer will do.
    llvm::Value* whole =
        builder_.CreateFreeze(builder_.CreateFPToSI(a, type->getWithNewType(builder_.getInt32Ty())));
    llvm::Value* biased = builder_.CreateAdd(builder_.CreateSExt(whole, bits), constant(bias));
    return builder_.CreateBitCast(builder_.CreateShl(biased, fraction_bits), type);
  }
  llvm::Value* pattern = builder_.CreateBitCast(a, bits);
  if (op == UnaryOp::mantissa) {
    llvm::Value* fraction = builder_.CreateAnd(pattern, (uint64_t{1} << fraction_bits) - 1);
    return builder_.CreateBitCast(builder_.CreateOr(fraction, bias << fraction_bits), type);
  }
  llvm::Value* biased = builder_.CreateAnd(builder_.CreateLShr(pattern, fraction_bits), 2 * bias + 1);
  llvm::Value* unbiased = builder_.CreateSub(biased, constant(bias));
  if (wide) unbiased = builder_.CreateTrunc(unbiased, type->getWithNewType(builder_.getInt32Ty()));
  return builder_.CreateSIToFP(unbiased, type);
}

llvm::Value* ValueEmitter::visit(const Binary& e, const Expr& self, const Guard& guard) {
  switch (e.op) {
    case BinaryOp::less:
    case BinaryOp::less_equal:
    case BinaryOp::equal:
    case BinaryOp::not_equal: return compare(e, guard);
    case BinaryOp::logical_and:
    case BinaryOp::logical_or: return logical(e, guard);
    default: break;
  }
  if (match_multiply_add(self)) return multiply_add(self, guard);
  llvm::Value* a = emit(e.a, guard);
  llvm::Value* b = emit(e.b, guard);
  return arithmetic(e.op, a, b, self.type().dtype);
}

namespace {

// The sign of a sum's zero is not kept (`fold_arithmetic` does not keep it either), so that what is added to
// a cleared accumulator takes no operation.
llvm::Value* as_sum(llvm::Value* value) {
  if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(value)) instruction->setHasNoSignedZeros(true);
  return value;
}

}  // namespace

llvm::Value* ValueEmitter::multiply_add(const Expr& e, const Guard& guard) {
  const MultiplyAdd parts = *match_multiply_add(e);
  llvm::Value* a = emit(parts.a, guard);
  llvm::Value* b = emit(parts.b, guard);
  llvm::Value* c = emit(parts.c, guard);
  if (parts.negate_product) a = builder_.CreateFNeg(a);
  if (parts.negate_addend) c = builder_.CreateFNeg(c);
  return as_sum(builder_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c}));
}

llvm::Value* ValueEmitter::compare(const Binary& e, const Guard& guard) {
  if (llvm::Value* narrow = narrow_compare(e, guard)) return narrow;
  llvm::Value* a = emit(e.a, guard);
  llvm::Value* b = emit(e.b, guard);
  return builder_.CreateCmp(predicate_of(e.op, e.a.type().dtype), a, b);
}

// a.base + lane * a.stride < b.base + lane * b.stride  <=>  lane * (a.stride - b.stride) < b.base - a.base
llvm::Value* ValueEmitter::narrow_compare(const Binary& e, const Guard& guard) {
  const std::optional<Lanes> a = as_lanes(e.a);
  const std::optional<Lanes> b = as_lanes(e.b);
  if (!a || !b) return nullptr;
  const Affine difference = b->base - a->base;
  const int64_t stride = a->stride - b->stride;
  const int lanes = e.a.type().lanes;
  const std::optional<Interval> range = indices_.range(difference);
  constexpr int64_t kLargest = 1 << 30;
  const bool fits =
      range && range->lo > -kLargest && range->hi < kLargest && std::abs(stride) < kLargest / lanes;
  if (!fits) return nullptr;
  llvm::Value* bound = builder_.CreateTrunc(indices_.value(difference, guard), builder_.getInt32Ty());
  llvm::Value* left = lane_constants(builder_.getInt32Ty(), stride, lanes);
  return builder_.CreateICmp(predicate_of(e.op, DType::i32), left, splat(bound, lanes));
}

// The right side counts only where the left one leaves it open, so its loads are guarded by that.
llvm::Value* ValueEmitter::logical(const Binary& e, const Guard& guard) {
  llvm::Value* a = emit(e.a, guard);
  const bool conjunction = e.op == BinaryOp::logical_and;
  Guard open = guard;
  if (may_fault(e.b)) open = refine(builder_, guard, conjunction ? a : builder_.CreateNot(a));
  llvm::Value* b = emit(e.b, open);
  return conjunction ? builder_.CreateAnd(a, b) : builder_.CreateOr(a, b);
}

llvm::Value* ValueEmitter::arithmetic(BinaryOp op, llvm::Value* a, llvm::Value* b, DType dtype) {
  const bool floating = is_float(a);
  switch (op) {
    case BinaryOp::add: return floating ? as_sum(builder_.CreateFAdd(a, b)) : builder_.CreateAdd(a, b);
    case BinaryOp::sub: return floating ? as_sum(builder_.CreateFSub(a, b)) : builder_.CreateSub(a, b);
    case BinaryOp::mul: return floating ? builder_.CreateFMul(a, b) : builder_.CreateMul(a, b);
    case BinaryOp::div: return floating ? builder_.CreateFDiv(a, b) : integer_division(op, a, b, dtype);
    case BinaryOp::mod:
      if (floating) return library_call(library_function(op), {a, b});
      return integer_division(op, a, b, dtype);
    case BinaryOp::pow: return library_call(library_function(op), {a, b});
    case BinaryOp::min:
    case BinaryOp::max: return extremum(op, a, b, dtype);
    case BinaryOp::copy_sign: return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, a, b);
    case BinaryOp::bit_and: return builder_.CreateAnd(a, b);
    case BinaryOp::bit_or: return builder_.CreateOr(a, b);
    case BinaryOp::bit_xor: return builder_.CreateXor(a, b);
    case BinaryOp::shift_left:
    case BinaryOp::shift_right: return shift(op, a, b, dtype);
    default: break;
  }
  check_failed("the operation is arithmetic", __FILE__, __LINE__);
}

namespace {

// Whether the value is a literal, or copies of one, and a number.
bool is_number(const llvm::Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant == nullptr) return false;
  const llvm::Constant* element = value->getType()->isVectorTy() ? constant->getSplatValue() : constant;
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(element);
  return number != nullptr && !number->isNaN();
}

}  // namespace

// NaN where either is. The machine's instruction gives its second operand where one of the two is NaN: that
// suffices beside a number; otherwise it runs where `a` is no NaN, which costs a comparison. In a reduction
// `a` is what is added, so that the chain through the accumulator stays as short as the instruction.
llvm::Value* ValueEmitter::extremum(BinaryOp op, llvm::Value* a, llvm::Value* b, DType dtype) {
  const bool floating = is_float(a);
  if (floating && is_number(b)) std::swap(a, b);
  const Predicate less = predicate_of(BinaryOp::less, dtype);
  llvm::Value* takes_a =
      op == BinaryOp::min ? builder_.CreateCmp(less, a, b) : builder_.CreateCmp(less, b, a);
  llvm::Value* chosen = builder_.CreateSelect(takes_a, a, b);
  if (!floating || is_number(a)) return chosen;
  llvm::Value* is_ordered = builder_.CreateFCmpORD(a, llvm::Constant::getNullValue(a->getType()));
  return builder_.CreateSelect(is_ordered, chosen, a);
}

namespace {

// A constant, in every lane, that is neither 0 nor -1.
bool is_plain_divisor(llvm::Value* b) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(b);
  if (constant != nullptr && b->getType()->isVectorTy()) constant = constant->getSplatValue();
  return constant != nullptr && !constant->isNullValue() && !constant->isAllOnesValue();
}

}  // namespace

// Rounds down; by 0 gives 0 and the dividend as its remainder. No divisor traps: 0 and -1, which the least
// integer cannot be divided by, give place to 1.
llvm::Value* ValueEmitter::integer_division(BinaryOp op, llvm::Value* a, llvm::Value* b, DType dtype) {
  if (is_unsigned(dtype)) return unsigned_division(op, a, b);
  llvm::Type* type = a->getType();
  const bool is_open = !is_plain_divisor(b);
  llvm::Value* zero = llvm::Constant::getNullValue(type);
  llvm::Value* is_zero = builder_.CreateICmpEQ(b, zero);
  llvm::Value* negates = builder_.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(type));
  if (is_open)
    b = builder_.CreateSelect(builder_.CreateOr(is_zero, negates), llvm::ConstantInt::get(type, 1), b);
  llvm::Value* rest = builder_.CreateSRem(a, b);
  llvm::Value* signs_differ = builder_.CreateICmpSLT(builder_.CreateXor(rest, b), zero);
  llvm::Value* adjust = builder_.CreateAnd(builder_.CreateICmpNE(rest, zero), signs_differ);
  if (op == BinaryOp::mod) {
    llvm::Value* remainder = builder_.CreateSelect(adjust, builder_.CreateAdd(rest, b), rest);
    return is_open ? builder_.CreateSelect(is_zero, a, remainder) : remainder;
  }
  llvm::Value* towards_zero = builder_.CreateSDiv(a, b);
  llvm::Value* quotient = builder_.CreateSub(towards_zero, builder_.CreateZExt(adjust, type));
  if (!is_open) return quotient;
  return builder_.CreateSelect(is_zero, zero,
                               builder_.CreateSelect(negates, builder_.CreateNeg(a), quotient));
}

llvm::Value* ValueEmitter::unsigned_division(BinaryOp op, llvm::Value* a, llvm::Value* b) {
  llvm::Value* zero = llvm::Constant::getNullValue(a->getType());
  llvm::Value* is_zero = builder_.CreateICmpEQ(b, zero);
  llvm::Value* divisor = builder_.CreateSelect(is_zero, llvm::ConstantInt::get(a->getType(), 1), b);
  if (op == BinaryOp::mod) return builder_.CreateSelect(is_zero, a, builder_.CreateURem(a, divisor));
  return builder_.CreateSelect(is_zero, zero, builder_.CreateUDiv(a, divisor));
}

// LLVM's have no result where the amount is the width or more.
llvm::Value* ValueEmitter::shift(BinaryOp op, llvm::Value* a, llvm::Value* b, DType dtype) {
  llvm::Type* type = a->getType();
  const auto number = [&](int64_t value) { return llvm::ConstantInt::getSigned(type, value); };
  const int64_t width = 8 * bytes_of(dtype);
  llvm::Value* is_inside = builder_.CreateICmpULT(b, number(width));
  if (op == BinaryOp::shift_right && !is_unsigned(dtype))
    return builder_.CreateAShr(a, builder_.CreateSelect(is_inside, b, number(width - 1)));
  llvm::Value* amount = builder_.CreateSelect(is_inside, b, number(0));
  llvm::Value* shifted =
      op == BinaryOp::shift_left ? builder_.CreateShl(a, amount) : builder_.CreateLShr(a, amount);
  return builder_.CreateSelect(is_inside, shifted, number(0));
}

llvm::Value* ValueEmitter::visit(const Select& e, const Expr& self, const Guard& guard) {
  const auto* uniform = e.condition.as<Broadcast>();
  llvm::Value* condition = emit(uniform != nullptr ? uniform->operand : e.condition, guard);
  const bool true_faults = may_fault(e.if_true);
  const bool false_faults = may_fault(e.if_false);
  const Guard if_true = true_faults ? refine(builder_, guard, condition) : guard;
  const Guard if_false = false_faults ? refine(builder_, guard, builder_.CreateNot(condition)) : guard;
  // A guarded load is 0 where it is off; an element that was read outside of the guard already is not.
  const auto is_guarded_load = [&](const Expr& value, const Guard& own, const llvm::Value* emitted) {
    const Load* load = value.as<Load>();
    if (load == nullptr || !known_.contains({value.get(), own})) return false;
    return load->mask.defined() || std::ranges::any_of(loaded_, [&](const Loaded& known) {
             return known.value == emitted && known.guard == own;
           });
  };
  llvm::Value* a = emit(e.if_true, if_true);
  if (is_zero(e.if_false) && is_guarded_load(e.if_true, if_true, a)) return a;
  llvm::Value* b = emit(e.if_false, if_false);
  if (is_zero(e.if_true) && is_guarded_load(e.if_false, if_false, b)) return b;
  LATHE_CHECK(!condition->getType()->isVectorTy() || self.type().lanes > 1);
  return builder_.CreateSelect(condition, a, b);
}

llvm::Value* ValueEmitter::visit(const Cast& e, const Expr& self, const Guard& guard) {
  return convert(builder_, emit(e.operand, guard), e.operand.type().dtype, self.type());
}

llvm::Value* ValueEmitter::visit(const BitCast& e, const Expr& self, const Guard& guard) {
  return builder_.CreateBitCast(emit(e.operand, guard), value_type(builder_.getContext(), self.type()));
}

llvm::Value* ValueEmitter::visit(const Broadcast& e, const Expr& self, const Guard& guard) {
  return splat(emit(e.operand, guard), self.type().lanes);
}

llvm::Value* ValueEmitter::visit(const Ramp& e, const Expr& self, const Guard& guard) {
  llvm::Value* base = splat(indices_.value(e.base, guard), self.type().lanes);
  return builder_.CreateAdd(base, lane_constants(builder_.getInt64Ty(), e.stride, self.type().lanes));
}

llvm::Value* ValueEmitter::visit(const Call& e, const Expr&, const Guard& guard) {
  const Intrinsic* intrinsic = find_intrinsic(e.intrinsic);
  LATHE_CHECK(intrinsic != nullptr && e.operands.size() == 3);
  llvm::Value* accumulator = emit(e.operands[0], guard);
  llvm::Value* a = emit(e.operands[1], guard);
  llvm::Value* b = emit(e.operands[2], guard);
  return emit_intrinsic(builder_, *intrinsic, target_, accumulator, a, b);
}

llvm::Value* ValueEmitter::splat(llvm::Value* value, int lanes) {
  return builder_.CreateVectorSplat(static_cast<unsigned>(lanes), value);
}

}  // namespace lathe::llvm_backend
