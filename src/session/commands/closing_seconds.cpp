#include "session/commands/closing_seconds.h"

#include <algorithm>

#include "measure/time_bounds.h"

namespace lathe {

double closing_seconds(const Network& network) {
  constexpr double kBytesPerSecond = 70e6;
  constexpr double kSecondsPerTask = 0.05;
  double bytes = 0;
  for (const GraphTensor& tensor : network.graph.tensors) {
    if (tensor.is_constant()) bytes += static_cast<double>(tensor.data->size());
  }
  return 2 + kSecondsPerTask * static_cast<double>(network.tasks.tasks.size()) + bytes / kBytesPerSecond;
}

double closing_seconds(const std::vector<Task>& operators) {
  constexpr double kLinkAndTime = 0.4;
  constexpr double kRuns = 8;  // of the artifact, which is opened and run twice, at half the fastest speed
  double seconds = 0;
  for (const Task& task : operators) seconds += kLinkAndTime + kRuns * fastest_seconds(task);
  return seconds;
}

}  // namespace lathe
