// Where an error lies that knows its place within a file or record, but not which one that is.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace lathe {

// The same Result; an Error's place is now "place: where".
template <class T>
Result<T> within(const std::string& place, Result<T> result) {
  if (result) return result;
  std::string& where = result.error().where;
  where = where.empty() ? place : place + ": " + where;
  return result;
}

}  // namespace lathe
