// Progress reports of long work. The report may throw, which stops the work.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

namespace forestcoll {

class Progress {
 public:
  using Report = std::function<void(std::int64_t done, std::int64_t total)>;

  Progress() = default;
  explicit Progress(Report report) : report_(std::move(report)) {}

  // Cheap enough for inner loops: reports at most twenty times a second.
  void operator()(std::int64_t done, std::int64_t total) {
    if (!report_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(50);
    report_(done, total);
  }

 private:
  Report report_;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace forestcoll
