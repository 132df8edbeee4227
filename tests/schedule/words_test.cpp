// Every step as a sentence about the block that it names.
#include "schedule/words.h"

#include <gtest/gtest.h>

#include <set>

namespace lathe {
namespace {

struct Case {
  const char* step;
  const char* subject;
  const char* words;
};

constexpr Case kCases[] = {
    {"rewrite phases O", "O", "is computed by the algorithm 'phases'"},
    {"rewrite winograd O m=4", "O",
     "is computed by the algorithm 'winograd', m = 4; an infinity or NaN makes results beside it NaN"},
    {"split C i [4]", "C", "cuts loop i into tiles of 4"},
    {"split C i [4 8]", "C", "cuts loop i into tiles of 4 x 8"},
    {"fuse C i j k", "C", "runs loops i, j, k as one"},
    {"reorder C j i", "C", "nests its loops in the order j, i"},
    {"serial C i", "C", "runs loop i step by step"},
    {"unroll C i", "C", "writes out loop i"},
    {"vectorize C i", "C", "runs loop i as vectors"},
    {"parallel C i", "C", "shares loop i among the threads"},
    {"bind C i block", "C", "gives each iteration of loop i a block of threads"},
    {"bind C i thread", "C", "gives each iteration of loop i a thread"},
    {"inline T", "T", "is computed where it is read"},
    {"compute_at T C i scope=registers", "T",
     "is computed for one iteration of loop i of C at a time, in registers"},
    {"compute_at T C i scope=workspace", "T",
     "is computed for one iteration of loop i of C at a time, in the workspace"},
    {"reverse_compute_at D C i scope=thread", "D",
     "takes over what one iteration of loop i of C gives, in a buffer of each thread"},
    {"prepare W", "W", "is computed once, when the program is loaded"},
    {"cache_read C B p at=prepare scope=workspace", "C", "reads B from a copy that is packed at load"},
    {"cache_read C A a at=i.0 scope=thread", "C",
     "reads A from a copy in a buffer of each thread, made in each iteration of i.0"},
    {"cache_read C A a at=root scope=workspace", "C",
     "reads A from a copy in the workspace, made beforehand"},
    {"cache_read C A a at=root scope=workspace type=i16", "C",
     "reads A from a copy as i16 in the workspace, made beforehand"},
    {"cache_read C A a at=i scope=shared type=i16", "C",
     "reads A from a copy as i16 in memory that a block of threads shares, made in each iteration of i"},
    {"cache_write C r at=i scope=registers", "C",
     "collects its results in registers during each iteration of i"},
    {"rfactor C r", "C", "sums each step of loop r on its own, then the sums"},
    {"layout B [1][0]", "B", "lies in memory as [1][0]"},
    {"tail C i guard", "C", "tests the border of i at each point"},
    {"tail C i bound", "C", "ends its loops at the end of i"},
    {"tail C i overlap", "C", "moves the last tile of i back over the one before"},
    {"tail C i mask", "C", "masks the vectors that reach over the end of i"},
    {"tail C i pad", "C", "computes on to the end of the last tile of i"},
    {"tail C i peel", "C", "has loops of their own for the last tile of i"},
    {"prefetch C B j distance=1", "C", "fetches B 1 iteration of j ahead"},
    {"prefetch C B j distance=2", "C", "fetches B 2 iterations of j ahead"},
    {"skip_zeros C", "C", "leaves out what is multiplied by the zeros around and between its inputs"},
    {"stream O", "O", "is written to memory past the caches"},
    {"tensorize C r.1 intrinsic=dot2_i16", "C", "adds up loop r.1 by the intrinsic dot2_i16"},
};

TEST(Words, EveryStepIsASentence) {
  std::set<size_t> kinds;
  for (const Case& c : kCases) {
    const Result<Trace> trace = parse_trace(c.step);
    ASSERT_TRUE(trace) << c.step << ": " << trace.error().to_string();
    ASSERT_EQ(trace->size(), 1U);
    EXPECT_EQ(subject_of(trace->front()), c.subject) << c.step;
    EXPECT_EQ(in_words(trace->front()), c.words) << c.step;
    kinds.insert(trace->front().index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<Step>) << "a step has no case above";
}

}  // namespace
}  // namespace lathe
