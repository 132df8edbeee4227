#include "milestone/traces.h"

#include <fmt/format.h>

namespace lathe::milestone {
namespace {

// The nest that copies a register tile in or out: rows unrolled, columns in vectors.
std::string register_copy(const std::string& block, const std::string& row, const std::string& column,
                          const RegisterTile& tile, const std::string& row_tail) {
  return fmt::format(R"(split {0} {2} [{3}]
reorder {0} {1} {2}.0 {2}.1
unroll {0} {1}
unroll {0} {2}.0
vectorize {0} {2}.1
tail {0} {1} {4}
tail {0} {2} mask
)",
                     block, row, column, tile.lanes, row_tail);
}

const char* const kChannelsLast = "layout I [0][2][3][1]\nlayout I.pad [0][2][3][1]\nlayout O [0][2][3][1]\n";

// The padded input, channels innermost, in vectors.
std::string padded_input(int lanes) {
  return fmt::format(R"(reorder I.pad n y x c
split I.pad c [{}]
vectorize I.pad c.1
tail I.pad c mask
)",
                     lanes);
}

}  // namespace

RegisterTile register_tile(int lanes) {
  return lanes == 16 ? RegisterTile{16, 12, 2} : RegisterTile{lanes, 6, 2};
}

std::string matmul(const RegisterTile& tile, int row_tiles, int64_t k_block) {
  return fmt::format(R"(cache_read C B B.pack at=prepare scope=workspace layout=[1/{0}][0][1%{0}]
split C i [{1} {2}]
split C j [{3} {4}]
split C r [{5}]
reorder C i.0 r.0 j.0 i.1 r.1 i.2 j.1 j.2
parallel C i.0
unroll C i.2
unroll C j.1
vectorize C j.2
tail C i peel
tail C j pad
tail C r bound
cache_read C A A.pack at=r.0 scope=thread layout=[0/{2}][1][0%{2}]
cache_write C C.reg at=i.1 scope=registers
)",
                     tile.columns(), row_tiles, tile.rows, tile.vectors, tile.lanes, k_block) +
         register_copy("C.reg.in", "i", "j", tile, "peel") +
         register_copy("C.reg.out", "i", "j", tile, "peel");
}

std::string matmul_in_place(const RegisterTile& tile, int row_tiles, int steps) {
  return fmt::format(R"(cache_read C B B.pack at=prepare scope=workspace layout=[1/{0}][0][1%{0}]
split C i [{1} {2}]
split C j [{3} {4}]
split C r [{5}]
reorder C i.0 j.0 i.1 r.0 r.1 i.2 j.1 j.2
parallel C i.0
unroll C r.1
unroll C i.2
unroll C j.1
vectorize C j.2
tail C i peel
tail C j pad
tail C r peel
cache_write C C.reg at=i.1 scope=registers
)",
                     tile.columns(), row_tiles, tile.rows, tile.vectors, tile.lanes, steps) +
         register_copy("C.reg.out", "i", "j", tile, "peel");
}

std::string direct_convolution(const RegisterTile& tile, bool epilogue) {
  const std::string sums = epilogue ? "O.conv" : "O";
  std::string text =
      fmt::format("cache_read {0} W W.pack at=prepare scope=workspace layout=[0/{1}][2][3][1][0%{1}]\n", sums,
                  tile.columns());
  text += kChannelsLast + padded_input(tile.lanes);
  text += fmt::format(R"(split {0} f [{1} {2}]
split {0} x [{3}]
reorder {0} n f.0 y x.0 ky kx c x.1 f.1 f.2
unroll {0} x.1
unroll {0} f.1
vectorize {0} f.2
tail {0} x peel
tail {0} f pad
)",
                      sums, tile.vectors, tile.lanes, tile.rows);
  if (!epilogue) {
    return text + "cache_write O O.reg at=x.0 scope=registers\n" +
           register_copy("O.reg.out", "x", "f", tile, "peel");
  }
  return text + "reverse_compute_at O O.conv x.0 scope=registers\nreorder O n y x c\n" +
         register_copy("O", "x", "c", tile, "peel");
}

std::string winograd_convolution(const RegisterTile& tile, int group, int rows) {
  std::string text = fmt::format(R"(rewrite winograd O m=4
prepare O.U1
prepare O.U
layout O.U [0][1][3/{0}][2][3%{0}]
)",
                                 tile.columns());
  text += kChannelsLast + padded_input(tile.lanes);
  // Groups of tiles: everything of a group lies under O.Y's p.0.
  text += fmt::format(R"(split O.Y p [{0}]
split O.Y f [{1}]
reorder O.Y p.0 p.1 f.0 u v j f.1
compute_at O.Y1 O.Y f.0 scope=registers
compute_at O.M O.Y p.0 scope=thread
compute_at O.V O.M p.0 scope=thread
)",
                      group, tile.lanes);
  // The way in: one tile and one vector of channels at a time. A row or column of the small transforms stays
  // in registers; the table entries are literals where the loops over them are unrolled.
  text += fmt::format(R"(split O.V c [{0}]
reorder O.V p c.0 i j b c.1
compute_at O.V1 O.V c.0 scope=thread
reorder O.V1 p b i a c
cache_write O.V1 O.V1.reg at=b scope=registers
layout O.V1 [0][2][3][1]
unroll O.V1 i
unroll O.V1 a
vectorize O.V1 c
unroll O.V1.reg.out i
reorder O.V1.reg.out p i b c
vectorize O.V1.reg.out c
cache_write O.V O.V.reg at=i scope=registers
unroll O.V j
unroll O.V b
vectorize O.V c.1
reorder O.V.reg.out i j p c
unroll O.V.reg.out j
vectorize O.V.reg.out c
tail O.V c mask
tail O.V1 c mask
tail O.V1.reg.out c mask
tail O.V.reg.out c mask
)",
                      tile.lanes);
  text += fmt::format(R"(split O.M p [{0}]
split O.M f [{1} {2}]
reorder O.M i j f.0 p.0 c p.1 f.1 f.2
unroll O.M p.1
unroll O.M f.1
vectorize O.M f.2
tail O.M p pad
tail O.M f pad
cache_write O.M O.M.reg at=p.0 scope=registers
)",
                      rows, tile.vectors, tile.lanes);
  text += register_copy("O.M.reg.out", "p", "f", tile, "pad");
  // The way out: one tile and one vector of features at a time, straight into the image.
  text += R"(reverse_compute_at O O.Y u scope=registers
