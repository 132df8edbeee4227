#include "experiment/search_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "base/temporary_folder.h"

namespace lathe {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

SearchKey key(int seed) { return {"C2 12ab", "annealing", "gbt", 800, 64, seed}; }

class SearchStoreTest : public ::testing::Test {
 protected:
  std::string path() const { return (folder_.path() / "searches").string(); }
  TemporaryFolder folder_;
};

TEST_F(SearchStoreTest, WhatIsAddedIsThereInTheNextRun) {
  {
    SearchStore store = SearchStore::open(path()).value();
    EXPECT_EQ(store.find(key(1)), nullptr);
    ASSERT_TRUE(store.add(key(1), {{3, kInfinity, 0.1}, {1, 2, 3}}));
    ASSERT_TRUE(store.add(key(2), {}));
  }
  const SearchStore store = SearchStore::open(path()).value();
  ASSERT_NE(store.find(key(1)), nullptr);
  EXPECT_EQ(*store.find(key(1)), (KeptSearch{{3, kInfinity, 0.1}, {1, 2, 3}}));
  EXPECT_NE(store.find(key(2)), nullptr);
  SearchKey other = key(1);
  other.trials = 100;
  EXPECT_EQ(store.find(other), nullptr);
}

TEST_F(SearchStoreTest, ALineThatWasBeingWrittenIsLeftOut) {
  {
    SearchStore store = SearchStore::open(path()).value();
    ASSERT_TRUE(store.add(key(1), {{3}}));
  }
  std::ofstream(path(), std::ios::app) << R"({"table": "C2 12ab", "stra)";
  SearchStore again = SearchStore::open(path()).value();
  EXPECT_NE(again.find(key(1)), nullptr);
  ASSERT_TRUE(again.add(key(2), {{4}}));
  EXPECT_EQ(*SearchStore::open(path()).value().find(key(2)), KeptSearch{{4}});
}

TEST_F(SearchStoreTest, WhatIsNoStoreIsASentence) {
  std::ofstream(path()) << "{\"table\": 3}\n";
  const auto store = SearchStore::open(path());
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().to_string(),
              ::testing::EndsWith("searches: line 1 is no search of an experiment"));
}

}  // namespace
}  // namespace lathe
