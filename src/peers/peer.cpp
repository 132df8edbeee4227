#include "peers/peer.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace lathe {
namespace {

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};

// Why the system did not load a file; it mostly begins with the file's path.
std::string loader_reason(const std::string& path) {
  const char* text = dlerror();
  const std::string reason = text == nullptr ? "the system gives no reason" : text;
  const std::string prefix = path + ": ";
  return reason.starts_with(prefix) ? reason.substr(prefix.size()) : reason;
}

bool is_empty(const char* text) { return text == nullptr || *text == '\0'; }

bool is_whole(const LathePeer& peer) {
  const bool has_functions = peer.open != nullptr && peer.run != nullptr && peer.read != nullptr &&
                             peer.close != nullptr && peer.error != nullptr;
  if (!has_functions || is_empty(peer.name) || peer.form_count < 1 || peer.forms == nullptr) return false;
  return std::all_of(peer.forms, peer.forms + peer.form_count, [](const LathePeerForm& form) {
    return !is_empty(form.name) && form.algorithm != nullptr;
  });
}

// The version comes first: of another one nothing else is known.
Status check(const LathePeer* peer, const std::string& path) {
  if (peer == nullptr) return fail(ErrorKind::load, "the plug-in has no table of functions", path);
  if (peer->abi_version != LATHE_PEER_ABI_VERSION) {
    return fail(
        ErrorKind::load,
        fmt::format("the plug-in is built for version {} of the face of peers, and this Lathe has version {}",
                    peer->abi_version, LATHE_PEER_ABI_VERSION),
        path);
  }
  if (is_whole(*peer)) return {};
  return fail(ErrorKind::load, "the plug-in's table lacks a function, a name or the forms", path);
}

Status outcome(const LathePeer& peer, int code) {
  if (code == LATHE_PEER_OK) return {};
  const char* reason = peer.error();
  return fail(code == LATHE_PEER_UNSUPPORTED ? ErrorKind::unsupported : ErrorKind::io,
              is_empty(reason) ? "the plug-in gives no reason" : reason);
}

}  // namespace

Status PeerCase::run() { return outcome(*functions_, functions_->run(opened_.get())); }

Status PeerCase::read(std::span<float> output) {
  return outcome(*functions_,
                 functions_->read(opened_.get(), output.data(), static_cast<int64_t>(output.size())));
}

Result<Peer> Peer::load(const std::string& path) {
  std::error_code ignored;
  const std::string absolute = std::filesystem::absolute(path, ignored).string();
  // NOW: a library that is missing is found out here and not in the middle of a measurement. NODELETE: what
  // has started threads cannot be unloaded.
  const std::unique_ptr<void, CloseLibrary> library(
      dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
  if (!library) {
    return fail(ErrorKind::load, fmt::format("the plug-in cannot be loaded: {}", loader_reason(absolute)),
                path);
  }
  const auto entry = reinterpret_cast<decltype(&lathe_peer)>(dlsym(library.get(), "lathe_peer"));
  if (entry == nullptr) {
    return fail(ErrorKind::load, "this is no plug-in of a peer, it exports no function lathe_peer", path);
  }
  Peer peer;
  peer.functions_ = entry();
  LATHE_TRY_STATUS(check(peer.functions_, path));
  peer.name_ = peer.functions_->name;
  for (const LathePeerForm& form : std::span(peer.functions_->forms, peer.functions_->form_count)) {
    peer.forms_.push_back({form.name, form.algorithm});
  }
  return peer;
}

Result<PeerCase> Peer::open(size_t form, const std::string& entry, int cores,
                            std::span<const std::span<const float>> inputs) const {
  std::vector<LathePeerInput> arguments;
  for (const std::span<const float> input : inputs) {
    arguments.push_back({input.data(), static_cast<int64_t>(input.size())});
  }
  LathePeerCase* opened = nullptr;
  LATHE_TRY_STATUS(outcome(
      *functions_, functions_->open(static_cast<int32_t>(form), entry.c_str(), cores, arguments.data(),
                                    static_cast<int32_t>(arguments.size()), &opened)));
  return PeerCase(functions_, opened);
}

std::vector<std::string> find_peers(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  std::filesystem::directory_iterator file(folder, error);
  for (; !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
    const std::string name = file->path().filename().string();
    if (name.starts_with("lathe_peer_") && name.ends_with(".so")) paths.push_back(file->path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

Result<std::vector<Peer>> load_peers(const std::vector<std::string>& paths) {
  std::vector<Peer> peers;
  std::set<std::string> names;
  for (const std::string& path : paths) {
    LATHE_TRY(Peer peer, Peer::load(path));
    for (const PeerForm& form : peer.forms()) {
      if (names.insert(form.name).second) continue;
      return fail(ErrorKind::load, fmt::format("the peers have a second form of the name '{}'", form.name),
                  path);
    }
    peers.push_back(std::move(peer));
  }
  return peers;
}

}  // namespace lathe
