"""Bine trees and butterflies: distances, steps, and the traffic between groups."""

from fractions import Fraction

import numpy as np
import pytest

from baselines.building.peer_rounds import rho
from baselines.libraries import recursive
from baselines.libraries.bine import COLLECTIVES, ORDERS, generate
from forestcoll.compilation import compile_program
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.runtimes.formats import export
from forestcoll.runtimes.msccl.exporter import MscclOptions
from forestcoll.schedule import StepSchedule, cost, verify
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of

SIZE = 64


def distances(schedule: StepSchedule, step: int) -> set[int]:
    """The distances around the circle of GPUs in a step."""
    size, sends = schedule.topology.num_compute, schedule.sends
    ahead = (sends.head - sends.tail)[sends.step == step] % size
    return set(np.minimum(ahead, size - ahead).tolist())


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("nodes", [2, 8, 16])
def test_steps_are_log2(nodes: int, collective: str) -> None:
    """An allreduce has a reduce-scatter and an allgather."""
    topology = load_topology(f"complete:nodes={nodes}")
    steps = (nodes.bit_length() - 1) * (2 if collective == "allreduce" else 1)
    for order in ORDERS:
        assert verify(generate(topology, collective, order=order)).steps == steps


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("nodes", [6, 10, 22, 24])
def test_even_numbers_of_gpus_send_no_shard_twice(nodes: int, order: str) -> None:
    """As the reference code, which gathers any even number of ranks."""
    topology = load_topology(f"complete:nodes={nodes}")
    for collective in ("allgather", "reduce-scatter"):
        made = generate(topology, collective, order=order)
        assert verify(made).steps == (nodes - 1).bit_length()
        assert len(made.sends) == nodes * (nodes - 1)


def test_the_latency_form_exchanges_sums() -> None:
    assert (
        verify(generate(load_topology("complete:nodes=8"), "allreduce", form="latency")).steps == 3
    )


@pytest.mark.parametrize("collective", ["allgather", "broadcast"])
def test_distances_are_sums_of_powers_of_minus_two(collective: str) -> None:
    """Of 32 GPUs: 1, 1, 3, 5, 11, where a binomial tree has 1, 2, 4, 8, 16."""
    topology = load_topology("complete:nodes=32")
    doubling, halving = (
        generate(topology, collective, order=order)
        for order in ("distance-doubling", "distance-halving")
    )
    for step in range(5):
        assert distances(doubling, step) == {abs(sum((-2) ** i for i in range(step + 1)))}
        assert distances(halving, step) == distances(doubling, 4 - step)


def test_a_tree_of_eight_by_hand() -> None:
    """Distance-halving from 0: 3 on; then 1 back and, odd, 1 on; then 1 on from even GPUs.

    0 -> 3; 0 -> 7 and 3 -> 4; 0 -> 1, 3 -> 2, 7 -> 6 and 4 -> 5.
    """
    sends = generate(load_topology("complete:nodes=8"), "broadcast", order="distance-halving").sends
    steps = [set(zip(sends.tail[at], sends.head[at], strict=True)) for at in _steps(sends.step)]
    assert steps == [{(0, 3)}, {(0, 7), (3, 4)}, {(0, 1), (3, 2), (7, 6), (4, 5)}]


def _steps(step: np.ndarray) -> list[np.ndarray]:
    return [step == each for each in range(int(step.max()) + 1)]


@pytest.mark.parametrize("order", ORDERS)
def test_every_gpu_may_be_the_root(order: str) -> None:
    topology = load_topology("complete:nodes=8")
    for root in range(8):
        for collective in ("broadcast", "reduce"):
            made = generate(topology, collective, order=order, root=root)
            assert verify(made).steps == 3
            assert made.chunks.root.tolist() == [root]


def test_distances_tend_to_two_thirds_of_those_of_binomial_trees() -> None:
    """33 % less in the limit, as published: |rho(i)| = (2^(i+1) + 1 or - 1) / 3."""
    for index in range(60):
        assert abs(3 * abs(rho(index)) - 2 * 2**index) == 1


def crossing(schedule: StepSchedule, width: int) -> Fraction:
    """The shards that leave groups of consecutive GPUs, on average over where groups begin."""
    size, sends = schedule.topology.num_compute, schedule.sends
    total = 0
    for shift in range(width):
        group = (np.arange(size) + shift) % size // width
        total += int(np.count_nonzero(group[sends.tail] != group[sends.head]))
    return Fraction(total, width)


