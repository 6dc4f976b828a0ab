// Python binding of simulation: the transfers of a program, for repeated simulations.
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>

#include "binding.hpp"
#include "forestcoll/simulation/classes.hpp"
#include "forestcoll/simulation/fair_shares.hpp"
#include "forestcoll/simulation/first_come.hpp"
#include "forestcoll/simulation/priorities.hpp"
#include "forestcoll/simulation/rounds.hpp"
#include "forestcoll/simulation/streams.hpp"
#include "forestcoll/simulation/timeline.hpp"
#include "forestcoll/simulation/transfers.hpp"

using namespace nanobind::literals;

namespace forestcoll {
namespace {

auto result_of(Finish finish) {
  const auto bins = static_cast<std::size_t>(finish.usage.bins());
  return std::tuple(
      finish.ticks, finish.work, array_of(std::move(finish.of_stream)), finish.usage.width(),
      rows_of(std::vector<double>(finish.usage.carried()), bins),
      rows_of(std::vector<std::int64_t>(finish.timeline.ticks()), std::size_t{Timeline::kMoments}));
}

// Stores the transfers, and their classes once they are found: both serve every size of the data.
class Simulator {
 public:
  Simulator(In<std::int32_t> kind_of_resource, In<std::int64_t> first_resource,
            In<std::int32_t> resource, In<std::int32_t> delay_of_way, In<std::int32_t> way,
            In<Amount> amount, In<std::int32_t> adder, In<std::int32_t> step, In<std::int32_t> gate,
            In<std::int64_t> first_need, In<std::int32_t> need, bool critical_path)
      : transfers_{vector_of(kind_of_resource),
                   {vector_of(first_resource), vector_of(resource)},
                   vector_of(delay_of_way),
                   vector_of(way),
                   vector_of(amount),
                   vector_of(adder),
                   vector_of(step),
                   vector_of(gate),
                   {vector_of(first_need), vector_of(need)},
                   {}} {
    check(transfers_);
    if (critical_path) transfers_.priority = remaining_transfers(transfers_);
  }

  // The class of each transfer and of each resource.
  auto classes(bool by_class, Callback progress) {
    run(progress, [&](Progress p) { prepare(by_class, std::move(p)); });
    return std::tuple(array_of(std::vector<std::int32_t>(classes_.of_transfer)),
                      array_of(std::vector<std::int32_t>(classes_.of_resource)));
  }

  auto fair_shares(In<double> rate, In<double> latency, In<std::int64_t> start,
                   std::int32_t pipeline_chunks, bool lockstep, double tick, int bins,
                   std::int32_t window, In<double> chunk_cost, In<double> message_cost,
                   bool timeline, bool by_class, Callback progress) {
    Setting setting = setting_of(rate, latency, start, pipeline_chunks, lockstep, tick, bins,
                                 window, chunk_cost, message_cost);
    setting.timeline = timeline;
    return result_of(run(progress, [&](Progress p) {
      prepare(by_class, p);
      return forestcoll::fair_shares(*streams_, setting, std::move(p));
    }));
  }

  auto first_come(In<double> rate, In<double> latency, In<std::int64_t> start,
                  std::int32_t pipeline_chunks, bool lockstep, double tick, int bins,
                  std::int32_t window, In<double> chunk_cost, In<double> message_cost,
                  bool timeline, Callback progress) {
    Setting setting = setting_of(rate, latency, start, pipeline_chunks, lockstep, tick, bins,
                                 window, chunk_cost, message_cost);
    setting.timeline = timeline;
    return result_of(run(progress, [&](Progress p) {
      return forestcoll::first_come(transfers_, setting, std::move(p));
    }));
  }

  std::optional<double> in_rounds(In<double> rate, In<double> latency, std::int32_t pipeline_chunks,
                                  bool lockstep, std::int32_t window, In<double> chunk_cost,
                                  In<double> message_cost, bool by_class, Callback progress) {
    const Setting setting = setting_of(rate, latency, {}, pipeline_chunks, lockstep, 1, 0, window,
                                       chunk_cost, message_cost);
    return run(progress, [&](Progress p) {
      prepare(by_class, std::move(p));
      return forestcoll::in_rounds(*streams_, setting);
    });
  }

 private:
  void prepare(bool by_class, Progress progress) {
    if (streams_ && by_class_ == by_class) return;
    classes_ = by_class ? classes_of(transfers_, std::move(progress)) : each_by_itself(transfers_);
    streams_ = std::make_unique<Streams>(streams_of(transfers_, classes_));
    by_class_ = by_class;
  }

  Setting setting_of(const In<double>& rate, const In<double>& latency,
                     const std::optional<In<std::int64_t>>& start, std::int32_t pipeline_chunks,
                     bool lockstep, double tick, int bins, std::int32_t window,
                     const In<double>& chunk_cost, const In<double>& message_cost) const {
    Setting setting{vector_of(rate),
                    vector_of(latency),
                    {},
                    pipeline_chunks,
                    lockstep,
                    tick,
                    bins,
                    window,
                    vector_of(chunk_cost),
                    vector_of(message_cost)};
    if (start) setting.start = vector_of(*start);
    check(setting, transfers_);
    return setting;
  }

  Transfers transfers_;
  Classes classes_;
  std::unique_ptr<Streams> streams_;
  bool by_class_ = false;
};

}  // namespace

void bind_simulation(nb::module_& m) {
  nb::class_<Simulator>(m, "Simulator", "Transfers, to be simulated.")
      .def(nb::init<In<std::int32_t>, In<std::int64_t>, In<std::int32_t>, In<std::int32_t>,
                    In<std::int32_t>, In<Amount>, In<std::int32_t>, In<std::int32_t>,
                    In<std::int32_t>, In<std::int64_t>, In<std::int32_t>, bool>(),
           "kind_of_resource"_a, "first_resource"_a, "resource"_a, "delay_of_way"_a, "way"_a,
           "amount"_a, "adder"_a, "step"_a, "gate"_a, "first_need"_a, "need"_a,
           "critical_path"_a = false)
      .def("classes", &Simulator::classes, "by_class"_a = true, "progress"_a = nb::none(),
           "Return the class of each transfer and of each resource.")
      .def("fair_shares", &Simulator::fair_shares, "rate"_a, "latency"_a, "start"_a,
           "pipeline_chunks"_a, "lockstep"_a, "tick"_a, "bins"_a, "window"_a, "chunk_cost"_a,
           "message_cost"_a, "timeline"_a, "by_class"_a, "progress"_a = nb::none(),
           "Return the ticks to the end, the lanes that events examined, the last arrival of each "
           "class, and the usage: ticks of a bin, and the amount in each bin of a resource of "
           "each class; with `timeline` the ticks at which each pipeline chunk of a class starts, "
           "flows, arrives and ends.")
      .def("first_come", &Simulator::first_come, "rate"_a, "latency"_a, "start"_a,
           "pipeline_chunks"_a, "lockstep"_a, "tick"_a, "bins"_a, "window"_a, "chunk_cost"_a,
           "message_cost"_a, "timeline"_a, "progress"_a = nb::none(),
           "Return the same for each transfer and resource.")
      .def("in_rounds", &Simulator::in_rounds, "rate"_a, "latency"_a, "pipeline_chunks"_a,
           "lockstep"_a, "window"_a, "chunk_cost"_a, "message_cost"_a, "by_class"_a,
           "progress"_a = nb::none(),
           "Return the seconds of fair shares if the streams go round by round, else None.");
}

}  // namespace forestcoll
