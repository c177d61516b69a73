#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tessera::image_metric {

// For every query its nearest neighbour in a set that comes batch by batch: has a model learnt
// images by heart? Compares in float64, so that distances of pixels are exact and a copy has the
// distance 0; memory beside queries and batch does not grow with either.
//   NearestSearch search(samples);
//   for (...) search.add(batch);
//   ... search.index(), search.distance()
class NearestSearch {
 public:
  // queries [n, ...] features or pixels, any type, on the device to compute on
  explicit NearestSearch(const at::Tensor& queries);

  // The next elements [m, ...] of the set, on any device.
  void add(const at::Tensor& elements);

  int64_t count() const { return count_; }  // elements so far
  at::Tensor index() const;                 // [n] int64, -1 in an empty set; the first of equals
  at::Tensor distance() const;              // [n] float64, Euclidean; inf in an empty set

 private:
  void compare(const at::Tensor& tile, int64_t begin);

  at::Tensor queries_;  // [n, D]
  at::Tensor index_;    // [n]
  at::Tensor squared_;  // [n] float64
  int64_t count_ = 0;
};

}  // namespace tessera::image_metric
