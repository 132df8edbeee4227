#include "measure/protocol.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

namespace lathe {
namespace {

// Larger than any object, small enough that a damaged length cannot exhaust memory.
constexpr uint64_t kLongestPayload = uint64_t{1} << 30;

struct Header {
  uint64_t kind = 0;  // the alternative's place in Message
  uint64_t bytes = 0;
};

// Writes a payload. Writer and Reader take the same fields in the same way.
class Writer {
 public:
  explicit Writer(std::string& payload) : payload_(payload) {}
  void operator()(int64_t value) { append(&value, sizeof value); }
  void operator()(double value) { append(&value, sizeof value); }
  void operator()(bool value) { (*this)(int64_t{value}); }
  void operator()(int value) { (*this)(int64_t{value}); }
  void operator()(ErrorKind value) { (*this)(static_cast<int64_t>(value)); }
  void operator()(BufferRole value) { (*this)(static_cast<int64_t>(value)); }
  void operator()(const std::string& text) {
    (*this)(static_cast<int64_t>(text.size()));
    payload_ += text;
  }
  template <class T, class Each>
  void list(std::vector<T>& values, Each each) {
    (*this)(static_cast<int64_t>(values.size()));
    for (T& value : values) each(value);
  }

 private:
  void append(const void* data, size_t bytes) { payload_.append(static_cast<const char*>(data), bytes); }
  std::string& payload_;
};

// Reads a payload; `ok` is false once it did not fit the fields.
class Reader {
 public:
  explicit Reader(std::string_view payload) : rest_(payload) {}
  void operator()(int64_t& value) { take(&value, sizeof value); }
  void operator()(double& value) { take(&value, sizeof value); }
  void operator()(bool& value) { value = next() != 0; }
  void operator()(int& value) { value = static_cast<int>(next()); }
  void operator()(ErrorKind& value) { value = static_cast<ErrorKind>(next()); }
  void operator()(BufferRole& value) { value = static_cast<BufferRole>(next()); }
  void operator()(std::string& text) {
    const uint64_t bytes = static_cast<uint64_t>(next());
    if (bytes > rest_.size()) return fail();
    text.assign(rest_.substr(0, bytes));
    rest_.remove_prefix(bytes);
  }
  template <class T, class Each>
  void list(std::vector<T>& values, Each each) {
    const uint64_t count = static_cast<uint64_t>(next());
    if (count > rest_.size() / sizeof(int64_t)) return fail();  // no element is shorter
    values.resize(count);
    for (T& value : values) each(value);
  }
  bool ok() const { return ok_ && rest_.empty(); }

