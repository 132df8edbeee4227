// Every rule and rewrite on elements of every type: what the space prefers computes what the naive program
// does, in machine code too, or names what cannot be compiled.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "conformance/trace_checker.h"
#include "expr/parse.h"
#include "space/all.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

struct TypedCase {
  const char* name;
  const char* inputs;  // name and shape of each, without the type
  const char* computes;
  const char* arm = nullptr;  // a rewrite that applies whatever the type
};

// ZERO is the type's.
constexpr std::array kCases = {
    TypedCase{"convolution", "I[1,2,8,9] W[3,2,3,3]",
              "O[n:1,f:3,y:6,x:7] = sum(c:2,a:3,b:3) I[n,c,y+a,x+b]*W[f,c,a,b]", "im2col"},
    TypedCase{"padded_convolution", "I[2,3,5,7] W[4,3,3,3]",
              "P[n:2,c:3,y:7,x:9] = select(1<=y && y<6 && 1<=x && x<8, I[n,c,y-1,x-1], ZERO) "
              "O[n:2,f:4,y:5,x:7] = sum(c:3,a:3,b:3) P[n,c,y+a,x+b]*W[f,c,a,b]",
              "im2col"},
    TypedCase{"strided_transposed_convolution", "I[1,2,3,4] W[2,3,4,4]",
              "E[n:1,c:2,y:5,x:7] = select(y%2==0 && x%2==0, I[n,c,y/2,x/2], ZERO) "
              "P[n:1,c:2,y:9,x:11] = select(2<=y && y<7 && 2<=x && x<9, E[n,c,y-2,x-2], ZERO) "
              "O[n:1,f:3,y:6,x:8] = sum(c:2,a:4,b:4) P[n,c,y+a,x+b]*W[c,f,3-a,3-b]",
              "phases"},
    TypedCase{"grouped_convolution", "I[1,4,6,7] W[6,2,3,3]",
              "O[n:1,f:6,y:4,x:5] = sum(c:2,a:3,b:3) I[n,c+2*(f/3),y+a,x+b]*W[f,c,a,b]", "divided_axis"},
    TypedCase{"depthwise_convolution", "I[1,5,6,7] W[5,3,3]",
              "O[n:1,f:5,y:4,x:5] = sum(a:3,b:3) I[n,f,y+a,x+b]*W[f,a,b]"},
    TypedCase{"matmul", "A[13,11] W[11,19]", "C[i:13,j:19] = sum(r:11) A[i,r]*W[r,j]"},
    TypedCase{"matmul_and_more", "A[13,11] W[11,19] D[19]",
              "C[i:13,j:19] = sum(r:11) A[i,r]*W[r,j] O[i:13,j:19] = max(C[i,j] + D[j], ZERO)"},
    TypedCase{"long_sum", "A[3,501] W[501]", "S[i:3] = sum(r:501) A[i,r]*W[r]"},
    TypedCase{"pooling", "I[2,7,9] W[1]", "O[c:2,y:5,x:7] = max(a:3,b:3) I[c,y+a,x+b] * W[0]"},
};

std::string with(std::string text, const std::string& what, const std::string& value) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what))
    text.replace(at, what.size(), value);
  return text;
}

std::string text_of(const TypedCase& typed, const std::string& type) {
  std::string text;
  for (const char* c = typed.inputs; *c != '\0';) {
    const std::string_view rest(c);
    const std::string_view input = rest.substr(0, rest.find(' '));
    text += fmt::format("input {} {}\n", input, type);
    c += std::min(input.size() + 1, rest.size());
  }
  return text + with(typed.computes, "ZERO", fmt::format("{}(0)", type));
}

Task task_of(const TypedCase& typed, const std::string& type, bool free_layouts,
             const std::vector<std::string>& constants = {"W"}) {
  const Result<Dag> dag = parse_dag(text_of(typed, type));
  EXPECT_TRUE(dag) << text_of(typed, type) << ": " << dag.error().to_string();
  const Result<Task> task = make_task(typed.name, *dag, generic_target("x86-avx2"), constants, free_layouts);
  EXPECT_TRUE(task) << task.error().to_string();
  return *task;
}

// The arms of what the space prefers, each found right.
std::set<std::string> right_arms(const Task& task, TraceChecker& checker) {
  const Result<Space> space = derive_space(task);
  EXPECT_TRUE(space) << task.name << ": " << space.error().to_string();
  const Reference reference = make_reference(task);
  std::set<std::string> arms;
  for (const Point& point : space->preferred_points()) {
    const std::string& sketch = space->sketches()[static_cast<size_t>(point.sketch)].name;
    arms.insert(sketch.substr(0, sketch.find(' ')));
    Rng rng(1);
    EXPECT_EQ(checker.check(reference, *space->trace(point), rng), "") << task.name << ": " << sketch;
  }
  EXPECT_TRUE(arms.contains("direct")) << task.name;
  return arms;
}

class ElementTypes : public ::testing::TestWithParam<const char*> {};

TEST_P(ElementTypes, WhatTheSpacePrefersIsRight) {
  TraceChecker checker;
  for (const TypedCase& typed : kCases) {
    for (const bool free_layouts : {false, true}) {
      const std::set<std::string> arms = right_arms(task_of(typed, GetParam(), free_layouts), checker);
      EXPECT_TRUE(typed.arm == nullptr || arms.contains(typed.arm)) << typed.name;
      // Its tables are of one type.
      const bool is_dense = typed.arm != nullptr && typed.arm == std::string_view("im2col");
      EXPECT_EQ(arms.contains("winograd"), is_dense && GetParam() == std::string("f32")) << typed.name;
    }
  }
  EXPECT_GT(checker.counts.machine, 0);
}

INSTANTIATE_TEST_SUITE_P(Types, ElementTypes,
                         ::testing::Values("f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64",
                                           "u32", "u16", "u8"),
                         [](const auto& tested) { return std::string(tested.param); });

// Integers of 64 bits are indices too: those stay what they are beside values of that type.
TEST(LongIntegers, AreReducedWithoutProducts) {
  TraceChecker checker;
  for (const TypedCase& typed :
       {TypedCase{"window", "I[2,7,9]", "O[c:2,y:5,x:7] = sum(a:3,b:3) I[c,y+a,x+b]"},
        TypedCase{"divided", "I[4,5]", "O[f:12,y:3] = sum(a:3) I[f/3,y+a]", "divided_axis"},
        TypedCase{"long_sum", "A[3,501]", "S[i:3] = sum(r:501) A[i,r]"},
        TypedCase{"greatest", "A[3,37]", "S[i:3] = max(r:37) A[i,r]"}}) {
    const std::set<std::string> arms = right_arms(task_of(typed, "i64", false, {}), checker);
    EXPECT_TRUE(typed.arm == nullptr || arms.contains(typed.arm)) << typed.name;
  }
}

}  // namespace
}  // namespace lathe::testing
