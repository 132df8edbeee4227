#include "replay_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <sstream>

namespace lathe {
namespace {

using Field = uint32_t KernelHashes::*;
constexpr std::array<std::pair<std::string_view, Field>, 3> kFields = {
    {{"traces=", &KernelHashes::trace}, {"objects=", &KernelHashes::object}, {"c=", &KernelHashes::c_text}}};
constexpr std::string_view kLlvm = "llvm ";
constexpr std::string_view kCores = "cores=";
constexpr size_t kDigits = 8;

std::string print(const ReplayCase& replayed) {
  std::string line = fmt::format("{} {} {}{} {}", replayed.name, replayed.target, kCores, replayed.cores,
                                 replayed.free_layouts ? "free" : "fixed");
  if (replayed.recorded.empty()) return line;
  for (const auto& [key, field] : kFields) {
    std::vector<std::string> hashes;
    for (const KernelHashes& kernel : replayed.recorded)
      hashes.push_back(fmt::format("{:08x}", kernel.*field));
    line += fmt::format(" {}{}", key, fmt::join(hashes, ","));
  }
  return line;
}

template <class Integer>
bool read_whole(std::string_view text, Integer& value, int base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_hashes(std::string_view text, Field field, std::vector<KernelHashes>& kernels) {
  const size_t count = (text.size() + 1) / (kDigits + 1);
  if (text.size() != count * (kDigits + 1) - 1 || (!kernels.empty() && kernels.size() != count)) return false;
  kernels.resize(count);
  for (size_t i = 0; i < count; ++i) {
    if (!read_whole(text.substr(i * (kDigits + 1), kDigits), kernels[i].*field, 16)) return false;
  }
  return true;
}

bool read_case(const std::string& line, ReplayCase& replayed) {
  std::istringstream words(line);
  std::string cores;
  std::string layouts;
  if (!(words >> replayed.name >> replayed.target >> cores >> layouts)) return false;
  if (!cores.starts_with(kCores) ||
      !read_whole(std::string_view(cores).substr(kCores.size()), replayed.cores, 10))
    return false;
  if (replayed.cores < 1 || (layouts != "free" && layouts != "fixed")) return false;
  replayed.free_layouts = layouts == "free";
  std::string word;
  if (!(words >> word)) return true;
  for (const auto& [key, field] : kFields) {
    if (!word.starts_with(key) ||
        !read_hashes(std::string_view(word).substr(key.size()), field, replayed.recorded))
      return false;
    word.clear();
    words >> word;
  }
  return word.empty();
}

}  // namespace

std::string name_of(const ReplayCase& replayed) {
  return fmt::format("{} on {}", replayed.name, replayed.target);
}

std::string print_replay_list(const ReplayList& list) {
  std::string text = fmt::format("{}{}\n", kLlvm, list.llvm);
  for (const ReplayCase& replayed : list.cases) text += print(replayed) + "\n";
  return text;
}

Result<ReplayList> parse_replay_list(const std::string& text, const std::string& source) {
  ReplayList list;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (number == 1 && line.starts_with(kLlvm)) {
      list.llvm = line.substr(kLlvm.size());
      continue;
    }
    if (!read_case(line, list.cases.emplace_back()))
      return fail(ErrorKind::parse, "the line is no case", fmt::format("{}:{}", source, number));
  }
  return list;
}

}  // namespace lathe
