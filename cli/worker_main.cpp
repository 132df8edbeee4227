// lathe-worker: the process in which candidates run. Only a measuring process starts it; see
// src/measure/worker.h.
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>

#include "measure/worker.h"

namespace {

std::optional<int> parse_int(std::string_view text) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "0,2,5" as numbers.
std::optional<std::vector<int>> parse_list(std::string_view text) {
  std::vector<int> values;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::optional<int> value = parse_int(text.substr(0, comma));
    if (!value) return std::nullopt;
    values.push_back(*value);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return values;
}

std::optional<lathe::WorkerOptions> parse_arguments(int count, char** arguments) {
  if (count != 5) return std::nullopt;
  const std::optional<int> socket = parse_int(arguments[1]);
  const std::optional<int> memory = parse_int(arguments[2]);
  const std::optional<int> parent = parse_int(arguments[3]);
  const std::optional<std::vector<int>> cpus = parse_list(arguments[4]);
  if (!socket || !memory || !parent || !cpus || cpus->empty()) return std::nullopt;
  return lathe::WorkerOptions{.socket = *socket, .shared_memory = *memory, .parent = *parent, .cpus = *cpus};
}

}  // namespace

int main(int count, char** arguments) {
  const std::optional<lathe::WorkerOptions> options = parse_arguments(count, arguments);
  if (!options) {
    std::fputs("lathe-worker is started by lathe to measure candidates, it does nothing by itself\n", stderr);
    return 1;
  }
  const lathe::Status status = lathe::run_worker(*options);
  if (status.has_value()) return 0;
  std::fprintf(stderr, "lathe-worker: %s\n", status.error().to_string().c_str());
  return 1;
}
