#include "artifact/runtime/model_runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>
#include <utility>

#include "artifact/runtime/written_model.h"
#include "base/child.h"
#include "target/cpu/x86/processor_extensions.h"

#ifdef __SANITIZE_THREAD__
// A child may go on, as long as it starts no threads.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }  // NOLINT: its name
#endif

namespace lathe {
namespace {

using namespace written;  // NOLINT: its names are the subject of these tests
using ::testing::HasSubstr;

#ifdef __SANITIZE_THREAD__
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif

Values expected_scaling(const Values& x, const Values& w) {
  Values y = {};
  for (int64_t i = 0; i < kCount; ++i) y.at[i] = x.at[i] * (w.at[i] + w.at[i]) - w.at[i];
  return y;
}
Values expected_summing(const Values& x) {
  Values y = {};
  for (int64_t i = 0; i < kCount; ++i) {
    const float before = i % kColumns == 0 ? 0 : y.at[i - 1];
    y.at[i] = before + x.at[i] + 1;
  }
  for (int64_t i = 0; i < kCount; ++i) y.at[i] *= static_cast<float>(i % 5);
  return y;
}
Values expected_negating(const Values& x) {
  Values y = {};
  for (int64_t i = 0; i < kCount; ++i) y.at[i] = -x.at[i];
  return y;
}

// The three models, what each thread gives them, and whether all that they compute is right.
struct Models {
  WrittenModel scaling{scaling_model()};
  WrittenModel summing{summing_model()};
  WrittenModel negating{negating_model()};

