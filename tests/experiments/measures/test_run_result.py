"""What measures see of a schedule: its costs, its clock, its parts, and what none can beat."""

from dataclasses import replace
from fractions import Fraction

import pytest

from baselines.registry import METHODS
from experiments.config.methods import run_method
from experiments.measures import run_result as module
from experiments.measures.bounds import UpperBound
from experiments.measures.declared import EXACT, MEASURES, SIMULATED
from experiments.measures.run_result import RunResult, measured, simulated
from experiments.measures.simulated import Assumptions
from forestcoll import generate
from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.topology import load_topology
from tests.lp.networks import one_way_detour


def made(method: str, spec: str = "ring:nodes=4", collective: str = "allgather") -> RunResult:
    topology = load_topology(spec)
    return RunResult(METHODS[method].run(topology, collective), topology, collective)


def test_costs_are_those_of_the_schedule() -> None:
    """BlueConnect on two A100 boxes: pipelined 7/8/300 s per GB, in steps 1/16/25 more."""
    found = made("blueconnect", "dgx_a100:boxes=2")
    assert found.pipelined.time_s_per_gb == Fraction(7, 2400)
    assert found.synchronous.time_s_per_gb == Fraction(7, 2400) + Fraction(1, 400)
    assert found.makespan_s_per_gb is None
    assert found.finish_s(1000) is None


def test_the_bandwidth_runtime_is_that_of_the_paper() -> None:
    """Pi(4, 64): 21/16 M / B, though GPUs with a self-loop have three links; a ring of 2: 1/2."""
    for spec, time in (("generalized_kautz:degree=4,nodes=64", "21/16"), ("ring:nodes=2", "1/2")):
        topology = load_topology(spec)
        made = RunResult(METHODS["bfb"].run(topology), topology, "allgather")
        assert made.bandwidth_runtime == Fraction(time)


def test_the_bandwidth_runtime_counts_the_limit_of_a_host() -> None:
    """On a torus of 3 x 3 with hosts of two of their four links BFB takes 8/9 M / B all the same.

    B is what a host sends; every link carries the same in every step, so half of its bandwidth.
    """
    topology = load_topology("torus:dims=3x3,host_bandwidth=2")
    made = RunResult(METHODS["bfb"].run(topology), topology, "allgather")
    assert made.synchronous is not None
    assert made.synchronous.time_s_per_gb == Fraction(8, 9) / 2
    assert made.bandwidth_runtime == Fraction(8, 9)


def test_parts_are_forests_or_steps() -> None:
    """One forest, two of an allreduce, none of steps; numbers are added up over them."""
    one, two, none = made("ring"), made("ring", collective="allreduce"), made("bruck")
    assert (len(one.forests), len(two.forests), len(none.forests)) == (1, 2, 0)
    assert one.stepwise is None
    assert none.stepwise is none.schedule
    trees = [each.of_forests(lambda forest: forest.num_trees) for each in (one, two, none)]
    assert trees == [one.schedule.num_trees, 2 * one.schedule.num_trees, None]  # type: ignore[union-attr]


def test_an_allreduce_says_how_it_was_made() -> None:
    topology = one_way_detour()
    best = RunResult(generate(topology, collective="allreduce").schedule, topology, "allreduce")
    assert best.remark == best.schedule.remark != ""  # type: ignore[union-attr]
    assert made("ring").remark == ""


def test_the_bound_is_of_the_collective_and_the_root() -> None:
    """A ring of 4: an allgather has 8/3 GB/s, a broadcast the 2 GB/s of its root."""
    found = made("ring")
    assert found.best == UpperBound(Fraction(8, 3), "the bottleneck cut")
    topology = load_topology("ring:nodes=4")
    sent = RunResult(METHODS["blink"].run(topology, "broadcast"), topology, "broadcast", root=0)
    assert sent.best is not None
    assert sent.best.algbw_gb_s == 2


def test_a_schedule_above_its_bound_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the two is wrong."""
    low = UpperBound(Fraction(5, 2), "a mistake")
    monkeypatch.setattr(module, "upper_bound", lambda *_: low)
    with pytest.raises(VerificationError, match=r"8/3 GB/s, but a mistake proves .* than 5/2"):
        _ = made("ring").best


@pytest.mark.parametrize(("latency", "known"), [(0, [1024, 2**20, 2**30]), (1, [2**20])])
def test_clocks_with_latency_hold_for_one_size_only(latency: int, known: list[int]) -> None:
    """TACOS's clock is for one size; without latencies its times grow with the size."""
    plain = load_topology("ring:nodes=4")
    links = tuple(replace(link, latency_us=Fraction(latency)) for link in plain.links)
    topology = replace(plain, links=links)
    parameters = {"size_bytes": 2**20}
    schedule, _ = run_method("tacos", topology, "allgather", parameters, 9.0, lambda _: None)
    found = measured(RunResult(schedule, topology, "allgather"), (1024, 2**20, 2**30))["sizes"]
    assert [int(size) for size in found if "makespan_s" in found[size]] == known
    finish = RunResult(schedule, topology, "allgather").makespan_s_per_gb
    assert finish is not None
    assert found[str(2**20)]["makespan_s"] == float(finish * 2**20 / 10**9)


