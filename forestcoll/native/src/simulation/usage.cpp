#include "forestcoll/simulation/usage.hpp"

#include <algorithm>

namespace forestcoll {

Usage::Usage(int resources, int bins)
    : resources_(resources),
      bins_(bins),
      width_(bins > 0 ? 1 : 0),
      carried_(static_cast<std::size_t>(resources) * static_cast<std::size_t>(bins), 0.0) {}

void Usage::add(int resource, std::int64_t from, std::int64_t to, double amount) {
  if (width_ == 0 || to <= from) return;
  while (to > width_ * bins_) widen();
  double* row = carried_.data() + static_cast<std::ptrdiff_t>(resource) * bins_;
  const double per_tick = amount / static_cast<double>(to - from);
  for (std::int64_t bin = from / width_; bin * width_ < to; ++bin) {
    const std::int64_t begin = std::max(from, bin * width_);
    const std::int64_t end = std::min(to, (bin + 1) * width_);
    row[bin] += per_tick * static_cast<double>(end - begin);
  }
}

void Usage::widen() {
  for (int resource = 0; resource < resources_; ++resource) {
    double* row = carried_.data() + static_cast<std::ptrdiff_t>(resource) * bins_;
    for (int bin = 0; bin < bins_; ++bin) {
      const double first = 2 * bin < bins_ ? row[2 * bin] : 0;
      const double second = 2 * bin + 1 < bins_ ? row[2 * bin + 1] : 0;
      row[bin] = first + second;
    }
  }
  width_ *= 2;
}

}  // namespace forestcoll
