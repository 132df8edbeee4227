// Records files: every query answers, or says in one sentence what is damaged.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "records/record_store.h"
#include "round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lathe;
  const std::string path = "/dev/shm/lathe-fuzz-records-" + std::to_string(getpid()) + ".db";
  std::ofstream(path, std::ios::binary) << fuzz::as_text(data, size);
  for (const bool writes : {false, true}) {
    auto store = writes ? RecordStore::open(path) : RecordStore::open_read_only(path);
    if (!store) continue;
    const auto tasks = store->tasks({});
    LATHE_CHECK(tasks || !tasks.error().message.empty());
    static_cast<void>(store->find({}));
    static_cast<void>(store->best({}));
    static_cast<void>(store->by_id(1));
    static_cast<void>(store->task({.hash = 1}));
    const auto texts = store->task_texts();
    LATHE_CHECK(texts || !texts.error().message.empty());
    if (!texts) continue;
    for (const TaskText& text : *texts) {
      static_cast<void>(store->task(text));
      if (writes) static_cast<void>(store->known_as(text));
    }
  }
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) std::remove((path + suffix).c_str());
  return 0;
}
