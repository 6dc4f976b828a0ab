#include "baselines/tacos/tacos.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "baselines/tacos/assignment.hpp"
#include "baselines/tacos/python_random.hpp"
#include "forestcoll/common/bit_rows.hpp"
#include "forestcoll/common/errors.hpp"

namespace forestcoll::baselines {

namespace {

// The number of chunks that will arrive.
Amount deliveries(const MatchingNetwork& network) {
  return Amount{network.gpus} * (network.gpus - 1) * network.chunks;
}

void check(const MatchingNetwork& network) {
  if (network.gpus < 1 || network.chunks < 1) throw InvalidInput("there must be GPUs and chunks");
  if (Amount{network.gpus} * network.chunks > std::numeric_limits<int>::max()) {
    throw CapacityOverflow("chunks are too many to be numbered");
  }
  const auto is_gpu = [&](int v) { return 0 <= v && v < network.gpus; };
  Amount most = 0;
  for (const TimedLink& link : network.links) {
    if (!is_gpu(link.tail) || !is_gpu(link.head)) throw InvalidInput("a link's end is no GPU");
    if (link.ticks < 1) throw InvalidInput("a link takes no time");
    most = std::max(most, link.ticks);
  }
  // If anything is in flight, some lacking chunk will arrive.
  if (most > std::numeric_limits<Amount>::max() / (deliveries(network) + 1)) {
    throw CapacityOverflow("times do not fit 64 bits");
  }
}

// A look takes some tenths of a microsecond where few links are free; a report takes a tenth of
// that.
constexpr std::int64_t kLooksUnreported = 16;

class Trial {
 public:
  Trial(const MatchingNetwork& network, bool maximum, const std::vector<std::uint32_t>& words);

  // Runs until all chunks are delivered or nothing moves any more.
  void run(Progress& progress);
  Transfers take_done() { return std::move(done_); }

 private:
  // The chunk on a busy link, and the number of chunks that its tail had when it started. The
  // number stands for the set, since arrived_ lists chunks in order of arrival.
  struct Flight {
    int chunk;
    int known;
    Amount start;
  };

  bool match(int head);
  void start(const Given& given, int link);
  void arrive(int link);
  int still_lacking(int link);
  std::span<const Word> row(const BitRows& rows, int gpu) const {
    return {rows.row(gpu), static_cast<std::size_t>(rows.words())};
  }

