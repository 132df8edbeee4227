// The thresholds of the rules and of the estimates that choose among their sketches: one table, so that each
// can be judged. `tools/ablate_constants` derives what each is good for: what changes without it over the
// cases of workloads/operators.json, and what that costs (docs/notes/space_constants.md). How many
// statements any program may have is a bound of compile and lower (max_statements).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

namespace lathe {

struct CostConstants {
  double l2_bytes_per_cycle = 32;
  double l3_bytes_per_cycle = 12;
  double memory_bytes_per_cycle = 5;
  double cold_bytes_per_cycle = 8;
  double beside_longer = 0.3;
  double rows_between = 6;
  double cache_share = 0.75;
  double hopeless = 50;
  double clear_gain = 0.8;
  double clear_algorithm = 0.95;
  double clear_cut = 0.8;
  double tiles_of_direct = 3;
  double most_sketches = 16;
  double first_sketches = 3;
  double alternatives = 2;
  double about_as_good = 1.06;
  double tile_rows = 13;
  double tile_rows_without_rest = 14;
  double tile_vectors = 4;
  double single_vector = 1.15;
  double tile_start = 1;
  double fewer_vectors = 0.001;
  double largest_body = 96;
  double afar_share = 0.25;
  double row_block_share = 0.5;
  double vectors_of_part = 8;
  double panels_share = 0.625;
  double streams = 16;
  double channels_innermost = 7;
  double reuse_worth_packing = 64;
  double near_rows_share = 0.5;
  double product_worth_sharing = 3000;
  double stage_worth_sharing = 2000;
  double long_operation = 30;
  double pieces_a_core = 8;
  double loop_cycles = 2;
  double border_tiles = 4;
  double border_kinds = 64;
  double promised_rows = 4;
  double promised_vectors = 2;
  double constant_panels = 4;
  double long_sum = 128;
  double exact_sum = 512;
  double work_of_part = 4096;
  double block_rows_share = 0.125;
  double near_block_share = 0.75;
  double rest_group = 1.03;
  double groups_a_core = 4;
  double longest_transform = 10;
  double largest_inlined = 64;
  double long_body = 4000;
  double block_threads = 128;
  double thread_results = 8;
  double block_tile = 64;
  double least_block_tile = 16;
  double thread_side = 4;
  double thread_accumulators = 64;
  double staged_terms = 16;

