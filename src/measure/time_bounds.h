// How long the programs of a task, and the comparison of one with its reference, may take: estimates from the
// task alone. Pure functions.
#pragma once

#include "task/task.h"

namespace lathe {

// The time at speeds that hardly any machine exceeds: multiply-adds by the target's vectors, functions by the
// multiply-adds that they last, bytes from memory.
double fastest_seconds(const Task& task);

// After so long a candidate of a search is given up: it would be far from the best in any case.
// Once there is a best time LocalEvaluator gives less.
double candidate_limit_seconds(const Task& task);
// After so long a program that is to be checked is taken for one that hangs: a naive one is right too.
double program_limit_seconds(const Task& task);

// What the comparison of all elements takes: the reference in double by itself.
double full_check_seconds(const Task& task);
// What the random inputs and the elements that are sampled take.
double drawing_seconds(const Dag& dag);

}  // namespace lathe
