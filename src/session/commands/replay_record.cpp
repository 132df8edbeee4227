#include "session/commands/replay_record.h"

#include "records/record_store.h"
#include "records/within.h"
#include "session/start_measurer.h"

namespace lathe {

Result<Record> find_record(const std::string& file, int64_t id) {
  LATHE_TRY(const RecordStore store, RecordStore::open_read_only(file));
  return store.by_id(id);
}

Result<Replayed> replay(const Record& record, const std::string& file, const std::string& worker) {
  LATHE_TRY(Measurer measurer, start_measurer(worker, record.cores));
  LATHE_TRY(ReplayedProgram program, within(file, ReplayedProgram::create(record)));
  Replayed replayed;
  LATHE_TRY(replayed.check, program.check(measurer));
  if (replayed.check.failure) return replayed;
  LATHE_TRY(replayed.now, program.measure(measurer));
  return replayed;
}

Result<std::string> record_text(const Record& record, const std::string& file, const std::string& form) {
  return within(file, replay_text(record, form));
}

}  // namespace lathe
