#include "artifact/compared_sizes.h"

#include <algorithm>
#include <utility>

namespace lathe {
namespace {

constexpr double kComparingSeconds = 2;
constexpr double kSecondsOfFile = 1e-3;  // however small it is
constexpr double kSecondsOfByte = 1e-9;
constexpr double kSecondsOfNode = 2e-5;

}  // namespace

void keep_first_places(SizeNumbers& numbers, const FollowedSize& other, int64_t size) {
  for (auto& [id, values] : numbers.values) {
    if (other.parts[id].empty()) continue;
    GraphTensor number{"", other.graph.tensor(id).type, nullptr};
    for (std::shared_ptr<const Bytes>& value : values) {
      number.data = std::move(value);
      value = first_places(number, other.parts[id], other.size, size);
    }
  }
}

size_t most_compared(const Graph& network) {
  double seconds = kSecondsOfFile + kSecondsOfNode * static_cast<double>(network.nodes.size());
  for (const GraphTensor& tensor : network.tensors)
    if (tensor.is_constant()) seconds += kSecondsOfByte * static_cast<double>(tensor.data->size());
  return std::max(kFewestCompared, static_cast<size_t>(kComparingSeconds / seconds));
}

Status for_each_combination(const std::vector<std::vector<int64_t>>& lists,
                            const std::function<Status(const std::vector<int64_t>&)>& visit) {
  std::vector<size_t> places(lists.size(), 0);
  for (bool is_end = false; !is_end;) {
    std::vector<int64_t> entries;
    for (size_t i = 0; i < lists.size(); ++i) entries.push_back(lists[i][places[i]]);
    LATHE_TRY_STATUS(visit(entries));
    is_end = true;
    for (size_t i = 0; i < lists.size() && is_end; ++i) {
      places[i] = (places[i] + 1) % lists[i].size();
      is_end = places[i] == 0;
    }
  }
  return {};
}

}  // namespace lathe
