// A range of work cut into equal parts, one for each thread.
//
// The caller must make the result independent of where the range is cut.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

#include "forestcoll/common/progress.hpp"

namespace forestcoll {

// Every part begins with a flow from nothing; below so many targets that costs more than it gains.
constexpr std::size_t kTargetsPerPart = 128;

// Thrown in the other parts when one has failed; never leaves in_parallel.
struct Abandoned {};

// Cuts 0 .. count into at most `threads` parts and calls work(first, last, progress) for each. Part
// 0 runs on the calling thread and reports; if it is stopped, or a part fails, the others give up
// at their next report. The exception of the first part that failed is thrown again.
template <typename Work>
void in_parallel(int threads, std::size_t count, Progress& progress, Work work) {
  const std::size_t parts = std::clamp<std::size_t>(count / kTargetsPerPart, 1,
                                                    static_cast<std::size_t>(std::max(threads, 1)));
  std::atomic<bool> abandoned = false;
  std::vector<std::exception_ptr> failures(parts);
  const auto run = [&](std::size_t part, Progress& own) {
    try {
      work(count * part / parts, count * (part + 1) / parts, own);
    } catch (...) {
      failures[part] = std::current_exception();
      abandoned = true;
    }
  };
  Progress first([&](std::int64_t done, std::int64_t total) {
    if (abandoned) throw Abandoned{};
    progress(done, total);
  });
  {
    std::vector<std::jthread> others;
    for (std::size_t part = 1; part < parts; ++part) {
      others.emplace_back([&run, &abandoned, part] {
        Progress silent([&abandoned](std::int64_t, std::int64_t) {
          if (abandoned) throw Abandoned{};
        });
        run(part, silent);
      });
    }
    run(0, first);
  }
  for (const std::exception_ptr& failure : failures) {
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (const Abandoned&) {
    }
  }
}

}  // namespace forestcoll