 private:
  int64_t next() {
    int64_t value = 0;
    take(&value, sizeof value);
    return value;
  }
  void take(void* value, size_t bytes) {
    if (bytes > rest_.size()) return fail();
    std::memcpy(value, rest_.data(), bytes);
    rest_.remove_prefix(bytes);
  }
  void fail() {
    ok_ = false;
    rest_ = {};
  }
  std::string_view rest_;
  bool ok_ = true;
};

// The fields of each message, in order: one list serves writing and reading.
template <class Archive>
void fields(Archive& archive, Greeting& message) {
  archive(message.version);
}

template <class Archive>
void launches(Archive& archive, std::vector<KernelLaunch>& kernels) {
  archive.list(kernels, [&](KernelLaunch& kernel) {
    archive(kernel.function);
    archive(kernel.blocks);
    archive(kernel.threads);
    archive.list(kernel.buffers, [&](int& buffer) { archive(buffer); });
    archive(kernel.needs_workspace);
  });
}

template <class Archive>
void fields(Archive& archive, TrialRequest& message) {
  Module& module = message.module;
  archive(module.form);
  archive(module.object);
  launches(archive, module.kernels);
  launches(archive, module.prepare_kernels);
  archive(module.kernel_symbol);
  archive(module.prepare_symbol);
  archive.list(module.buffers, [&](ModuleBuffer& buffer) {
    archive(buffer.name);
    archive(buffer.role);
    archive(buffer.bytes);
  });
  archive(module.workspace_bytes);
  archive(module.threads);
  archive(message.is_timed);
  archive.list(message.offsets, [&](int64_t& offset) { archive(offset); });
}

template <class Archive>
void fields(Archive& archive, FirstRun& message) {
  archive(message.seconds);
}

template <class Archive>
void fields(Archive& archive, TimingRequest& message) {
  archive(message.timing.sample_seconds);
  archive(message.timing.min_samples);
  archive(message.timing.max_samples);
  archive(message.timing.target_spread);
  archive(message.timing.budget_seconds);
  archive(message.timing.warm_up_seconds);
  archive(message.give_up_seconds);
  archive(message.rough_seconds);
  archive(message.runs_cold);
}

template <class Archive>
void fields(Archive& archive, Samples& message) {
  archive.list(message.seconds, [&](double& value) { archive(value); });
  archive(message.timed_once);
}

template <class Archive>
void fields(Archive& archive, Failure& message) {
  archive(message.kind);
  archive(message.message);
}

template <size_t Index = 0>
Result<Message> decode(uint64_t kind, std::string_view payload) {
  if constexpr (Index < std::variant_size_v<Message>) {
    if (kind != Index) return decode<Index + 1>(kind, payload);
    std::variant_alternative_t<Index, Message> message;
    Reader reader(payload);
    fields(reader, message);
    if (reader.ok()) return message;
  }
  return fail(ErrorKind::io, "the worker and its parent do not understand each other");
}

std::unexpected<Error> gone() {
  return fail(ErrorKind::crash, "the other end of the worker's socket is gone");
}

// Waits in short pieces: where one took much longer, this process was stopped meanwhile (Ctrl-Z) and with it
// the other end, or the machine slept. The deadline, where it is not negative, is put off by that time.
Status wait_readable(int socket, double& deadline) {
  constexpr double kPiece = 0.5;
  while (true) {
    const double before = monotonic_seconds();
    const double piece = std::clamp(deadline - before, 0.0, kPiece);
    const int milliseconds = deadline < 0 ? -1 : static_cast<int>(std::ceil(piece * 1e3));
    pollfd poll_entry{.fd = socket, .events = POLLIN, .revents = 0};
    const int ready = poll(&poll_entry, 1, milliseconds);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return gone();
    if (deadline < 0) continue;
    const double after = monotonic_seconds();
    if (after - before > piece + kPiece) deadline += after - before - piece;
    if (ready == 0 && after >= deadline) return fail(ErrorKind::timeout, "no message came in time");
  }
}

Status receive_bytes(int socket, void* data, size_t bytes, double& deadline) {
  char* at = static_cast<char*>(data);
  while (bytes > 0) {
    LATHE_TRY_STATUS(wait_readable(socket, deadline));
    const ssize_t got = recv(socket, at, bytes, MSG_DONTWAIT);
    if (got > 0) {
      at += got;
      bytes -= static_cast<size_t>(got);
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      return gone();
    }
  }
  return {};
}

}  // namespace

Status send_message(int socket, Message message) {
  std::string bytes(sizeof(Header), '\0');
  Writer writer(bytes);
  std::visit([&](auto& value) { fields(writer, value); }, message);
  const Header header = {.kind = message.index(), .bytes = bytes.size() - sizeof(Header)};
  std::memcpy(bytes.data(), &header, sizeof header);
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t sent = send(socket, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      rest.remove_prefix(static_cast<size_t>(sent));
    } else if (errno != EINTR) {
      return fail(ErrorKind::io, fmt::format("cannot reach the worker: {}", std::strerror(errno)));
    }
  }
  return {};
}

bool is_readable_within(int socket, double seconds) {
  double deadline = monotonic_seconds() + seconds;
  const Status readable = wait_readable(socket, deadline);
  return readable.has_value() || readable.error().kind != ErrorKind::timeout;
}

Result<Message> receive_message(int socket, double timeout_seconds) {
  double deadline = timeout_seconds < 0 ? -1 : monotonic_seconds() + timeout_seconds;
  Header header;
  LATHE_TRY_STATUS(receive_bytes(socket, &header, sizeof header, deadline));
  if (header.bytes > kLongestPayload) return decode(std::variant_size_v<Message>, {});
  std::string payload(header.bytes, '\0');
  LATHE_TRY_STATUS(receive_bytes(socket, payload.data(), payload.size(), deadline));
  return decode(header.kind, payload);
}

}  // namespace lathe
