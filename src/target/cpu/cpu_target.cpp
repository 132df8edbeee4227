#include "target/cpu/cpu_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <string>

namespace lathe {
namespace {

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "32K" or "1M" as bytes; 0 where the text is none.
int64_t parse_size(const std::string& text) {
  int64_t value = 0;
  size_t i = 0;
  while (i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])))
    value = value * 10 + (text[i++] - '0');
  if (i < text.size() && text[i] == 'K') value <<= 10;
  if (i < text.size() && text[i] == 'M') value <<= 20;
  return value;
}

}  // namespace

bool CpuTarget::has(std::string_view extension) const {
  return std::ranges::find(extensions, extension) != extensions.end();
}

void detect_caches(CpuTarget& target, int cpu) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/", cpu, index);
    const std::string type = read_line(folder + "type");
    const std::string level = read_line(folder + "level");
    if (type != "Data" && type != "Unified") continue;
    CacheLevel* cache = level == "1"   ? &target.l1
                        : level == "2" ? &target.l2
                        : level == "3" ? &target.l3
                                       : nullptr;
    const int64_t bytes = parse_size(read_line(folder + "size"));
    if (cache == nullptr || bytes == 0) continue;
    cache->bytes = bytes;
    const int64_t ways = parse_size(read_line(folder + "ways_of_associativity"));
    const int64_t line = parse_size(read_line(folder + "coherency_line_size"));
    if (ways > 0) cache->ways = static_cast<int>(ways);
    if (line > 0) cache->line_bytes = static_cast<int>(line);
  }
}

}  // namespace lathe
