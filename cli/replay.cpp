// lathe replay: a record made again from the records file alone.
#include "artifact/replay.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "records/record_store.h"

namespace lathe::cli {
namespace {

struct ReplayOptions {
  std::string file;
  int64_t record = 0;
  std::string emit = "loops";
};

Status run(const ReplayOptions& options) {
  LATHE_TRY(const RecordStore store, RecordStore::open_read_only(options.file));
  LATHE_TRY(const Record record, store.by_id(options.record));
  LATHE_TRY(const std::string text, replay_text(record, options.emit));
  fmt::print("{}", text);
  return {};
}

}  // namespace

void add_replay(CLI::App& app, Action& chosen) {
  CLI::App* const command = app.add_subcommand("replay", "make a recorded program again");
  const auto options = std::make_shared<ReplayOptions>();
  command->add_option("FILE", options->file, "the records file")->required();
  command->add_option("--record", options->record, "the record's number")->required();
  command->add_option("--emit", options->emit, "what to print: loops, lowered, llvm, asm or c")
      ->check(CLI::IsMember({"loops", "lowered", "llvm", "asm", "c"}))
      ->capture_default_str();
  command->callback([&chosen, options] { chosen = [options] { return run(*options); }; });
}

}  // namespace lathe::cli
