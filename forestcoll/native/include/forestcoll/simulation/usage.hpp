// The amount that each resource has carried over time, in a fixed number of equal bins that grow as
// needed.
#pragma once

#include <cstdint>
#include <vector>

namespace forestcoll {

class Usage {
 public:
  Usage() = default;
  Usage(int resources, int bins);

  // Adds `amount` that a resource carries evenly from one tick to another.
  void add(int resource, std::int64_t from, std::int64_t to, double amount);

  // Ticks of a bin; 0 if nothing is stored.
  std::int64_t width() const { return width_; }
  int bins() const { return bins_; }
  // A row of bins for each resource.
  const std::vector<double>& carried() const { return carried_; }

 private:
  void widen();

  int resources_ = 0, bins_ = 0;
  std::int64_t width_ = 0;
  std::vector<double> carried_;
};

}  // namespace forestcoll
