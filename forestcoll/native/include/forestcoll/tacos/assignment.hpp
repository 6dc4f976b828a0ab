// Which of the free links into a GPU brings which of the chunks that it lacks.
//
// Chunks come up at random among those that some link left can bring; each takes the link that
// would bring it first, at a tie a random one. If nothing is left to bring but what others bring, a
// maximum assignment gives these something else, as long as that keeps more links busy.
#pragma once

#include <span>
#include <vector>

#include "forestcoll/common/bit_rows.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/tacos/offers.hpp"
#include "forestcoll/tacos/python_random.hpp"

namespace forestcoll {

// One of a set of chunks that is not empty, all equally likely.
int draw(std::span<const Word> chunks, PythonRandom& random);

// A link by its place among those that were free.
struct Given {
  int link;
  int chunk;
};

class Assignment {
 public:
  Assignment(int words, bool maximum) : maximum_(maximum), offers_(words) {}

  // Assigns anew, for a GPU that lacks `lacks`: link l has at its tail `has[l]` and takes
  // `ticks[l]`. What is returned stays until the next time.
  const std::vector<Given>& assign(std::span<const Word* const> has, std::span<const Amount> ticks,
                                   std::span<const Word> lacks, PythonRandom& random);
  // Whether the link was given nothing.
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
  std::vector<Word> wanted_;     // what is lacking and given to no link
  std::vector<Word> at_first_;   // what all links offered together
  std::vector<Word> available_;  // what is wanted and some link left offers
  std::vector<Given> given_;
  std::vector<int> ways_, reached_, others_;
  IndexedVector<int> before_;  // on the way from a link that is left, by link
};

}  // namespace forestcoll
