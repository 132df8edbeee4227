// An experiment's curves as pictures: a plot for each table, with a line for each run's median and a band in
// which half of its seeds lie.
#pragma once

#include <string>
#include <vector>

#include "experiment/summary.h"

namespace lathe {

// One SVG file with a title, the plots and what the lines mean. Heights are shares of the optimum's speed.
std::string svg_of(const std::string& title, const std::vector<TableCurves>& tables);

}  // namespace lathe
