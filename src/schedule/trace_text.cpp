// The text form of traces: one step a line, keyword, names, then options as key=value. docs/trace_format.md.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

#include "base/hash.h"
#include "base/text_cursor.h"
#include "schedule/trace.h"

namespace lathe {
namespace {

constexpr std::array<std::pair<Scope, const char*>, 4> kScopes = {{{Scope::registers, "registers"},
                                                                   {Scope::thread, "thread"},
                                                                   {Scope::workspace, "workspace"},
                                                                   {Scope::shared, "shared"}}};
constexpr std::array<std::pair<Tail, const char*>, 6> kTails = {{{Tail::guard, "guard"},
                                                                 {Tail::bound, "bound"},
                                                                 {Tail::peel, "peel"},
                                                                 {Tail::mask, "mask"},
                                                                 {Tail::overlap, "overlap"},
                                                                 {Tail::pad, "pad"}}};
constexpr std::array<std::pair<LoopKind, const char*>, 4> kKinds = {{{LoopKind::serial, "serial"},
                                                                     {LoopKind::unrolled, "unroll"},
                                                                     {LoopKind::vectorized, "vectorize"},
                                                                     {LoopKind::parallel, "parallel"}}};
// What a loop is bound to on a device of many threads.
constexpr std::array<std::pair<LoopKind, const char*>, 2> kBindings = {
    {{LoopKind::block, "block"}, {LoopKind::thread, "thread"}}};

template <class Table, class Value>
const char* name_in(const Table& table, Value value) {
  for (const auto& [known, name] : table) {
    if (known == value) return name;
  }
  return "";
}

template <class Value, class Table>
Result<Value> parse_in(const Table& table, TextCursor& cursor, const char* what) {
  LATHE_TRY(const std::string word, cursor.identifier());
  for (const auto& [known, name] : table) {
    if (word == name) return known;
  }
  return cursor.error(fmt::format("'{}' is no {}", word, what));
}

struct PrintStep {
  std::string operator()(const RewriteStep& s) const {
    std::string text = fmt::format("rewrite {} {}", s.rule, s.stage);
    for (const auto& [key, value] : s.parameters) text += fmt::format(" {}={}", key, value);
    return text;
  }
  std::string operator()(const SplitStep& s) const {
    return fmt::format("split {} {} [{}]", s.block, s.loop, fmt::join(s.factors, " "));
  }
  std::string operator()(const FuseStep& s) const {
    return fmt::format("fuse {} {}", s.block, fmt::join(s.loops, " "));
  }
  std::string operator()(const ReorderStep& s) const {
    return fmt::format("reorder {} {}", s.block, fmt::join(s.loops, " "));
  }
  std::string operator()(const AnnotateStep& s) const {
    const std::string bound_to = name_in(kBindings, s.kind);
    if (!bound_to.empty()) return fmt::format("bind {} {} {}", s.block, s.loop, bound_to);
    return fmt::format("{} {} {}", name_in(kKinds, s.kind), s.block, s.loop);
  }
  std::string operator()(const InlineStep& s) const { return fmt::format("inline {}", s.block); }
  std::string operator()(const ComputeAtStep& s) const {
    return fmt::format("compute_at {} {} {} scope={}", s.block, s.consumer, s.loop,
                       name_in(kScopes, s.scope));
  }
  std::string operator()(const ReverseComputeAtStep& s) const {
    return fmt::format("reverse_compute_at {} {} {} scope={}", s.block, s.producer, s.loop,
                       name_in(kScopes, s.scope));
  }
  std::string operator()(const PrepareStep& s) const { return fmt::format("prepare {}", s.block); }
  std::string operator()(const CacheReadStep& s) const {
    const std::string layout = s.layout.dims.empty() ? "" : " layout=" + to_string(s.layout);
    const std::string type = s.dtype ? fmt::format(" type={}", to_string(*s.dtype)) : "";
    return fmt::format("cache_read {} {} {} at={} scope={}{}{}", s.block, s.tensor, s.copy, s.at,
                       name_in(kScopes, s.scope), layout, type);
  }
  std::string operator()(const CacheWriteStep& s) const {
    return fmt::format("cache_write {} {} at={} scope={}", s.block, s.copy, s.loop,
                       name_in(kScopes, s.scope));
  }
  std::string operator()(const RfactorStep& s) const { return fmt::format("rfactor {} {}", s.block, s.loop); }
  std::string operator()(const LayoutStep& s) const {
    return fmt::format("layout {} {}", s.tensor, to_string(s.layout));
  }
  std::string operator()(const TailStep& s) const {
    return fmt::format("tail {} {} {}", s.block, s.axis, name_in(kTails, s.tail));
  }
  std::string operator()(const PrefetchStep& s) const {
    return fmt::format("prefetch {} {} {} distance={}{}{}", s.block, s.tensor, s.loop, s.distance,
                       s.at.empty() ? "" : " at=", s.at);
  }
  std::string operator()(const SkipZerosStep& s) const { return fmt::format("skip_zeros {}", s.block); }
  std::string operator()(const StreamStep& s) const { return fmt::format("stream {}", s.tensor); }
  std::string operator()(const TensorizeStep& s) const {
    return fmt::format("tensorize {} {} intrinsic={}", s.block, s.loop, s.intrinsic);
  }
};

// Names up to the end of the line.
Result<std::vector<std::string>> names_until_newline(TextCursor& cursor, std::string_view text) {
  std::vector<std::string> names;
  while (true) {
    size_t i = cursor.position();
    while (i < text.size() && (text[i] == ' ' || text[i] == '\t')) ++i;
    if (i >= text.size() || text[i] == '\n' || text[i] == '#' || text[i] == ';') return names;
    LATHE_TRY(names.emplace_back(), cursor.identifier());
  }
}

// key=VALUE: consumes "key=".
Status expect_key(TextCursor& cursor, std::string_view key) {
  LATHE_TRY_STATUS(cursor.expect(key));
  return cursor.expect("=");
}

Result<Scope> scope_option(TextCursor& cursor) {
  LATHE_TRY_STATUS(expect_key(cursor, "scope"));
  return parse_in<Scope>(kScopes, cursor, "scope");
}

Result<Step> parse_rewrite(TextCursor& cursor) {
  RewriteStep step;
  LATHE_TRY(step.rule, cursor.identifier());
  LATHE_TRY(step.stage, cursor.identifier());
  while (cursor.at_identifier()) {
    const size_t before = cursor.position();
    LATHE_TRY(const std::string key, cursor.identifier());
    if (!cursor.accept("=")) {
      cursor.rewind(before);
      break;
    }
    LATHE_TRY(step.parameters[key], cursor.integer());
  }
  return step;
}

Result<Step> parse_split(TextCursor& cursor) {
  SplitStep step;
  LATHE_TRY(step.block, cursor.identifier());
  LATHE_TRY(step.loop, cursor.identifier());
  LATHE_TRY_STATUS(cursor.expect("["));
  while (!cursor.accept("]")) {
    LATHE_TRY(step.factors.emplace_back(), cursor.integer());
  }
  return step;
}

template <class MoveStep>
Result<Step> parse_move(TextCursor& cursor, std::string MoveStep::* other) {
  MoveStep step;
  LATHE_TRY(step.block, cursor.identifier());
  LATHE_TRY(step.*other, cursor.identifier());
  LATHE_TRY(step.loop, cursor.identifier());
  LATHE_TRY(step.scope, scope_option(cursor));
  return step;
}

Result<Step> parse_cache_read(TextCursor& cursor) {
  CacheReadStep step;
  LATHE_TRY(step.block, cursor.identifier());
  LATHE_TRY(step.tensor, cursor.identifier());
  LATHE_TRY(step.copy, cursor.identifier());
  LATHE_TRY_STATUS(expect_key(cursor, "at"));
  LATHE_TRY(step.at, cursor.identifier());
  LATHE_TRY(step.scope, scope_option(cursor));
  if (cursor.accept_word("layout")) {
    const size_t before = cursor.position();
    if (!cursor.accept("=")) {
      cursor.rewind(before - std::string_view("layout").size());  // the next step's keyword
      return step;
    }
    LATHE_TRY(step.layout, parse_layout(cursor));
  }
  if (cursor.accept_word("type")) {
    LATHE_TRY_STATUS(cursor.expect("="));
    LATHE_TRY(const std::string name, cursor.identifier());
    LATHE_TRY(step.dtype, parse_dtype(name));
  }
  return step;
}

Result<Step> parse_tensorize(TextCursor& cursor) {
  TensorizeStep step;
  LATHE_TRY(step.block, cursor.identifier());
  LATHE_TRY(step.loop, cursor.identifier());
  LATHE_TRY_STATUS(expect_key(cursor, "intrinsic"));
  LATHE_TRY(step.intrinsic, cursor.identifier());
  return step;
}

Result<Step> parse_bind(TextCursor& cursor) {
  AnnotateStep step;
  LATHE_TRY(step.block, cursor.identifier());
  LATHE_TRY(step.loop, cursor.identifier());
  LATHE_TRY(step.kind, parse_in<LoopKind>(kBindings, cursor, "part of a device"));
  return step;
}

Result<Step> parse_cache_write(TextCursor& cursor) {
  CacheWriteStep step;
  LATHE_TRY(step.block, cursor.identifier());
  LATHE_TRY(step.copy, cursor.identifier());
  LATHE_TRY_STATUS(expect_key(cursor, "at"));
  LATHE_TRY(step.loop, cursor.identifier());
  LATHE_TRY(step.scope, scope_option(cursor));
  return step;
}

Result<Step> parse_prefetch(TextCursor& cursor) {
  PrefetchStep step;
  LATHE_TRY(step.block, cursor.identifier());
  LATHE_TRY(step.tensor, cursor.identifier());
  LATHE_TRY(step.loop, cursor.identifier());
  LATHE_TRY_STATUS(expect_key(cursor, "distance"));
  LATHE_TRY(step.distance, cursor.integer());
  if (cursor.accept_word("at")) {
    LATHE_TRY_STATUS(cursor.expect("="));
    LATHE_TRY(step.at, cursor.identifier());
  }
  return step;
}

Result<Step> parse_layout_step(TextCursor& cursor) {
  LayoutStep step;
  LATHE_TRY(step.tensor, cursor.identifier());
  LATHE_TRY(step.layout, parse_layout(cursor));
  return step;
}

Result<Step> parse_tail(TextCursor& cursor) {
  TailStep step;
  LATHE_TRY(step.block, cursor.identifier());
  LATHE_TRY(step.axis, cursor.identifier());
  LATHE_TRY(step.tail, parse_in<Tail>(kTails, cursor, "tail policy"));
  return step;
}

template <class LoopsStep>
Result<Step> parse_loops(TextCursor& cursor, std::string_view text) {
  LoopsStep step;
  LATHE_TRY(step.block, cursor.identifier());
  LATHE_TRY(step.loops, names_until_newline(cursor, text));
  return step;
}

Result<Step> parse_step(TextCursor& cursor, std::string_view text) {
  const size_t begin = cursor.position();
  LATHE_TRY(const std::string keyword, cursor.identifier());
  if (keyword == "rewrite") return parse_rewrite(cursor);
  if (keyword == "split") return parse_split(cursor);
  if (keyword == "fuse") return parse_loops<FuseStep>(cursor, text);
  if (keyword == "reorder") return parse_loops<ReorderStep>(cursor, text);
  if (keyword == "compute_at") return parse_move<ComputeAtStep>(cursor, &ComputeAtStep::consumer);
  if (keyword == "reverse_compute_at")
    return parse_move<ReverseComputeAtStep>(cursor, &ReverseComputeAtStep::producer);
  if (keyword == "cache_read") return parse_cache_read(cursor);
  if (keyword == "cache_write") return parse_cache_write(cursor);
  if (keyword == "layout") return parse_layout_step(cursor);
  if (keyword == "tail") return parse_tail(cursor);
  if (keyword == "prefetch") return parse_prefetch(cursor);
  if (keyword == "tensorize") return parse_tensorize(cursor);
  if (keyword == "bind") return parse_bind(cursor);
  if (keyword == "inline") {
    LATHE_TRY(const std::string block, cursor.identifier());
    return InlineStep{block};
  }
  if (keyword == "prepare") {
    LATHE_TRY(const std::string block, cursor.identifier());
    return PrepareStep{block};
  }
  if (keyword == "skip_zeros") {
    LATHE_TRY(const std::string block, cursor.identifier());
    return SkipZerosStep{block};
  }
  if (keyword == "stream") {
    LATHE_TRY(const std::string tensor, cursor.identifier());
    return StreamStep{tensor};
  }
  if (keyword == "rfactor") {
    RfactorStep step;
    LATHE_TRY(step.block, cursor.identifier());
    LATHE_TRY(step.loop, cursor.identifier());
    return step;
  }
  for (const auto& [kind, name] : kKinds) {
    if (keyword != name) continue;
    AnnotateStep step;
    LATHE_TRY(step.block, cursor.identifier());
    LATHE_TRY(step.loop, cursor.identifier());
    step.kind = kind;
    return step;
  }
  cursor.rewind(begin);
  return cursor.error(fmt::format("'{}' is no schedule step", keyword));
}

}  // namespace

std::string to_string(const Step& step) { return std::visit(PrintStep{}, step); }

std::string to_string(const Trace& trace) {
  std::string text;
  for (const Step& step : trace) text += to_string(step) + "\n";
  return text;
}

Result<Trace> parse_trace(std::string_view text, std::string name) {
  TextCursor cursor(text, std::move(name));
  Trace trace;
  while (!cursor.at_end()) {
    LATHE_TRY(trace.emplace_back(), parse_step(cursor, text));
    cursor.accept(";");
  }
  return trace;
}

uint64_t hash_of(const Trace& trace) { return hash_text(to_string(trace)); }

}  // namespace lathe
