// What is acknowledged stays: against kill -9, a second writer, a full disk and a file that cannot be
// written.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <vector>

#include "base/child.h"
#include "base/temporary_folder.h"
#include "records/record_store.h"
#include "records/sample_record.h"

namespace lathe {
namespace {

class Durability : public ::testing::Test {
 protected:
  std::string file() const { return (folder_.path() / "records.db").string(); }
  TemporaryFolder folder_;
};

// Appends for ever and writes each id into `acknowledged`.
int append_for_ever(const std::string& path, int acknowledged) {
  auto store = RecordStore::open(path);
  if (!store) return 1;
  for (;;) {
    const auto id = store->append(sample_record(1e-3));
    if (!id || write(acknowledged, &*id, sizeof *id) != sizeof *id) return 1;
  }
}

TEST_F(Durability, EveryAcknowledgedRecordSurvivesKill) {
  for (int acknowledgements : {1, 7, 40, 93}) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = start_child([&] { return append_for_ever(file(), ends[1]); });
    close(ends[1]);
    std::vector<int64_t> ids;
    int64_t id = 0;
    while (read(ends[0], &id, sizeof id) == sizeof id) {
      ids.push_back(id);
      if (std::ssize(ids) == acknowledgements) kill(child, SIGKILL);
    }
    close(ends[0]);
    EXPECT_EQ(exit_status(child), -1);
    ASSERT_GE(std::ssize(ids), acknowledgements);
    RecordStore store = RecordStore::open(file()).value();
    for (int64_t acknowledged : ids) EXPECT_TRUE(store.by_id(acknowledged).has_value()) << acknowledged;
    EXPECT_TRUE(store.append(sample_record(2e-3)).has_value());
  }
}

TEST_F(Durability, TwoProcessesAppendAtOnce) {
  const auto append_many = [&] {
    auto store = RecordStore::open(file());
    if (!store) return 1;
    for (int i = 0; i < 100; ++i) {
      if (!store->append(sample_record(1e-3))) return 2;
    }
    return 0;
  };
  const pid_t first = start_child(append_many);
  const pid_t second = start_child(append_many);
  EXPECT_EQ(exit_status(first), 0);
  EXPECT_EQ(exit_status(second), 0);
  EXPECT_EQ(RecordStore::open(file())->count({}).value(), 200);
}

// Takes the ten seconds that a writer waits.
TEST_F(Durability, AFileThatStaysLockedIsGivenUp) {
  RecordStore store = RecordStore::open(file()).value();
  Connection other = Connection::open(file(), true).value();
  ASSERT_TRUE(other.execute("BEGIN IMMEDIATE").has_value());
  const auto id = store.append(sample_record(1e-3));
  ASSERT_FALSE(id.has_value());
  EXPECT_EQ(id.error().message, "the records file " + file() +
                                    " is locked: another program is writing to it and was not done within 10 "
                                    "seconds");
  ASSERT_TRUE(other.execute("COMMIT").has_value());
  EXPECT_EQ(store.append(sample_record(1e-3)).value(), 1);
}

TEST_F(Durability, WhatCouldNotBeAppendedIsKeptAsideOrSaidToBeLost) {
  const RecordStore store = RecordStore::open(file()).value();
  const Error why{ErrorKind::database, "the disk is full", {}, {}};
  const std::vector<Record> records = {sample_record(1e-3), sample_record(2e-3)};
  EXPECT_EQ(store.keep_aside({}, why).message, "the disk is full");
  EXPECT_EQ(store.keep_aside(records, why).message,
            "the disk is full; 2 measured candidates are kept in " + file() + ".saved");
  EXPECT_EQ(RecordStore::open_read_only(file() + ".saved")->count({}).value(), 2);
  const std::string message = message_of_child([&]() -> std::string {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{16, 16};
    setrlimit(RLIMIT_FSIZE, &limit);
    return store.keep_aside(std::span(records).first(1), why).message;
  });
  EXPECT_EQ(message, "the disk is full; 1 measured candidate is lost");
  EXPECT_FALSE(std::filesystem::exists(file() + ".saved.2"));
}

TEST_F(Durability, WhatCannotBeKeptBesideTheFileIsKeptInTmp) {
  const std::string name = fmt::format("lathe_durability_{}.db", getpid());
  const RecordStore store = RecordStore::open(folder_.path() / name).value();
  ASSERT_GT(std::filesystem::remove_all(folder_.path()), 0U);
  const std::vector<Record> records = {sample_record(1e-3)};
  const std::string place = fmt::format("/tmp/{}.saved", name);
  const Error why{ErrorKind::database, "the disk is full", {}, {}};
  EXPECT_EQ(store.keep_aside(records, why).message,
            fmt::format("the disk is full; 1 measured candidate is kept in {}", place));
  EXPECT_EQ(RecordStore::open_read_only(place)->count({}).value(), 1);
  std::filesystem::remove(place);
}

TEST_F(Durability, AFileThatDoesNotTakeATaskIsOneSentence) {
  RecordStore store = RecordStore::open(file()).value();
  const char* trigger = "CREATE TRIGGER none BEFORE INSERT ON tasks BEGIN SELECT RAISE(IGNORE); END";
  ASSERT_TRUE(Connection::open(file(), true)->execute(trigger).has_value());
  const std::string message = fmt::format(
      "the records file {} did not take task 0000000000000001 (matmul.1024), which a trigger in it "
      "may prevent",
      file());
  EXPECT_EQ(store.append(sample_record(1e-3)).error().message, message);
  EXPECT_EQ(store.known_as(sample_record(1e-3).task).error().message, message);
  EXPECT_EQ(store.count({}).value(), 0);
}

TEST_F(Durability, WhoKeepsAsideAtOnceKeepsInFilesOfTheirOwn) {
  constexpr int kWriters = 8;
  const RecordStore store = RecordStore::open(file()).value();
  const std::vector<Record> records = {sample_record(1e-3)};
  std::vector<pid_t> children;
  for (int i = 0; i < kWriters; ++i) {
    children.push_back(start_child(
        [&] { return store.keep_aside(records, {}).message.find("kept in") == std::string::npos ? 1 : 0; }));
  }
  for (const pid_t child : children) EXPECT_EQ(exit_status(child), 0);
  EXPECT_EQ(RecordStore::open_read_only(file() + ".saved")->count({}).value(), 1);
  for (int i = 2; i <= kWriters; ++i)
    EXPECT_EQ(RecordStore::open_read_only(fmt::format("{}.saved.{}", file(), i))->count({}).value(), 1);
}

std::string moved_message(const std::string& file, const std::string& copy) {
  return "the records file " + file +
         " was removed or replaced while it was in use; what it held is kept in " + copy;
}

TEST_F(Durability, ARemovedFileIsNoticedAndWhatItHeldIsKept) {
  RecordStore store = RecordStore::open(file()).value();
  ASSERT_TRUE(store.append(sample_record(1e-3)).has_value());
  ASSERT_EQ(unlink(file().c_str()), 0);
  const auto id = store.append(sample_record(2e-3));
  ASSERT_FALSE(id.has_value());
  EXPECT_EQ(id.error().message, moved_message(file(), file() + ".saved"));
  EXPECT_EQ(RecordStore::open_read_only(file() + ".saved")->count({}).value(), 2);
  // Said again, not saved again.
  EXPECT_EQ(store.append(sample_record(3e-3)).error().message, id.error().message);
  EXPECT_EQ(RecordStore::open_read_only(file() + ".saved")->count({}).value(), 2);

  RecordStore second = RecordStore::open(file()).value();
  ASSERT_TRUE(second.append(sample_record(1e-3)).has_value());
  ASSERT_EQ(unlink(file().c_str()), 0);
  EXPECT_EQ(second.add_samples(1, std::vector{5e-4}).error().message,
            moved_message(file(), file() + ".saved.2"));
  EXPECT_EQ(RecordStore::open_read_only(file() + ".saved.2")->by_id(1)->measurement.samples.back(), 5e-4);
}

TEST_F(Durability, AFileThatTookThePlaceIsLeftAlone) {
  const std::string other = file() + ".other";
  {
    ASSERT_TRUE(RecordStore::open(other)->append_all(std::vector(3, sample_record(1e-3))).has_value());
  }
  {
    RecordStore store = RecordStore::open(file()).value();
    ASSERT_TRUE(store.append_all(std::vector(50, sample_record(2e-3))).has_value());
    ASSERT_EQ(rename(other.c_str(), file().c_str()), 0);
    EXPECT_EQ(store.mark_failed(1, {ErrorKind::wrong_result, "it is wrong"}, 1e-5).error().message,
              moved_message(file(), file() + ".saved"));
  }
  EXPECT_EQ(RecordStore::open(file())->count({}).value(), 3);
  EXPECT_EQ(RecordStore::open_read_only(file() + ".saved")->count({}).value(), 50);
}

TEST_F(Durability, WhereItsFolderIsGoneWhatAFileHeldIsKeptElsewhere) {
  const std::string name = fmt::format("lathe-gone-{}.db", getpid());
  const std::string path = (folder_.path() / name).string();
  RecordStore store = RecordStore::open(path).value();
  ASSERT_TRUE(store.append(sample_record(1e-3)).has_value());
  ASSERT_GT(std::filesystem::remove_all(folder_.path()), 0U);
  const auto id = store.append(sample_record(2e-3));
  ASSERT_FALSE(id.has_value());
  const std::string place = fmt::format("/tmp/{}.saved", name);
  EXPECT_EQ(id.error().message, moved_message(path, place));
  EXPECT_EQ(RecordStore::open_read_only(place)->count({}).value(), 2);
  std::filesystem::remove(place);
}

TEST_F(Durability, WhereNothingCanBeKeptTheErrorSaysSo) {
  const std::string message = message_of_child([&]() -> std::string {
    RecordStore store = RecordStore::open(file()).value();
    std::filesystem::remove_all(folder_.path());
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{16, 16};
    setrlimit(RLIMIT_FSIZE, &limit);
    return store.append(sample_record(1e-3)).error().message;
  });
  EXPECT_EQ(message.find("the records file " + file() +
                         " was removed or replaced while it was in use; what it held could not be kept in " +
                         file() + ".saved: "),
            0U)
      << message;
}

TEST_F(Durability, ThroughALinkTheLogIsReadToo) {
  const std::string link = file() + ".link";
  std::filesystem::create_symlink(file(), link);
  RecordStore writer = RecordStore::open(file()).value();
  ASSERT_TRUE(writer.append(sample_record(1e-3)).has_value());
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(file(), std::filesystem::perms(0644));
  for (const char* part : {"-wal", "-shm"})
    std::filesystem::permissions(file() + part, std::filesystem::perms(0644));
  EXPECT_EQ(message_as_stranger([&]() -> std::string {
              const Result<RecordStore> reader = RecordStore::open_read_only(link);
              return reader ? std::to_string(reader->count({}).value()) : reader.error().message;
            }),
            "1");
}

// SQLite would delete it as that of a file that is made there anew.
TEST_F(Durability, ALogWhoseFileIsGoneIsKept) {
  const std::string log = file() + "-wal";
  std::ofstream(log) << "measurements";
  for (const bool is_empty : {false, true}) {
    if (is_empty) std::ofstream(file()).flush();
    EXPECT_EQ(
        RecordStore::open(file()).error().message,
        fmt::format("the records file {} is gone, but its log {}, which holds what was measured last, is "
                    "there: move the file back beside it, or remove the log",
                    file(), log));
    EXPECT_EQ(std::filesystem::file_size(log), 12);
  }
}

TEST_F(Durability, WhoMayNotWriteTheFileLeavesNothingBesideIt) {
  {
    RecordStore store = RecordStore::open(file()).value();
    ASSERT_TRUE(store.append(sample_record(1e-3)).has_value());
  }
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0777));
  std::filesystem::permissions(file(), std::filesystem::perms(0644));
  EXPECT_EQ(message_as_stranger([&] { return RecordStore::open(file()).error().message; }),
            "the records file " + file() + " cannot be written: it is read-only");
  EXPECT_FALSE(std::filesystem::exists(file() + "-wal"));
  EXPECT_FALSE(std::filesystem::exists(file() + "-shm"));
}

