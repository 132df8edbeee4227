// The knobs of a template ([A] 2, 3.3: a configuration is the vector s = [s_1 .. s_m] of their values). There
// are four kinds, and a knob's name says which it is: how an axis is split, the order of loops, how a loop is
// annotated, and a plain choice. None of them prefers anything: what `declared_sketch` takes for preferred is
// a neutral value (one tile an element, nothing annotated).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "expr/dag.h"
#include "loop/loop.h"
#include "space/chooser.h"

namespace lathe {

// What the inner factors of a split may be.
struct SplitLimits {
  int parts = 2;
  int64_t largest_innermost = 0;      // 0: any divisor
  std::vector<int64_t> allowed = {};  // every inner factor is one of these; empty: any divisor
};

// Of one compute, whose name comes before those of its knobs. The chooser must outlive it.
class Knobs {
 public:
  Knobs(Chooser& chooser, std::string block) : chooser_(chooser), block_(std::move(block)) {}

  // `BLOCK.split.AXIS`: the inner factors, outermost first; together they divide the extent.
  std::vector<int64_t> split(std::string_view axis, int64_t extent, const SplitLimits& limits = {});
  // `BLOCK.order`: the number of one of several candidates.
  int64_t order(int64_t candidates);
  // `BLOCK.annotate.LOOP`: one of several kinds of loops, the first of them neutral.
  LoopKind annotate(std::string_view loop, const std::vector<LoopKind>& kinds);
  // `BLOCK.choice.NAME`: yes or no.
  bool choice(std::string_view name);

 private:
  Chooser& chooser_;
  std::string block_;
};

}  // namespace lathe
