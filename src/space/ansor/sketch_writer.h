// The trace of an outline and its answers. Nodes are written from the outputs to the inputs, so that the
// loops are there in which a producer is computed. Internal to this folder.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "space/ansor/loop_writer.h"
#include "space/ansor/memory_order.h"

namespace lathe {

// Writes one trace.
class SketchWriter {
 public:
  // `decider` and `outline` must outlive this object; `answers` are those of the outline's nodes, `steps`
  // those that make the decider's Dag.
  SketchWriter(Decider& decider, const Outline& outline, const std::vector<NodeAnswers>& answers, Trace steps)
      : decider_(decider), outline_(outline), answers_(answers), writer_{decider, std::move(steps)} {}

  // An Error where the body of a block becomes too long.
  Result<Trace> write();

 private:
  struct Node {
    const Compute& compute;
    const Stage& stage;
    const NodeOutline& outline;
    const NodeAnswers& answers;
    const std::string& name() const { return compute.output->name; }
  };
  // The loops of the node that reads, and those of them that the places number.
  struct Reader {
    NodeLoops loops;
    std::vector<size_t> places;
  };

  Node node(size_t index) const;
  // The place in the loops of the only node that reads this one, with that node; else 0.
  std::pair<int64_t, size_t> placed(const Node& node) const;
  std::vector<size_t> loops_with_producers(const Node& reader, const std::vector<size_t>& places) const;
  // Moves the node into its reader's loops; gives the extents that its axes have there.
  std::vector<int64_t> write_place(const Node& node);
  std::vector<UncutLoop> uncut_loops(const Node& node, const std::vector<size_t>& order) const;

  void write_node(const Node& node);
  void write_tiled(const Node& node);
  void write_whole(const Node& node);
  void write_rfactored(const Node& node);
  void write_partial(const Node& node, const NodeLoops& results, const UncutLoop& part,
                     const UncutLoop& terms);
  void write_loops(NodeLoops& loops, const LoopWork& work);

  Decider& decider_;
  const Outline& outline_;
  const std::vector<NodeAnswers>& answers_;
  Writer writer_;
  std::map<std::string, Reader> readers_ = {};
};

}  // namespace lathe
