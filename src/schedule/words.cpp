#include "schedule/words.h"

#include "schedule/primitive.h"

namespace lathe {

std::string in_words(const Step& step) {
  return std::visit([](const auto& kind) { return describe(kind); }, step);
}

std::string subject_of(const Step& step) {
  return std::visit(
      [](const auto& kind) -> std::string {
        if constexpr (requires { kind.block; }) {
          return kind.block;
        } else if constexpr (requires { kind.tensor; }) {
          return kind.tensor;
        } else {
          return kind.stage;
        }
      },
      step);
}

}  // namespace lathe
