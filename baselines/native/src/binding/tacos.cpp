// Python binding of a trial of TACOS.
#include "baselines/tacos/tacos.hpp"

#include <cstdint>
#include <utility>

#include "binding.hpp"
#include "forestcoll/binding/arrays.hpp"

using namespace nanobind::literals;

namespace forestcoll::baselines {
namespace {

auto match_chunks_of(int gpus, In<std::int32_t> tail, In<std::int32_t> head, In<Amount> ticks,
                     int chunks, bool maximum, In<std::uint32_t> words, Callback progress) {
  MatchingNetwork network{gpus, chunks, {}};
  for (const Arc& arc : arcs_of(tail, head, ticks)) {
    network.links.push_back({arc.tail, arc.head, arc.capacity});
  }
  Transfers done = run(progress, [&](Progress p) {
    return match_chunks(network, maximum, vector_of(words), std::move(p));
  });
  return std::tuple(array_of(std::move(done.chunk)), array_of(std::move(done.link)),
                    array_of(std::move(done.start)));
}

}  // namespace

void bind_tacos(nb::module_& m) {
  m.def("match_chunks", &match_chunks_of, "gpus"_a, "tail"_a, "head"_a, "ticks"_a, "chunks"_a,
        "maximum"_a, "words"_a, "progress"_a = nb::none(),
        "Make a random trial of TACOS over links between GPUs, with the words of Python's newly "
        "seeded generator. Return the transfers that brought lacking chunks, in the order of "
        "arrival: chunk, index of the link, start.");
}

}  // namespace forestcoll::baselines
