"""What single failures cost and what faster links bring, against optima of changed networks."""

from fractions import Fraction

import pytest

from forestcoll import generate, optimum, verify
from forestcoll.errors import (
    CapacityOverflowError,
    DisconnectedError,
    InvalidParameterError,
    InvalidTopologyError,
    UnsupportedError,
)
from forestcoll.problem.weights import weights_for
from forestcoll.topology import Link, Node, NodeKind, Topology, load_topology
from forestcoll.what_if.single_changes import Outcome, failures, upgrades
from tests.random_topologies import KINDS, random_topology

BOXES = load_topology("dgx_a100:boxes=4")


def by_words(outcomes: tuple[Outcome, ...]) -> dict[str, Fraction | None]:
    return {f"{one.parts.in_words()}{' all' * one.every}": one.algbw_gb_s for one in outcomes}


def test_failures_of_a_cluster_are_those_that_people_work_out() -> None:
    """A NIC: 24 shards over 7; a GPU with it: of 31; without its NVLink a GPU has its NIC."""
    found = failures(BOXES)
    assert list(by_words(found).items()) == [
        ("switch ib", None),
        ("any of 32 links, b*.gpu* - b*.nvswitch", Fraction(32 * 25, 31)),
        ("any of 4 switches, b*.nvswitch", Fraction(32 * 25, 31)),
        ("any of 32 GPUs, b*.gpu*", Fraction(31 * 175, 24)),
        ("any of 32 NICs, b*.gpu* - ib", Fraction(32 * 175, 24)),
    ]
    assert found[0].reason.startswith("GPU 'b0.gpu0' cannot reach GPU 'b1.gpu0'")
    assert found[0].optimum is None
    assert [one.gain for one in found][::4] == [-1, Fraction(-1, 8)]


def test_one_faster_nic_brings_nothing_and_all_of_them_much() -> None:
    found = by_words(upgrades(BOXES))
    assert found["any of 32 NICs, b*.gpu* - ib"] == optimum(BOXES).algbw_gb_s
    assert found["any of 32 NICs, b*.gpu* - ib all"] == Fraction(32 * 350, 31)
    assert next(iter(found)) == "any of 32 NICs, b*.gpu* - ib all"


def expected(topology: Topology, one: Outcome, name: str, collective: str) -> Fraction | None:
    changed = topology.scaled(name, one.factor) if one.factor else topology.without(name)
    try:
        best = optimum(changed, reduction=collective in ("reduce-scatter", "reduce"))
    except (DisconnectedError, InvalidTopologyError):
        return None
    return best.algbw_gb_s


@pytest.mark.parametrize("seed", range(18))
def test_outcomes_hold_for_every_part_of_their_class(seed: int) -> None:
    """Each part is really left out or made faster, and the optimum found anew."""
    kind = KINDS[seed % len(KINDS)]
    topology = random_topology(seed, kind)
    collective = "reduce-scatter" if seed % 2 and kind != "unbalanced" else "allgather"
    found = [*failures(topology, collective), *upgrades(topology, collective, factor="3/2")]
    for one in found:
        best = one.optimum
        assert best is None or best.certificate() == one.inverse_rate
        assert best is None or best.algbw_gb_s == one.algbw_gb_s
        assert (best is None) == bool(one.reason)
        assert one.gain >= 0 or not one.factor
        for name in () if one.every else one.parts.names:
            assert expected(topology, one, name, collective) == one.algbw_gb_s, name
    kinds = {one.parts.kind for one in found}
    assert {"GPU", "link"} <= kinds


def test_the_best_after_a_failure_can_be_had() -> None:
    for one in failures(load_topology("mi250:boxes=1")):
        schedule = generate(one.changed).schedule
        assert verify(schedule).algbw_gb_s == one.algbw_gb_s


def test_a_root_that_fails_ends_its_broadcast() -> None:
    topology = load_topology("ring:nodes=4")
    found = failures(topology, "broadcast", root="gpu1")
    ended = [one for one in found if one.inverse_rate is None]
    assert [one.parts.names for one in ended] == [("gpu1",)]
    assert ended[0].reason == "no GPU that is left has any data"
    for one in found:
        if one.optimum is not None:
            changed = one.changed
            weights = weights_for(changed, "broadcast", root="gpu1")
            assert optimum(changed, weights=weights).algbw_gb_s == one.algbw_gb_s


