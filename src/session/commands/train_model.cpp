#include "session/commands/train_model.h"

#include <fmt/format.h>

#include <regex>

#include "base/read_file.h"
#include "base/write_file.h"
#include "cost/all.h"
#include "session/commands/check_apart.h"
#include "session/commands/check_destinations.h"
#include "session/open_records.h"

namespace lathe {
namespace {

Result<std::regex> expression_of(const std::string& text, const char* option) {
  try {
    return std::regex(text, std::regex::ECMAScript);
  } catch (const std::regex_error& error) {
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no expression: {}", text, error.what()),
                option);
  }
}

Result<TrainingSet> read_set(const std::vector<std::string>& files, const TrainingOptions& options,
                             const Teller& note) {
  if (files.empty()) return fail(ErrorKind::invalid_argument, "no records file is named", "--records");
  std::vector<RecordStore> stores;
  for (const std::string& file : files) {
    LATHE_TRY(RecordStore store, open_records_to_read(file, note));
    stores.push_back(std::move(store));
  }
  std::vector<const RecordStore*> pointers;
  for (const RecordStore& store : stores) pointers.push_back(&store);
  return training_set(pointers, options);
}

}  // namespace

Result<TrainedModel> train_model(const TrainRequest& request, const Teller& note) {
  std::vector<NamedFile> read;
  for (const std::string& file : request.records) read.push_back({"--records", file});
  LATHE_TRY_STATUS(check_apart({"--out", request.out}, read));
  LATHE_TRY_STATUS(check_destinations({}, request.out));
  LATHE_TRY(const std::unique_ptr<CostModel> model, make_cost_model(request.cost_model));
  if (model->wants() == FeatureKind::configuration)
    return fail(ErrorKind::unsupported, "choices mean something within one space alone, not across tasks",
                "--cost-model");
  TrainingOptions options{.features = model->wants(), .most_per_task = request.most_per_task};
  if (!request.leave_out.empty()) {
    LATHE_TRY(const std::regex left_out, expression_of(request.leave_out, "--leave-out"));
    options.takes = [left_out](const TaskText& task) { return !std::regex_search(task.name, left_out); };
  }
  LATHE_TRY(const TrainingSet set, read_set(request.records, options, note));
  LATHE_TRY_STATUS(model->fit(set.samples));
  if (!model->fitted()) return fail(ErrorKind::unsupported, "these records teach nothing", "--records");
  LATHE_TRY(const std::string bytes, model->save());
  LATHE_TRY_STATUS(write_file(request.out, {bytes}));
  return TrainedModel{std::ssize(set.tasks), set.samples.size(), set.left_out, std::ssize(bytes)};
}

Result<std::vector<Judgement>> judge_model(const std::string& file, const std::vector<std::string>& records,
                                           const std::string& only, const Teller& note) {
  LATHE_TRY(const std::string bytes, read_regular_file(file));
  LATHE_TRY(const std::unique_ptr<CostModel> model, load_cost_model(bytes, file));
  TrainingOptions options{.features = model->wants(), .most_per_task = int64_t{1} << 40};
  if (!only.empty()) {
    LATHE_TRY(const std::regex taken, expression_of(only, "--filter"));
    options.takes = [taken](const TaskText& task) { return std::regex_search(task.name, taken); };
  }
  LATHE_TRY(const TrainingSet set, read_set(records, options, note));
  if (set.samples.size() == 0) return fail(ErrorKind::not_found, "there are no such records", "--records");
  return judge(*model, set);
}

}  // namespace lathe
