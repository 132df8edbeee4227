// The recorded list: a case a line, with the hashes of all its kernels.
//
//   llvm 22.1.0
//   resnet18.C6 x86-avx512 cores=1 free traces=0123abcd,.. objects=.. c=..
//
// A line that ends after its layouts is a case that is still to be recorded.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kernel_hashes.h"

namespace lathe {

struct ReplayCase {
  std::string name;    // of an operator of the workload file or of a network's task
  std::string target;  // its name, and after a + each an extension
  int cores = 1;
  bool free_layouts = false;  // of an operator's arguments; those of a network's task are its own
  std::vector<KernelHashes> recorded;
};

struct ReplayList {
  std::string llvm;  // the version that made the machine code
  std::vector<ReplayCase> cases;
};

std::string print_replay_list(const ReplayList& list);
// Errors name the line.
Result<ReplayList> parse_replay_list(const std::string& text, const std::string& source);

// "resnet18.C6 on x86-avx512": what messages call it.
std::string name_of(const ReplayCase& replayed);

}  // namespace lathe
