// Random schedules of several operators, tails included: the interpreter gives the same before and after
// every pass. The generator proposes freely; what the primitives or `drop_padding` refuse is left out and
// counted.
#include "lower/programs.h"

namespace lathe::testing {
namespace {

constexpr const char* kDags[] = {
    "C[i:13, j:19] = sum(r:11) A[i,r] * B[r,j]",
    "Y[o:6, h:5, w:7] = sum(c:3, p:3, q:2) X[c, h + p, w + q] * W[o, c, p, q]",
    "Y[c:6, h:4, w:5] = max(p:2, q:3) X[c, 2*h + p, 2*w + q]",
    "Y[i:7, j:9] = product(r:6, s:3) X[i, r + s] + Z[j, s]",
    "Y[i:9, j:14] = exp(X[i, j]) * 2.0 + Z[j]",
};

class Proposer {
 public:
  explicit Proposer(uint64_t seed) : rng_(seed) {}

  std::string trace(const Compute& compute) {
    name_ = compute.output->name;
    text_.clear();
    std::vector<Loop> loops;
    for (const Axis& axis : compute.axes) split(axis, loops);
    shuffle(loops);
    add("reorder " + name_ + names(loops));
    const size_t local = cache(loops, compute);
    annotate(loops, local);
    for (const Axis& axis : compute.axes)
      add("tail " + name_ + " " + axis.var.name() + " " + tail(axis.kind));
    return text_;
  }

 private:
  struct Loop {
    std::string name;
    int64_t extent;
    AxisKind kind;
  };

  void add(const std::string& line) { text_ += line + "\n"; }

  std::string tail(AxisKind kind) {
    constexpr const char* kTails[] = {"guard", "bound", "peel", "pad", "mask", "overlap"};
    return kTails[rng_.below(kind == AxisKind::spatial ? 6 : 4)];
  }

  void split(const Axis& axis, std::vector<Loop>& loops) {
    const size_t parts = 1 + rng_.below(3);
    int64_t inner = 1;
    std::string factors;
    std::vector<Loop> made;
    for (size_t i = 1; i < parts; ++i) {
      const int64_t factor = rng_.between(2, 4);
      factors += " " + std::to_string(factor);
      inner *= factor;
      made.push_back({axis.var.name() + "." + std::to_string(i), factor, axis.kind});
    }
    if (parts > 1) add("split " + name_ + " " + axis.var.name() + " [" + factors + " ]");
    loops.push_back(
        {parts > 1 ? axis.var.name() + ".0" : axis.var.name(), (axis.extent + inner - 1) / inner, axis.kind});
    loops.insert(loops.end(), made.begin(), made.end());
  }

  // Loops of one axis keep their order: tiles are boxes without holes.
  void shuffle(std::vector<Loop>& loops) {
    for (int step = 0; step < 40; ++step) {
      const size_t i = 1 + rng_.below(loops.size() - 1);
      const auto axis = [](const Loop& loop) { return loop.name.substr(0, loop.name.find('.')); };
      if (axis(loops[i]) != axis(loops[i - 1])) std::swap(loops[i - 1], loops[i]);
    }
  }

  static std::string names(const std::vector<Loop>& loops) {
    std::string text;
    for (const Loop& loop : loops) text += " " + loop.name;
    return text;
  }

  // Perhaps a local copy of the output below a loop; gives the loop's position.
  size_t cache(const std::vector<Loop>& loops, const Compute& compute) {
    if (compute.reduction == Reduction::none || rng_.chance(0.4)) return 0;
    const size_t at = rng_.below(loops.size());
    add("cache_write " + name_ + " L at=" + loops[at].name +
        " scope=" + (rng_.chance(0.5) ? "registers" : "thread"));
    for (const Axis& axis : compute.axes) {
      if (axis.kind == AxisKind::spatial) add("tail L.out " + axis.var.name() + " " + tail(axis.kind));
    }
    return at + 1;
  }

  void annotate(const std::vector<Loop>& loops, size_t local) {
    if (loops[0].kind == AxisKind::spatial && rng_.chance(0.5))
      add("parallel " + name_ + " " + loops[0].name);
    for (size_t i = std::max<size_t>(local, 1); i < loops.size(); ++i) {
      const bool last = i + 1 == loops.size();
      if (loops[i].kind == AxisKind::spatial && rng_.chance(last ? 0.8 : 0.1)) {
        add("vectorize " + name_ + " " + loops[i].name);
      } else if (rng_.chance(0.4)) {
        add("unroll " + name_ + " " + loops[i].name);
      }
    }
  }

  Rng rng_;
  std::string name_;
  std::string text_;
};

// The program of a random trace, or nothing where the trace is refused.
std::optional<Program> random_program(const Task& task, const std::string& text) {
  const Result<Trace> trace = parse_trace(text);
  EXPECT_TRUE(trace.has_value()) << trace.error().to_string() << "\n" << text;
  const Result<Program> program = apply_trace(task, *trace);
  if (!program) {
    EXPECT_EQ(program.error().kind, ErrorKind::illegal_schedule) << program.error().to_string();
    return std::nullopt;
  }
  return *program;
}

TEST(RandomSchedules, EveryPassKeepsTheResult) {
  int lowered_count = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const Task task = task_of(kDags[seed % std::size(kDags)]);
    const std::string text = Proposer(seed).trace(task.dag.computes[0]);
    const std::optional<Program> program = random_program(task, text);
    if (!program) continue;
    const std::vector<HostTensor> expected = run(naive_program(task), "naive");
    EXPECT_LE(difference(expected, run(*program, "scheduled")), 1e-5) << "seed " << seed << "\n" << text;
    LowerOptions options;
    options.verifies = true;
    options.after_pass = [&](std::string_view pass, const Program& result, double) -> Status {
      EXPECT_LE(difference(expected, run(result, std::string(pass))), 1e-5)
          << pass << " of seed " << seed << "\n"
          << text;
      return {};
    };
    const Result<LoweredProgram> lowered = lower(*program, task.target, options);
    if (!lowered) {
      EXPECT_EQ(lowered.error().kind, ErrorKind::illegal_schedule) << lowered.error().to_string() << text;
      EXPECT_TRUE(lowered.error().message.starts_with("tail pad on ")) << lowered.error().to_string();
      continue;
    }
    ++lowered_count;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(lowered_count, 150);
}

}  // namespace
}  // namespace lathe::testing