TEST_F(Durability, AReaderSeesWhatAWriterHasAppended) {
  RecordStore writer = RecordStore::open(file()).value();
  RecordStore reader = RecordStore::open_read_only(file()).value();
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(writer.append(sample_record(1e-3)).has_value());
    EXPECT_EQ(reader.count({}).value(), i);
  }
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

// A log that stayed would be merged into whatever file has its name next.
TEST_F(Durability, WhoeverClosesLastLeavesTheFileAlone) {
  auto writer = RecordStore::open(file());
  ASSERT_TRUE(writer->append(sample_record(1e-3)).has_value());
  {
    const RecordStore reader = RecordStore::open_read_only(file()).value();
    writer = std::unexpected(Error{});
    EXPECT_EQ(reader.count({}).value(), 1);
  }
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"records.db"});
  EXPECT_EQ(Connection::open(file(), false, true)->integer("SELECT count(*) FROM records").value(), 1);
  EXPECT_EQ(RecordStore::open_read_only(file())->count({}).value(), 1);
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"records.db"});
}

TEST_F(Durability, AReaderMergesTheLogOfAWriterThatWasKilled) {
  const pid_t child = start_child([&] {
    RecordStore store = RecordStore::open(file()).value();
    store.append(sample_record(1e-3)).value();
    return kill(getpid(), SIGKILL);
  });
  EXPECT_EQ(exit_status(child), -1);
  EXPECT_EQ(names_in(folder_.path()).size(), 3U);
  EXPECT_EQ(RecordStore::open_read_only(file())->count({}).value(), 1);
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"records.db"});
}

