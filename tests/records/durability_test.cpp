// What is acknowledged stays: against kill -9, a second writer, a full disk and a file that cannot be
// written.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "records/record_store.h"
#include "records/sample_record.h"

namespace lathe {
namespace {

// Runs `body` in a child process, whose exit status it gives.
pid_t start_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return child;
}

int exit_status(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Writes the message into the pipe; the parent reads it to the end.
std::string message_of_child(const std::function<std::string()>& body) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = start_child([&] {
    const std::string message = body();
    return write(ends[1], message.data(), message.size()) == static_cast<ssize_t>(message.size()) ? 0 : 1;
  });
  close(ends[1]);
  EXPECT_EQ(exit_status(child), 0);
  std::string message(4096, '\0');
  message.resize(static_cast<size_t>(read(ends[0], message.data(), message.size())));
  close(ends[0]);
  return message;
}

class Durability : public testing::Test {
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
  EXPECT_EQ(second.improve(1, measurement_of({5e-4})).error().message,
            moved_message(file(), file() + ".saved.2"));
  EXPECT_EQ(RecordStore::open_read_only(file() + ".saved.2")->best({}).value()->measurement.seconds, 5e-4);
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

TEST_F(Durability, WhereNothingCanBeKeptTheErrorSaysSo) {
  RecordStore store = RecordStore::open(file()).value();
  ASSERT_GT(std::filesystem::remove_all(folder_.path()), 0U);
  const auto id = store.append(sample_record(1e-3));
  ASSERT_FALSE(id.has_value());
  EXPECT_EQ(id.error().message.find("the records file " + file() +
                                    " was removed or replaced while it was in use; what it held could not be "
                                    "kept in " +
                                    file() + ".saved: "),
            0U)
      << id.error().message;
}

TEST_F(Durability, AReaderSeesWhatAWriterHasAppended) {
  RecordStore writer = RecordStore::open(file()).value();
  RecordStore reader = RecordStore::open_read_only(file()).value();
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(writer.append(sample_record(1e-3)).has_value());
    EXPECT_EQ(reader.count({}).value(), i);
  }
}

TEST_F(Durability, WhenTheFileMayNotGrowNothingIsLostAndTheErrorIsOneSentence) {
  const std::string message = message_of_child([&]() -> std::string {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{200'000, 200'000};
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

// Runs `body` as a user who may not write the files of the one who runs the tests.
std::string message_as_stranger(const std::function<std::string()>& body) {
  return message_of_child([&]() -> std::string {
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return "no stranger";
    return body();
  });
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
