#include "target/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ranges>
#include <vector>

#include "base/text_cursor.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe {
namespace {

constexpr const char* kMachine = "machine";
constexpr const char* kNone = "none";  // of the extensions

std::string to_text(int64_t value) { return std::to_string(value); }
std::string to_text(const CacheLevel& cache) {
  return fmt::format("{}/{}/{}", cache.bytes, cache.ways, cache.line_bytes);
}

std::string to_text(const std::vector<std::string>& extensions) {
  return extensions.empty() ? kNone : fmt::format("{}", fmt::join(extensions, ","));
}

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// Calls visit(name, field) for each field of the kind's text form until one returns true; whether one did.
template <class Kind, class Visit>
bool any_field(Kind& kind, Visit visit) {
  return std::apply([&](const auto&... field) { return (visit(field.first, kind.*field.second) || ...); },
                    text_fields(kind));
}

// A target's name: a word that may hold '-', which an identifier of the other languages may not.
Result<std::string> parse_name(TextCursor& cursor) {
  if (cursor.at_end()) return cursor.error(fmt::format("expected a target: one of {}", target_names()));
  LATHE_TRY(std::string name, cursor.identifier());
  while (cursor.accept("-")) {
    LATHE_TRY(std::string rest, cursor.identifier());
    name += "-" + rest;
  }
  return name;
}

Result<int64_t> parse_positive(TextCursor& cursor, int64_t largest) {
  LATHE_TRY(int64_t value, cursor.integer());
  if (value < 1 || value > largest) return cursor.error(fmt::format("{} is not in 1 .. {}", value, largest));
  return value;
}

template <class Integer>
Status parse_field(TextCursor& cursor, Integer& field) {
  LATHE_TRY(const int64_t value, parse_positive(cursor, std::numeric_limits<Integer>::max()));
  field = static_cast<Integer>(value);
  return {};
}

Status parse_field(TextCursor& cursor, CacheLevel& cache) {
  LATHE_TRY_STATUS(parse_field(cursor, cache.bytes));
  LATHE_TRY_STATUS(cursor.expect("/"));
  LATHE_TRY_STATUS(parse_field(cursor, cache.ways));
  LATHE_TRY_STATUS(cursor.expect("/"));
  return parse_field(cursor, cache.line_bytes);
}

Status parse_field(TextCursor& cursor, std::vector<std::string>& extensions) {
  extensions.clear();
  do {
    const Result<std::string> name = cursor.identifier();
    if (!name) return std::unexpected(name.error());
    if (extensions.empty() && *name == kNone) return {};
    if (std::ranges::find(kExtensions, *name, &Extension::name) == kExtensions.end())
      return cursor.error(fmt::format("'{}' is no extension: {} or some of {}", *name, kNone,
                                      fmt::join(std::views::transform(kExtensions, &Extension::name), ",")));
    extensions.push_back(*name);
  } while (cursor.accept(","));
  return {};
}

// The field of that name, whose '=' has been read.
template <class Kind>
Status parse_named(TextCursor& cursor, const std::string& key, Kind& kind) {
  Status parsed;
  std::string names;
  const bool is_known = any_field(kind, [&](const char* name, auto& field) {
    names += fmt::format("{}, ", name);
    if (key != name) return false;
    parsed = parse_field(cursor, field);
    return true;
  });
  if (is_known) return parsed;
  return cursor.error(fmt::format("unknown field '{}' of a target: one of {}{}", key, names, kMachine));
}

Status parse_fields(TextCursor& cursor, Target& target) {
  while (!cursor.at_end()) {
    LATHE_TRY(const std::string key, cursor.identifier());
    LATHE_TRY_STATUS(cursor.expect("="));
    if (key == kMachine) {
      LATHE_TRY(target.machine, cursor.quoted());
    } else {
      LATHE_TRY_STATUS(std::visit([&](auto& kind) { return parse_named(cursor, key, kind); }, target.kind));
    }
  }
  return {};
}

// Puts the written extensions in their order; an Error for one that programs of the target may not have.
Status check_extensions(Target& target) {
  if (!std::holds_alternative<CpuTarget>(target.kind)) return {};
  const std::vector<std::string> written = target.cpu().extensions;
  target = with_extensions(std::move(target), written);
  for (const std::string& extension : written) {
    if (!target.cpu().has(extension))
      return fail(ErrorKind::unsupported,
                  fmt::format("programs of {} may not have {}", target.name, extension));
  }
  return {};
}

Result<Target> target_of_name(const std::string& name) {
  if (name == "native") return detect_target();
  const auto row = std::ranges::find(all_targets(), name, &TargetRow::name);
  if (row == all_targets().end()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("unknown target '{}': one of {}", name, target_names()));
  }
  return row->detect().value_or(row->generic());
}

struct Cores {
  int operator()(const CpuTarget& cpu) const { return cpu.cores; }
  int operator()(const GpuTarget&) const { return 1; }
};

struct SetCores {
  int cores;
  void operator()(CpuTarget& cpu) const { cpu.cores = cores; }
  void operator()(GpuTarget&) const {}
};

}  // namespace

int cores_of(const Target& target) { return std::visit(Cores{}, target.kind); }

int lanes_of(const Target& target, int element_bytes) {
  const auto* cpu = std::get_if<CpuTarget>(&target.kind);
  return cpu != nullptr ? cpu->lanes(element_bytes) : 1;
}

int64_t near_cache_bytes(const Target& target) {
  const auto* cpu = std::get_if<CpuTarget>(&target.kind);
  return cpu != nullptr ? cpu->l2.bytes : target.gpu().cache_bytes;
}

int64_t last_cache_bytes(const Target& target) {
  const auto* cpu = std::get_if<CpuTarget>(&target.kind);
  return cpu != nullptr ? cpu->l3.bytes : target.gpu().cache_bytes;
}

Target with_cores(Target target, int cores) {
  std::visit(SetCores{cores}, target.kind);
  return target;
}

Target with_extensions(Target target, const std::vector<std::string>& extensions) {
  std::vector<std::string> kept;
  for (const Extension& extension : kExtensions) {
    const bool is_wanted = std::ranges::find(extensions, extension.name) != extensions.end();
    if (is_wanted && extension.vector_bytes <= target.cpu().vector_bytes) kept.emplace_back(extension.name);
  }
  target.cpu().extensions = std::move(kept);
  return target;
}

std::string print(const Target& target) {
  std::string text = target.name;
  const auto add = [&](const char* name, const auto& field) {
    text += fmt::format(" {}={}", name, to_text(field));
    return false;
  };
  std::visit([&](const auto& kind) { any_field(kind, add); }, target.kind);
  return text + fmt::format(" {}={}", kMachine, quote(target.machine));
}

Result<Target> parse_target(std::string_view text) {
  TextCursor cursor(text, "target");
  LATHE_TRY(const std::string name, parse_name(cursor));
  LATHE_TRY(Target target, target_of_name(name));
  LATHE_TRY_STATUS(parse_fields(cursor, target));
  LATHE_TRY_STATUS(check_extensions(target));
  return target;
}

}  // namespace lathe