TEST_F(Durability, NothingIsMadeOrChangedBesideAFileThatIsNotOurs) {
  {
    Connection other = Connection::open(file(), true).value();
    ASSERT_TRUE(other.execute("PRAGMA journal_mode = WAL; CREATE TABLE mine (x)").has_value());
  }
  ASSERT_FALSE(RecordStore::open_read_only(file()).has_value());
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"records.db"});
  const pid_t child = start_child([&] {
    Connection other = Connection::open(file(), true).value();
    other.execute("INSERT INTO mine VALUES (1)").value();
    return kill(getpid(), SIGKILL);
  });
  EXPECT_EQ(exit_status(child), -1);
  const auto log_bytes = [&] { return std::filesystem::file_size(file() + "-wal"); };
  const auto before = log_bytes();
  EXPECT_EQ(
      RecordStore::open_read_only(file()).error().message,
      fmt::format("{} is not a Lathe records file: it is an SQLite database of another program", file()));
  EXPECT_EQ(log_bytes(), before);
}

// A log made by one who may not write the file would lock its owner out.
TEST_F(Durability, NothingIsMadeBesideAFileThatMayOnlyBeRead) {
  {
    ASSERT_TRUE(RecordStore::open(file())->append(sample_record(1e-3)).has_value());
  }
  ASSERT_EQ(chmod(file().c_str(), 0444), 0);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0777), 0);
  const auto count = [&]() -> std::string {
    auto store = RecordStore::open_read_only(file());
    return store ? std::to_string(store->count({}).value()) : store.error().message;
  };
  EXPECT_EQ(message_as_stranger(count), "1");
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"records.db"});
  // The other way round: no file can be made beside it.
  ASSERT_EQ(chmod(file().c_str(), 0666), 0);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0555), 0);
  EXPECT_EQ(message_as_stranger(count), "1");
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
}

