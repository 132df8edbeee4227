// Winograd's minimal filtering F(m, r) for a two-dimensional window of stride 1 (Lavin and Gray 2016), as a
// rewrite of the Dag: weights U and data V are transformed by small tables, M = U * V is a batch of dense
// products, and Y transforms back. Tiles are counted by one flat axis p, so that a schedule can group them.
#pragma once

#include "rewrite/rewrite.h"

namespace lathe {

// Toom-Cook tables for m outputs and a window of r, n = m + r - 1 points (the last at infinity), row-major.
struct WinogradTables {
  std::vector<double> data;    // B^T [n, n]
  std::vector<double> weight;  // G [n, r]
  std::vector<double> output;  // A^T [m, n]
};
// The points are dyadic, so that every table entry that is 0 is exactly 0. An Error for m outside 2, 4, 6.
Result<WinogradTables> winograd_tables(int64_t m, int64_t r);

// Rule "winograd", parameter m (2, 4 or 6; 4 if absent). O[n,f,y,x] = sum(c,i,j) D[n,c,y+i,x+j] * W[f,c,i,j]
// of f32 becomes O.U [i,j,c,f], O.V1 [p,c,i,b], O.V [i,j,p,c], O.M [i,j,p,f], O.Y1 [p,f,u,j], O.Y [p,f,u,v]
// and O. A product of other axes with two such windows is brought into that form first
// (rewrite/image_form.h).
Result<Dag> rewrite_winograd(const Dag& dag, const std::string& stage, const RewriteParameters& parameters);

}  // namespace lathe
