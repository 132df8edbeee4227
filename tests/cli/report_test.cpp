// `lathe report`: every figure of the page is one that `lathe show --json` prints.
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "cli/command_line.h"
#include "records/record_store.h"
#include "report/html_page.h"
#include "report/sample_report.h"

namespace lathe {
namespace {

using nlohmann::json;

class ReportTest : public CliTest {
 protected:
  void append(const std::vector<Record>& records) const {
    auto store = RecordStore::open(folder_.path() / "r.db");
    ASSERT_TRUE(store.has_value()) << store.error().to_string();
    const auto ids = store->append_all(records);
    ASSERT_TRUE(ids.has_value()) << ids.error().to_string();
  }
  json shown() const {
    const Outcome show = lathe("show r.db --json");
    EXPECT_EQ(show.status, 0) << show.err;
    return json::parse(show.out);
  }
  std::string page(const std::string& options = "") const {
    const Outcome made = lathe("report r.db --out r.html" + options);
    EXPECT_EQ(made.status, 0) << made.err;
    return read_text(folder_.path() / "r.html");
  }
};

// What show prints of this field of this task.
json told_by_show(const json& shown, const PageFigure& figure) {
  for (const json& task : shown) {
    if (task.at("task") != figure.around.at("data-task") ||
        task.at("target") != figure.around.at("data-target") ||
        std::to_string(task.at("cores").get<int>()) != figure.around.at("data-cores"))
      continue;
    if (!figure.field.starts_with("failures.")) return task.at(figure.field);
    return task.at("failures").at(figure.field.substr(9)).at("count");
  }
  return nullptr;
}

// Of all tasks together.
json sum_of(const json& shown, const std::string& field) {
  if (field == "tasks") return shown.size();
  int64_t count = 0;
  double seconds = 0;
  for (const json& task : shown) {
    if (field.starts_with("failures.")) {
      const auto kind = task.at("failures").find(field.substr(9));
      if (kind != task.at("failures").end()) count += kind->at("count").get<int64_t>();
    } else if (field == "wall_seconds") {
      seconds += task.at(field).get<double>();
    } else {
      count += task.at(field).get<int64_t>();
    }
  }
  return field == "wall_seconds" ? json(seconds) : json(count);
}

double number_in(std::string text) {
  std::erase(text, ',');
  double value = std::stod(text);
  for (const auto& [unit, seconds] :
       {std::pair{" ms", 1e-3}, std::pair{" µs", 1e-6}, std::pair{" ns", 1e-9}}) {
    if (text.ends_with(unit)) value *= seconds;
  }
  return value;
}

TEST_F(ReportTest, EachFigureIsShows) {
  std::vector<Record> records = {own_record(4.3211e-6),
                                 own_record(1.2345678901e-6),
                                 own_record(3e-6),
                                 own_record(0.7654321, 16),
                                 own_record(0.1234567, 16),
                                 failed_record(ErrorKind::timeout, "late <&>"),
                                 failed_record(ErrorKind::timeout, "again"),
                                 failed_record(ErrorKind::wrong_result, "wrong")};
  records[3].wall_seconds = 1.0 / 3;
  append(records);
  const json tasks = shown();
  ASSERT_EQ(tasks.size(), 2U);
  const HtmlPage report(page());
  EXPECT_EQ(json::parse(report.island).at("tasks"), tasks);
  size_t compared = 0;
  for (const PageFigure& figure : report.figures) {
    const double exact = std::stod(figure.value);
    EXPECT_NEAR(number_in(figure.text), exact, 0.006 * exact) << figure.field;
    if (figure.field == "mean_gain") {
      const double both = tasks[0].at("gain").get<double>() * tasks[1].at("gain").get<double>();
      EXPECT_NEAR(std::stod(figure.value), std::sqrt(both), 1e-12 * both);
      continue;
    }
    const bool is_tasks = figure.around.contains("data-task");
    const json expected = is_tasks ? told_by_show(tasks, figure) : sum_of(tasks, figure.field);
    EXPECT_EQ(figure.value, expected.dump()) << figure.field;
    ++compared;
  }
  EXPECT_GE(compared, 30U);
}

// The curve of show is that of the records themselves.
TEST_F(ReportTest, TheCurveIsThatOfTheTasksRecords) {
  append({own_record(4e-6), own_record(5e-6), own_record(2e-6), own_record(1e-6)});
  const json task = shown().at(0);
  const Outcome listed = lathe("show r.db --json --task " + task.at("task").get<std::string>());
  double best = 0;
  double spent = 0;
  int trial = 0;
  json curve = json::array();
  for (const json& record : json::parse(listed.out)) {
    ++trial;
    spent += record.at("wall_seconds").get<double>();
    EXPECT_EQ(record.at("created_at"), 1'700'000'000'123);
    const double seconds = record.at("seconds");
    if (best != 0 && seconds >= best) continue;
    best = seconds;
    curve.push_back({{"trial", trial}, {"spent_seconds", spent}, {"seconds", seconds}});
  }
  EXPECT_EQ(task.at("curve"), curve);
}

TEST_F(ReportTest, SaysWhatIsWrong) {
  EXPECT_EQ(sentence("report r.db --out r.html"), "lathe: there is no records file r.db");
  append({});
  EXPECT_EQ(sentence("report r.db --out r.html"),
            "lathe: r.db: the file holds no records that could be reported");
  append({own_record(1e-6)});
  EXPECT_EQ(sentence("report r.db --out r.db"),
            "lathe: --out r.db and FILE r.db name the same file, which would be overwritten");
  EXPECT_EQ(sentence("report r.db"), "lathe: --out is required (lathe --help tells more)");
  write("b.json", "{}");
  EXPECT_EQ(sentence("report r.db --out r.html --bench b.json"),
            "lathe: b.json: this is not what `lathe bench --json` or `lathe tune --json` writes");
  EXPECT_EQ(lathe("report r.db --out r.html").out, "r.html: 1 task\n");
}

}  // namespace
}  // namespace lathe
