// A point's integers as numbers of like size, for models of points: each part of a split as its log2, the
// outer one among them; an ordered choice by its place from 0 to 1; a category as one number each, 1 for the
// one chosen; an order by each item's place from 0 to 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "domain/domain.h"

namespace lathe {

// One name for each number: "i.0", "unroll", "order=2", "loops.k".
std::vector<std::string> encoding_names(const Domain& domain);
// How many numbers a point of the domain has.
size_t encoding_size(const Domain& domain);
// The numbers of a point of the domain.
std::vector<float> encoded(const Domain& domain, const std::vector<int64_t>& integers);

// Appends one sketch's columns of a row over several: whether the point is of it, then the point's numbers,
// which are missing (NaN) where it is of another.
void append_columns(const Domain& domain, const std::vector<int64_t>* integers, std::vector<float>& row);

}  // namespace lathe
