#include "loop/parse.h"

#include "loop/samples.h"
#include "loop/walk.h"

namespace lathe {
namespace {

using namespace loop_testing;  // NOLINT

TEST(ParseLoops, PrintsTheSame) {
  for (const char* text : {kTiledMatmul, kLowered}) EXPECT_EQ(to_string(parsed(text)), text);
}

TEST(ParseLoops, NodesHaveTheirParts) {
  const Program program = parsed(kTiledMatmul);
  EXPECT_FALSE(program.flat);
  EXPECT_TRUE(program.arguments[1].is_constant);
  EXPECT_TRUE(program.arguments[2].is_output);
  ASSERT_EQ(blocks_of(program.main).size(), 3);
  const Block& block = *blocks_of(program.main)[1];
  EXPECT_EQ(block.name, "C");
  EXPECT_EQ(block.reduction, Reduction::sum);
  EXPECT_FALSE(block.initialises);
  EXPECT_EQ(block.axes[0].tail, Tail::peel);
  EXPECT_EQ(block.axes[2].axis.kind, AxisKind::reduce);
  EXPECT_EQ(block.axes[2].axis.extent, 9);
  EXPECT_EQ(block.predicate[2].axis, 2);
  EXPECT_EQ(block.predicate[2].bound, 9);
  const Path path = path_to_block(program.main, "C");
  EXPECT_EQ(as<For>(path[0])->kind, LoopKind::parallel);
  EXPECT_EQ(as<Alloc>(path[3])->scope, Scope::registers);

  const Program lowered = parsed(kLowered);
  EXPECT_TRUE(lowered.flat);
  const Store& store = *as<Store>(
      as<Seq>(as<For>(as<Seq>(as<Alloc>(lowered.main)->body)->statements[0])->body)->statements[0]);
  EXPECT_EQ(store.stride, 1);
  EXPECT_EQ(store.value.type(), (Type{DType::f32, 4}));
  EXPECT_EQ(store.mask.type(), (Type{DType::boolean, 4}));
}

TEST(ParseLoops, RolesAndKeywordsAsNames) {
  const std::string text = R"(output guard: f32[4] [0] free streams
main {
  for peel in 4 {
    block reduce {
      reduce: 4 = peel
      peel: 4 = peel bound
      mask: 1 = 0
      guard[reduce] = 0.0
    }
  }
}
)";
  EXPECT_EQ(to_string(parsed(text)), text);
  EXPECT_TRUE(parsed(text).arguments[0].layout_is_free);
  EXPECT_TRUE(parsed(text).arguments[0].streams);
}

TEST(ParseLoops, Errors) {
  const std::string head = "input A: f32[4] [0]\noutput C: f32[4] [0]\n";
  EXPECT_EQ(error_of(""), "text:1:1: expected 'main'");
  EXPECT_EQ(
      error_of("input A: f33[4] [0]"),
      "text:1:13: 'f33' is not a type; there are bool, i8, i32, i64, f16, bf16, f32, f64, u8, i16, u16, u32, "
      "u64");
  EXPECT_EQ(error_of("input A: f32[0] [0]"), "text:1:15: an extent is 1 to 2147483648, not 0");
  EXPECT_EQ(error_of("input A: f32[4] [1]"),
            "text:1:17: layout [1]: there is no dimension 1, the tensor has 1");
  EXPECT_EQ(error_of(head + "input C: f32[4] [0]"), "text:3:7: there is a tensor 'C' already");
  EXPECT_EQ(error_of(head + "main { go }"), "text:3:8: expected a statement or '}'");
  EXPECT_EQ(error_of(head + "main { for i in 4 { for i in 4 { } } }"),
            "text:3:25: there is a loop 'i' around this one");
  EXPECT_EQ(error_of(head + "main { for i in 4 { if i <= 4 { } } }"),
            "text:3:24: expected a condition like 'i + 4*j < 100'");
  EXPECT_EQ(error_of(head + "main { store 3 = 1.0 }"), "text:3:14: expected an access like 'C[i, j]'");
  EXPECT_EQ(error_of(head + "main { store C[0] = true }"), "text:3:21: the value is bool, but f32 is stored");
  EXPECT_EQ(error_of(head + "main { alloc T: f32[4] nearby [0] { } }"),
            "text:3:24: expected 'registers', 'thread', 'workspace' or 'shared'");
  EXPECT_EQ(error_of(head + "main { block C { i: 4 = 0 C[i] init = A[i] } }"),
            "text:3:37: expected 'sum=', 'max=', 'min=' or 'product=' after 'init'");
  EXPECT_EQ(error_of(head + "flat main { store C[0; 4 by 1] = A[0; 8 by 1] }"),
            "text:3:34: the value is f32x8, but f32x4 is stored");
  EXPECT_EQ(error_of(head + "flat main { store C[0; 4 by 1] = A[0; 4 by 1] + A[0; 8 by 1] }"),
            "text:3:62: 'A[0; 4 by 1]' and 'A[0; 8 by 1]' differ in their lanes (4 and 8)");
  EXPECT_EQ(error_of(head + "main { tensor i in 4 { store C[0] = 0.0 } }"), "text:3:22: expected 'by'");
  EXPECT_EQ(error_of(head + "flat main { store C[0] = call(dot2_bf16) }"),
            "text:3:41: 'dot2_bf16' has no operands");
  EXPECT_EQ(error_of(head + "main { store C[0] = call(dot2_bf16, C[0]) }"),
            "text:3:26: 'dot2_bf16' is no axis of this compute");
  EXPECT_EQ(error_of(head + "main { store C[0; 4 by 1] = 0.0 }"), "text:3:17: expected ',' or ']'");
  std::string deep = head + "main {";
  for (int i = 0; i < 300; ++i) deep += "if 0 < 1 {";  // ten columns each
  EXPECT_EQ(error_of(deep), "text:3:2007: statements are nested at most 200 deep");
}

// The half float's number is widened to be computed in, and stands for each lane of what is beside it.
TEST(ParseLoops, ANumberOfAnyFloatTypeStandsForAllLanes) {
  for (const char* const number : {"f16(0.5)", "bf16(0.5)", "f64(0.5)", "0.5", "1"}) {
    for (const std::string& value :
         {std::string("A[0; 4 by 1] * ") + number, std::string("max(") + number + ", A[0; 4 by 1])",
          std::string("select(A[0] < 1.0, A[0; 4 by 1], ") + number + ")"}) {
      const std::string text =
          "input A: f32[4] [0]\noutput C: f32[4] [0]\nflat\nmain {\n  store C[0; 4 by 1] = " + value +
          "\n}\n";
      const Result<Program> program = parse_program(text);
      ASSERT_TRUE(program.has_value()) << value << ": " << program.error().to_string();
      const std::string printed = to_string(*program);
      const Result<Program> again = parse_program(printed);
      ASSERT_TRUE(again.has_value()) << printed << again.error().to_string();
      EXPECT_EQ(to_string(*again), printed);
    }
  }
}

TEST(ParseLoops, ABodyHoldsSomething) {
  EXPECT_EQ(parse_program("main {\n  for i in 3 {\n  }\n}\n").error().to_string(),
            "program:3:4: a loop holds a statement");
  EXPECT_TRUE(parse_program("main {\n}\n").has_value());
}

// Whatever becomes of the text, reading it ends in a program or an error, and what is read prints the same
// twice.
TEST(ParseLoops, SurvivesMutatedText) {
  Rng rng(3);
  int readable = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = round % 2 == 0 ? kTiledMatmul : kLowered;
    for (int i = static_cast<int>(rng.between(1, 3)); i > 0; --i) {
      const size_t at = rng.below(text.size());
      const size_t from = rng.below(text.size());
      switch (rng.below(8)) {
        case 0: text[at] = static_cast<char>(rng.between(32, 126)); break;
        case 1: text.erase(at, rng.below(20)); break;
        case 2: text.insert(at, text.substr(from, rng.below(30))); break;
        default:
          if (const size_t digit = text.find_first_of("0123456789", at); digit != std::string::npos) {
            text[digit] = static_cast<char>('0' + rng.below(10));
          }
      }
    }
    const Result<Program> program = parse_program(text);
    if (!program) {
      EXPECT_FALSE(program.error().where.empty()) << program.error().to_string();
      continue;
    }
    ++readable;
    const std::string printed = to_string(*program);
    const Result<Program> again = parse_program(printed);
    ASSERT_TRUE(again.has_value()) << again.error().to_string() << "\n" << printed;
    EXPECT_EQ(to_string(*again), printed);
    // What the parser lets through, the interpreter runs or refuses.
    if (printed.find("f32[1") != std::string::npos) continue;
    const auto result = interpret(*program, random_inputs(*program), {.step_limit = 20000});
    EXPECT_TRUE(result || !result.error().message.empty());
  }
  EXPECT_GT(readable, 300);
}

TEST(ParseLoops, DevicesLoopsBuffersAndBarriers) {
  const std::string text = R"(input A: f32[4, 8] [0][1]
output C: f32[4, 8] [0][1]
main {
  blocks b in 4 {
    alloc S: f32[8] shared [0] {
      threads t in 8 {
        store S[t] = A[b, t]
      }
      barrier shared
      barrier global
      threads t in 8 {
        store C[b, t] = S[t]
      }
    }
  }
}
)";
  const Result<Program> program = parse_program(text);
  ASSERT_TRUE(program) << program.error().to_string();
  EXPECT_EQ(to_string(*program), text);
  EXPECT_EQ(parse_program("output C: f32[4] [0]\nmain {\n  barrier local\n}\n").error().message,
            "expected 'global' or 'shared'");
}

}  // namespace
}  // namespace lathe
