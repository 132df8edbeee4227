// Several functions as one, for std::visit: each alternative of a variant finds the one for its type.
#pragma once

namespace lathe {

template <class... Arms>
struct Overloaded : Arms... {
  using Arms::operator()...;
};

}  // namespace lathe
