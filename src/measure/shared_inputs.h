// The buffers that one measuring process shares with its worker: inputs kept by identity from one candidate
// to the next, outputs reused while their size stays. Not thread-safe.
#pragma once

#include <list>
#include <vector>

#include "base/result.h"
#include "measure/measurer.h"
#include "measure/shared_memory.h"

namespace lathe {

class SharedInputs {
 public:
  // Keeps at most so many bytes of inputs, or those of a large candidate in three layouts: a search comes
  // back to some. With 0 those of the present candidate alone. `memory` must outlive this.
  SharedInputs(SharedMemory& memory, int64_t kept_bytes) : memory_(memory), kept_bytes_(kept_bytes) {}

  // Makes room for all of a module's buffers and writes inputs that are not there yet. Returns each buffer's
  // offset.
  Result<std::vector<int64_t>> share(const Module& module, const std::vector<MeasureInput>& inputs);

  // The output bytes of the module that was shared last, in the order of its output buffers.
  std::vector<std::span<const std::byte>> outputs(const Module& module) const;

  // How often an input was written.
  int64_t copies() const { return copies_; }

 private:
  struct Entry {
    uint64_t id = 0;
    uint64_t generation = 0;
    int64_t last_use = 0;
    SharedBuffer buffer;
  };
  Result<int64_t> share_input(const ModuleBuffer& buffer, const MeasureInput& input);
  Result<int64_t> share_output(size_t slot, int64_t bytes);
  // Drops what was not used for longest, where the present candidate's inputs take so many bytes.
  void drop_unused(int64_t present);

  SharedMemory& memory_;
  int64_t kept_bytes_;
  int64_t use_ = 0;  // counts calls of share
  int64_t copies_ = 0;
  std::list<Entry> inputs_;
  std::vector<SharedBuffer> outputs_;
};

}  // namespace lathe
