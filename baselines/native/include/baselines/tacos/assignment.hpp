// Assigns to the free links into a GPU the chunks that it lacks.
//
// Chunks come up at random among those that some remaining link can bring. Each takes the link that
// would bring it first, a random one among equals. If the remaining links could only bring chunks
// that others bring, a maximum assignment gives those others something else, as long as that keeps
// more links busy.
#pragma once

#include <span>
#include <vector>

#include "baselines/tacos/offers.hpp"
#include "baselines/tacos/python_random.hpp"
#include "forestcoll/common/bit_rows.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll::baselines {

// Draws one of a non-empty set of chunks, all equally likely.
int draw(std::span<const Word> chunks, PythonRandom& random);

// A link by its index among the free ones.
struct Given {
  int link;
  int chunk;
};

class Assignment {
 public:
  Assignment(int words, bool maximum) : maximum_(maximum), offers_(words) {}

  // Assigns anew, for a GPU that lacks `lacks`. Link l has `has[l]` at its tail and takes
  // `ticks[l]`. The result is valid until the next call.
  const std::vector<Given>& assign(std::span<const Word* const> has, std::span<const Amount> ticks,
                                   std::span<const Word> lacks, PythonRandom& random);
  // Whether the link got nothing.
  bool is_left(int link) const { return offers_.is_open(link); }
  // Whether such links could bring anything that others bring.
  bool offers_more() const;

 private:
  bool find_wanted();
  int soonest(int chunk, std::span<const Amount> ticks, PythonRandom& random);
  bool rearrange();
  bool offers_wanted(int link) const;
  void shift(int link);

  bool maximum_;
  Offers offers_;
  std::vector<Word> wanted_;     // lacking, and given to no link
  std::vector<Word> at_first_;   // all that the links offered at first
  std::vector<Word> available_;  // wanted, and offered by some link left
  std::vector<Given> given_;
  std::vector<int> ways_, reached_, others_;
  IndexedVector<int> before_;  // the previous link on the path from an idle link, by link
};

}  // namespace forestcoll::baselines
