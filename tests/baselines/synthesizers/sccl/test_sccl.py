"""The method SCCL: its collectives, delivered, and its numbers, checked."""

import pytest

from baselines import METHODS
from baselines.synthesizers.sccl import generate
from forestcoll.errors import (
    InvalidParameterError,
)
from forestcoll.schedule import StepSchedule, verify
from tests.baselines.dgx1 import dgx1
from tests.baselines.synthesizers.sccl.rounds import network_named


@pytest.mark.parametrize(
    "spec", ["dgx1", "ring:nodes=4,bidirectional=false", "torus:dims=2x3,wrap=false"]
)
@pytest.mark.parametrize("name", METHODS["sccl"].collectives)
def test_every_collective_is_delivered(name: str, spec: str) -> None:
    """Reductions run backwards on the reversed network; an allreduce takes both phases."""
    topology = network_named(spec)
    schedule = METHODS["sccl"].run(topology, name)
    assert isinstance(schedule, StepSchedule)
    verdict = verify(schedule)
    assert (schedule.method, verdict.collective) == ("sccl", name)
    one_way = {"reduce-scatter": "allgather", "allreduce": "allgather", "reduce": "broadcast"}
    alone = generate(topology, one_way.get(name, name))
    assert verdict.steps == alone.num_steps * (2 if name == "allreduce" else 1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"chunks": 0}, "chunks is 0; it must be positive"),
        ({"steps": -1}, "steps is -1"),
        ({"steps": 3, "rounds": 2}, "2 rounds for 3 steps"),
        ({"root": 0}, "takes no root"),
    ],
)
def test_bad_numbers_are_typed(parameters: dict[str, int], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        METHODS["sccl"].run(dgx1(), "allgather", parameters)
