"""Trimming of switches that send too much: against every way to trim, and by hand."""

import itertools
import random
from collections import Counter

import numpy as np
import pytest

from forestcoll.core.balance import balanced, trim_to_balance
from forestcoll.core.fixed_k import fixed_k
from forestcoll.core.problem import Problem, tree_capacities
from tests.core.any_network.networks import fan
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology, rounds, sized_topology
from tests.reference.cuts import violated_set


def overdrawn_network(topology, seed):
    """Return capacities that no cut violates, and 1 to 3 trees a GPU.

    Out-links of switches are raised, and then most of the others lowered as far as they can be: a
    switch sends more than it receives, and much of that is needed.
    """
    chance = random.Random(seed)
    k = chance.randint(1, 3)
    capacity = tree_capacities(topology, fixed_k(topology, k).bound)
    trees = np.full(topology.num_compute, k, dtype=np.int64)
    from_switch = np.array([topology.nodes[link.tail].is_switch for link in topology.links])
    capacity += from_switch * np.array([chance.randint(0, 2) for _ in topology.links])
    others = np.flatnonzero(~from_switch).tolist()
    for at in chance.sample(others, round(0.8 * len(others))):
        lower = capacity.copy()
        lower[at] = 0
        while not feasible(topology, lower, trees):
            lower[at] += 1
        capacity = lower
    return capacity, trees


def feasible(topology, capacity, trees):
    ends = [(link.tail, link.head) for link in topology.links]
    links = dict(zip(ends, capacity.tolist(), strict=True))
    return violated_set(links, dict(zip(topology.compute, trees.tolist(), strict=True))) is None


def excesses(topology, capacity):
    """How much more each switch sends than it receives."""
    excess = Counter()
    for link, room in zip(topology.links, capacity.tolist(), strict=True):
        excess[link.tail] += room
        excess[link.head] -= room
    return {switch: excess[switch] for switch in topology.switches}


def any_trimming(topology, capacity, trees):
    """Try every way to take the excess of the only switch off its out-links."""
    (switch,) = topology.switches
    excess = excesses(topology, capacity)[switch]
    out = [at for at, link in enumerate(topology.links) if link.tail == switch]
    for parts in itertools.product(*(range(min(excess, int(capacity[at])) + 1) for at in out)):
        if sum(parts) == excess:
            trimmed = capacity.copy()
            trimmed[out] -= np.array(parts)
            if feasible(topology, trimmed, trees):
                return True
    return False


@pytest.mark.parametrize("kind", KINDS)
def test_one_switch_is_trimmed_exactly_when_it_can_be(kind):
    """With one switch the order does not matter: None proves that nothing else would do."""
    outcomes = Counter()
    for seed in range(count := rounds(400, 100)):
        chance = random.Random(f"{kind} {seed}")
        topology = sized_topology(kind, chance.randint(2, 5), 1, chance.randint)
        capacity, trees = overdrawn_network(topology, seed)
        if not 0 < max(excesses(topology, capacity).values()) <= 6:
            continue
        found = balanced(Problem(topology, capacity, trees))
        assert (found is not None) == any_trimming(topology, capacity, trees)
        outcomes[found is not None] += 1
    assert min(outcomes[True], outcomes[False]) >= count // 40


@pytest.mark.parametrize("kind", KINDS)
def test_balanced_capacities_satisfy_every_cut(kind):
    """With up to four switches, one behind the other: nothing raised, no cut violated."""
    trimmed = 0
    for seed in range(count := rounds(200, 50)):
        topology = random_topology(seed, kind)
        capacity, trees = overdrawn_network(topology, seed)
        given = capacity.copy()
        found = balanced(Problem(topology, capacity, trees))
        assert np.array_equal(capacity, given)
        if found is None:
            continue
        assert (found <= capacity).all()
        assert (found >= 0).all()
        assert all(excess <= 0 for excess in excesses(topology, found).values())
        assert feasible(topology, found, trees)
        trimmed += not np.array_equal(found, capacity)
    assert trimmed >= count // 10


