#include "artifact/open/trace_runs.h"

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "artifact/artifact_fixture.h"
#include "artifact/open/random_inputs.h"

namespace lathe {
namespace {

using nlohmann::json;

class TraceRuns : public ArtifactTest {
 protected:
  json traced(const std::string& workloads, int cores, int runs) {
    options_.target = with_cores(options_.target, cores);
    write(compile_operator(parse_workloads(workloads, "test")->front(), options_));
    auto artifact = LoadedArtifact::open(folder(), cores);
    EXPECT_TRUE(set_random_inputs(*artifact, folder(), 1, "test").has_value());
    const Result<std::string> text = trace_runs(*artifact, runs);
    EXPECT_TRUE(text.has_value()) << text.error().to_string();
    return text ? json::parse(*text) : json();
  }
};

// What the format asks of complete and metadata events.
void expect_event(const json& event) {
  EXPECT_TRUE(event.at("name").is_string());
  EXPECT_TRUE(event.at("pid").is_number_integer());
  EXPECT_TRUE(event.at("tid").is_number_integer());
  EXPECT_TRUE(event.at("args").is_object());
  if (event.at("ph") == "M") return;
  EXPECT_EQ(event.at("ph"), "X");
  EXPECT_TRUE(event.at("cat").is_string());
  EXPECT_GE(event.at("ts").get<double>(), 0);
  EXPECT_GE(event.at("dur").get<double>(), 0);
}

TEST_F(TraceRuns, LaunchesBearWhatTheyCompute) {
  const json trace = traced(kMatmul, 1, 2);
  EXPECT_EQ(trace.at("otherData").at("model"), "mm");
  std::map<std::string, int> counts;
  for (const json& event : trace.at("traceEvents")) {
    expect_event(event);
    ++counts[event.value("cat", event.at("name"))];
    if (event.value("cat", "") != "launch") continue;
    EXPECT_EQ(event.at("name"), "mm");
    EXPECT_EQ(event.at("args"), json({{"launch", 0},
                                      {"operators", {"expression"}},
                                      {"flops", 2 * 19 * 21 * 17},
                                      {"bytes", 4 * (19 * 17 + 17 * 21 + 19 * 21)}}));
  }
  EXPECT_EQ(counts,
            (std::map<std::string, int>{
                {"process_name", 1}, {"thread_name", 1}, {"run", 2}, {"launch", 2}, {"conversion", 6}}));
}

// Viewers stack the events of a thread, so that of two either one holds the other or they lie apart.
TEST_F(TraceRuns, EventsOfAThreadAreNested) {
  const json trace = traced(
      R"([{"name": "mm", "op": "expression", "text": "C[i:256, j:256] = sum(r:256) A[i,r] * B[r,j]"}])", 2,
      2);
  std::map<int, std::vector<std::pair<double, double>>> threads;
  std::set<std::string> named;
  for (const json& event : trace.at("traceEvents")) {
    expect_event(event);
    if (event.at("ph") == "M") {
      named.insert(event.at("args").at("name").get<std::string>());
    } else {
      const double begin = event.at("ts");
      threads[event.at("tid")].emplace_back(begin, begin + event.at("dur").get<double>());
    }
  }
  EXPECT_TRUE(named.contains("thread 0 (the caller's)"));
  for (const auto& [thread, events] : threads) {
    for (const auto& [begin, end] : events) {
      for (const auto& [other_begin, other_end] : events) {
        const bool is_apart = end <= other_begin + 1e-9 || other_end <= begin + 1e-9;
        const bool holds = begin <= other_begin + 1e-9 && other_end <= end + 1e-9;
        const bool is_held = other_begin <= begin + 1e-9 && end <= other_end + 1e-9;
        EXPECT_TRUE(is_apart || holds || is_held) << thread << ": " << begin << " to " << end;
      }
    }
  }
}

}  // namespace
}  // namespace lathe
