// Sliding windows of convolutions and poolings: extents, pads and how they are read.
#include "graph/operators/window.h"

#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

SlidingWindow plain_window(size_t axes, int64_t kernel) {
  const Shape ones(axes, 1), none(axes, 0);
  return {Shape(axes, kernel), ones, ones, none, none};
}

std::string extents_of(const SlidingWindow& window, const Shape& spatial) {
  const Result<Shape> extents = output_extents(window, spatial);
  return extents ? to_string(*extents) : extents.error().message;
}

TEST(SlidingWindow, ReachesOverItsDilatedKernel) {
  SlidingWindow window = plain_window(2, 3);
  window.dilations = {1, 4};
  EXPECT_EQ(reach(window, 0), 3);
  EXPECT_EQ(reach(window, 1), 9);
  window.kernel = {1, 1};
  EXPECT_EQ(reach(window, 1), 1);
}

TEST(SlidingWindow, GivesAnExtentForEachAxis) {
  SlidingWindow window = plain_window(2, 3);
  EXPECT_EQ(extents_of(window, {3, 7}), "[1,5]");
  window.strides = {2, 3};
  EXPECT_EQ(extents_of(window, {4, 7}), "[1,2]");  // rounded down
  window.pads_before = {1, 0};
  window.pads_after = {0, 2};
  EXPECT_EQ(extents_of(window, {4, 7}), "[2,3]");
  window.dilations = {1, 4};
  EXPECT_EQ(extents_of(window, {4, 7}), "[2,1]");
  EXPECT_EQ(extents_of(window, {4, 6}),
            "the kernel reaches over 9 elements of spatial axis 1, which has 8 with its padding");
}

// Each attribute at the ends of what it may be.
TEST(SlidingWindow, NamesAttributesThatAreNone) {
  const auto refusal = [](Shape SlidingWindow::* list, const Shape& value) {
    SlidingWindow window = plain_window(2, 1);
    window.*list = value;
    const Status status = check_window(window, 2);
    return status ? "right" : status.error().message;
  };
  constexpr int64_t kLargest = int64_t{1} << 30;
  EXPECT_EQ(refusal(&SlidingWindow::kernel, {kLargest, 1}), "right");
  EXPECT_EQ(refusal(&SlidingWindow::kernel, {1, 0}),
            "kernel [1,0] has an entry that is not within 1 .. 1073741824");
  EXPECT_EQ(refusal(&SlidingWindow::strides, {1, kLargest + 1}),
            "strides [1,1073741825] has an entry that is not within 1 .. 1073741824");
  EXPECT_EQ(refusal(&SlidingWindow::dilations, {-1, 1}),
            "dilations [-1,1] has an entry that is not within 1 .. 1073741824");
  EXPECT_EQ(refusal(&SlidingWindow::pads_before, {0, -1}),
            "pads [0,-1] has an entry that is not within 0 .. 1073741824");
  EXPECT_EQ(refusal(&SlidingWindow::pads_after, {kLargest, 0}), "right");
  EXPECT_EQ(refusal(&SlidingWindow::kernel, {3}), "kernel [3] has 1 entries for 2 spatial axes");
  EXPECT_EQ(refusal(&SlidingWindow::strides, {}), "strides [] has 0 entries for 2 spatial axes");
  EXPECT_EQ(refusal(&SlidingWindow::pads_after, {1, 1, 1}), "pads [1,1,1] has 3 entries for 2 spatial axes");
}

TEST(SlidingWindow, NeedsAnImageOfOneToThreeAxes) {
  for (size_t rank = 0; rank <= 6; ++rank)
    EXPECT_EQ(check_image(Shape(rank, 2)).has_value(), rank >= 3 && rank <= 5) << rank;
  EXPECT_EQ(check_image({2, 3}).error().to_string(),
            "input 0 has shape [2,3], and Lathe supports [N, C, one to three spatial axes]");
}

TEST(SlidingWindow, PrintsWhatIsNoDefault) {
  SlidingWindow window = plain_window(2, 3);
  EXPECT_EQ(to_string(window), "kernel [3,3]");
  window.strides = {1, 2};
  window.pads_after = {0, 1};
  EXPECT_EQ(to_string(window), "kernel [3,3], strides [1,2], pads [0,0,0,1]");
  window.dilations = {2, 1};
  window.pads_before = {5, 6};
  EXPECT_EQ(to_string(window), "kernel [3,3], strides [1,2], dilations [2,1], pads [5,6,0,1]");
}

TEST(SlidingWindow, IsTheOperatorLibrarysToo) {
  SlidingWindow window = plain_window(2, 3);
  window.strides = {2, 3};
  window.dilations = {4, 5};
  window.pads_before = {6, 7};
  window.pads_after = {8, 9};
  const Window same = ops_window(window);
  for (size_t d = 0; d < 2; ++d) {
    EXPECT_EQ(same.stride_of(d), window.strides[d]);
    EXPECT_EQ(same.dilation_of(d), window.dilations[d]);
    EXPECT_EQ(same.before(d), window.pads_before[d]);
    EXPECT_EQ(same.after(d), window.pads_after[d]);
  }
}

