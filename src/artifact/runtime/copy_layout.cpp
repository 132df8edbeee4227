#include "artifact/runtime/copy_layout.h"

#include <cstring>

namespace lathe {
namespace {

// Threads are handed work from here on: less is copied before they have begun.
constexpr int64_t kSharedBytes = 256 << 10;

// A core's share of the last cache does not hold so much on both sides: lines that are written whole need not
// be fetched.
constexpr int64_t kStreamedBytes = 8 << 20;

// Planes are cut in tiles of so much up to twice as much, which are what threads share, so that all cache
// lines that a tile touches stay near until they are used up.
constexpr int64_t kTransposedAlong = 2048;  // bytes
constexpr int64_t kTransposedAcross = 512;
constexpr int64_t kStreamedAlong = 4096;
constexpr int64_t kStreamedAcross = 8192;  // all lines but those at both ends are written whole
constexpr int64_t kRunBytes = 1 << 20;
constexpr int64_t kRunsBytes = 64 << 10;
// Tiles of transposed planes begin at multiples of so many elements, a line's or more; of runs, at a line's.
constexpr int64_t kGrain = 64;

// A loop of the copy, in bytes.
struct Loop {
  int64_t extent;
  int64_t from;
  int64_t into;
  int64_t tiles = 1;
  int64_t grain = 1;  // tiles begin at multiples of so many elements
};

// One copy's two innermost loops and those around them. Its elements are the tensor's, or runs of them.
struct Job {
  const char* from;
  char* into;
  const Instructions& instructions;
  int32_t tensor_bytes;  // an element of the tensor
  int32_t element_bytes;
  bool is_inward;
  bool streams;
  Loop along;              // neighbours side by side where they come from
  Loop across;             // where they go, unless `along` has them on both sides
  const LatheAxis* outer;  // the first one is the inner
  int32_t outer_count;
};

struct Offset {
  int64_t from;
  int64_t into;
};

Loop loop_of(const LatheAxis& axis, bool is_inward, int64_t element_bytes) {
  const int64_t outside = axis.outside * element_bytes;
  const int64_t inside = axis.inside * element_bytes;
  return {axis.extent, is_inward ? outside : inside, is_inward ? inside : outside};
}

bool has_runs(const Job& job) {
  return job.along.from == job.element_bytes && job.along.into == job.element_bytes;
}
bool is_transposed(const Job& job) {
  return job.along.from == job.element_bytes && job.across.into == job.element_bytes;
}

struct Range {
  int64_t begin;
  int64_t extent;
};

Range range_of(const Loop& loop, int64_t tile) {
  if (loop.tiles == 1) return {0, loop.extent};
  const auto begin_of = [&](int64_t i) {
    return i == loop.tiles ? loop.extent : loop.extent * i / loop.tiles / loop.grain * loop.grain;
  };
  return {begin_of(tile), begin_of(tile + 1) - begin_of(tile)};
}

template <int kBytes>
void copy_fixed(char* into, const char* from) {
  __builtin_memcpy(into, from, kBytes);
}

// `bytes` from one fixed size to twice as many: both ends, which may overlap.
template <int kBytes>
void copy_ends(char* into, const char* from, int64_t bytes) {
  char head[kBytes];
  char tail[kBytes];
  copy_fixed<kBytes>(head, from);
  copy_fixed<kBytes>(tail, from + bytes - kBytes);
  copy_fixed<kBytes>(into, head);
  copy_fixed<kBytes>(into + bytes - kBytes, tail);
}

void copy_run(char* into, const char* from, int64_t bytes) {
  if (bytes > 64) {
    std::memcpy(into, from, static_cast<size_t>(bytes));
  } else if (bytes > 32) {
    copy_ends<32>(into, from, bytes);
  } else if (bytes >= 16) {
    copy_ends<16>(into, from, bytes);
  } else if (bytes >= 8) {
    copy_ends<8>(into, from, bytes);
  } else if (bytes >= 4) {
    copy_ends<4>(into, from, bytes);
  } else if (bytes >= 2) {
    copy_ends<2>(into, from, bytes);
  } else {
    *into = *from;
  }
}

template <int kBytes>
void scatter(const char* from, char* into, const Loop& along, const Loop& across) {
  const bool along_is_inner = along.extent >= across.extent;
  const Loop& inner = along_is_inner ? along : across;
  const Loop& outer = along_is_inner ? across : along;
  for (int64_t i = 0; i < outer.extent; ++i) {
    const char* const source = from + i * outer.from;
    char* const target = into + i * outer.into;
    for (int64_t k = 0; k < inner.extent; ++k)
      copy_fixed<kBytes>(target + k * inner.into, source + k * inner.from);
  }
}

void scatter_elements(const char* from, char* into, const Loop& along, const Loop& across, int32_t bytes) {
  switch (bytes) {
    case 1: return scatter<1>(from, into, along, across);
    case 2: return scatter<2>(from, into, along, across);
    case 4: return scatter<4>(from, into, along, across);
    default: return scatter<8>(from, into, along, across);
  }
}

void copy_tile(const Job& job, Offset offset, int64_t tile) {
  const Range along_range = range_of(job.along, tile % job.along.tiles);
  const Range across_range = range_of(job.across, tile / job.along.tiles);
  Loop along = job.along;
  Loop across = job.across;
  along.extent = along_range.extent;
  across.extent = across_range.extent;
  const char* const from =
      job.from + offset.from + along_range.begin * along.from + across_range.begin * across.from;
  char* const into =
      job.into + offset.into + along_range.begin * along.into + across_range.begin * across.into;
  if (has_runs(job)) {
    for (int64_t c = 0; c < across.extent; ++c) {
      copy_run(into + c * across.into, from + c * across.from, along.extent * job.element_bytes);
    }
  } else if (is_transposed(job) && job.instructions.transpose != nullptr) {
    job.instructions.transpose(
        {from, into, along.extent, across.extent, across.from, along.into, job.streams}, job.element_bytes);
  } else {
    scatter_elements(from, into, along, across, job.element_bytes);
  }
}

Loop outer_loop(const Job& job, int32_t i) { return loop_of(job.outer[i], job.is_inward, job.tensor_bytes); }

// Where the plane of this number begins.
Offset offset_of(const Job& job, int64_t plane) {
  Offset offset{0, 0};
  for (int32_t i = 0; i < job.outer_count; ++i) {
    const Loop loop = outer_loop(job, i);
    const int64_t index = plane % loop.extent;
    plane /= loop.extent;
    offset.from += index * loop.from;
    offset.into += index * loop.into;
  }
  return offset;
}

int64_t planes_of(const Job& job) {
  int64_t planes = 1;
  for (int32_t i = 0; i < job.outer_count; ++i) planes *= job.outer[i].extent;
  return planes;
}

// The tiles from `begin` to `end` of all planes. Divisions only where a row of planes begins.
void copy_tiles(const Job& job, int64_t begin, int64_t end) {
  const int64_t tiles = job.along.tiles * job.across.tiles;
  const Loop inner = job.outer_count > 0 ? outer_loop(job, 0) : Loop{1, 0, 0};
  int64_t plane = begin / tiles;
  int64_t tile = begin % tiles;
  int64_t in_row = plane % inner.extent;
  Offset offset = offset_of(job, plane);
  for (int64_t i = begin; i < end; ++i) {
    copy_tile(job, offset, tile);
    if (++tile < tiles) continue;
    tile = 0;
    ++plane;
    offset.from += inner.from;
    offset.into += inner.into;
    if (++in_row < inner.extent) continue;
    in_row = 0;
    offset = offset_of(job, plane);
  }
}

void copy_part(void* context, int64_t begin, int64_t end, int32_t /*thread*/) {
  copy_tiles(*static_cast<const Job*>(context), begin, end);
}

// Where runs lie side by side on both sides, each the next one of another loop: a plane of which they are the
// elements. All else as it is.
Job with_runs_as_elements(const Job& job) {
  const int64_t run = job.along.extent * job.element_bytes;
  const bool makes_lanes = run % kLaneBytes == 0 || kLaneBytes % run == 0;
  const bool is_short = has_runs(job) && job.along.extent > 1 && run <= kLongestRun;
  if (!is_short || !makes_lanes || job.outer_count == 0) return job;
  const Loop outer = outer_loop(job, 0);
  const Loop& along = job.is_inward ? outer : job.across;
  const Loop& across = job.is_inward ? job.across : outer;
  if (along.from != run || across.into != run) return job;
  return {job.from,    job.into, job.instructions, job.tensor_bytes, static_cast<int32_t>(run), job.is_inward,
          job.streams, along,    across,           job.outer + 1,    job.outer_count - 1};
}

Job job_of(const LatheTensor& tensor, const LatheCopy& copy, const Instructions& instructions,
           bool is_inward) {
  int64_t moved = tensor.element_bytes;
  for (int32_t i = 0; i < copy.axis_count; ++i) moved *= copy.axes[i].extent;
  const int64_t bytes = tensor.element_bytes;
  const LatheAxis& outer = copy.axes[0];  // side by side for the caller, and perhaps inside too
  const LatheAxis& inner = copy.axes[1];
  const bool outer_is_along = is_inward || outer.inside == 1;
  const Job job{nullptr,
                nullptr,
                instructions,
                tensor.element_bytes,
                tensor.element_bytes,
                is_inward,
                moved >= kStreamedBytes,
                loop_of(outer_is_along ? outer : inner, is_inward, bytes),
                loop_of(outer_is_along ? inner : outer, is_inward, bytes),
                copy.axes + 2,
                copy.axis_count - 2};
  return instructions.transpose != nullptr ? with_runs_as_elements(job) : job;
}

// Elements between places where a plane's tiles may begin.
int64_t grain_of(int64_t bytes) {
  if (bytes < kLaneBytes) return kGrain;
  return bytes < kGrain ? kGrain / bytes : 1;
}

void cut_in_tiles(Job& job) {
  const int64_t bytes = job.element_bytes;
  const auto parts = [](int64_t extent, int64_t size) { return extent <= size ? 1 : extent / size; };
  if (has_runs(job)) {
    job.along.tiles = parts(job.along.extent * bytes, kRunBytes);
    job.across.tiles = parts(job.across.extent * job.along.extent * bytes, kRunsBytes);
    if (job.across.tiles > job.across.extent) job.across.tiles = job.across.extent;
    return;
  }
  job.along.grain = grain_of(bytes);
  job.across.grain = grain_of(bytes);
  if (!job.streams) {
    job.along.tiles = parts(job.along.extent * bytes, kTransposedAlong);
    job.across.tiles = parts(job.across.extent * bytes, kTransposedAcross);
    return;
  }
  job.across.tiles = parts(job.across.extent * bytes, kStreamedAcross);
  if (bytes >= kLaneBytes || job.along.into % kCollidingStep == 0) {
    job.along.grain = kBlockAlong / bytes;
    job.along.tiles = parts(job.along.extent * bytes, kStreamedAlong);
  } else {
    constexpr int64_t kMost = kKeptRows - kGrain;  // where tiles begin is rounded
    job.along.tiles = (job.along.extent + kMost - 1) / kMost;
  }
}

void copy_all(const LatheTensor& tensor, const Instructions& instructions, bool is_inward, const void* from,
              void* into, const LatheParallel* pool) {
  const int64_t bytes = tensor.element_bytes;
  for (int32_t i = 0; i < tensor.copy_count; ++i) {
    const LatheCopy& copy = tensor.copies[i];
    Job job = job_of(tensor, copy, instructions, is_inward);
    job.from = static_cast<const char*>(from) + (is_inward ? copy.outside : copy.inside) * bytes;
    job.into = static_cast<char*>(into) + (is_inward ? copy.inside : copy.outside) * bytes;
    const int64_t planes = planes_of(job);
    const int64_t moved = planes * job.along.extent * job.across.extent * job.element_bytes;
    cut_in_tiles(job);
    const int64_t tiles = job.along.tiles * job.across.tiles * planes;
    if (pool != nullptr && moved >= kSharedBytes && tiles > 1) {
      pool->run(pool, copy_part, &job, tiles);
    } else {
      copy_tiles(job, 0, tiles);
    }
  }
}

}  // namespace

void copy_inside(const LatheTensor& tensor, const Instructions& instructions, const void* outside,
                 void* inside, const LatheParallel* pool) {
  copy_all(tensor, instructions, true, outside, inside, pool);
}

void copy_outside(const LatheTensor& tensor, const Instructions& instructions, const void* inside,
                  void* outside, const LatheParallel* pool) {
  copy_all(tensor, instructions, false, inside, outside, pool);
}

}  // namespace lathe
