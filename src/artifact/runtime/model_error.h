// What went wrong in this thread's last call: the text of the artifact's `lathe_error`. The runtime has no
// C++ library below it, so no exceptions: what may fail returns false, or null, and has said why.
#pragma once

namespace lathe {

// Notes the sentence, in printf's terms, and gives false.
[[gnu::format(printf, 1, 2)]] bool model_error(const char* format, ...);

// Empty where nothing failed yet.
const char* last_model_error();

}  // namespace lathe
