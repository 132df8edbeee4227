// A windowed product over two axes in the form of a convolution of images: images, features and channels are
// one axis each, however many axes of the product they stand for.
#pragma once

#include <optional>

#include "rewrite/match.h"

namespace lathe {

// STAGE.D [image, channel, y, x] and STAGE.K [feature, channel, a, b] hold the operands, STAGE.C [image,
// feature, y, x] is the convolution, and `after` gives the stage's own output of it.
struct ImageForm {
  Compute data;
  Compute weight;
  Compute convolution;
  Compute after;
};
// Nothing unless the product has two windows and each of its other axes is of one operand alone, or is a
// channel of both, and indexes it plainly.
std::optional<ImageForm> image_form(const Compute& compute, const WindowedProduct& match);

}  // namespace lathe
