// What a Compiled (lathe/artifact.h) holds.
#pragma once

#include <optional>

#include "artifact/model.h"
#include "lathe/artifact.h"

namespace lathe {

struct Compiled::State {
  Model model;
};

// "full", "sampled" or "none", and none for an empty text. An Error names these.
Result<std::optional<Checked>> parse_checked(const std::string& text);

}  // namespace lathe
