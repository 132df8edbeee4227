// A candidate of machine code that the worker itself runs.
#pragma once

#include "measure/candidate/candidate.h"

namespace lathe {

// As open_candidate (candidate.h), of modules of kObjectForm.
Result<std::unique_ptr<Candidate>> open_processor_candidate(const TrialRequest& request,
                                                            CandidateMemory& memory,
                                                            const LatheParallel* pool, WorkerStatus& status);

}  // namespace lathe
