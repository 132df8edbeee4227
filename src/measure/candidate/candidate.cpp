#include "measure/candidate/candidate.h"

#include "measure/candidate/device_candidate.h"
#include "measure/candidate/processor_candidate.h"

namespace lathe {

Result<std::unique_ptr<Candidate>> open_candidate(const TrialRequest& request, CandidateMemory& memory,
                                                  const LatheParallel* pool, WorkerStatus& status) {
  if (request.module.form == kObjectForm) return open_processor_candidate(request, memory, pool, status);
  return open_device_candidate(request, memory, status);
}

}  // namespace lathe
