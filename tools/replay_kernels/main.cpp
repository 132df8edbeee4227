// Holds what is compiled to what was compiled before: README.md says when and how.
#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <thread>

#include "base/read_file.h"
#include "base/write_file.h"
#include "network_tasks.h"
#include "ops/workloads.h"
#include "replay_list.h"
#include "target/all.h"

namespace lathe {
namespace {

constexpr const char* kUsage =
    "usage: replay_kernels check LIST TASKS WORKLOAD ...    compare; exit status 1 if anything differs\n"
    "       replay_kernels record LIST TASKS WORKLOAD ...   write the list anew\n"
    "       replay_kernels tasks TASKS MODEL.onnx ...       write the networks' tasks anew\n";

// "x86-avx512+avx512_vnni": a target's typical machine, with those of its extensions.
Result<Target> target_of(const ReplayCase& replayed) {
  std::vector<std::string> words;
  std::istringstream text(replayed.target);
  for (std::string word; std::getline(text, word, '+');) words.push_back(word);
  if (words.empty() || std::ranges::find(all_targets(), words[0], &TargetRow::name) == all_targets().end())
    return fail(ErrorKind::invalid_argument, "there is no such target", name_of(replayed));
  Target target = with_cores(generic_target(words[0]), replayed.cores);
  words.erase(words.begin());
  return words.empty() ? target : with_extensions(std::move(target), words);
}

// What the cases' names stand for.
class Sources {
 public:
  static Result<Sources> load(const std::string& tasks, std::span<char* const> workloads) {
    Sources sources;
    for (const char* workload : workloads) {
      LATHE_TRY(std::vector<Workload> operators, load_workloads(workload));
      for (Workload& entry : operators) sources.operators_.emplace(entry.name, std::move(entry));
    }
    LATHE_TRY(const std::string text, read_file(tasks));
    LATHE_TRY(const std::vector<TaskText> texts, parse_task_texts(text, tasks));
    for (const TaskText& entry : texts) sources.tasks_.emplace(entry.name, entry);
    return sources;
  }

  Result<Task> task_of(const ReplayCase& replayed) const {
    LATHE_TRY(const Target target, target_of(replayed));
    if (const auto found = operators_.find(replayed.name); found != operators_.end())
      return make_task(found->second, target, replayed.free_layouts);
    if (const auto found = tasks_.find(replayed.name); found != tasks_.end())
      return task_from(found->second, target);
    return fail(ErrorKind::invalid_argument, "there is no operator or task of that name", name_of(replayed));
  }

 private:
  std::map<std::string, Workload> operators_;
  std::map<std::string, TaskText> tasks_;
};

// The same list with what is compiled now, on all cpus.
Result<ReplayList> compiled_now(const Sources& sources, const ReplayList& list) {
  ReplayList now{LLVM_VERSION_STRING, list.cases};
  std::vector<Status> failures(now.cases.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < now.cases.size(); i = next++) {
      const Result<Task> task = sources.task_of(now.cases[i]);
      Result<std::vector<KernelHashes>> hashes = task ? kernel_hashes(*task) : std::unexpected(task.error());
      if (hashes) {
        now.cases[i].recorded = std::move(*hashes);
      } else {
        failures[i] = std::unexpected(hashes.error());
      }
    }
  };
  {
    std::vector<std::jthread> threads(std::thread::hardware_concurrency());
    for (std::jthread& thread : threads) thread = std::jthread(work);
  }
  for (const Status& failure : failures) LATHE_TRY_STATUS(failure);
  return now;
}

// What differs of one case, a sentence each; machine code counts where the same LLVM makes it.
int report_differences(const ReplayCase& before, const ReplayCase& now, bool same_llvm) {
  if (before.recorded.size() != now.recorded.size()) {
    fmt::print("{}: {} kernels, {} recorded\n", name_of(now), now.recorded.size(), before.recorded.size());
    return 1;
  }
  int differing = 0;
  for (size_t i = 0; i < now.recorded.size(); ++i) {
    std::string what;
    if (now.recorded[i].trace != before.recorded[i].trace) what += " trace";
    if (now.recorded[i].c_text != before.recorded[i].c_text) what += " C";
    if (same_llvm && now.recorded[i].object != before.recorded[i].object) what += " code";
    if (what.empty()) continue;
    ++differing;
    fmt::print("{}: {} differs in{}\n", name_of(now),
               i == 0 ? std::string("trial 0") : fmt::format("point {}", i), what);
  }
  return differing;
}

int compare(const ReplayList& before, const ReplayList& now) {
  const bool same_llvm = before.llvm == now.llvm;
  if (!same_llvm)
    fmt::print("machine code is left out: it was made by LLVM {}, this is {}\n", before.llvm, now.llvm);
  int differing = 0;
  size_t kernels = 0;
  for (size_t i = 0; i < now.cases.size(); ++i) {
    differing += report_differences(before.cases[i], now.cases[i], same_llvm);
    kernels += now.cases[i].recorded.size();
  }
  fmt::print("{} of {} kernels of {} cases are as recorded\n", kernels - static_cast<size_t>(differing),
             kernels, now.cases.size());
  return differing == 0 ? 0 : 1;
}

Result<int> replay(const std::string& command, const std::string& path, const std::string& tasks,
                   std::span<char* const> workloads) {
  LATHE_TRY(const Sources sources, Sources::load(tasks, workloads));
  LATHE_TRY(const std::string text, read_file(path));
  LATHE_TRY(const ReplayList before, parse_replay_list(text, path));
  LATHE_TRY(const ReplayList now, compiled_now(sources, before));
  if (command == "check") return compare(before, now);
  LATHE_TRY_STATUS(write_file(path, {print_replay_list(now)}));
  return 0;
}

Result<int> write_tasks(const std::string& path, std::span<char* const> models) {
  std::vector<TaskText> all;
  for (const char* model : models) {
    LATHE_TRY(const std::vector<TaskText> tasks, tasks_of_network(model));
    all.insert(all.end(), tasks.begin(), tasks.end());
  }
  LATHE_TRY_STATUS(write_file(path, {print_task_texts(all)}));
  return 0;
}

}  // namespace
}  // namespace lathe

int main(int count, char** words) {
  const std::string command = count > 1 ? words[1] : "";
  lathe::Result<int> status = 2;
  if ((command == "check" || command == "record") && count > 4) {
    status = lathe::replay(command, words[2], words[3], std::span(words + 4, words + count));
  } else if (command == "tasks" && count > 3) {
    status = lathe::write_tasks(words[2], std::span(words + 3, words + count));
  } else {
    fmt::print(stderr, "{}", lathe::kUsage);
  }
  if (status) return *status;
  fmt::print(stderr, "replay_kernels: {}\n", status.error().to_string());
  return 2;
}
