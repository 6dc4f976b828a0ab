#include "baselines/tacos/offers.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace forestcoll::baselines {

void Offers::begin(std::span<const Word* const> has, const Word* lacks) {
  const int links = static_cast<int>(has.size());
  is_open_.assign(links, 1);
  inner_ = std::max(2, static_cast<int>(std::bit_ceil(has.size())));
  // Buffers only grow; old contents are overwritten.
  offered_.resize(std::max(offered_.size(), first_word(links)));
  unions_.resize(std::max(unions_.size(), first_word(inner_)));
  for (int link = 0; link < links; ++link) {
    const Word* const tail_has = has[static_cast<std::size_t>(link)];
    Word* const offered = offered_.data() + first_word(link);
    for (int w = 0; w < words_; ++w) offered[w] = tail_has[w] & lacks[w];
  }
  for (int node = inner_ - 1; node >= kRoot; --node) unite_children(node);
}

void Offers::close(int link) {
  is_open_[link] = 0;
  unite_above(link);
}

void Offers::open(int link) {
  is_open_[link] = 1;
  unite_above(link);
}

const Word* Offers::words_of(int node) const {
  if (node < inner_) return unions_.data() + first_word(node);
  const int link = node - inner_;
  return link < links() && is_open(link) ? of(link) : nothing_.data();
}

void Offers::unite_children(int node) {
  const Word *left = words_of(2 * node), *right = words_of(2 * node + 1);
  Word* const both = unions_.data() + first_word(node);
  for (int w = 0; w < words_; ++w) both[w] = left[w] | right[w];
}

void Offers::unite_above(int link) {
  for (int node = (link + inner_) / 2; node >= kRoot; node /= 2) unite_children(node);
}

void Offers::find_below(int node, int chunk, std::vector<int>& links) const {
  if ((words_of(node)[chunk / kWordBits] & bit_in_word(chunk)) == 0) return;
  if (node >= inner_) {
    links.push_back(node - inner_);
    return;
  }
  find_below(2 * node, chunk, links);
  find_below(2 * node + 1, chunk, links);
}

}  // namespace forestcoll::baselines
