// A candidate for a device with memory of its own: what the parent shares is copied there and back.
#pragma once

#include "measure/candidate/candidate.h"

namespace lathe {

// As open_candidate (candidate.h), of modules that a device takes (runtime/device.h). Caches are left as they
// are, whatever a TimingRequest says.
Result<std::unique_ptr<Candidate>> open_device_candidate(const TrialRequest& request, CandidateMemory& memory,
                                                         WorkerStatus& status);

}  // namespace lathe
