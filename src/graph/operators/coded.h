// Numbers of fewer bits than Lathe's element types have: floats of 8 and 4 bits and integers of 4 and 2. They
// are computed and kept as numbers of a type that holds them, floats in f32 and integers in i8 or u8, rounded
// where a model casts to them, and lie in memory as codes, one a byte, where a model is given them or gives
// them. So no kernel but those at a model's ends knows of them.
#pragma once

#include <optional>

#include "graph/operators/family.h"

namespace lathe {

enum class Code : uint8_t { f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f8e8m0, f4e2m1, i4, u4, i2, u2 };

// What f8e8m0, which has powers of two alone, makes of other numbers.
enum class PowerRounding : uint8_t { up, down, nearest };

// The type that holds its numbers.
DType held_in(Code code);
// The type in which memory has its codes: u8 of floats, that which holds them of integers.
DType stored_in(Code code);
// Of integers: the least and the largest.
Interval integers_of(Code code);
// How many bits of a byte an ONNX file takes for one.
int bits_of(Code code);
// "f8e4m3fn".
const char* to_string(Code code);
// The number that stands for the code's lowest bits; beyond them it counts for nothing.
double value_of_code(Code code, uint8_t bits);

// Each number as the nearest of the code's, of two as near the even one. What lies beyond the largest is
// that, or infinite, or else no number, where it does not saturate. Integers keep their lowest bits.
struct RoundToCodeOp {
  static constexpr const char* kName = "Cast";
  static constexpr FusionRole kRole = FusionRole::elementwise;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;

  Code code = Code::f8e4m3fn;
  bool saturates = true;
  PowerRounding rounding = PowerRounding::up;  // of f8e8m0

  bool operator==(const RoundToCodeOp&) const = default;
};

// The codes of floats that are numbers of it.
struct EncodeOp {
  static constexpr const char* kName = "Encode";
  static constexpr FusionRole kRole = FusionRole::elementwise;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;

  Code code = Code::f8e4m3fn;

  bool operator==(const EncodeOp&) const = default;
};

// The floats that codes stand for.
struct DecodeOp {
  static constexpr const char* kName = "Decode";
  static constexpr FusionRole kRole = FusionRole::elementwise;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;

  Code code = Code::f8e4m3fn;

  bool operator==(const DecodeOp&) const = default;
};

std::string attributes_of(const RoundToCodeOp& op);
std::string attributes_of(const EncodeOp& op);
std::string attributes_of(const DecodeOp& op);
Result<TensorType> infer(const RoundToCodeOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const EncodeOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const DecodeOp& op, std::span<const TensorType> inputs);
Values evaluate(const RoundToCodeOp& op, std::span<const Values> inputs);
Values evaluate(const EncodeOp& op, std::span<const Values> inputs);
Values evaluate(const DecodeOp& op, std::span<const Values> inputs);
Expr lower(const RoundToCodeOp& op, const PointOperands& point);
Expr lower(const EncodeOp& op, const PointOperands& point);
Expr lower(const DecodeOp& op, const PointOperands& point);

}  // namespace lathe