def test_trees_that_are_not_written_out_have_no_height_and_no_steps() -> None:
    """All else is that of the same forest written out, and it passes the check."""
    topology = load_topology("dgx_a100:boxes=2")
    both = [
        run_method("forestcoll", topology, "allgather", {"factored": f}, 60.0, lambda _: None)[0]
        for f in (False, True)
    ]
    explicit, factored = (measured(RunResult(made, topology, "allgather")) for made in both)
    assert factored == {name: explicit[name] for name in factored}
    assert explicit.keys() - factored.keys() == {
        "depth", "num_batches", "algbw_synchronous", "algbw_synchronous_gb_s", "bandwidth_runtime",
    }  # fmt: skip
    asked = {"factored": True, "multicast": True}
    with pytest.raises(UnsupportedError, match="leave factored or multicast away"):
        run_method("forestcoll", topology, "allgather", asked, 60.0, lambda _: None)


def test_borders_are_of_gatherings_and_scatterings_alone() -> None:
    found = measured(made("ring", "dgx_a100:boxes=2"))
    assert found["box_traffic"] == 15 / 8
    assert found["border_of_gpu_gb_s"] == pytest.approx(16 * 325 / 15)
    scattering = measured(made("ring", "dgx_a100:boxes=2", "reduce-scatter"))
    assert scattering["border_of_box_gb_s"] == 400
    assert "box_traffic" not in scattering
    assert "border_of_gpu_gb_s" not in measured(made("ring", "dgx_a100:boxes=2", "allreduce"))


def ring() -> RunResult:
    """Of 4 GPUs with 1 GB/s each way: 3 shards over 2 GB/s, 8/3 GB/s."""
    topology = load_topology("ring:nodes=4")
    return RunResult(METHODS["ring"].generate(topology), topology, "allgather")


def test_exact_numbers_are_text_and_others_are_floats() -> None:
    found = measured(ring())
    assert found["algbw"] == found["optimum"] == "8/3"
    assert found["algbw_gb_s"] == float(Fraction(8, 3))
    assert type(found["algbw_gb_s"]) is type(found["ratio"]) is float
    assert all(isinstance(found[name], str) for name in EXACT if name in found)


def test_columns_without_a_value_are_left_out() -> None:
    """Trees have neither a clock nor chunks; steps have no trees."""
    found = measured(ring())
    assert None not in found.values()
    assert not found.keys() & {"algbw_makespan", "chunks", "sizes"}
    assert found.keys() <= MEASURES.keys()
    topology = load_topology("complete:nodes=4")
    steps = RunResult(METHODS["bruck"].generate(topology), topology, "allgather")
    assert measured(steps).keys() >= {"chunks", "steps"}
    assert not measured(steps).keys() & {"num_trees", "depth"}


def test_size_dependent_measures_are_listed_by_size() -> None:
    """8/3 GB/s take 3/8 us for 1000 bytes and twice that for 2000; nothing is at a finish."""
    sizes = measured(ring(), (1000, 2000))["sizes"]
    assert list(sizes) == ["1000", "2000"]
    assert sizes["1000"] == {"time_pipelined_s": 0.375e-6, "time_synchronous_s": 0.375e-6}
    assert sizes["2000"]["time_pipelined_s"] == 0.75e-6


def test_simulations_come_size_by_size() -> None:
    """Each time with all that is known; a schedule that has none has a remark instead."""
    made = ring()
    assert list(simulated(made, {})) == []
    asked = replace(made, assumptions=Assumptions.of({"pipeline_chunks": 1}))
    sizes = measured(asked, (1000, 2000))["sizes"]
    assert not sizes["1000"].keys() & set(SIMULATED)
    first, second = (found["sizes"] for found in simulated(asked, sizes))
    assert first["1000"].keys() >= {"time_pipelined_s", *SIMULATED}
    assert first["2000"] == sizes["2000"]
    assert second["1000"] == first["1000"]
    assert second["2000"]["pipeline_chunks_simulated"] == 1
    assert second["2000"]["time_simulated_s"] == 2000 / 1e9 / second["2000"]["algbw_simulated_gb_s"]