reorder O.Y1 p j u i f
cache_write O.Y1 O.Y1.reg at=j scope=registers
layout O.Y1 [0][2][3][1]
unroll O.Y1 u
unroll O.Y1 i
vectorize O.Y1 f
reorder O.Y1.reg.out p u j f
unroll O.Y1.reg.out u
vectorize O.Y1.reg.out f
unroll O.Y v
unroll O.Y j
vectorize O.Y f.1
reorder O n y x f
unroll O x
vectorize O f
tail O.Y f mask
tail O.Y1 f mask
tail O.Y1.reg.out f mask
tail O f mask
)";
  return text;
}

std::string depthwise(const RegisterTile& tile, int block_rows, bool relu) {
  const std::string sums = relu ? "O.conv" : "O";
  const RegisterTile one{tile.lanes, tile.rows, 1};
  std::string text = kChannelsLast;
  text += fmt::format(R"(cache_read {0} W W.pack at=prepare scope=workspace layout=[0/{1}][1][2][3][0%{1}]
split {0} f [{1}]
split {0} x [{2}]
split {0} y [{3}]
reorder {0} n y.0 y.1 x.0 f.0 ky kx x.1 f.1
unroll {0} ky
unroll {0} kx
unroll {0} x.1
vectorize {0} f.1
tail {0} x peel
tail {0} f pad
tail {0} y peel
)",
                      sums, tile.lanes, tile.rows, block_rows);
  text += fmt::format("compute_at I.pad {} y.0 scope=thread\n", sums) + padded_input(tile.lanes);
  if (!relu) {
    return text + "cache_write O O.reg at=f.0 scope=registers\n" +
           register_copy("O.reg.out", "x", "f", one, "peel");
  }
  return text + "reverse_compute_at O O.conv f.0 scope=registers\nreorder O n y x f\n" +
         register_copy("O", "x", "f", one, "peel");
}

std::string batched_matmul_softmax(const RegisterTile& tile) {
  std::string text = fmt::format(R"(inline Q.t
inline K.t
split O.max x [{0}]
rfactor O.max x.1
split O.sum x [{0}]
rfactor O.sum x.1
split O y [{1}]
split O x [{0}]
compute_at O.sum O y.0 scope=thread
compute_at O.sum.rf O y.0 scope=thread
compute_at O.exp O y.0 scope=thread
compute_at O.max O y.0 scope=thread
compute_at O.max.rf O y.0 scope=thread
compute_at O.scores O y.0 scope=thread
)",
                                 tile.lanes, tile.rows);
  text += fmt::format(R"(split O.scores j [{0} {1}]
reorder O.scores b h j.0 d i j.1 j.2
unroll O.scores i
unroll O.scores j.1
vectorize O.scores j.2
tail O.scores j pad
cache_read O.scores K K.pack at=c scope=thread layout=[0][2][1/{2}][3][1%{2}]
cache_write O.scores O.scores.reg at=j.0 scope=registers
)",
                      tile.vectors, tile.lanes, tile.columns());
  text += register_copy("O.scores.reg.out", "i", "j", tile, "peel");
  for (const char* block : {"O.max.rf", "O.sum.rf"}) {
    text += fmt::format("reorder {0} n c y x.0 x.1\nvectorize {0} x.1\n", block);
  }
  text += fmt::format(R"(split O.exp x [{0}]
vectorize O.exp x.1
tail O.exp x mask
vectorize O x.1
tail O x mask
)",
                      tile.lanes);
  return text;
}

std::string transposed_by_phases(const RegisterTile& tile, int channels, int vectors) {
  return fmt::format(R"(rewrite phases O
split O.I d3 [{2}]
vectorize O.I d3.1
tail O.I d3 mask
split O.P f [{0}]
split O.P xt [{1} {2}]
reorder O.P n f.0 yt ya xa xt.0 kyq kxq c f.1 xt.1 xt.2
unroll O.P ya
unroll O.P xa
unroll O.P f.1
unroll O.P xt.1
vectorize O.P xt.2
tail O.P f peel
tail O.P xt mask
reverse_compute_at O O.P yt scope=thread
cache_write O.P O.P.reg at=xt.0 scope=registers
split O.P.reg.out xt [{2}]
reorder O.P.reg.out n yt ya xa f xt.0 xt.1
unroll O.P.reg.out f
unroll O.P.reg.out xt.0
vectorize O.P.reg.out xt.1
tail O.P.reg.out f peel
tail O.P.reg.out xt mask
layout O.P [0][1][2][4][5][3]
)",
                     channels, vectors, tile.lanes);
}

}  // namespace lathe::milestone
