"""All measures of a schedule at once: the columns of its row that have a value."""

from dataclasses import replace
from fractions import Fraction

from baselines.registry import METHODS
from experiments.measures.declared import EXACT, MEASURES, SIMULATED
from experiments.measures.measured import measured, simulated
from experiments.measures.run_result import RunResult
from experiments.measures.simulated import Assumptions
from forestcoll.topology import load_topology


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


def test_what_depends_on_the_size_is_by_size() -> None:
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
