// What every emitted C file starts with.
#pragma once

namespace lathe::c_backend {

// Includes, the entries' types, and the functions that c_like's printers call.
extern const char* const kPreamble;

}  // namespace lathe::c_backend