TEST(ForEachTap, VisitsThoseInside) {
  SlidingWindow window = plain_window(2, 2);
  window.strides = {2, 1};
  window.dilations = {1, 2};
  window.pads_before = {1, 1};
  std::vector<std::string> visits;
  const auto visit = [&](const Shape& tap, const Shape& at) {
    visits.push_back(to_string(tap) + to_string(at));
  };
  for_each_tap(window, {2, 2}, {0, 0}, visit);  // rows -1 and 0, columns -1 and 1
  EXPECT_EQ(visits, (std::vector<std::string>{"[1,1][0,1]"}));
  visits.clear();
  for_each_tap(window, {3, 4}, {1, 1}, visit);  // rows 1 and 2, columns 0 and 2
  EXPECT_EQ(visits, (std::vector<std::string>{"[0,0][1,0]", "[0,1][1,2]", "[1,0][2,0]", "[1,1][2,2]"}));
}

// The window that a Conv of x [1,1,..] is read with, as text.
std::string window_read(const Shape& spatial, const OnnxModel& changed) {
  OnnxModel model = changed;
  Shape shape{1, 1};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  model.input("x", shape).output("y");
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
  return graph ? to_string(graph->nodes[0].op) : graph.error().message;
}

OnnxModel conv_by(const Shape& kernel) {
  OnnxModel model;
  Shape weight{1, 1};
  weight.insert(weight.end(), kernel.begin(), kernel.end());
  return std::move(model.initializer("w", weight).node("n", "Conv", {"x", "w"}, "y"));
}

TEST(ImportWindow, HasOneOfEachWhereNothingIsSaid) {
  EXPECT_EQ(window_read({5, 6, 7}, conv_by({2, 1, 3})), "Conv(kernel [2,1,3])");
}

TEST(ImportWindow, PadsComeInFrontOfAllAxesFirst) {
  EXPECT_EQ(window_read({5, 6}, conv_by({3, 3}).attribute("pads", {1, 2, 3, 4})),
            "Conv(kernel [3,3], pads [1,2,3,4])");
  EXPECT_EQ(window_read({5, 6}, conv_by({3, 3}).attribute("pads", {1, 2})),
            "node 'n' (Conv): pads [1,2] has 2 entries for 4 spatial axes");
  EXPECT_EQ(window_read({5, 6}, conv_by({3, 3}).attribute("pads", {0, 0, 0, -1})),
            "node 'n' (Conv): pads [0,0,0,-1] has an entry that is not within 0 .. 1073741824");
}

// As many places as the data over the stride, rounded up; an odd pad behind, or in front.
TEST(ImportWindow, SamePadsKeepTheExtentOverTheStride) {
  const auto same = [](const char* mode, int64_t extent, int64_t kernel, int64_t stride, int64_t dilation) {
    OnnxModel model = conv_by({kernel}).attribute("auto_pad", mode).attribute("strides", {stride});
    return window_read({extent}, model.attribute("dilations", {dilation}));
  };
  EXPECT_EQ(same("SAME_UPPER", 5, 2, 1, 1), "Conv(kernel [2], pads [0,1])");
  EXPECT_EQ(same("SAME_LOWER", 5, 2, 1, 1), "Conv(kernel [2], pads [1,0])");
  EXPECT_EQ(same("SAME_UPPER", 5, 3, 2, 1), "Conv(kernel [3], strides [2], pads [1,1])");
  EXPECT_EQ(same("SAME_UPPER", 6, 3, 2, 1), "Conv(kernel [3], strides [2], pads [0,1])");
  EXPECT_EQ(same("SAME_LOWER", 6, 3, 2, 1), "Conv(kernel [3], strides [2], pads [1,0])");
  EXPECT_EQ(same("SAME_UPPER", 5, 3, 1, 3), "Conv(kernel [3], dilations [3], pads [3,3])");
  EXPECT_EQ(same("SAME_UPPER", 9, 2, 4, 1), "Conv(kernel [2], strides [4], pads [0,1])");
  EXPECT_EQ(same("SAME_UPPER", 8, 1, 4, 1), "Conv(kernel [1], strides [4])");  // no pads below 0
  EXPECT_EQ(same("VALID", 5, 2, 1, 1), "Conv(kernel [2])");
  EXPECT_EQ(window_read({5}, conv_by({2}).attribute("auto_pad", "VALID").attribute("pads", {1, 1})),
            "Conv(kernel [2])");
  EXPECT_EQ(same("NOTSET", 5, 2, 1, 1), "Conv(kernel [2])");
  EXPECT_EQ(same("same_upper", 5, 2, 1, 1),
            "node 'n' (Conv): attribute 'auto_pad' is 'same_upper', which Lathe does not support");
}

TEST(ImportWindow, ListsHaveAnEntryForEachAxis) {
  EXPECT_EQ(window_read({5, 6}, conv_by({3, 3}).attribute("strides", {1})),
            "node 'n' (Conv): strides [1] has 1 entries for 2 spatial axes");
  EXPECT_EQ(window_read({5, 6}, conv_by({3, 3}).attribute("dilations", {1, 1, 1})),
            "node 'n' (Conv): dilations [1,1,1] has 3 entries for 2 spatial axes");
  EXPECT_EQ(window_read({5, 6}, conv_by({3, 3}).attribute("kernel_shape", {3})),
            "node 'n' (Conv): kernel [3] has 1 entries for 2 spatial axes");
  EXPECT_EQ(window_read({}, conv_by({3})),
            "node 'n' (Conv): input 0 has shape [1,1], and Lathe supports [N, C, one to three spatial axes]");
}

}  // namespace
}  // namespace lathe
