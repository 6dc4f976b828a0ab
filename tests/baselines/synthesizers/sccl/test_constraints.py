"""SCCL's encoding decides as the paper's own, and its solutions keep to their rounds."""

import random
import time
from itertools import product

import pytest
from ortools.sat.python import cp_model

from baselines.synthesizers.sccl.constraints import Deadline, Instance, solve
from baselines.synthesizers.sccl.network import Group, Network, direct
from forestcoll.errors import TimeLimitError
from forestcoll.problem.limits import Limits
from forestcoll.topology import load_topology
from tests.baselines.dgx1 import dgx1
from tests.baselines.synthesizers.sccl.rounds import pairs, to_all


def paper_says(instance: Instance) -> bool:
    """Decide an instance by the paper's own variables: start and send apart, no pruning."""
    network, steps = instance.network, instance.steps
    model = cp_model.CpModel()
    rounds = [model.new_int_var(1, instance.rounds, "") for _ in range(steps)]
    model.add(sum(rounds) <= instance.rounds)
    load: dict[tuple[tuple[int, int], int], list[cp_model.IntVar]] = {}
    for commodity, _ in product(instance.commodities, range(instance.chunks)):
        root, last = commodity.root, dict.fromkeys(commodity.targets, steps)
        start = [
            model.new_int_var(0, 0 if v == root else last.get(v, steps + 1), "")
            for v in range(network.size)
        ]
        send = {link: model.new_bool_var("") for link in network.links}
        for v in range(network.size):
            came = sum(send[link] for link in network.into[v])
            if v == root or v in commodity.targets:
                model.add(came == (v != root))
            else:  # it has the chunk by the end if and only if the chunk came in, once
                has = model.new_bool_var("")
                model.add(came == has)
                model.add(start[v] <= steps).only_enforce_if(has)
                model.add(start[v] == steps + 1).only_enforce_if(~has)
        for (tail, head), sent in send.items():
            model.add(start[tail] < start[head]).only_enforce_if(sent)
            for step in range(steps):
                now = model.new_bool_var("")
                model.add(start[head] != step + 1).only_enforce_if(sent, ~now)
                load.setdefault(((tail, head), step), []).append(now)
    for group, step in product(network.groups, range(steps)):
        sends = [now for link in group.links for now in load[link, step]]
        model.add(sum(sends) <= group.copies * rounds[step])
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    assert status in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.INFEASIBLE)
    return status != cp_model.INFEASIBLE


def small_network(rng: random.Random) -> Network:
    """Four GPUs on a one-way ring with chords, and at times a port shared by what leaves a GPU."""
    ring = {(v, (v + 1) % 4) for v in range(4)}
    chords = {(a, b) for a in range(4) for b in range(4) if a != b and rng.random() < 0.4}
    links = tuple(sorted(ring | chords))
    groups = [Group((link,), rng.randint(1, 2)) for link in links]
    if rng.random() < 0.5:
        groups.append(Group(tuple(link for link in links if link[0] == 0), 1))
    return Network(4, links, tuple(groups))


def test_the_encoding_decides_as_the_papers() -> None:
    """On random networks, with and without symmetry, as the paper's start and send do."""
    rng = random.Random(5)
    outcomes = []
    for _ in range(40):
        network = small_network(rng)
        roots = (0, 1, 2, 3) if rng.random() < 0.5 else (rng.randrange(4),)
        steps = rng.randint(1, 3)
        rounds = rng.randint(steps, steps + 2)
        outcomes.append(
            decided(Instance(network, to_all(4, roots), rng.randint(1, 2), steps, rounds))
        )
    assert 10 <= sum(outcomes) <= 30


@pytest.mark.slow
def test_the_encoding_of_pairs_decides_as_the_papers() -> None:
    """All-to-alls of some pairs: a GPU on the way may have a chunk or not, its target must."""
    rng = random.Random(8)
    outcomes = []
    for _ in range(30):
        network = small_network(rng)
        some = tuple(rng.sample(pairs(4), rng.randint(3, 12)))
        steps = rng.randint(2, 3)
        rounds = rng.randint(steps, steps + 3)
        outcomes.append(decided(Instance(network, some, 1, steps, rounds)))
    assert 8 <= sum(outcomes) <= 22


def decided(instance: Instance) -> bool:
    """Whether an instance has a solution, with and without symmetry as by the paper's variables."""
    expected = paper_says(instance)
    for symmetry in (True, False):
        found = solve(instance, symmetry=symmetry, deadline=Deadline(Limits()))
        assert (found is not None) == expected, instance
    return expected


def test_unneeded_chunks_are_not_sent() -> None:
    """On a one-way ring of three 3 chunks go one hop and 3 go two; there are rounds for more."""
    network, _ = direct(load_topology("ring:nodes=3,bidirectional=false"))
    found = solve(Instance(network, pairs(3), 1, 4, 9), symmetry=True, deadline=Deadline(Limits()))
    assert found is not None
    assert len(found.sends) == 3 + 6


def test_links_of_a_group_share_its_rounds() -> None:
    """Three GPUs, all joined: one step of one round; if each has one port out, two rounds."""
    links = tuple((a, b) for a in range(3) for b in range(3) if a != b)
    alone = tuple(Group((link,), 1) for link in links)
    ports = tuple(Group(tuple(link for link in links if link[0] == gpu), 1) for gpu in range(3))

    def exists(groups: tuple[Group, ...], steps: int, rounds: int) -> bool:
        instance = Instance(Network(3, links, groups), to_all(3, (0, 1, 2)), 1, steps, rounds)
        return solve(instance, symmetry=True, deadline=Deadline(Limits())) is not None

    assert exists(alone, 1, 1)
    assert not exists(alone + ports, 1, 1)
    assert exists(alone + ports, 1, 2)


def test_rounds_are_filled_as_the_solution_says() -> None:
    """In each step every link carries at most its copies times the rounds of the step."""
    network, _ = direct(dgx1())
    instance = Instance(network, to_all(8, range(8)), 2, 2, 3)
    found = solve(instance, symmetry=True, deadline=Deadline(Limits()))
    assert found is not None
    assert sum(found.rounds) == 3
    for group, (step, rounds) in product(network.groups, enumerate(found.rounds)):
        sends = [s for s in found.sends if s.step == step and (s.tail, s.head) in group.links]
        assert len(sends) <= group.copies * rounds


def test_a_deadline_reports_the_time_left_and_the_open_instance() -> None:
    """Without a limit nothing is said; a limit begun 8 s ago is up."""
    network, _ = direct(load_topology("ring:nodes=3"))
    instance = Instance(network, to_all(3, (0, 1, 2)), 2, 3, 4)
    assert Deadline(Limits()).seconds_left(instance) is None
    left = Deadline(Limits(seconds=9)).seconds_left(instance)
    assert left is not None
    assert 0 < left <= 9
    over = Deadline(Limits(seconds=5), begun=time.monotonic() - 8)
    with pytest.raises(TimeLimitError, match="within 5 s; open: 2 chunks, 3 steps, 4 rounds") as up:
        over.seconds_left(instance)
    assert up.value.bound == (2, 3, 4)