def expected(lengths: list[int], width: int) -> Fraction:
    """A pair at distance d is divided by min(d, width) of the places where groups may begin.

    With the farthest first, step s has N 2^s transfers.
    """
    size = 2 ** len(lengths)
    return sum(
        (
            Fraction(size * 2**step * min(length, width), width)
            for step, length in enumerate(reversed(lengths))
        ),
        Fraction(0),
    )


@pytest.mark.parametrize("width", [8, 16])
def test_traffic_between_groups_is_averaged_over_their_offsets(width: int) -> None:
    """The farthest partners get the least data; so most of the traffic is at small distances."""
    topology = load_topology(f"complete:nodes={SIZE}")
    indices = range(SIZE.bit_length() - 1)
    bine = crossing(generate(topology, order="distance-halving"), width)
    binomial = crossing(recursive.generate(topology, order="far-first"), width)
    assert bine == expected([abs(rho(i)) for i in indices], width)
    assert binomial == expected([2**i for i in indices], width)
    assert bine < Fraction(77, 100) * binomial


def test_traffic_between_groups_tends_to_two_thirds() -> None:
    """33 % less in the limit of large groups and many of them."""
    saved = []
    for exponent in (10, 40, 400):
        bits, width = range(exponent), 2 ** (exponent * 9 // 10)
        ratio = expected([abs(rho(i)) for i in bits], width) / expected([2**i for i in bits], width)
        saved.append(1 - ratio)
    assert saved == sorted(saved)
    assert Fraction(32, 100) < saved[-1] < Fraction(1, 3)


def two_level(widths: list[int]) -> Topology:
    """Groups of so many GPUs around a switch each, joined by one switch; GPUs in order."""
    gpus, links, at = [], [], 0
    for box, width in enumerate(widths):
        names = [f"g{at + i}" for i in range(width)]
        gpus += [f"{name}@{box}.{i}" for i, name in enumerate(names)] + [f"[s{box}]"]
        links += [f"{' '.join(names)} - s{box}: 4", f"s{box} - core: 1"]
        at += width
    return network_of(" ".join([*gpus, "[core]"]), ", ".join(links), "two levels")


@pytest.mark.parametrize(
    ("widths", "bine", "binomial"),
    [([2, 4, 4, 4, 2], 76, 112), ([4, 4, 4, 4], 64, 48), ([8, 8], 36, 16)],
)
def test_traffic_on_the_links_of_a_two_level_network(
    widths: list[int], bine: int, binomial: int
) -> None:
    """32 % less where groups divide binomial pairs; more where groups are aligned powers of two."""
    topology = two_level(widths)
    core = next(i for i, node in enumerate(topology.nodes) if node.name == "core")
    for made, shards in (
        (generate(topology, order="distance-halving"), bine),
        (recursive.generate(topology, order="far-first"), binomial),
    ):
        verify(made)
        found = cost(made)
        up = sum(
            load
            for link, load in zip(topology.links, found.loads, strict=True)
            if link.head == core
        )
        assert Fraction(up, found.whole) * 16 == shards


def test_the_default_order_is_the_faster_one() -> None:
    topology = load_topology("dgx_a100:boxes=2")
    made, *both = (generate(topology, order=order) for order in (None, *ORDERS))
    assert cost(made).time_s_per_gb == min(cost(each).time_s_per_gb for each in both)
    assert verify(made).algbw_gb_s == 80


def test_it_becomes_an_algorithm_of_msccl() -> None:
    found = export(compile_program(generate(load_topology("complete:nodes=4"))), MscclOptions())
    assert 'ngpus="4"' in found.text


def test_unsupported_sizes_roots_and_options_are_refused() -> None:
    five, six, four = (load_topology(f"complete:nodes={nodes}") for nodes in (5, 6, 4))
    with pytest.raises(UnsupportedError, match="has 5 GPUs; bine takes even numbers"):
        generate(five)
    with pytest.raises(UnsupportedError, match="has 6 GPUs; a tree of bine takes powers of two"):
        generate(six, "broadcast")
    with pytest.raises(UnsupportedError, match="the latency form of bine takes powers of two"):
        generate(six, "allreduce", form="latency")
    with pytest.raises(UnsupportedError, match="bine takes no root for allgather"):
        generate(four, root=0)
    with pytest.raises(UnsupportedError, match="bine has no all-to-all"):
        generate(four, "all-to-all")
    for collective in ("broadcast", "allgather"):
        with pytest.raises(UnsupportedError, match=f"no {collective} of its latency form"):
            generate(four, collective, form="latency")
    for wrong in ({"order": "near-first"}, {"form": "fast"}):
        with pytest.raises(InvalidParameterError, match=f"{next(iter(wrong))} is"):
            generate(four, **wrong)