  const MatchingNetwork& network_;
  PythonRandom random_;
  BitRows has_, lacks_;                      // chunks that each GPU has
  IndexedVector<std::vector<int>> arrived_;  // chunks of each GPU in the order of arrival
  IndexedVector<std::vector<int>>
      free_;                       // free links by head, in the order in which they became free
  BitRows heads_;                  // heads of links, by tail
  BitRows look_;                   // the GPUs to examine next, one row
  IndexedVector<Flight> flights_;  // by link
  std::map<Amount, std::vector<int>> due_;  // links, by the time at which they become free
  Amount now_ = 0;
  Assignment assignment_;
  IndexedVector<int> offering_;  // free links that could bring something, in the same order,
  std::vector<const Word*> tail_has_;
  std::vector<Amount> ticks_;
  std::vector<Word> others_;
  Transfers done_;
};

Trial::Trial(const MatchingNetwork& network, bool maximum, const std::vector<std::uint32_t>& words)
    : network_(network),
      random_(words),
      has_(network.gpus, network.gpus * network.chunks),
      lacks_(network.gpus, network.gpus * network.chunks),
      arrived_(network.gpus),
      free_(network.gpus),
      heads_(network.gpus, network.gpus),
      look_(1, network.gpus),
      flights_(network.links.count()),
      assignment_(has_.words(), maximum) {
  for (int gpu = 0; gpu < network.gpus; ++gpu) {
    look_.set(0, gpu);
    for (int chunk = 0; chunk < network.gpus * network.chunks; ++chunk) {
      (chunk / network.chunks == gpu ? has_ : lacks_).set(gpu, chunk);
    }
  }
  for (int link = 0; link < network.links.count(); ++link) {
    free_[network.links[link].head].push_back(link);
    heads_.set(network.links[link].tail, network.links[link].head);
  }
}

void Trial::run(Progress& progress) {
  const Amount all = deliveries(network_);
  std::int64_t looks = 0;
  const auto delivered = [this] { return static_cast<Amount>(done_.chunk.size()); };
  while (delivered() < all) {
    for (int w = 0; w < look_.words(); ++w) {
      for (Word left = look_.row(0)[w]; left != 0; left &= left - 1) {
        const int head = w * kWordBits + std::countr_zero(left);
        if (looks++ % kLooksUnreported == 0) progress(delivered(), all);
        if (!match(head)) look_.clear(0, head);
      }
    }
    if (due_.empty()) return;
    auto event = due_.extract(due_.begin());
    now_ = event.key();
    std::ranges::sort(event.mapped());
    for (const int link : event.mapped()) arrive(link);
  }
}

// Starts transfers to a GPU; returns whether a free link could bring more later. Most looks find
// nothing and end here.
bool Trial::match(int head) {
  offering_.clear();
  tail_has_.clear();
  ticks_.clear();
  for (const int link : free_[head]) {
    const int tail = network_.links[link].tail;
    if (!has_.meets(tail, lacks_, head)) continue;
    offering_.push_back(link);
    tail_has_.push_back(has_.row(tail));
    ticks_.push_back(network_.links[link].ticks);
  }
  if (offering_.empty()) return false;
  const auto& taken = assignment_.assign(tail_has_, ticks_, row(lacks_, head), random_);
  for (const Given& given : taken) start(given, offering_[given.link]);
  std::erase_if(free_[head], [&, next = 0](int link) mutable {
    if (next == offering_.count() || offering_[next] != link) return false;
    return !assignment_.is_left(next++);
  });
  return assignment_.offers_more();
}

void Trial::start(const Given& given, int link) {
  const TimedLink& taken = network_.links[link];
  const int known = static_cast<int>(arrived_[taken.tail].size());
  flights_[link] = {given.chunk, known, now_};
  due_[now_ + taken.ticks].push_back(link);
}

// Ends a transfer; if it has brought a lacking chunk, its head's neighbours are examined.
void Trial::arrive(int link) {
  const int head = network_.links[link].head;
  free_[head].push_back(link);
  look_.set(0, head);
  int chunk = flights_[link].chunk;
  if (!lacks_.test(head, chunk)) chunk = still_lacking(link);
  if (chunk < 0) return;
  has_.set(head, chunk);
  lacks_.clear(head, chunk);
  arrived_[head].push_back(chunk);
  done_.chunk.push_back(chunk);
  done_.link.push_back(link);
  done_.start.push_back(flights_[link].start);
  for (int w = 0; w < look_.words(); ++w) look_.row(0)[w] |= heads_.row(head)[w];
}

// A random chunk that the head lacks and the tail had at the start; -1 if there is none.
int Trial::still_lacking(int link) {
  const auto [tail, head, ticks] = network_.links[link];
  others_.resize(static_cast<std::size_t>(has_.words()));
  for (int w = 0; w < has_.words(); ++w) {
    others_[static_cast<std::size_t>(w)] = has_.row(tail)[w] & lacks_.row(head)[w];
  }
  const std::vector<int>& arrived = arrived_[tail];
  for (auto known = static_cast<std::size_t>(flights_[link].known); known < arrived.size();
       ++known) {
    const int chunk = arrived[known];
    others_[static_cast<std::size_t>(chunk / kWordBits)] &= ~bit_in_word(chunk);
  }
  if (std::ranges::all_of(others_, [](Word word) { return word == 0; })) return -1;
  return draw(others_, random_);
}

}  // namespace

Transfers match_chunks(const MatchingNetwork& network, bool maximum,
                       const std::vector<std::uint32_t>& words, Progress progress) {
  check(network);
  Trial trial(network, maximum, words);
  trial.run(progress);
  return trial.take_done();
}

}  // namespace forestcoll::baselines
