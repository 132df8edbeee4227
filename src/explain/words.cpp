#include "explain/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "schedule/apply.h"

namespace lathe {
namespace {

std::string place_of(Scope scope) {
  switch (scope) {
    case Scope::registers: return "registers";
    case Scope::thread: return "a buffer of each thread";
    case Scope::workspace: return "the workspace";
    case Scope::shared: return "memory that a block of threads shares";
  }
  return "";
}

struct Words {
  std::string operator()(const RewriteStep& step) const {
    std::string parameters;
    for (const auto& [name, value] : step.parameters) parameters += fmt::format(", {} = {}", name, value);
    return fmt::format("is computed by the algorithm '{}'{}{}", step.rule, parameters,
                       spreads_specials({step}) ? "; an infinity or NaN makes results beside it NaN" : "");
  }
  std::string operator()(const SplitStep& step) const {
    return fmt::format("cuts loop {} into tiles of {}", step.loop, fmt::join(step.factors, " x "));
  }
  std::string operator()(const FuseStep& step) const {
    return fmt::format("runs loops {} as one", fmt::join(step.loops, ", "));
  }
  std::string operator()(const ReorderStep& step) const {
    return fmt::format("nests its loops in the order {}", fmt::join(step.loops, ", "));
  }
  std::string operator()(const AnnotateStep& step) const {
    switch (step.kind) {
      case LoopKind::serial: return fmt::format("runs loop {} step by step", step.loop);
      case LoopKind::unrolled: return fmt::format("writes out loop {}", step.loop);
      case LoopKind::vectorized: return fmt::format("runs loop {} as vectors", step.loop);
      case LoopKind::parallel: return fmt::format("shares loop {} among the threads", step.loop);
      case LoopKind::block:
        return fmt::format("gives each iteration of loop {} a block of threads", step.loop);
      case LoopKind::thread: return fmt::format("gives each iteration of loop {} a thread", step.loop);
      case LoopKind::tensorized: break;  // a step of its own
    }
    return "";
  }
  std::string operator()(const InlineStep&) const { return "is computed where it is read"; }
  std::string operator()(const ComputeAtStep& step) const {
    return fmt::format("is computed for one iteration of loop {} of {} at a time, in {}", step.loop,
                       step.consumer, place_of(step.scope));
  }
  std::string operator()(const ReverseComputeAtStep& step) const {
    return fmt::format("takes over what one iteration of loop {} of {} gives, in {}", step.loop,
                       step.producer, place_of(step.scope));
  }
  std::string operator()(const PrepareStep&) const { return "is computed once, when the program is loaded"; }
  std::string operator()(const CacheReadStep& step) const {
    const std::string what = step.dtype ? fmt::format("a copy as {}", to_string(*step.dtype)) : "a copy";
    if (step.at == "prepare")
      return fmt::format("reads {} from {} that is packed at load", step.tensor, what);
    return fmt::format("reads {} from {} in {}, made {}", step.tensor, what, place_of(step.scope),
                       step.at == "root" ? "beforehand" : fmt::format("in each iteration of {}", step.at));
  }
  std::string operator()(const CacheWriteStep& step) const {
    return fmt::format("collects its results in {} during each iteration of {}", place_of(step.scope),
                       step.loop);
  }
  std::string operator()(const RfactorStep& step) const {
    return fmt::format("sums each step of loop {} on its own, then the sums", step.loop);
  }
  std::string operator()(const LayoutStep& step) const {
    return fmt::format("lies in memory as {}", to_string(step.layout));
  }
  std::string operator()(const TailStep& step) const {
    switch (step.tail) {
      case Tail::guard: return fmt::format("tests the border of {} at each point", step.axis);
      case Tail::bound: return fmt::format("ends its loops at the end of {}", step.axis);
      case Tail::overlap: return fmt::format("moves the last tile of {} back over the one before", step.axis);
      case Tail::mask: return fmt::format("masks the vectors that reach over the end of {}", step.axis);
      case Tail::pad: return fmt::format("computes on to the end of the last tile of {}", step.axis);
      case Tail::peel: return fmt::format("has loops of their own for the last tile of {}", step.axis);
    }
    return "";
  }
  std::string operator()(const PrefetchStep& step) const {
    return fmt::format("fetches {} {} iteration{} of {} ahead", step.tensor, step.distance,
                       step.distance == 1 ? "" : "s", step.loop);
  }
  std::string operator()(const SkipZerosStep&) const {
    return "leaves out what is multiplied by the zeros around and between its inputs";
  }
  std::string operator()(const StreamStep&) const { return "is written to memory past the caches"; }
  std::string operator()(const TensorizeStep& step) const {
    return fmt::format("adds up loop {} by the intrinsic {}", step.loop, step.intrinsic);
  }
};

}  // namespace

std::string in_words(const Step& step) { return std::visit(Words{}, step); }

std::string subject_of(const Step& step) {
  if (const auto* rewrite = std::get_if<RewriteStep>(&step)) return rewrite->stage;
  if (const auto* layout = std::get_if<LayoutStep>(&step)) return layout->tensor;
  if (const auto* stream = std::get_if<StreamStep>(&step)) return stream->tensor;
  return std::visit(
      [](const auto& s) -> std::string {
        if constexpr (requires { s.block; }) return s.block;
        return "";
      },
      step);
}

}  // namespace lathe
