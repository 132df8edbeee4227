#include "session/commands/kernel_table.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "session/measured_roofline.h"

namespace lathe {
namespace {

constexpr size_t kOperatorsNamed = 6;

// None where it is not known or no integer holds it.
std::optional<int64_t> in_all_runs(const std::optional<int64_t>& count, int64_t runs) {
  int64_t all = 0;
  return count && !__builtin_mul_overflow(*count, runs, &all) ? std::optional(all) : std::nullopt;
}

KernelRow launch_row(const ManifestLaunch& launch, size_t number, double seconds, const Target& target,
                     const std::optional<Roofline>& roofline) {
  KernelRow row;
  row.name = launch.name;
  row.launch = number;
  row.operators = launch.operators;
  row.seconds = seconds;
  row.flops = in_all_runs(launch.flops, launch.runs);
  row.bytes = in_all_runs(launch.bytes, launch.runs);
  if (!roofline || !launch.flops || !launch.bytes || seconds <= 0) return row;
  const RunBound bound = run_bound(*launch.flops, *launch.bytes, target, *roofline);
  row.of_bound = static_cast<double>(launch.runs) * bound.seconds / seconds;
  row.limit = bound.limit;
  return row;
}

KernelRow other_row(const char* name, double seconds) {
  KernelRow row;
  row.name = name;
  row.seconds = seconds;
  return row;
}

nlohmann::ordered_json row_json(const KernelRow& row) {
  nlohmann::ordered_json entry = {{"name", row.name}};
  if (row.launch) {
    entry["launch"] = *row.launch;
    entry["operators"] = row.operators;
  }
  entry["seconds"] = row.seconds;
  entry["share"] = row.share;
  if (row.flops) entry["flops"] = *row.flops;
  if (row.bytes) entry["bytes"] = *row.bytes;
  if (const auto gflops = billions_a_second(row.flops, row.seconds)) entry["gflops"] = *gflops;
  if (const auto gigabytes = billions_a_second(row.bytes, row.seconds)) entry["gigabytes"] = *gigabytes;
  if (row.of_bound) entry["of_bound"] = *row.of_bound;
  if (row.limit) entry["bound_by"] = words_of(*row.limit);
  return entry;
}

}  // namespace

KernelTable kernel_table(const Manifest& manifest, const ArtifactProfile& profile, const Target& target,
                         const std::optional<Roofline>& roofline) {
  KernelTable table;
  table.seconds = profile.call;
  table.samples = profile.samples;
  table.runs = profile.runs;
  table.cores = cores_of(target);
  table.roofline = roofline;
  table.rows.push_back(other_row("inputs", profile.inputs));
  for (size_t i = 0; i < profile.launches.size(); ++i)
    table.rows.push_back(launch_row(manifest.launches[i], i, profile.launches[i], target, roofline));
  table.rows.push_back(other_row("outputs", profile.outputs));
  table.rows.push_back(other_row("between kernels", profile.between));
  double sum = 0;
  for (const KernelRow& row : table.rows) sum += row.seconds;
  for (KernelRow& row : table.rows) row.share = sum > 0 ? row.seconds / sum : 0;
  return table;
}

std::optional<double> billions_a_second(const std::optional<int64_t>& count, double seconds) {
  if (!count || seconds <= 0) return std::nullopt;
  return static_cast<double>(*count) / seconds * 1e-9;
}

std::string short_names(const std::vector<std::string>& operators) {
  std::string text;
  size_t named = 0;
  for (size_t i = 0; i < operators.size();) {
    size_t end = i;
    while (end < operators.size() && operators[end] == operators[i]) ++end;
    if (named++ == kOperatorsNamed) return fmt::format("{}+..", text);
    text += fmt::format("{}{}{}", text.empty() ? "" : "+", operators[i],
                        end == i + 1 ? "" : fmt::format(" x{}", end - i));
    i = end;
  }
  return text;
}

std::string words_of(Bottleneck limit) {
  switch (limit) {
    case Bottleneck::units: return "compute";
    case Bottleneck::second_level: return "memory (L2)";
    case Bottleneck::third_level: return "memory (L3)";
    case Bottleneck::memory: return "memory";
  }
  return "";
}

nlohmann::ordered_json json_of(const KernelTable& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const KernelRow& row : table.rows) rows.push_back(row_json(row));
  nlohmann::ordered_json json = {{"seconds", table.seconds}, {"samples", table.samples},
                                 {"runs", table.runs},       {"cores", table.cores},
                                 {"peaks", nullptr},         {"rows", std::move(rows)}};
  if (table.roofline) {
    json["peaks"] = {{"gflops", table.roofline->gflops},
                     {"l2_gigabytes", table.roofline->gigabytes[0]},
                     {"l3_gigabytes", table.roofline->gigabytes[1]},
                     {"memory_gigabytes", table.roofline->gigabytes[2]}};
  }
  return json;
}

}  // namespace lathe