  bool right(int seed, bool with_threads = true) {
    const Values x = values_from(seed);
    const Values w = values_from(seed / 2 + 5);
    Values y = {};
    if (!scaling.run(x.at, w.at, y.at) || !(y == expected_scaling(x, w))) return false;
    if (!negating.run(x.at, nullptr, y.at) || !(y == expected_negating(x))) return false;
    return !with_threads || (summing.run(x.at, nullptr, y.at) && y == expected_summing(x));
  }
};

// Each thread has constants of its own, and changes them now and then.
void run_from_threads(int threads, int calls, int forks) {
  Models models;
  std::atomic<int> wrong{0};
  std::atomic<int> running{threads};
  std::vector<std::thread> callers;
  for (int thread = 0; thread < threads; ++thread) {
    callers.emplace_back([&, thread] {
      for (int call = 0; call < calls; ++call) {
        if (!models.right(thread + 100 * (call / 50))) ++wrong;
      }
      --running;
    });
  }
  int forked = 0;
  for (; forked < forks && running > 0; ++forked) {
    const pid_t child = start_child([&] {
      for (int seed = 0; seed < 3; ++seed) {
        if (!models.right(seed, !kThreadSanitizer)) return 1;
      }
      return 0;
    });
    EXPECT_EQ(exit_status(child), 0);
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(forked, 0);
}

TEST(ModelRuntime, AnyNumberOfThreadsCallsWithForksBetween) { run_from_threads(8, 200, 10); }

// The same for as long as it takes to believe it: --gtest_also_run_disabled_tests.
TEST(ModelRuntime, DISABLED_EightThreadsCallTenThousandTimes) { run_from_threads(8, 10000, 200); }

TEST(ModelRuntime, CallersWaitWhereAllCallsThatMayBeAreInFlight) {
  WrittenModel model(scaling_model(), 1);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int thread = 0; thread < 4; ++thread) {
    callers.emplace_back([&, thread] {
      const Values x = values_from(thread);
      const Values w = values_from(thread + 50);
      const Values expected = expected_scaling(x, w);
      for (int call = 0; call < 300; ++call) {
        Values y = {};
        if (!model.run(x.at, w.at, y.at) || !(y == expected)) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

// Threads that wait for each other; they may be more than processors.
class Meeting {
 public:
  explicit Meeting(int threads) : threads_(threads) {}
  void meet() {
    const int round = arrived_++ / threads_;
    for (int spins = 0; arrived_ < (round + 1) * threads_; ++spins) {
      if (spins > 1000) std::this_thread::yield();
    }
  }
  int rounds() const { return arrived_ / threads_; }

 private:
  int threads_;
  std::atomic<int> arrived_{0};
};

// As long as the caller's thread says.
thread_local int spins_of_call = 0;
int spin(void* const*, const int64_t*, void*, const LatheParallel*) {
  for (int i = 0; i < spins_of_call; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
  return 0;
}
int do_nothing(void* const*, const int64_t*, void*, const LatheParallel*) { return 0; }

// Of two callers that meet, one may wait for the other's context, and nobody calls later who would wake it by
// chance.
TEST(ModelRuntime, ACallerThatWaitsIsWokenByTheLastCall) {
  constexpr int kRounds = 20000;
  LatheModelTables tables = shifting_model();
  LatheLaunch step = tables.launches[0];
  step.entry = spin;
  tables.launches = &step;
  WrittenModel model(tables, 1);
  Meeting meeting(2);
  std::atomic<int> wrong{0};
  std::atomic<int> running{2};
  std::vector<std::thread> callers;
  for (int thread = 0; thread < 2; ++thread) {
    callers.emplace_back([&, thread] {
      const Values x = values_from(1);
      Values y = {};
      for (int round = 0; round < kRounds; ++round) {
        spins_of_call = round * (thread + 1) % 193;
        meeting.meet();
        if (!model.run(x.at, nullptr, y.at)) ++wrong;
      }
      --running;
    });
  }
  int asleep = 0;
  for (int last = -1, quiet = 0; running > 0;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const int now = meeting.rounds();
    quiet = now == last ? quiet + 1 : 0;
    last = now;
    if (quiet < 50) continue;
    ++asleep;
    quiet = 0;
    Values y = {};
    model.run(values_from(1).at, nullptr, y.at);  // wakes it
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(asleep, 0) << "a caller slept beside a context that nobody used";
}

Meeting* meeting_of_calls = nullptr;

int scale_together(void* const* buffers, const int64_t* sizes, void* workspace, const LatheParallel* pool) {
  if (meeting_of_calls != nullptr) meeting_of_calls->meet();
  return scale(buffers, sizes, workspace, pool);
}

// A context that changes from one set of constants to the other has neither meanwhile.
TEST(ModelRuntime, AForkBetweenTwoSetsOfConstantsLeavesNoneOfThemMixed) {
  constexpr int kForks = 200;
  constexpr int kLaunches = 1000;  // whose addresses take as long to change as they take to run
  LatheModelTables tables = scaling_model();
  std::vector<LatheLaunch> steps(kLaunches, tables.launches[0]);
  for (LatheLaunch& step : steps) step.entry = do_nothing;
  steps.front().entry = scale_together;
  tables.launches = steps.data();
  tables.launch_count = kLaunches;
  WrittenModel model(tables, 2);
  const Values x = values_from(1);
  const std::array<Values, 2> w = {values_from(2), values_from(3)};
  Values y = {};
  const auto is_right = [&](size_t set) {
    return model.run(x.at, w.at(set).at, y.at) && y == expected_scaling(x, w.at(set));
  };
  Meeting meeting(2);
  meeting_of_calls = &meeting;
  std::thread other([&] {
    Values apart = {};
    EXPECT_TRUE(model.run(x.at, w[0].at, apart.at));
  });
  EXPECT_TRUE(model.run(x.at, w[1].at, y.at));
  other.join();
  meeting_of_calls = nullptr;
  std::atomic<bool> stops{false};
  std::thread changing([&] {
    for (size_t call = 0; !stops; ++call) model.run(x.at, w.at(call % 2).at, y.at);
  });
  int wrong = 0;
  for (size_t fork = 0; fork < kForks; ++fork) {
    wrong += exit_status(start_child([&] { return is_right(fork % 2) && is_right((fork + 1) % 2) ? 0 : 1; }));
  }
  stops = true;
  changing.join();
  EXPECT_EQ(wrong, 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need more than any limit
int shift_slowly(void* const* buffers, const int64_t* sizes, void* workspace, const LatheParallel* pool) {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return shift(buffers, sizes, workspace, pool);
}

// The process may have no more than this beside what it has.
bool limit_memory(int64_t more_bytes) {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const auto bytes = static_cast<rlim_t>(pages * getpagesize() + more_bytes);
  const rlimit limit = {bytes, bytes};
  return setrlimit(RLIMIT_AS, &limit) == 0;
}

TEST(ModelRuntime, CallersWaitWhereThereIsNoMemoryForACallOfTheirOwn) {
  constexpr int64_t kArena = int64_t{1} << 30;
  LatheModelTables tables = shifting_model();
  LatheLaunch step = tables.launches[0];
  step.entry = shift_slowly;
  tables.launches = &step;
  tables.arena_bytes = kArena;
  EXPECT_EQ(exit_status(start_child([&] {
              WrittenModel model(tables, 4);
              if (!limit_memory(kArena / 2)) return 1;
              std::atomic<int> wrong{0};
              std::vector<std::thread> callers;
              for (int thread = 0; thread < 3; ++thread) {
                callers.emplace_back([&] {
                  const Values x = values_from(1);
                  Values y = {};
                  for (int call = 0; call < 5; ++call) {
                    if (!model.run(x.at, nullptr, y.at)) ++wrong;
                  }
                });
              }
              for (std::thread& caller : callers) caller.join();
              return wrong == 0 ? 0 : 2;
            })),
            0);
}
#endif

// What a call finds in place it does not look at again: other values, other places and other constants
// between such calls, aligned or not, count all the same.
TEST(ModelRuntime, TheSameTensorsMayHoldOtherValuesAndOthersMayComeBetween) {
  WrittenModel scaling(scaling_model());
  WrittenModel negating(negating_model());
  std::array<Values, 2> x;
  std::array<Values, 3> y;
  alignas(64) std::array<float, kCount + 1> apart;
  for (int seed = 0; seed < 40; ++seed) {
    Values& from = x.at(static_cast<size_t>(seed / 5 % 2));
    from = values_from(seed);
    const Values w = values_from(100 + seed / 3);  // changed now and then, while all else stays
    float* const into = seed % 7 == 6 ? apart.data() + 1 : y.at(static_cast<size_t>(seed / 4 % 3)).at;
    const Values expected = expected_scaling(from, w);
    ASSERT_TRUE(scaling.run(from.at, w.at, into)) << last_model_error();
    ASSERT_TRUE(std::equal(into, into + kCount, expected.at)) << seed;
    ASSERT_TRUE(negating.run(from.at, nullptr, from.at)) << last_model_error();  // where its input lies
    ASSERT_TRUE(negating.run(from.at, nullptr, into)) << last_model_error();
    ASSERT_TRUE(std::equal(into, into + kCount, values_from(seed).at)) << seed;
  }
}

// Whether at an address that kernels can use or at another: the same tensors hold other values in each call.
TEST(ModelRuntime, TensorsAtAnyAddressAreReadInEachCall) {
  WrittenModel scaling(scaling_model());
  WrittenModel negating(negating_model());
  alignas(64) std::array<float, kCount + 16> from;
  alignas(64) std::array<float, kCount + 16> into;
  for (const auto& [x_offset, y_offset] : {std::pair{1, 0}, {0, 1}, {1, 4}, {0, 0}, {4, 1}}) {
    for (int seed = 0; seed < 3; ++seed) {
      float* const x = from.data() + x_offset;
      float* const y = into.data() + y_offset;
      const Values values = values_from(10 * x_offset + seed);
      const Values w = values_from(100 + seed / 2);
      std::copy_n(values.at, kCount, x);
      ASSERT_TRUE(scaling.run(x, w.at, y)) << last_model_error();
      ASSERT_TRUE(std::equal(y, y + kCount, expected_scaling(values, w).at)) << x_offset << y_offset << seed;
      ASSERT_TRUE(negating.run(x, nullptr, y)) << last_model_error();
      ASSERT_TRUE(std::equal(y, y + kCount, expected_negating(values).at)) << x_offset << y_offset << seed;
    }
  }
}

TEST(ModelRuntime, NullIsTheConstantOfTheLastRun) {
  WrittenModel model(scaling_model());
  const Values x = values_from(1);
  Values y = {};
  EXPECT_FALSE(model.run(x.at, nullptr, y.at));
  EXPECT_STREQ(last_model_error(), "constant input 1 ('w') is null, and no run before has left one");
  for (const int seed : {3, 4, 3}) {
    const Values w = values_from(seed);
    ASSERT_TRUE(model.run(x.at, w.at, y.at));
    EXPECT_EQ(y, expected_scaling(x, w));
    y = {};
    // Another thread's call finds another context.
    std::thread([&] { EXPECT_TRUE(model.run(x.at, nullptr, y.at)); }).join();
    EXPECT_EQ(y, expected_scaling(x, w));
  }
}

// Indices that are constant: 7 leads outside of the two rows that they choose from.
TEST(ModelRuntime, AConstantThatIsRefusedLeavesTheOneBefore) {
  LatheModelTables tables = scaling_model();
  const std::array<LatheTensor, 2> inputs = {tables.inputs[0], [&] {
                                               LatheTensor indices = tables.inputs[1];
                                               indices.least_index = 0;
                                               indices.most_index = 1;
                                               return indices;
                                             }()};
  tables.inputs = inputs.data();
  WrittenModel model(tables);
  const auto run_with = [&](const int32_t* w, Values& y) {
    return model.run(values_from(1).at, reinterpret_cast<const float*>(w), y.at);
  };
  std::vector<int32_t> w(kCount, 1);
  Values first = {};
  Values second = {};
  ASSERT_TRUE(run_with(w.data(), first)) << last_model_error();
  w[5] = 7;
  EXPECT_FALSE(run_with(w.data(), second));
  EXPECT_THAT(last_model_error(), HasSubstr("7"));
  EXPECT_TRUE(run_with(nullptr, second)) << last_model_error();
  EXPECT_EQ(first, second);
}

TEST(ModelRuntime, AnOutputMayLieWhereTheInputDoes) {
  WrittenModel model(shifting_model());
  const Values x = values_from(1);
  Values apart = {};
  ASSERT_TRUE(model.run(x.at, nullptr, apart.at));
  Values in_place = x;
  ASSERT_TRUE(model.run(in_place.at, nullptr, in_place.at));
  EXPECT_EQ(in_place, apart);
  // 64 bytes on: both at addresses that kernels can use.
  for (const bool output_first : {false, true}) {
    struct alignas(64) {
      float at[kCount + 16];
    } both = {};
    float* const input = both.at + (output_first ? 16 : 0);
    float* const output = both.at + (output_first ? 0 : 16);
    std::memcpy(input, x.at, kBytes);
    ASSERT_TRUE(model.run(input, nullptr, output));
    EXPECT_TRUE(std::equal(output, output + kCount, apart.at));
  }
}

TEST(ModelRuntime, AProcessorWithoutTheExtensionsIsRefused) {
  constexpr const char* kNames[] = {"AVX-VNNI", "AVX-512 VNNI", "AVX-512 BF16"};
  for (uint32_t i = 0; i < 3; ++i) {
    if ((processor_extensions() >> i & 1) != 0) continue;
    LatheModelTables tables = shifting_model();
    tables.extensions = uint32_t{1} << i;
    RunningModel model;
    EXPECT_FALSE(model.open(tables, ".", nullptr));
    EXPECT_EQ(last_model_error(), std::string("the model was compiled for processors with ") + kNames[i] +
                                      ", which this one lacks");
  }
}

TEST(ModelRuntime, OutputsInTheSameMemoryAreRefused) {
  static const LatheTensor outputs[] = {plain_tensor("y"), plain_tensor("z")};
  LatheModelTables tables = shifting_model();
  tables.output_count = 2;
  tables.outputs = outputs;
  WrittenModel model(tables);
  Values x = values_from(1);
  Values y = {};
  const void* const inputs[] = {x.at};
  for (const int64_t distance : {int64_t{0}, int64_t{16}}) {
    void* const same[] = {y.at, y.at + distance};
    EXPECT_FALSE(model.model().run(inputs, same));
    EXPECT_STREQ(last_model_error(), "output 0 ('y') and output 1 ('z') lie in the same memory");
  }
}

// The parent's second thread sleeps, or spins, or is not there: in the child none is.
TEST(ModelRuntime, AForkedChildRunsAndClosesWhatItsParentOpened) {
  if (kThreadSanitizer) GTEST_SKIP() << "the sanitizer starts no threads in a child";
  auto models = std::make_unique<Models>();
  for (const int pause_milliseconds : {0, 5}) {
    ASSERT_TRUE(models->right(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_milliseconds));
    EXPECT_EQ(exit_status(start_child([&] {
                models.reset();
                return 0;
              })),
              0);
    EXPECT_EQ(exit_status(start_child([&] {
                const bool right = models->right(2) && models->right(3);
                const int grandchild = exit_status(start_child([&] { return models->right(4) ? 0 : 1; }));
                models.reset();
                return right && grandchild == 0 ? 0 : 1;
              })),
              0);
  }
  EXPECT_TRUE(models->right(5));
}

TEST(ModelRuntime, WeightsOfAnotherModelAreRefused) {
  const WrittenWeights weights(summing_model());
  RunningModel model;
  EXPECT_FALSE(model.open(scaling_model(), weights.path().c_str(), nullptr));
  EXPECT_EQ(last_model_error(),
            "the weights " + weights.path() +
                "/weights.bin are those of 'summing', build 0000000000000002, and the library "
                "is that of 'scaling', build 0000000000000001");
}

TEST(ModelRuntime, OptionsOfOtherVersions) {
  const WrittenWeights weights(scaling_model());
  const auto refusal = [&](const lathe_open_options* options) {
    RunningModel model;
    const bool opened = model.open(scaling_model(), weights.path().c_str(), options);
    return opened ? std::string("it opens") : std::string(last_model_error());
  };
  EXPECT_EQ(refusal(nullptr), "it opens");
  lathe_open_options options = {sizeof options, 1, 1};
  EXPECT_EQ(refusal(&options), "it opens");
  options.size = sizeof options.size;
  EXPECT_EQ(refusal(&options), "it opens") << "earlier ones lack what is 0";
  options = {0, 1, 1};
  EXPECT_THAT(refusal(&options), HasSubstr("the options have the size 0, and this library knows those of"));
  options = {size_t{1} << 60, 1, 1};
  EXPECT_THAT(refusal(&options), HasSubstr("the options have the size 1152921504606846976"));
  options = {sizeof options, -1, 0};
  EXPECT_EQ(refusal(&options), "the number of cores is -1, it must be at least 0");
  options = {sizeof options, 0, -1};
  EXPECT_EQ(refusal(&options), "the number of calls is -1, it must be from 0 to 65536");
  struct {
    lathe_open_options known;
    int64_t later;
  } larger = {{sizeof larger, 0, 0}, 0};
  EXPECT_EQ(refusal(&larger.known), "it opens") << "what this version does not know is not asked for";
  larger.later = 1;
  EXPECT_THAT(refusal(&larger.known), HasSubstr("the options have the size 24"));
}

}  // namespace
}  // namespace lathe
