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
// The keywords of an AnnotateStep, and what `bind`, the last of them, binds a loop to on a device of many
// threads.
constexpr std::array<std::pair<LoopKind, const char*>, 4> kKinds = {{{LoopKind::serial, "serial"},
                                                                     {LoopKind::unrolled, "unroll"},
                                                                     {LoopKind::vectorized, "vectorize"},
                                                                     {LoopKind::parallel, "parallel"}}};
constexpr std::string_view kBind = "bind";
constexpr std::array<std::pair<LoopKind, const char*>, 2> kBindings = {
    {{LoopKind::block, "block"}, {LoopKind::thread, "thread"}}};

template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
  for (const auto& [known, name] : table) {
    if (known == value) return name;
  }
  return "";
}

template <class Table, class Value>
Status read_in(const Table& table, TextCursor& cursor, Value& value, const char* what) {
  LATHE_TRY(const std::string word, cursor.identifier());
  for (const auto& [known, name] : table) {
    if (word != name) continue;
    value = known;
    return {};
  }
  return cursor.error(fmt::format("'{}' is no {}", word, what));
}

// How a member of each type is written (step_fields.h).
using Parameters = std::map<std::string, int64_t>;
std::string value_text(const std::string& name) { return name; }
std::string value_text(int64_t integer) { return fmt::to_string(integer); }
std::string value_text(Scope scope) { return std::string(name_in(kScopes, scope)); }
std::string value_text(Tail tail) { return std::string(name_in(kTails, tail)); }
std::string value_text(const Layout& layout) { return to_string(layout); }
std::string value_text(const std::optional<DType>& type) { return type ? to_string(*type) : ""; }
std::string value_text(const std::vector<int64_t>& integers) {
  return fmt::format("[{}]", fmt::join(integers, " "));
}
std::string value_text(const std::vector<std::string>& names) {
  return fmt::to_string(fmt::join(names, " "));
}

// A field with the blank before it.
template <class StepKind, class Value>
std::string field_text(const StepKind& step, Value StepKind::* member) {
  return " " + value_text(step.*member);
}
template <class StepKind>
std::string field_text(const StepKind& step, Parameters StepKind::* member) {
  std::string text;
  for (const auto& [key, value] : step.*member) text += fmt::format(" {}={}", key, value);
  return text;
}
template <class StepKind, class Value>
std::string field_text(const StepKind& step, const Keyed<StepKind, Value>& field) {
  return fmt::format(" {}={}", field.key, value_text(step.*field.member));
}
template <class StepKind, class Value>
std::string field_text(const StepKind& step, const Option<StepKind, Value>& field) {
  if (step.*field.member == StepKind().*field.member) return "";
  return field_text(step, Keyed{field.key, field.member});
}

template <class StepKind>
std::string step_text(const StepKind& step) {
  std::string text(StepKind::kKeyword);
  std::apply([&](const auto&... field) { ((text += field_text(step, field)), ...); }, StepKind::kFields);
  return text;
}
std::string step_text(const AnnotateStep& step) {
  const std::string_view part = name_in(kBindings, step.kind);
  if (!part.empty()) return fmt::format("{} {} {} {}", kBind, step.block, step.loop, part);
  return fmt::format("{} {} {}", name_in(kKinds, step.kind), step.block, step.loop);
}

// How a member of each type is read.
Status read_value(TextCursor& cursor, std::string& name) {
  LATHE_TRY(name, cursor.identifier());
  return {};
}
Status read_value(TextCursor& cursor, int64_t& integer) {
  LATHE_TRY(integer, cursor.integer());
  return {};
}
Status read_value(TextCursor& cursor, Scope& scope) { return read_in(kScopes, cursor, scope, "scope"); }
Status read_value(TextCursor& cursor, Tail& tail) { return read_in(kTails, cursor, tail, "tail policy"); }
Status read_value(TextCursor& cursor, Layout& layout) {
  LATHE_TRY(layout, parse_layout(cursor));
  return {};
}
Status read_value(TextCursor& cursor, std::optional<DType>& type) {
  LATHE_TRY(const std::string name, cursor.identifier());
  LATHE_TRY(type, parse_dtype(name));
  return {};
}
Status read_value(TextCursor& cursor, std::vector<int64_t>& integers) {
  LATHE_TRY_STATUS(cursor.expect("["));
  while (!cursor.accept("]")) {
    LATHE_TRY(integers.emplace_back(), cursor.integer());
  }
  return {};
}
Status read_value(TextCursor& cursor, std::vector<std::string>& names) {
  while (!cursor.at_line_end() && cursor.peek() != ';') {
    LATHE_TRY(names.emplace_back(), cursor.identifier());
  }
  return {};
}
Status read_value(TextCursor& cursor, Parameters& parameters) {
  while (cursor.at_identifier()) {
    const size_t before = cursor.position();
    LATHE_TRY(const std::string key, cursor.identifier());
    if (!cursor.accept("=")) {
      cursor.rewind(before);  // the next step's keyword
      return {};
    }
    LATHE_TRY(parameters[key], cursor.integer());
  }
  return {};
}

