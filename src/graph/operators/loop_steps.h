// Operators at the border of a loop: a part of the graph, its body, that runs once for each step. What
// depends on such an entry (TakeStep, StepState) and is not behind an exit (StackSteps, LastState,
// StepsWhile) is the loop's body; all else runs outside of it (graph/loops.h). None of them does any work:
// they say where their results lie while the loop runs (network/place_steps.h).
#pragma once

#include <optional>
#include <string>

#include "graph/operators/family.h"

namespace lathe {

// One loop of a graph; its operators all have the same.
struct StepLoop {
  std::string name;   // unique in its graph
  int64_t steps = 1;  // that it has, at most where a StepsWhile may end it

  bool operator==(const StepLoop&) const = default;
};

// What its border operators have in common: the loop is theirs, and whether they are its entries.
enum class StepSide : uint8_t { entry, exit };

// The part of an operand [steps, ..] that belongs to the step: its place along the first axis, which goes.
// Backwards, the first step has the last one.
struct TakeStepOp {
  static constexpr const char* kName = "TakeStep";
  static constexpr FusionRole kRole = FusionRole::border;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr StepSide kSide = StepSide::entry;
  StepLoop loop;
  bool backwards = false;

  bool operator==(const TakeStepOp&) const = default;
};

// A state that goes from step to step: its operand in the first step, then what the LastState of the same
// number read in the step before.
struct StepStateOp {
  static constexpr const char* kName = "StepState";
  static constexpr FusionRole kRole = FusionRole::border;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr StepSide kSide = StepSide::entry;
  StepLoop loop;
  size_t number = 0;  // among the loop's states

  bool operator==(const StepStateOp&) const = default;
};

// What a state is behind the last step; reads the next one in each. Of a loop that has no step, what the
// state began with.
struct LastStateOp {
  static constexpr const char* kName = "LastState";
  static constexpr FusionRole kRole = FusionRole::border;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr StepSide kSide = StepSide::exit;
  StepLoop loop;
  size_t number = 0;

  bool operator==(const LastStateOp&) const = default;
};

// The operands of all steps one behind the other, along a new first axis; backwards, the first step's last.
// With a slot the steps' elements lie in rows of that many, [steps, slot], and nothing is said of those
// behind them.
struct StackStepsOp {
  static constexpr const char* kName = "StackSteps";
  static constexpr FusionRole kRole = FusionRole::border;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr StepSide kSide = StepSide::exit;
  StepLoop loop;
  bool backwards = false;
  int64_t slot = 0;  // elements; 0: as many as the operand has, whose axes stay

  bool operator==(const StackStepsOp&) const = default;
};

// Ends the loop early: its first operand, from outside, says whether there is any step, its second one, of
// the body, whether another one follows. Gives the first.
struct StepsWhileOp {
  static constexpr const char* kName = "StepsWhile";
  static constexpr FusionRole kRole = FusionRole::border;
  static constexpr size_t kLeastOperands = 2;
  static constexpr size_t kMostOperands = 2;
  static constexpr StepSide kSide = StepSide::exit;
  StepLoop loop;

  bool operator==(const StepsWhileOp&) const = default;
};

// Its operand in memory of its own: what an exit reads must be written for it alone.
struct CopyOp {
  static constexpr const char* kName = "Copy";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr bool kMovesElements = true;
  // In whose body it stands, though it may depend on none of its entries.
  std::optional<StepLoop> inside = {};

  bool operator==(const CopyOp&) const = default;
};

std::string attributes_of(const TakeStepOp& op);
std::string attributes_of(const StepStateOp& op);
std::string attributes_of(const LastStateOp& op);
std::string attributes_of(const StackStepsOp& op);
std::string attributes_of(const StepsWhileOp& op);
std::string attributes_of(const CopyOp& op);
Result<TensorType> infer(const TakeStepOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const StepStateOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const LastStateOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const StackStepsOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const StepsWhileOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const CopyOp& op, std::span<const TensorType> inputs);
// Those of a border are evaluated by the loop that runs them (graph/reference.cpp).
Values evaluate(const CopyOp& op, std::span<const Values> inputs);
Tensor lower(const CopyOp& op, DagBuilder& builder, std::span<const Tensor> operands);

// What TakeStep gives in that step, and StackSteps for what it reads in each.
Values evaluate_step(const TakeStepOp& op, const Values& operand, int64_t step);
Values evaluate_steps(const StackStepsOp& op, const std::vector<Values>& operands);

}  // namespace lathe
