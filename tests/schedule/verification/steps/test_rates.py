"""The check of links against a clock agrees with adding up rates in fractions."""

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule import (
    Chunks,
    Clock,
    Path,
    Routes,
    Send,
    Sends,
    StepSchedule,
    TimedSend,
    timed,
    verify,
)
from forestcoll.schedule.verification.paths import check_paths
from forestcoll.schedule.verification.steps import rates as verify_rates
from forestcoll.schedule.verification.steps.rates import check_rates
from forestcoll.schedule.verification.steps.step_arrays import ways_used
from forestcoll.topology import Topology, TopologyBuilder, load_topology
from tests.hand_networks import network_of
from tests.random_topologies import rounds
from tests.reference.step_rates import fits
from tests.schedule.literals import LITERALS, teccl_star
from tests.schedule.made.steps import broadcast, peak, plus, with_clock


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
    """Of up to seven hundred random clocks both accept and refuse the same ones."""
    found = {True: 0, False: 0}
    for seed in range(rounds(700, 350)):
        made = random_clock(seed)
        try:
            verify(made)
            accepted = True
        except VerificationError:
            accepted = False
        assert accepted == fits(made), seed
        found[accepted] += 1
    assert min(found.values()) > 100


@pytest.mark.parametrize("tick", [Fraction(1, 2**61), Fraction(10**30)])
def test_times_beyond_64_bits_are_added_up_exactly(tick: Fraction) -> None:
    """A byte on its way in parts of a tick that no 64 bits count."""
    net = network_of("a b", f"a - b: 1 1/{3**20}", "pair")
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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: {"left": plus(c.left, 0, 1)}, "no time for the latency"),
        (lambda c: {"left": plus(c.left, 0, -1)}, r"carries 2 GB/s"),
        (lambda c: {"left": plus(c.left, 0, -2)}, "not in its time"),
        (lambda c: {"left": plus(c.left, 0, 2)}, "not in its time"),
        (lambda c: {"end": plus(c.end, 0, -1)}, "no time for the latency|does not have"),
        (lambda c: {"tick_us": Fraction(99, 100)}, "no time for the latency|carries"),
    ],
)
def test_a_delay_is_kept(change: Callable[..., dict[str, object]], message: str) -> None:
    """The last byte leaves in time to arrive, and not faster than the link is."""
    made = LITERALS["TE-CCL, delays"].make()
    with pytest.raises(VerificationError, match=message):
        verify(with_clock(made, **change(made.clock)))


def test_a_link_is_free_while_the_last_byte_is_on_its_way() -> None:
    """Two chunks back to back: without times of leaving, the link would carry both at once."""
    made = LITERALS["TE-CCL, back to back"].make()
    verify(made)
    assert made.clock is not None
    early = with_clock(made, start=plus(made.clock.start, 1, -1))
    sends = replace(early.sends, step=np.zeros(2, dtype=np.int32))
    with pytest.raises(VerificationError, match="carries"):
        verify(replace(early, sends=sends))


def test_epochs_of_two_ticks_hold_a_window() -> None:
    """T35: kappa = 2 epochs a chunk, so a second one in the next epoch is one too many."""
    rows = [(0, 0, 0, 2, 0), (2, 0, 2, 1, 0), (0, 1, 1, 2, 0), (2, 1, 2, 0, 0)]
    verify(teccl_star(rows, gpus=2, epochs=2))
    twice = [(0, 0, 0, 3, 0), (1, 0, 0, 3, 0), (2, 0, 3, 1, 0), (3, 0, 3, 2, 0)]
    with pytest.raises(VerificationError, match=r"carries 3/2 GB/s|never gets to"):
        verify(teccl_star(twice, gpus=3, epochs=2))


def test_rates_without_a_common_unit_use_fractions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Durations whose least common multiple has thousands of digits: the same verdict."""
    for bits in (1024, 1):
        monkeypatch.setattr(verify_rates, "_UNIT_BITS", bits)
        for name, literal in LITERALS.items():
            made = literal.make()
            if made.clock is None:
                continue
            verify(made)
            hurried = replace(made, clock=replace(made.clock, size_bytes=made.clock.size_bytes * 2))
            if name != "recursive doubling in time" or bits:
                with pytest.raises(VerificationError, match="carries"):
                    verify(hurried)
    monkeypatch.undo()
    count = 3000
    net = load_topology("complete:nodes=2,bandwidth=1")
    rows = [TimedSend(0, 10**6 + i, i, 0, 1) for i in range(count)]
    sends, clock = timed(rows, 1000)
    made = replace(
        broadcast(net, sends, [Path((0, 1), 1)], Chunks.equal(np.zeros(count), whole=count)),
        clock=clock,
    )
    assert peak(made) < 60 * 10**6


def meeting(begin: int) -> StepSchedule:
    """GPUs a and c send to b over a switch, 3 kB and 2 kB at 1 GB/s; from a it takes 2 us to it.

    So what a sends from 0 to 3 us is on the last link from 2 to 5; c's is there from ``begin`` on
    for 2 us.
    """
    size, nobody = np.array([3, 2]), np.full(2, -1, dtype=np.int32)
    chunks = Chunks(size, whole=5, root=np.array([0, 2], np.int32), target=nobody)
    start, end = np.array([0, begin]), np.array([5, begin + 2])
    return StepSchedule(
        network_of("a b c [w]", "a - w: 1 2, b c - w", "meeting"),
        "by hand",
        "broadcast",
        chunks,
        Sends.of([Send(0, 0, 0, 1), Send(int(begin > 0), 1, 2, 1)]),
        Routes.from_paths({(0, 1): (Path((0, 3, 1), 1),), (2, 1): (Path((2, 3, 1), 1),)}),
        clock=Clock(5000, Fraction(1), start, end),
    )


@pytest.mark.parametrize("unit_bits", [0, 1024])
@pytest.mark.parametrize(("begin", "since"), [(0, None), (1, 2), (4, 4), (5, None)])
def test_a_later_hop_is_busy_later(
    begin: int, since: int | None, unit_bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From 0 to 2 and from 5 to 7 us the link is free for c; between, both together need 2 GB/s.

    One may begin when the other ends, whether rates are added as whole numbers or as fractions.
    """
    monkeypatch.setattr(verify_rates, "_UNIT_BITS", unit_bits)
    made = meeting(begin)
    assert made.clock is not None
    way, hops = ways_used(made), check_paths(made, ends=True)
    if since is None:
        check_rates(made, made.clock, way, hops)
        return
    message = f"^link w -> b carries 2 GB/s from {since} us on; its bandwidth is 1 GB/s$"
    with pytest.raises(VerificationError, match=message):
        check_rates(made, made.clock, way, hops)


def test_numbers_of_more_than_62_bits_are_those_of_python() -> None:
    """So that two of them still add up in 64 bits."""
    for value in (0, 1000, 2**62 - 1, 1 - 2**62):
        assert verify_rates._numbers([1, value]).dtype == np.int64
    for value in (2**62, -(2**62), 2**70):
        found = verify_rates._numbers([1, value])
        assert found.dtype == object
        assert found.tolist() == [1, value]
