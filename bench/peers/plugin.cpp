#include "bench/peers/plugin.h"

#include <nlohmann/json.hpp>

struct LathePeerCase {
  std::unique_ptr<lathe::peers::Case> work;
};

namespace lathe::peers {

Entry::Entry(const std::string& text) {
  const auto entry = nlohmann::json::parse(text);
  op_ = entry.at("op").get<std::string>();
  for (const auto& [key, value] : entry.items()) {
    if (value.is_number_integer()) parameters_[key] = value.get<int64_t>();
  }
}

int64_t Entry::operator[](const std::string& name) const {
  const auto found = parameters_.find(name);
  if (found == parameters_.end()) throw std::runtime_error("the case has no parameter '" + name + "'");
  return found->second;
}

int64_t Entry::value_or(const std::string& name, int64_t fallback) const {
  const auto found = parameters_.find(name);
  return found == parameters_.end() ? fallback : found->second;
}

std::span<const float> Request::input(size_t place, int64_t elements) const {
  if (place >= inputs.size()) throw std::runtime_error("the case lacks input " + std::to_string(place));
  const LathePeerInput& input = inputs[place];
  if (input.elements != elements) {
    throw std::runtime_error("input " + std::to_string(place) + " has " + std::to_string(input.elements) +
                             " elements where the formula has " + std::to_string(elements));
  }
  return {input.values, static_cast<size_t>(elements)};
}

namespace {

std::string& last_error() {
  thread_local std::string text;
  return text;
}

// No exception leaves the plug-in.
template <class Work>
int guarded(const Work& work) {
  try {
    work();
    return LATHE_PEER_OK;
  } catch (const Unsupported& reason) {
    last_error() = reason.what();
    return LATHE_PEER_UNSUPPORTED;
  } catch (const std::exception& reason) {
    last_error() = reason.what();
    return LATHE_PEER_FAILED;
  }
}

const Plugin& plugin() {
  static const Plugin described = describe_plugin();
  return described;
}

int open_case(int32_t form, const char* entry, int32_t cores, const LathePeerInput* inputs,
              int32_t input_count, LathePeerCase** opened) {
  return guarded([&] {
    const Request request{Entry(entry), cores, {inputs, static_cast<size_t>(input_count)}};
    auto made = std::make_unique<LathePeerCase>();
    made->work = plugin().forms.at(static_cast<size_t>(form)).open(request);
    *opened = made.release();
  });
}

int run_case(LathePeerCase* opened) {
  return guarded([&] { opened->work->run(); });
}

int read_case(LathePeerCase* opened, float* output, int64_t elements) {
  return guarded([&] { opened->work->read({output, static_cast<size_t>(elements)}); });
}

void close_case(LathePeerCase* opened) { delete opened; }

const char* describe_error() { return last_error().c_str(); }

}  // namespace
}  // namespace lathe::peers

const LathePeer* lathe_peer() {
  using namespace lathe::peers;
  static const std::vector<LathePeerForm> forms = [] {
    std::vector<LathePeerForm> list;
    for (const Form& form : plugin().forms) list.push_back({form.name, form.algorithm});
    return list;
  }();
  static const LathePeer table{LATHE_PEER_ABI_VERSION,
                               static_cast<int32_t>(forms.size()),
                               plugin().name.c_str(),
                               forms.data(),
                               open_case,
                               run_case,
                               read_case,
                               close_case,
                               describe_error};
  return &table;
}
