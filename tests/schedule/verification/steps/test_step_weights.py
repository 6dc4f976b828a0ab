"""Whether a schedule in steps, or a program, of unequal parts delivers them."""

from dataclasses import replace

import pytest

from forestcoll import compile_program, generate
from forestcoll.errors import VerificationError
from forestcoll.schedule import by_shards, lockstep, sequential, stepwise, time_reversed, verify
from forestcoll.topology import load_topology
from tests.schedule.made.weighted import WEIGHTS, ring, weighted


@pytest.mark.parametrize("spec", ["ring:nodes=3", "dgx_a100:boxes=2"])
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_weighted_schedules_deliver_every_part(collective: str, spec: str) -> None:
    """Hop by hop, lowered, in pieces, and both again by way of each other."""
    topology = load_topology(spec)
    weights = (3, 0, *(1 + rank % 2 for rank in range(topology.num_compute - 2)))
    forest = generate(topology, collective=collective, weights=weights).schedule
    made = lockstep(forest)
    for one in (
        made,
        stepwise(compile_program(forest)),
        stepwise(compile_program(forest, 3)),
        stepwise(compile_program(made)),
    ):
        assert verify(one).collective == collective
    assert verify(stepwise(compile_program(forest))).time_s_per_gb == verify(made).time_s_per_gb


def test_phases_of_one_weighting_are_an_allreduce() -> None:
    """An allgather turned round in time, then the allgather itself."""
    gather = weighted()
    there = lockstep(generate(ring().reversed(), weights=WEIGHTS).schedule)
    reduce = time_reversed(there, ring())
    for one in (gather, reduce, by_shards(reduce), sequential(reduce, gather)):
        verify(one)


@pytest.mark.parametrize("weights", [(1, 1, 1), (1, 2, 1), (1, 0, 0)])
def test_another_weighting_is_another_part(weights: tuple[int, ...]) -> None:
    """The parts are 1/2, 1/4 and 1/4 of the data."""
    with pytest.raises(VerificationError, match="of the data; they must be"):
        verify(replace(weighted(), weights=weights))
