// Graph to graph: what a network need not compute at run time. Each pass keeps the values of the outputs (up
// to the rounding of folded constants), the names and order of inputs and outputs, and leaves a graph that
// `verify` accepts.
#pragma once

#include "graph/graph.h"

namespace lathe {

// Readers of an Identity read its operand; an Identity stays where it gives a graph output that has no other
// way to keep its name: of an input, a constant, or a tensor that is an output itself.
Graph remove_identities(const Graph& graph);
// Nodes whose operands are all constants become constants, but for those that give graph outputs and those
// that blow a constant up (`may_be_folded`).
Graph fold_constants(const Graph& graph);
// A BatchNormalization that alone reads a Conv is worked into the Conv's weight and bias, where all are
// constants.
Graph fold_batch_norms(const Graph& graph);
// Convolutions and products of what integers of 8 bits stand for, (numbers - zero point) * scale, are those
// of the integers, scaled afterwards: a quantized network's `DequantizeLinear`, `Conv`, `QuantizeLinear`
// compute in integers, and exactly where f32 rounds. Zero points and scales are constants, one for each
// tensor, of weights one for each map or column. Comes before constants are folded, which makes f32 of the
// weights.
Graph integer_products(const Graph& graph);
// Integers of 8 bits that are made real, moved and rounded to what they were, by one scale and zero point,
// are moved as they are: a quantized network's `DequantizeLinear`, `Transpose`, `QuantizeLinear`. Part of
// `integer_products`.
Graph keep_integers(const Graph& graph);
// Convolutions of integers of 8 bits in the form that machines compute fastest. They multiply four
// neighbouring channels an instruction: of few channels the last group is filled up with zeros of the
// weights, in one pass with what the window pads with. Where each map has one channel there are none to
// multiply together, and the sums, which f32 holds, are added up there: it has multiply-adds, and i32 has
// not.
Graph integer_convolutions(const Graph& graph);
// Drops nodes that no output needs, then tensors that nothing uses; inputs stay.
Graph remove_dead(const Graph& graph);

// Gives what crosses the border of a loop a place of its own where it needs one: a copy in front of an exit
// whose operand is not computed for it alone, of a constant in front of an entry, and behind a LastState that
// gives an output; rows that begin at multiples of 64 bytes. Puts the nodes of each loop behind each other. A
// graph whose loops `verify` refuses stays as it is.
Graph settle_loops(const Graph& graph);

// All of these, in the order in which they help each other. Idempotent.
Graph simplify(const Graph& graph);

}  // namespace lathe