template <class StepKind>
void take_if_named(std::string_view keyword, std::optional<Step>& step) {
  if constexpr (requires { StepKind::kKeyword; }) {
    if (keyword == StepKind::kKeyword) step = StepKind();
  }
}
template <size_t... kIndex>
std::optional<Step> declared_step(std::string_view keyword, std::index_sequence<kIndex...>) {
  std::optional<Step> step;
  (take_if_named<std::variant_alternative_t<kIndex, Step>>(keyword, step), ...);
  return step;
}
// The step of a keyword, its fields still to be read; nothing where no step has it.
std::optional<Step> step_named(std::string_view keyword) {
  if (keyword == kBind) return AnnotateStep{{}, {}, kBindings.front().first};
  for (const auto& [kind, name] : kKinds) {
    if (keyword == name) return AnnotateStep{{}, {}, kind};
  }
  return declared_step(keyword, std::make_index_sequence<std::variant_size_v<Step>>());
}

template <class StepKind, class Value>
Status read_field(TextCursor& cursor, StepKind& step, Value StepKind::* member) {
  return read_value(cursor, step.*member);
}
template <class StepKind, class Value>
Status read_field(TextCursor& cursor, StepKind& step, const Keyed<StepKind, Value>& field) {
  LATHE_TRY_STATUS(cursor.expect(field.key));
  LATHE_TRY_STATUS(cursor.expect("="));
  return read_value(cursor, step.*field.member);
}
template <class StepKind, class Value>
Status read_field(TextCursor& cursor, StepKind& step, const Option<StepKind, Value>& field) {
  const size_t before = cursor.position();
  if (!cursor.accept_word(field.key)) return {};
  if (step_named(field.key) && cursor.peek() != '=') {
    cursor.rewind(before);  // the next step's keyword
    return {};
  }
  LATHE_TRY_STATUS(cursor.expect("="));
  return read_value(cursor, step.*field.member);
}

template <class StepKind>
Status read_fields(TextCursor& cursor, StepKind& step) {
  Status status;
  const auto reads = [&](const auto& field) {
    status = read_field(cursor, step, field);
    return status.has_value();
  };
  std::apply([&](const auto&... field) { static_cast<void>((reads(field) && ...)); }, StepKind::kFields);
  return status;
}
Status read_fields(TextCursor& cursor, AnnotateStep& step) {
  LATHE_TRY(step.block, cursor.identifier());
  LATHE_TRY(step.loop, cursor.identifier());
  if (name_in(kBindings, step.kind).empty()) return {};
  return read_in(kBindings, cursor, step.kind, "part of a device");
}

Result<Step> parse_step(TextCursor& cursor) {
  const size_t begin = cursor.position();
  LATHE_TRY(const std::string keyword, cursor.identifier());
  std::optional<Step> step = step_named(keyword);
  if (!step) {
    cursor.rewind(begin);
    return cursor.error(fmt::format("'{}' is no schedule step", keyword));
  }
  LATHE_TRY_STATUS(std::visit([&](auto& kind) { return read_fields(cursor, kind); }, *step));
  return std::move(*step);
}

}  // namespace

std::string to_string(const Step& step) {
  return std::visit([](const auto& kind) { return step_text(kind); }, step);
}

std::string to_string(const Trace& trace) {
  std::string text;
  for (const Step& step : trace) text += to_string(step) + "\n";
  return text;
}

Result<Trace> parse_trace(std::string_view text, std::string name) {
  TextCursor cursor(text, std::move(name));
  Trace trace;
  while (!cursor.at_end()) {
    LATHE_TRY(trace.emplace_back(), parse_step(cursor));
    cursor.accept(";");
  }
  return trace;
}

uint64_t hash_of(const Trace& trace) { return hash_text(to_string(trace)); }

}  // namespace lathe
