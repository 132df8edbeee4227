// What commands work on, in a folder of its own: a workload file, and records that this machine can use
// although nothing was measured for them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/compiler_version.h"
#include "cli/command_line.h"
#include "records/record_store.h"
#include "session/load_source.h"
#include "session/program_source.h"
#include "session/teller.h"
#include "target/detect.h"
#include "task/task_text.h"

namespace lathe {

// The whole sentence of an Error; empty where there is none.
template <class T>
std::string refusal_of(const Result<T>& result) {
  return result ? std::string() : result.error().to_string();
}

// A target whose programs this machine does not run.
inline std::string foreign_target() {
  const Result<Target> here = detect_target();
  return here && here->name == "aarch64-neon" ? "x86-avx2" : "aarch64-neon";
}

class SessionTest : public CliTest {
 protected:
  void SetUp() override {
    const Result<Target> target = detect_target();
    if (!target) GTEST_SKIP() << target.error().message;
    target_ = with_cores(*target, 1);
    write_matmul();
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  // The workload file, on one core.
  ProgramSource source() const {
    ProgramSource source;
    source.workload = path("w.json");
    source.cores = 1;
    return source;
  }

  // Of the task, as this version of Lathe records it on this machine.
  Record record_of(const Task& task, const std::string& trace, double seconds) const {
    Record record;
    record.task = text_of(task);
    record.target = target_.name;
    record.machine = target_.machine;
    record.cores = 1;
    record.compiler_version = compiler_version();
    record.trace = trace;
    record.point = {"lathe", "by hand", {}};
    record.measurement = measurement_of({seconds});
    record.strategy = "evolutionary";
    return record;
  }
  // Of the first operator of the workload file.
  Record record(const std::string& trace, double seconds, bool free_layouts = false) const {
    const Workload workload = load_workloads(source()).value().front();
    return record_of(task_of(workload, target_, free_layouts, false).value(), trace, seconds);
  }
  Record failed_record(ErrorKind kind, const std::string& message) const {
    Record record = this->record("split C i [2]\n", 1);
    record.measurement = failed_measurement(kind, message);
    return record;
  }
  // Adds these to the file r.db.
  void append(const std::vector<Record>& records) const {
    Result<RecordStore> store = RecordStore::open(path("r.db"));
    ASSERT_TRUE(store.has_value()) << refusal_of(store);
    const auto ids = store->append_all(records);
    ASSERT_TRUE(ids.has_value()) << refusal_of(ids);
  }
  // Statements that make of r.db what no Lathe writes.
  void change_records(const std::string& statements) const {
    const Status done = Connection::open(path("r.db"), true)->execute(statements.c_str());
    ASSERT_TRUE(done.has_value()) << refusal_of(done);
  }

  // Keeps each sentence.
  Teller teller() {
    return [this](const std::string& sentence) { told_.push_back(sentence); };
  }

  const std::string worker_ = LATHE_BINARY_DIR "/bin/lathe-worker";
  Target target_;
  std::vector<std::string> told_;
};

}  // namespace lathe