TEST_F(Durability, WhenTheFileMayNotGrowNothingIsLostAndTheErrorIsOneSentence) {
  const std::string message = message_of_child([&]() -> std::string {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{300'000, 300'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    auto store = RecordStore::open(file());
    if (!store) return "not opened: " + store.error().message;
    for (int appended = 0;; ++appended) {
      const auto id = store->append(sample_record(1e-3));
      if (!id) return std::to_string(appended) + " " + id.error().message;
    }
  });
  const int appended = std::stoi(message);
  EXPECT_GT(appended, 10);
  EXPECT_EQ(message.substr(message.find(' ') + 1),
            "reading or writing the records file " + file() + " failed: disk I/O error (File too large)");
  EXPECT_EQ(RecordStore::open(file())->count({}).value(), appended);
}

TEST_F(Durability, AFileThatCannotBeWrittenIsFoundOutAtOpening) {
  {
    ASSERT_TRUE(RecordStore::open(file()).has_value());
  }
  const std::string message = message_of_child([&]() -> std::string {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{16, 16};
    setrlimit(RLIMIT_FSIZE, &limit);
    auto store = RecordStore::open(file());
    return store ? "opened" : store.error().message;
  });
  EXPECT_EQ(message,
            "reading or writing the records file " + file() + " failed: disk I/O error (File too large)");
}

TEST_F(Durability, AReadOnlyFileIsReadAndNotWritten) {
  {
    ASSERT_TRUE(RecordStore::open(file())->append(sample_record(1e-3)).has_value());
  }
  ASSERT_EQ(chmod(file().c_str(), 0444), 0);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0555), 0);
  const std::string written = message_as_stranger([&]() -> std::string {
    auto store = RecordStore::open(file());
    return store ? "opened" : store.error().message;
  });
  const std::string read = message_as_stranger([&]() -> std::string {
    auto store = RecordStore::open_read_only(file());
    return store ? std::to_string(store->count({}).value()) : store.error().message;
  });
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  EXPECT_EQ(written, "the records file " + file() + " cannot be written: it is read-only");
  EXPECT_EQ(read, "1");
}

TEST_F(Durability, ADirectoryThatTakesNoNewFileIsOneSentence) {
  ASSERT_EQ(chmod(folder_.path().c_str(), 0555), 0);
  const std::string message = message_as_stranger([&]() -> std::string {
    auto store = RecordStore::open(file());
    return store ? "opened" : store.error().message;
  });
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  EXPECT_EQ(message, "the records file " + file() +
                         " cannot be written: no file can be made in the directory " +
                         folder_.path().string() + ": Permission denied");
}

// SQLite keeps its log beside the file.
TEST_F(Durability, AFileThatMayBeWrittenInADirectoryThatMayNotIsOneSentence) {
  {
    ASSERT_TRUE(RecordStore::open(file())->append(sample_record(1e-3)).has_value());
  }
  ASSERT_EQ(chmod(file().c_str(), 0666), 0);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0555), 0);
  const std::string message = message_as_stranger([&]() -> std::string {
    auto store = RecordStore::open(file());
    return store ? "opened" : store.error().message;
  });
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  EXPECT_EQ(message, "the records file " + file() +
                         " cannot be written: no file can be made in the directory " +
                         folder_.path().string() + ": Permission denied");
}

}  // namespace
}  // namespace lathe
