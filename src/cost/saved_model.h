// A fitted model as bytes: one line of JSON that says what it is, then its numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cost/feature_set.h"

namespace lathe {

struct SavedModel {
  std::string model;  // a row of the table of models, with what it is set to
  FeatureKind features = FeatureKind::summary;
  int64_t columns = 0;  // numbers in a row of these
  std::string numbers;  // whatever the model makes of them
};

std::string bytes_of(const SavedModel& saved);
// Back; an Error names `source` and says what is wrong.
Result<SavedModel> parse_saved_model(std::string_view bytes, const std::string& source);

}  // namespace lathe
