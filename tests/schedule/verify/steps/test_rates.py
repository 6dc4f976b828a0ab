"""The check of links against a clock agrees with adding up rates in fractions."""

import random
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule import Chunks, Path, Routes, StepSchedule, TimedSend, timed, verify
from forestcoll.topology import Topology, TopologyBuilder
from tests.reference.step_rates import fits


def network(rng: random.Random) -> Topology:
    """Two GPUs over two switches of their own, with awkward bandwidths and latencies."""
    builder = TopologyBuilder()
    builder.gpu("a")
    builder.gpu("b")
    for switch in ("s", "t"):
        builder.switch(switch)
        for gpu in ("a", "b"):
            bandwidth = rng.choice([Fraction(1), Fraction(2), Fraction(7, 3)])
            latency = rng.choice([Fraction(0), Fraction(1, 3), Fraction(3, 2)])
            builder.link(gpu, switch, bandwidth, latency)
    return builder.build("two ways")


def random_clock(seed: int) -> StepSchedule:
    """A broadcast of some chunks at random times, of some of which the leaving is said."""
    rng = random.Random(seed)
    net, chunks = network(rng), rng.randrange(1, 5)
    say = rng.random() < 0.5
    rows = []
    for chunk in range(chunks):
        start, path = rng.randrange(6), rng.randrange(-1, 2)
        left = start + rng.randrange(1, 5)
        end = left + rng.randrange(3, 7)
        rows.append(TimedSend(start, end, chunk, 0, 1, path=path, left=left if say else None))
    sends, clock = timed(
        rows, rng.choice([1000, 3000, 6000]), rng.choice([Fraction(1), Fraction(2, 5)])
    )
    ways = tuple(Path((0, switch, 1), many) for switch, many in ((2, 1), (3, rng.randrange(1, 3))))
    whole = Chunks.equal(np.zeros(chunks), whole=chunks)
    return StepSchedule(
        net, "random", "broadcast", whole, sends, Routes.from_paths({(0, 1): ways}), clock
    )


def test_verify_adds_rates_up_as_the_definition_does() -> None:
    """Of two thousand random clocks both accept and refuse the same ones."""
    found = {True: 0, False: 0}
    for seed in range(2000):
        made = random_clock(seed)
        try:
            verify(made)
            accepted = True
        except VerificationError:
            accepted = False
        assert accepted == fits(made), seed
        found[accepted] += 1
    assert min(found.values()) > 300


@pytest.mark.parametrize("tick", [Fraction(1, 2**61), Fraction(10**30)])
def test_times_beyond_64_bits_are_added_up_exactly(tick: Fraction) -> None:
    """A byte on its way in parts of a tick that no 64 bits count."""
    builder = TopologyBuilder()
    builder.gpu("a")
    builder.gpu("b")
    builder.link("a", "b", 1, Fraction(1, 3**20))
    net = builder.build("pair")
    last = 2**62 if tick < 1 else 5
    size = int(last * tick * 1000) or 1
    rows = [TimedSend(0, last, 0, 0, 1)]
    routes = Routes.from_paths({(0, 1): (Path((0, 1), 1),)})
    for bytes_, right in ((size // 2 or 1, True), (size + 1, False)):
        sends, clock = timed(rows, bytes_, tick)
        made = StepSchedule(
            net, "by hand", "broadcast", Chunks.equal([0], whole=1), sends, routes, clock
        )
        assert fits(made) == right
        if right:
            verify(made)
        else:
            with pytest.raises(VerificationError, match="carries"):
                verify(made)