  bool operator==(const CostConstants&) const = default;
};

struct CostConstant {
  std::string_view name;
  double CostConstants::* value;
  double neutral;  // with which it plays no part
  std::string_view unit;
  std::string_view meaning;
  std::string_view source;  // what its value comes from
};

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();
inline constexpr std::array kCostConstants = {
    CostConstant{"l2_bytes_per_cycle", &CostConstants::l2_bytes_per_cycle, kNoLimit, "bytes a cycle",
                 "what one core reads of the second-level cache", "lathe target"},
    CostConstant{"l3_bytes_per_cycle", &CostConstants::l3_bytes_per_cycle, 32, "bytes a cycle",
                 "the same of the third-level cache", "lathe target"},
    CostConstant{"memory_bytes_per_cycle", &CostConstants::memory_bytes_per_cycle, 12, "bytes a cycle",
                 "the same of memory", "lathe target"},
    CostConstant{
        "cold_bytes_per_cycle", &CostConstants::cold_bytes_per_cycle, kNoLimit, "bytes a cycle",
        "of a network's constants in the cycles of multiply-adds at their peak, which they hardly reach",
        "docs/notes/winograd.md"},
    CostConstant{"beside_longer", &CostConstants::beside_longer, 1, "share of the shorter time",
                 "of multiply-adds and of their constants' coming, that is added to the longer one",
                 "docs/notes/winograd.md"},
    CostConstant{"rows_between", &CostConstants::rows_between, 1, "rows",
                 "of a product between transforms, for which what lies between is kept near",
                 "tools/ablate_constants"},
    CostConstant{"cache_share", &CostConstants::cache_share, 1, "share of the second-level cache",
                 "what may lie between transforms and count as near", "tools/ablate_constants"},
    CostConstant{"hopeless", &CostConstants::hopeless, kNoLimit, "times the cycles of the best sketch",
                 "beyond which a sketch is left out", "Answers.WhatMultipliesMostlyZerosIsNotTried"},
    CostConstant{"clear_gain", &CostConstants::clear_gain, 1, "share of the direct program's cycles",
                 "below which other tiles go before its own", "tools/ablate_constants"},
    CostConstant{"clear_algorithm", &CostConstants::clear_algorithm, 1,
                 "share of the direct program's cycles", "below which an algorithm goes before it",
                 "docs/notes/winograd.md"},
    CostConstant{"tiles_of_direct", &CostConstants::tiles_of_direct, 1, "tiles",
                 "of each product of the direct program that are sketches", "tools/ablate_constants"},
    CostConstant{"most_sketches", &CostConstants::most_sketches, kNoLimit, "sketches",
                 "of one arm, where there are many products",
                 "LatheSpace.AChainOfManyProductsHasFewSketches"},
    CostConstant{"first_sketches", &CostConstants::first_sketches, 0, "sketches",
                 "whose alternatives are tried at the beginning", "tools/ablate_constants"},
    CostConstant{"alternatives", &CostConstants::alternatives, 0, "choices",
                 "about as good as the first, of one sketch", "tools/ablate_constants"},
    CostConstant{"about_as_good", &CostConstants::about_as_good, 1,
                 "times the time of the best register tile", "of tiles that are alternatives",
                 "tools/ablate_constants"},
    CostConstant{"tile_rows", &CostConstants::tile_rows, kNoLimit, "rows", "of a register tile at the most",
                 "tools/ablate_constants"},
    CostConstant{"tile_rows_without_rest", &CostConstants::tile_rows_without_rest, 13, "rows",
                 "the same where they leave no rest", "docs/architecture.md"},
    CostConstant{"tile_vectors", &CostConstants::tile_vectors, 8, "vectors",
                 "side by side of a register tile at the most", "tools/ablate_constants"},
    CostConstant{"single_vector", &CostConstants::single_vector, 1, "times the time",
                 "of rows of one vector, which broadcast for every multiply-add", "tools/ablate_constants"},
    CostConstant{"tile_start", &CostConstants::tile_start, 0, "cycles",
                 "of a register tile beside its multiply-adds", "tools/ablate_constants"},
    CostConstant{"fewer_vectors", &CostConstants::fewer_vectors, 0, "share of the time, a vector",
                 "by which tiles of fewer vectors are preferred", "tools/ablate_constants"},
    CostConstant{"largest_body", &CostConstants::largest_body, kNoLimit, "multiply-adds",
                 "that are written out one after another", "Answers.TheBodyOfAWideWindowIsNotTooLarge"},
    CostConstant{"afar_share", &CostConstants::afar_share, 1, "share of the second-level cache",
                 "above which an operand does not stay there beside others", "tools/ablate_constants"},
    CostConstant{"row_block_share", &CostConstants::row_block_share, 1, "share of the second-level cache",
                 "for the rows of a product that stay while panels pass", "tools/ablate_constants"},
    CostConstant{"clear_cut", &CostConstants::clear_cut, 1, "share of what a whole sum moves",
                 "below which a sum is cut", "docs/notes/networks.md"},
    CostConstant{"vectors_of_part", &CostConstants::vectors_of_part, kNoLimit, "vectors",
                 "of terms in the parts of a sum that is cut at the least", "tools/ablate_constants"},
    CostConstant{"panels_share", &CostConstants::panels_share, 1, "share of the second-level cache",
                 "of panels that stay in it while rows pass", "tools/ablate_constants"},
    CostConstant{"streams", &CostConstants::streams, kNoLimit, "blocks of channels",
                 "that the processor fetches ahead at once", "docs/architecture.md"},
    CostConstant{"channels_innermost", &CostConstants::channels_innermost, 0, "places",
                 "of a reduce axis above which it may be unrolled", "tools/ablate_constants"},
    CostConstant{"reuse_worth_packing", &CostConstants::reuse_worth_packing, 0, "uses of an element",
                 "from which on it is packed in every call", "tools/ablate_constants"},
    CostConstant{"near_rows_share", &CostConstants::near_rows_share, 1, "share of the second-level cache",
                 "of rows that stay while a panel passes over other axes", "tools/ablate_constants"},
    CostConstant{"product_worth_sharing", &CostConstants::product_worth_sharing, 0, "cycles",
                 "of a product that several cores share", "bench/micro/thread_wakeup.cpp"},
    CostConstant{"stage_worth_sharing", &CostConstants::stage_worth_sharing, 0, "cycles",
                 "of another stage that several cores share", "bench/micro/thread_wakeup.cpp"},
    CostConstant{"long_operation", &CostConstants::long_operation, 1, "cycles",
                 "of a division or a function of a vector", "tools/ablate_constants"},
    CostConstant{"pieces_a_core", &CostConstants::pieces_a_core, 1, "pieces",
                 "of work for each core, so that they end together", "tools/ablate_constants"},
    CostConstant{"loop_cycles", &CostConstants::loop_cycles, 0, "vectors",
                 "that a loop over vectors costs beside them", "tools/ablate_constants"},
    CostConstant{"border_tiles", &CostConstants::border_tiles, kNoLimit, "tiles",
                 "at one border that are code of their own", "lower/loops/peel_tails.h"},
    CostConstant{"border_kinds", &CostConstants::border_kinds, kNoLimit, "kinds of tiles",
                 "of a padded image that are code of their own", "tools/ablate_constants"},
    CostConstant{"promised_rows", &CostConstants::promised_rows, kNoLimit, "rows",
                 "beyond which a tile's rows promise no more", "tools/ablate_constants"},
    CostConstant{"promised_vectors", &CostConstants::promised_vectors, kNoLimit, "vectors",
                 "beyond which a tile's vectors promise no more", "tools/ablate_constants"},
    CostConstant{"constant_panels", &CostConstants::constant_panels, 1, "times the promise",
                 "of panels that are packed beforehand", "tools/ablate_constants"},
    CostConstant{"long_sum", &CostConstants::long_sum, 0, "vectors",
                 "of a sum for each result, from which on vectors run along it", "tools/ablate_constants"},
    CostConstant{"exact_sum", &CostConstants::exact_sum, kNoLimit, "numbers", "that one sum may add up",
                 "space/rules/sum_in_lanes.cpp"},
    CostConstant{"work_of_part", &CostConstants::work_of_part, 0, "numbers", "that a core adds up at least",
                 "tools/ablate_constants"},
    CostConstant{"block_rows_share", &CostConstants::block_rows_share, 1, "share of the second-level cache",
                 "for stages that run together for a block of rows", "tools/ablate_constants"},
    CostConstant{"near_block_share", &CostConstants::near_block_share, 1, "share of the first-level cache",
                 "for such stages where none is a product", "docs/notes/space_constants.md"},
    CostConstant{"rest_group", &CostConstants::rest_group, 1, "times the cycles",
                 "where the last group of tiles is smaller", "tools/ablate_constants"},
    CostConstant{"groups_a_core", &CostConstants::groups_a_core, 1, "groups",
                 "for each core, so that they end together", "tools/ablate_constants"},
    CostConstant{"longest_transform", &CostConstants::longest_transform, kNoLimit, "elements",
                 "of a sum that is unrolled whole over a table", "tools/ablate_constants"},
    CostConstant{"largest_inlined", &CostConstants::largest_inlined, kNoLimit, "nodes",
                 "of an expression that is read several times and still inlined", "tools/ablate_constants"},
    CostConstant{"long_body", &CostConstants::long_body, kNoLimit, "multiply-adds",
                 "that last as long as what vectors side by side compute: more gain nothing, and the backend "
                 "takes seconds for them",
                 "Vectors.ALongBodyNeedsFew"},
    // Of devices of many threads. What a device cannot hold is left out by the fields of its target.
    CostConstant{"block_threads", &CostConstants::block_threads, 1, "threads",
                 "of a block, where a stage has enough results", "tools/ablate_constants"},
    CostConstant{"thread_results", &CostConstants::thread_results, kNoLimit, "results",
                 "of a thread of a stage without reuse at the most", "tools/ablate_constants"},
    CostConstant{"block_tile", &CostConstants::block_tile, 1024, "results",
                 "of a block along either side of a product", "tools/ablate_constants"},
    CostConstant{"least_block_tile", &CostConstants::least_block_tile, 1, "results",
                 "along a side, to which it shrinks so that every unit has a block",
                 "tools/ablate_constants"},
    CostConstant{"thread_side", &CostConstants::thread_side, 1, "results", "of a thread along either side",
                 "tools/ablate_constants"},
    CostConstant{"thread_accumulators", &CostConstants::thread_accumulators, kNoLimit, "results",
                 "of a thread, which compilers keep in registers", "tools/ablate_constants"},
    CostConstant{"staged_terms", &CostConstants::staged_terms, 1, "terms", "that a block stages at once",
                 "tools/ablate_constants"},
};

// A constant that counts; one without a limit is more than anything that is counted.
constexpr int64_t whole(double constant) {
  constexpr double kMost = 1e15;
  return static_cast<int64_t>(constant < kMost ? constant : kMost);
}

}  // namespace lathe
