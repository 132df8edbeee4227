#include "target/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "base/text_cursor.h"
#include "target/detect.h"

namespace lathe {
namespace {

constexpr const char* kLegalNames = "native, x86-avx2, x86-avx512";

std::string print(const CacheLevel& cache) {
  return fmt::format("{}/{}/{}", cache.bytes, cache.ways, cache.line_bytes);
}

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// A target's name: a word that may hold '-', which an identifier of the other languages may not.
Result<std::string> parse_name(TextCursor& cursor) {
  if (cursor.at_end()) return cursor.error(fmt::format("expected a target: one of {}", kLegalNames));
  LATHE_TRY(std::string name, cursor.identifier());
  while (cursor.accept("-")) {
    LATHE_TRY(std::string rest, cursor.identifier());
    name += "-" + rest;
  }
  return name;
}

Result<int64_t> parse_positive(TextCursor& cursor, int64_t largest = INT32_MAX) {
  LATHE_TRY(int64_t value, cursor.integer());
  if (value < 1 || value > largest) return cursor.error(fmt::format("{} is not in 1 .. {}", value, largest));
  return value;
}

Status parse_cache(TextCursor& cursor, CacheLevel& cache) {
  LATHE_TRY(cache.bytes, parse_positive(cursor, INT64_MAX));
  LATHE_TRY_STATUS(cursor.expect("/"));
  LATHE_TRY(int64_t ways, parse_positive(cursor));
  LATHE_TRY_STATUS(cursor.expect("/"));
  LATHE_TRY(int64_t line, parse_positive(cursor));
  cache.ways = static_cast<int>(ways);
  cache.line_bytes = static_cast<int>(line);
  return {};
}

Status parse_count(TextCursor& cursor, int& field) {
  LATHE_TRY(int64_t value, parse_positive(cursor));
  field = static_cast<int>(value);
  return {};
}

// Of what the host has; "none" for none of them.
Result<std::vector<std::string>> parse_extensions(TextCursor& cursor, const Target& host) {
  std::vector<std::string> names;
  do {
    LATHE_TRY(std::string name, cursor.identifier());
    if (names.empty() && name == "none") return names;
    if (std::ranges::find(kExtensions, name, &Extension::name) == kExtensions.end())
      return cursor.error(fmt::format("'{}' is no extension: none or some of {}", name,
                                      fmt::join(std::views::transform(kExtensions, &Extension::name), ",")));
    if (!host.has(name)) {
      return fail(ErrorKind::unsupported, fmt::format("this machine ({}) cannot run {}", host.machine, name));
    }
    names.push_back(std::move(name));
  } while (cursor.accept(","));
  return names;
}

Status parse_fields(TextCursor& cursor, const Target& host, Target& target) {
  while (!cursor.at_end()) {
    LATHE_TRY(std::string key, cursor.identifier());
    LATHE_TRY_STATUS(cursor.expect("="));
    if (key == "machine") {
      LATHE_TRY(target.machine, cursor.quoted());
    } else if (key == "extensions") {
      LATHE_TRY(const std::vector<std::string> extensions, parse_extensions(cursor, host));
      target = with_extensions(std::move(target), extensions);
    } else if (key == "cores") {
      LATHE_TRY_STATUS(parse_count(cursor, target.cores));
    } else if (key == "fma_per_cycle") {
      LATHE_TRY_STATUS(parse_count(cursor, target.fma_per_cycle));
    } else if (key == "fma_latency") {
      LATHE_TRY_STATUS(parse_count(cursor, target.fma_latency_cycles));
    } else if (key == "l1" || key == "l2" || key == "l3") {
      CacheLevel& cache = key == "l1" ? target.l1 : key == "l2" ? target.l2 : target.l3;
      LATHE_TRY_STATUS(parse_cache(cursor, cache));
    } else {
      return cursor.error(fmt::format(
          "unknown field '{}' of a target: one of extensions, cores, fma_per_cycle, fma_latency, l1, l2, l3, "
          "machine",
          key));
    }
  }
  return {};
}

// The same machine, told to use another of its instruction sets.
Target with_isa(const Target& host, Isa isa) {
  Target target = generic_target(isa);
  target.machine = host.machine;
  target.l1 = host.l1;
  target.l2 = host.l2;
  target.l3 = host.l3;
  target.cores = host.cores;
  if (isa == host.isa) target.fma_per_cycle = host.fma_per_cycle;
  target.fma_latency_cycles = host.fma_latency_cycles;
  return with_extensions(std::move(target), host.extensions);
}

// LLVM's features of the instruction set itself.
const char* features_of(Isa isa) {
  // LLVM would otherwise halve the vectors of a processor with AVX-512.
  return isa == Isa::avx2 ? "+avx2,+fma" : "-prefer-256-bit";
}

}  // namespace

bool Target::has(std::string_view extension) const {
  return std::ranges::find(extensions, extension) != extensions.end();
}

Target with_extensions(Target target, const std::vector<std::string>& extensions) {
  target.extensions.clear();
  target.features = features_of(target.isa);
  for (const Extension& extension : kExtensions) {
    if (extension.isa > target.isa || std::ranges::find(extensions, extension.name) == extensions.end())
      continue;
    target.extensions.emplace_back(extension.name);
    target.features += fmt::format(",{}", extension.features);
  }
  return target;
}

Target generic_target(Isa isa) {
  Target target;
  target.isa = isa;
  target.machine = "generic";
  target.features = features_of(isa);
  target.l1 = {.bytes = 32 << 10, .ways = 8};
  target.l2 = {.bytes = 1 << 20, .ways = 16};
  target.l3 = {.bytes = 32 << 20, .ways = 16};
  if (isa == Isa::avx2) {
    target.name = "x86-avx2";
    target.cpu = "haswell";
  } else {
    target.name = "x86-avx512";
    target.cpu = "skylake-avx512";
    target.vector_bytes = 64;
    target.vector_registers = 32;
  }
  return target;
}

std::string print(const Target& target) {
  const std::string extensions =
      target.extensions.empty() ? "none" : fmt::format("{}", fmt::join(target.extensions, ","));
  return fmt::format("{} extensions={} cores={} fma_per_cycle={} fma_latency={} l1={} l2={} l3={} machine={}",
                     target.name, extensions, target.cores, target.fma_per_cycle, target.fma_latency_cycles,
                     print(target.l1), print(target.l2), print(target.l3), quote(target.machine));
}

Result<Target> parse_target(std::string_view text, const Target& host) {
  TextCursor cursor(text, "target");
  LATHE_TRY(std::string name, parse_name(cursor));
  Target target = host;
  if (name == "x86-avx2") {
    target = with_isa(host, Isa::avx2);
  } else if (name == "x86-avx512") {
    if (host.isa != Isa::avx512) {
      return fail(ErrorKind::unsupported,
                  fmt::format("this machine ({}) cannot run x86-avx512, it lacks AVX-512 F, VL, BW and DQ; "
                              "it runs {}",
                              host.machine, host.name));
    }
    target = with_isa(host, Isa::avx512);
  } else if (name != "native") {
    return fail(ErrorKind::invalid_argument,
                fmt::format("unknown target '{}': one of {}", name, kLegalNames));
  }
  LATHE_TRY_STATUS(parse_fields(cursor, host, target));
  return target;
}

Result<Target> parse_target(std::string_view text) {
  const Target host = detect_target();
  if (!runs_some_target()) {
    return fail(ErrorKind::unsupported,
                fmt::format("this machine ({}) lacks AVX2 and FMA, which every target needs", host.machine));
  }
  return parse_target(text, host);
}

}  // namespace lathe
