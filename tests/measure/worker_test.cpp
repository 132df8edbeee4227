#include "measure/worker.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lathe {
namespace {

// The other end takes nothing any more, as after a parent's end, but has not hung up: the worker learns it
// from what it sends, not from its watch over the socket.
TEST(Worker, EndsQuietlyWhenItsParentCannotBeReached) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  ASSERT_EQ(shutdown(ends[1], SHUT_RD), 0);
  const int memory = memfd_create("worker-test", 0);
  ASSERT_EQ(ftruncate(memory, 1 << 20), 0);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    const Status status =
        run_worker({.socket = ends[0], .shared_memory = memory, .parent = parent, .cpus = {0}});
    _exit(status.has_value() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  close(ends[0]);
  close(ends[1]);
  close(memory);
}

}  // namespace
}  // namespace lathe
