// How a long function says something in between: a sentence, for whoever shows it.
#pragma once

#include <functional>
#include <string>

#include "base/watch.h"

namespace lathe {

// Takes a sentence without a full stop. Called in the thread that called the function; may be empty.
using Teller = std::function<void(const std::string&)>;
inline void tell(const Teller& teller, const std::string& sentence) {
  if (teller) teller(sentence);
}

// Told of what lasts.
using WorkObserver = std::function<void(const WorkState&)>;

}  // namespace lathe
