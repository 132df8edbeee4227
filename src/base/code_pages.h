// Memory that holds code.
#pragma once

namespace lathe {

// Gives back the pages of all code in this process. What is called again is mapped anew as it is reached: a
// compiler that has done its work need not lie beside what its programs take.
void release_code_pages();

}  // namespace lathe