def chain(spare):
    """A switch v that receives 1 and sends 2 to a switch w, which sends on 2: to b and to c.

    GPUs a, b and c need two trees each; ``spare`` is what b sends to c, and c to b.
    """
    links = f"a > v, v > w: 2, w > b c, b c > a, b - c: {spare}"
    topology = network_of("a b c [v] [w]", links, "chain")
    capacity = np.array([int(link.bandwidth_gb_s) for link in topology.links], dtype=np.int64)
    return topology, capacity, np.ones(3, dtype=np.int64)


def test_a_trimmed_link_between_switches_has_the_next_one_trimmed():
    """The link v -> w falls to 1, and then w may send 1: b and c get the rest from each other."""
    topology, capacity, trees = chain(spare=2)
    found = balanced(Problem(topology, capacity, trees))
    place = topology.position_of
    room = {(e.tail, e.head): int(c) for e, c in zip(topology.links, found, strict=True)}
    assert room[place["v"], place["w"]] == 1
    assert room[place["w"], place["b"]] + room[place["w"], place["c"]] == 1


def test_a_chain_that_is_needed_whole_is_given_up():
    """With one tree each way between b and c, both need w's link, and w receives only 1."""
    assert balanced(Problem(*chain(spare=1))) is None


def test_balanced_capacities_are_left_alone():
    """Nothing to trim, nothing changed."""
    topology = random_topology(3, "bidirectional")
    found = fixed_k(topology, 2)
    trees = np.full(topology.num_compute, 2, dtype=np.int64)
    again = balanced(Problem(topology, found.capacity, trees))
    assert np.array_equal(again, found.capacity)


def test_links_to_gpus_are_trimmed_before_those_to_switches():
    """From v, which receives 1, go 1 to w and 1 to b. Neither is needed; w keeps what it gets."""
    topology = network_of(
        "a b c [v] [w]", "a > v, v > w b, w > c, b c > a, b > c: 2, c > b: 2", "fork"
    )
    capacity = np.array([int(link.bandwidth_gb_s) for link in topology.links], dtype=np.int64)
    found = balanced(Problem(topology, capacity, np.ones(3, dtype=np.int64)))
    place = topology.position_of
    room = {(e.tail, e.head): int(c) for e, c in zip(topology.links, found, strict=True)}
    assert (room[place["v"], place["w"]], room[place["v"], place["b"]]) == (1, 0)


# --- whatever cuts may then lack -----------------------------------------------------------------


@pytest.mark.parametrize("reduction", [False, True])
def test_shares_are_lowered_in_proportion(reduction):
    """The switch of the fan gets 6 and sends 9, 6 and 3: two thirds too much."""
    topology = fan().reversed() if reduction else fan()
    at = {}
    for i, link in enumerate(topology.links):
        tail, head = (link.head, link.tail) if reduction else (link.tail, link.head)
        at[topology.nodes[tail].name + topology.nodes[head].name] = i
    share = [0] * len(topology.links)
    for name, amount in {"rs": 6, "sa": 9, "sb": 6, "sc": 3, "ar": 7, "br": 8, "cr": 9}.items():
        share[at[name]] = amount
    trim_to_balance(topology, share, reduction=reduction)
    names = ("rs", "sa", "sb", "sc", "ar", "br", "cr")
    assert [share[at[name]] for name in names] == [6, 3, 2, 1, 7, 8, 9]


def test_shares_are_lowered_from_switch_to_switch_and_rounded_up():
    """Of 5 into v, 2 and 4 leave: 1 too much, taken off w as ceil(2/6) = 1. Then w has 1 for 2."""
    topology = network_of("a b [v] [w]", "a > v: 9, v > w b: 9, w > b: 9, b > a: 9", "chain")
    order = [
        topology.links.index(topology.link_between[p]) for p in ((0, 2), (2, 3), (2, 1), (3, 1))
    ]
    share = [9] * len(topology.links)
    for i, amount in zip(order, (5, 2, 4, 2), strict=True):
        share[i] = amount
    kept = list(share)
    trim_to_balance(topology, kept, forwarding=[3])
    assert kept == share  # w itself sends no more than it gets
    trim_to_balance(topology, share)
    found = [share[i] for i in order]
    assert (found[0], found[1] + found[2], found[3]) == (5, 5, found[1])
