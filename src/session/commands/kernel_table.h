// Where an artifact's time goes, as `lathe run --profile` tells it: its kernels beside what this machine can
// do at most.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "artifact/manifest.h"
#include "artifact/open/profile_artifact.h"
#include "explain/stage_bounds.h"
#include "target/target.h"

namespace lathe {

// A kernel, or what is none: "inputs", "outputs", "between kernels".
struct KernelRow {
  std::string name;
  std::optional<size_t> launch = {};        // its number; none: no kernel
  std::vector<std::string> operators = {};  // that it computes
  double seconds = 0;
  double share = 0;                   // of all rows together
  std::optional<int64_t> flops = {};  // of the formula as it is written
  std::optional<int64_t> bytes = {};
  // The least time that the peaks allow over the time that it takes. Above 1 where a program takes fewer
  // operations than the formula has, as Winograd's do.
  std::optional<double> of_bound = {};
  std::optional<Bottleneck> limit = {};  // what that least time is given by
};

struct KernelTable {
  std::vector<KernelRow> rows;  // inputs, the launches in their order, outputs, between kernels
  double seconds = 0;           // of a timed run as a whole
  int samples = 0;
  int runs = 1;                           // in each sample
  int cores = 1;                          // that the peaks are of
  std::optional<Roofline> roofline = {};  // none: they cannot be measured here
};

// `target` is this machine with the cores that the artifact uses.
KernelTable kernel_table(const Manifest& manifest, const ArtifactProfile& profile, const Target& target,
                         const std::optional<Roofline>& roofline);

// 10^9 of them a second; none where they are not known.
std::optional<double> billions_a_second(const std::optional<int64_t>& count, double seconds);
// "Conv+Add+Relu"; one that comes several times in a row is counted, "Mul x3", of many the first are named.
std::string short_names(const std::vector<std::string>& operators);
// "compute", "memory", or of bytes that a cache holds "memory (L2)", "memory (L3)".
std::string words_of(Bottleneck limit);
// With all that is known of each row (docs/command_line.md).
nlohmann::ordered_json json_of(const KernelTable& table);

}  // namespace lathe
