// What the measuring process and its worker say to each other over a stream socket. A message is a header
// (kind, length) and a payload of fixed-width integers, doubles and length-prefixed strings in the machine's
// own byte order: both ends are one build on one machine, and the greeting carries a version. Buffers never
// travel here, they lie in shared memory (shared_memory.h).
//
//   parent                      worker
//                               <-  Greeting             once, when it is ready
//   TrialRequest            ->                           load, prepare, run once
//                               <-  FirstRun | Failure
//   TimingRequest           ->                           only if the outputs are right, else the next trial
//                               <-  Samples | Failure
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "measure/timing.h"
#include "module/module.h"

namespace lathe {

constexpr int64_t kProtocolVersion = 5;

struct Greeting {
  int64_t version = kProtocolVersion;
};

struct TrialRequest {
  Module module;
  std::vector<int64_t> offsets;  // of each buffer in the shared memory; unused for prepared ones
  bool is_timed = false;         // whether a TimingRequest may follow, until which the candidate stays
};

struct FirstRun {
  double seconds = 0;
};

struct TimingRequest {
  TimingOptions timing;
  double give_up_seconds = 0;  // a run that takes longer is the only one; 0: never
  double rough_seconds = 0;    // of a run that takes longer only kFewestSamples are taken; 0: never
  bool runs_cold = false;      // as in MeasureInputs
};

struct Samples {
  std::vector<double> seconds;
  bool timed_once = false;
};

struct Failure {
  ErrorKind kind = ErrorKind::crash;
  std::string message;
};

using Message = std::variant<Greeting, TrialRequest, FirstRun, TimingRequest, Samples, Failure>;

// Sends one message; an io error once the other end is gone.
Status send_message(int socket, Message message);

// Waits for one message: a timeout error after so many seconds (negative: waits for ever), a crash error if
// the other end is gone, an io error if what came is no message.
Result<Message> receive_message(int socket, double timeout_seconds);
// Whether a message, or the other side's end, comes within so many seconds.
bool is_readable_within(int socket, double seconds);

}  // namespace lathe
