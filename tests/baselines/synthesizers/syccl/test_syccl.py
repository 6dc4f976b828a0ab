"""SyCCL's sketches as a whole: rates by hand, and what no schedule may exceed."""

from fractions import Fraction

import pytest

from baselines.registry import METHODS
from baselines.synthesizers.syccl.syccl import generate
from forestcoll.core.optimality import optimum
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.schedule import cost, synchronous, verify
from forestcoll.topology import Topology, load_topology


def rate(topology: Topology, collective: str = "allgather") -> Fraction:
    made = generate(topology, collective)
    verify(made)
    return cost(made).algbw_gb_s


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("dgx_a100:boxes=1", Fraction(8 * 300, 7)),
        # Two sketches fill the 325 GB/s into a GPU, as 15 shards come in.
        ("dgx_a100:boxes=2", Fraction(16 * 325, 15)),
        # A box gets 24 shards over 200 GB/s.
        ("dgx_a100:boxes=4", Fraction(32 * 200, 24)),
        # And here over 4 NICs of 25.
        ("hgx_a800:boxes=4", Fraction(32 * 100, 24)),
        ("hgx_h800:boxes=4", Fraction(32 * 250, 31)),
    ],
)
def test_allgathers_attain_the_optimum_on_switched_boxes(spec: str, expected: Fraction) -> None:
    topology = load_topology(spec)
    assert rate(topology) == expected == optimum(topology).algbw_gb_s


def test_all_to_all_of_four_a800_boxes_is_bound_by_the_nics() -> None:
    """A box sends 24 of 32 parts of its 8 GPUs' data over 100 GB/s: 8 M 3/4 / 100."""
    assert rate(load_topology("hgx_a800:boxes=4"), "all-to-all") == Fraction(100 * 4, 8 * 3)


def test_an_allreduce_is_two_sequential_phases() -> None:
    topology = load_topology("dgx_a100:boxes=2")
    assert rate(topology, "reduce-scatter") == 2 * rate(topology, "allreduce")


def test_one_sketch_that_suffices_is_used_alone() -> None:
    """Four boxes: 32 chunks in 2 steps, 3/25 then 3 x 7/300 s for 1/32 GB; two boxes mix."""
    made = generate(load_topology("dgx_a100:boxes=4"))
    assert (len(made.chunks), made.num_steps) == (32, 2)
    assert synchronous(made).time_s_per_gb == (Fraction(3, 25) + Fraction(21, 300)) / 32
    assert len(generate(load_topology("dgx_a100:boxes=2")).chunks) == 2 * 16


def test_solved_sub_demands_are_no_slower_than_least_cost_paths() -> None:
    """TE-CCL's trees are one candidate, direct transfers another; neither beats the optimum."""
    topology = load_topology("mi250:boxes=2,gpus_per_box=8")
    made = generate(topology, work=0)
    verify(made)
    assert cost(METHODS["direct"].run(topology)).algbw_gb_s < cost(made).algbw_gb_s
    assert cost(made).algbw_gb_s <= optimum(topology).algbw_gb_s


def test_more_layers_are_no_slower() -> None:
    topology = load_topology("rail_optimized:boxes=3,gpus_per_box=2,spines=2")
    made = generate(topology, layers=3, network=True)
    verify(made)
    assert cost(made).algbw_gb_s >= rate(topology)


def test_parameters_out_of_range_are_refused() -> None:
    topology = load_topology("dgx_a100:boxes=1")
    for wrong in ({"layers": 0}, {"work": -1.0}, {"work": float("inf")}):
        with pytest.raises(InvalidParameterError):
            generate(topology, **wrong)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="no sketch of 1 layers reaches all GPUs"):
        generate(load_topology("dgx_a100:boxes=2"), layers=1)
    with pytest.raises(UnsupportedError, match="syccl has no broadcast"):
        generate(topology, "broadcast")