def test_weights_go_with_the_gpus() -> None:
    topology = load_topology("ring:nodes=4")
    found = failures(topology, weights=[6, 2, 4, 2])
    for one in found:
        if one.parts.kind == "GPU":
            left = [
                w
                for w, node in zip([6, 2, 4, 2], topology.nodes, strict=True)
                if node.name != one.parts.names[0]
            ]
            assert optimum(one.changed, weights=left).algbw_gb_s == one.algbw_gb_s
            assert one.optimum is not None
            assert one.optimum.weights == tuple(w // 2 for w in left)


def test_no_gpu_of_two_can_fail() -> None:
    found = failures(load_topology("ring:nodes=2"))
    reasons = {one.reason for one in found}
    assert all(one.algbw_gb_s is None for one in found)
    assert any("has 1 GPU" in reason for reason in reasons) or any(
        "a collective needs at least 2" in reason for reason in reasons
    )


def test_a_failure_may_leave_a_switch_with_less_in_than_out() -> None:
    """A GPU whose links differ by direction: without the slower one the switch has more out."""
    whole = load_topology("dgx_a100:boxes=2")
    topology = whole.with_links({"b0.gpu0 -> ib": 5, "ib -> b0.gpu1": 5})
    (one,) = (o for o in failures(topology) if o.parts.names[0] == "b0.gpu0 - ib")
    assert one.optimum is not None
    assert one.optimum.prices is not None
    assert one.optimum.certificate() == one.inverse_rate


def test_bad_questions_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="above 1"):
        upgrades(BOXES, factor=1)
    with pytest.raises(UnsupportedError, match="take reduce-scatter or allgather"):
        failures(BOXES, "allreduce")
    reported: list[tuple[int, int]] = []
    failures(BOXES, progress=lambda *at: reported.append(at))
    assert reported == [(i, 5) for i in range(1, 6)]


def test_an_upgrade_that_a_switch_cannot_use_takes_nothing_away() -> None:
    """2 GB/s into a switch, 1 out to each of b and c: more to b alone has nothing to come from."""
    names = ("a", "b", "c", "w")
    nodes = [Node(n, NodeKind.SWITCH if n == "w" else NodeKind.COMPUTE) for n in names]
    links = [Link(0, 3, 2), Link(3, 1, 1), Link(3, 2, 1), Link(1, 0, 1), Link(2, 0, 1)]  # type: ignore[arg-type]
    topology = Topology("up", tuple(nodes), tuple(links))
    for one in upgrades(topology):
        assert one.gain >= 0


@pytest.mark.parametrize("factor", [10**19, "1e80", 5 * 10**18, Fraction(10**18 + 1, 10**18)])
def test_factors_beyond_whole_numbers_are_refused(factor: object) -> None:
    with pytest.raises(CapacityOverflowError, match="take a smaller factor"):
        upgrades(BOXES, factor=factor)  # type: ignore[arg-type]


def test_with_shared_capacities_each_outcome_is_the_optimum_of_the_network_it_names() -> None:
    """Wires 0 - 1 and 2 - 3 of a ring are half-duplex: they fail alike, the two others alike."""
    ring = load_topology("ring:nodes=4")
    for wire in ("gpu0 - gpu1", "gpu2 - gpu3"):
        ring = ring.with_shared(f"half {wire}", wire, 1)
    found = failures(ring)
    links = [one for one in found if one.parts.kind == "link"]
    assert sorted(len(one.parts.names) for one in links) == [2, 2]
    for one in found:
        assert one.inverse_rate == optimum(one.changed).inverse_rate
        assert one.optimum == optimum(one.changed)
        assert one.changed.shared == one.before.topology.without(one.parts.names[0]).shared


def test_wider_host_memory_is_the_only_useful_upgrade() -> None:
    """Two sockets with memory of 100 GB/s each: 28 transfers of a shard pass each, 8 x = 200/7.

    One memory twice as wide leaves the other; both make 400/7 = 57.14, where a GPU's link, of
    63.02 GB/s, would allow 72. Faster links bring nothing, and no limit fails.
    """
    box = load_topology("pcie_box:sockets=2,memory_bandwidth=100")
    found = by_words(upgrades(box))
    assert found["any of 2 shared capacities, b*.memory*"] == Fraction(200, 7)
    assert found["any of 2 shared capacities, b*.memory* all"] == Fraction(400, 7)
    gain = {one.parts.kind: one.gain for one in upgrades(box) if one.every}
    assert (gain["link"], gain["shared capacity"]) == (0, 1)
    assert all(one.parts.kind != "shared capacity" for one in failures(box))


def test_weights_of_the_gpus_left_have_no_common_divisor() -> None:
    """Of weights 1, 2 and 2 the first fails: 1 and 1."""
    ring = load_topology("ring:nodes=3")
    found = failures(ring, weights=[1, 2, 2])
    (one,) = (outcome for outcome in found if outcome.parts.names[0] == "gpu0")
    assert one.weights == (1, 1)


def test_two_links_alike_are_asked_by_one_and_together() -> None:
    """A line of three GPUs: either link, and both; of two GPUs the one link, once."""
    line = load_topology("torus:dims=3,wrap=false")
    assert sorted(one.every for one in upgrades(line)) == [False, True]
    pair = load_topology("torus:dims=2,wrap=false")
    assert [one.every for one in upgrades(pair)] == [False]
