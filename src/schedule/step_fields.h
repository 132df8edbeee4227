// How a step declares its text beside its struct (schedule/trace.h): a keyword, then the fields in the order
// in which they stand. `kFields` is a tuple of them; each is a pointer to a member, whose type says how it is
// written, or such a pointer with a key. trace_text.cpp prints and reads all steps by what they declare.
//
//   std::string                     a name
//   int64_t                         an integer
//   Scope, Tail                     the enumerator's name
//   std::optional<DType>            a type; only as an Option
//   Layout                          [0][1/16][1%16]
//   std::vector<int64_t>            [4 8]
//   std::vector<std::string>        names up to the end of the line; only as the last field
//   std::map<std::string, int64_t>  key=N .., as many as there are; only as the last field
#pragma once

#include <string_view>

namespace lathe {

// key=VALUE.
template <class StepKind, class Value>
struct Keyed {
  std::string_view key;
  Value StepKind::* member;
};

// key=VALUE, left out where the value is the member's default.
template <class StepKind, class Value>
struct Option {
  std::string_view key;
  Value StepKind::* member;
};

}  // namespace lathe
