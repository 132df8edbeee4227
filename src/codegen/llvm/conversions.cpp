#include "codegen/llvm/conversions.h"

#include <llvm/IR/Constants.h>

#include <bit>
#include <cmath>

#include "base/check.h"
#include "codegen/llvm/types.h"
#include "expr/integers.h"

namespace lathe::llvm_backend {
namespace {

using Predicate = llvm::CmpInst::Predicate;

class Conversion {
 public:
  Conversion(Builder& builder, DType from, Type to)
      : builder_(builder), from_(from), to_(to), type_(value_type(builder.getContext(), to)) {}

  llvm::Value* of(llvm::Value* a) {
    const DType to = to_.dtype;
    if (from_ == to) return a;
    if (is_storage_only(from_)) return widened(a);
    if (is_storage_only(to)) return rounded(a);
    if (to == DType::boolean) {
      llvm::Value* zero = llvm::Constant::getNullValue(a->getType());
      return builder_.CreateCmp(is_float(from_) ? Predicate::FCMP_UNE : Predicate::ICMP_NE, a, zero);
    }
    const bool has_sign = from_ != DType::boolean && !is_unsigned(from_);
    if (is_float(from_) && is_float(to)) return builder_.CreateFPCast(a, type_);
    if (is_float(from_)) return saturated(a);
    if (is_float(to)) return has_sign ? builder_.CreateSIToFP(a, type_) : builder_.CreateUIToFP(a, type_);
    return has_sign ? builder_.CreateSExtOrTrunc(a, type_) : builder_.CreateZExtOrTrunc(a, type_);
  }

 private:
  // Bits of f32 with fewer digits of the fraction, as bf16 has.
  static bool is_shortened(DType dtype) { return info_of(dtype).exponent == info_of(DType::f32).exponent; }
  static uint64_t left_out(DType dtype) {
    return static_cast<uint64_t>(info_of(DType::f32).digits - info_of(dtype).digits);
  }
  llvm::Type* like(llvm::Value* value, llvm::Type* element) {
    return value->getType()->getWithNewType(element);
  }

  llvm::Value* widened(llvm::Value* bits) {
    LATHE_CHECK(to_.dtype == DType::f32);
    if (!is_shortened(from_))
      return builder_.CreateFPExt(builder_.CreateBitCast(bits, like(bits, builder_.getHalfTy())), type_);
    llvm::Value* wide = builder_.CreateZExt(bits, like(bits, builder_.getInt32Ty()));
    return builder_.CreateBitCast(builder_.CreateShl(wide, left_out(from_)), type_);
  }

  // To nearest even: what lies above the middle, or on it where the last digit is odd, carries. The fraction
  // of a NaN keeps its highest digit, else it might be an infinity's.
  llvm::Value* rounded(llvm::Value* a) {
    LATHE_CHECK(from_ == DType::f32);
    if (!is_shortened(to_.dtype))
      return builder_.CreateBitCast(builder_.CreateFPTrunc(a, like(a, builder_.getHalfTy())), type_);
    const uint64_t shift = left_out(to_.dtype);
    llvm::Type* wide = like(a, builder_.getInt32Ty());
    const auto number = [&](uint64_t value) { return llvm::ConstantInt::get(wide, value); };
    llvm::Value* bits = builder_.CreateBitCast(a, wide);
    llvm::Value* odd = builder_.CreateAnd(builder_.CreateLShr(bits, shift), number(1));
    llvm::Value* carried =
        builder_.CreateAdd(bits, builder_.CreateAdd(odd, number((uint64_t{1} << (shift - 1)) - 1)));
    llvm::Value* quiet = builder_.CreateOr(bits, number(uint64_t{1} << (info_of(DType::f32).digits - 2)));
    llvm::Value* is_ordered = builder_.CreateFCmpORD(a, llvm::Constant::getNullValue(a->getType()));
    return builder_.CreateTrunc(builder_.CreateLShr(builder_.CreateSelect(is_ordered, carried, quiet), shift),
                                type_);
  }

  // The nearest integer towards zero that the type has; NaN gives 0. LLVM's own saturating conversion takes
  // vectors apart.
  llvm::Value* saturated(llvm::Value* a) {
    const Interval range = integers_of(to_.dtype);
    const auto number = [&](double value) { return llvm::ConstantFP::get(a->getType(), value); };
    // The ends as floats: the least is a power of two or 0, the largest may lie between two floats.
    const double beyond = std::ldexp(1.0, info_of(to_.dtype).digits);
    const bool is_wide = a->getType()->getScalarType()->isDoubleTy();
    const double below = is_wide ? std::nextafter(beyond, 0)
                                 : static_cast<double>(std::nextafter(static_cast<float>(beyond), 0.0F));
    const double most = std::floor(below);
    llvm::Value* least = number(static_cast<double>(range.lo));
    llvm::Value* value = a;
    if (range.lo != 0) {
      llvm::Value* is_ordered = builder_.CreateFCmpORD(a, number(0));
      value = builder_.CreateSelect(is_ordered, a, number(0));
    }
    // Of an unsigned type this makes 0 of NaN too.
    value = builder_.CreateSelect(builder_.CreateFCmpOGT(value, least), value, least);
    value = builder_.CreateSelect(builder_.CreateFCmpOLT(number(most), value), number(most), value);
    llvm::Value* integer =
        is_unsigned(to_.dtype) ? builder_.CreateFPToUI(value, type_) : builder_.CreateFPToSI(value, type_);
    if (most == beyond - 1) return integer;
    llvm::Value* largest = llvm::ConstantInt::getSigned(type_, largest_kept(to_.dtype));
    return builder_.CreateSelect(builder_.CreateFCmpOGE(a, number(beyond)), largest, integer);
  }

  Builder& builder_;
  DType from_;
  Type to_;
  llvm::Type* type_;
};

}  // namespace

llvm::Value* convert(Builder& builder, llvm::Value* value, DType from, Type to) {
  return Conversion(builder, from, to).of(value);
}

uint64_t storage_bits(DType dtype, double value) {
  return visit_storage(dtype, [&]<class T>(std::type_identity<T>) -> uint64_t {
    if constexpr (sizeof(T) == sizeof(uint16_t)) {
      return std::bit_cast<uint16_t>(static_cast<T>(value));
    } else {
      check_failed("a storage type has two bytes", __FILE__, __LINE__);
    }
  });
}

}  // namespace lathe::llvm_backend
