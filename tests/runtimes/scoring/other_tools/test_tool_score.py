"""What JSON of other tools is worth on a network, and which of it is wrong."""

from fractions import Fraction
from typing import Any

import pytest

from baselines.registry import METHODS
from forestcoll import generate
from forestcoll.errors import (
    TimeLimitError,
    UnsupportedError,
)
from forestcoll.problem.limits import Limits
from forestcoll.runtimes.scoring.file_bounds import Measurement
from forestcoll.runtimes.scoring.other_tools.tool_score import score_transfers
from forestcoll.runtimes.scoring.other_tools.tool_transfers import ToolTransfers
from forestcoll.schedule import cost
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology import Topology, group, load_topology
from tests.runtimes.scoring.tool_documents import (
    allreduce_of_a_ring,
    ring_sentences,
    sccl,
    sccl_file,
    star_with_a_link,
    teccl,
    teccl_all_to_all,
    teccl_allgather,
)

ALL = (0, 1, 2)


def worth_of(transfers: ToolTransfers, topology: Topology) -> Measurement:
    found = score_transfers(transfers, topology)
    assert found.wrong is None
    assert found.measurement is not None
    assert found.measurement.loads == tuple(
        Fraction(load, cost(found.schedule).whole) for load in cost(found.schedule).loads
    )
    return found.measurement


def wrong(transfers: ToolTransfers, topology: Topology) -> str:
    found = score_transfers(transfers, topology)
    assert found.measurement is None
    assert found.wrong is not None
    return found.wrong


def test_a_ring_one_way_of_te_ccl_is_half_of_the_optimum() -> None:
    """Each of 4 links carries 3/4 of the data at 1 GB/s; two ways there is twice as much."""
    found = worth_of(teccl(teccl_allgather(ring_sentences(4))), load_topology("ring:nodes=4"))
    assert found.algbw_gb_s == Fraction(4, 3)
    assert found.bound.algbw_gb_s == Fraction(8, 3)
    assert (found.bound.optimal, found.share) == (True, Fraction(1, 2))


def star(over_the_switch: bool) -> list[str]:
    via = " via switches 0"
    lines = [
        f"Chunk 0 from {s} traveled over {s}->{t} in epoch 0{via}"
        for s in (1, 2, 3)
        for t in (1, 2, 3)
        if s != t
    ]
    return lines if over_the_switch else [line.replace(via, "") for line in lines]


def test_the_file_chooses_the_switch_or_the_link() -> None:
    """Shards of 1/3: over the switch each GPU sends 2/3 at 2 GB/s; over the link 1/3 at 1 GB/s."""
    topology = star_with_a_link()
    over = worth_of(teccl(teccl_allgather(star(True))), topology)
    direct = worth_of(teccl(teccl_allgather(star(False))), topology)
    assert (over.algbw_gb_s, direct.algbw_gb_s) == (3, 3)
    links = {
        topology.nodes[e.tail].name + topology.nodes[e.head].name: i
        for i, e in enumerate(topology.links)
    }
    assert [over.loads[links[name]] for name in ("as", "ab")] == [Fraction(2, 3), 0]
    assert [direct.loads[links[name]] for name in ("as", "ab")] == [Fraction(1, 3)] * 2
    assert over.share == 1, "GPU c gets 2/3 of the data over 2 GB/s"


def halves() -> dict[tuple[int, int, int], list[list[str]]]:
    """An all-to-all of three GPUs; half of what 1 has for 2 goes over 3."""
    found = {
        (s, t, t): [[f"{s}->{t} with volume 1.0 in epoch 0"]]
        for s in (1, 2, 3)
        for t in (1, 2, 3)
        if s != t
    }
    found[1, 2, 2] = [
        ["1->2 with volume 0.5 in epoch 0"],
        ["1->3 with volume 0.5 in epoch 0", "3->2 with volume 0.5 in epoch 4"],
    ]
    return found


def test_an_all_to_all_of_te_ccl_in_halves() -> None:
    """Parts of 1/3: the links 1-3 and 3-2 carry 3/2 parts, so 1/2 s/GB; directly it is 1/3."""
    ring = load_topology("ring:nodes=3")
    found = worth_of(teccl(teccl_all_to_all(halves())), ring)
    assert found.algbw_gb_s == 2
    assert (found.bound.algbw_gb_s, found.bound.optimal) == (3, False)
    assert found.share == Fraction(2, 3)


def square() -> list[list[list[int]]]:
    """A ring of 4: first to both sides, then what came from behind on, round the ring."""
    both = [[rank, rank, (rank + way) % 4] for rank in range(4) for way in (1, -1)]
    return [both, [[rank, (rank + 1) % 4, (rank + 2) % 4] for rank in range(4)]]


def test_an_allgather_of_sccl_in_two_steps() -> None:
    """Links round carry 2 of 4 addresses at 1 GB/s, those back 1: 2 GB/s of 8/3."""
    chunks = [([rank], range(4), rank) for rank in range(4)]
    found = worth_of(sccl(sccl_file(4, chunks, square())), load_topology("ring:nodes=4"))
    assert (found.algbw_gb_s, found.share) == (2, Fraction(3, 4))


def test_an_allreduce_of_taccl_round_a_ring() -> None:
    """A link of 3 carries 4 of 3 addresses: 3/4 GB/s; 6 GB/s by 4 hops are 3/2."""
    found = worth_of(sccl(allreduce_of_a_ring(3)), load_topology("ring:nodes=3"))
    assert found.algbw_gb_s == Fraction(3, 4)
    assert (found.bound.algbw_gb_s, found.bound.optimal) == (Fraction(3, 2), False)
    assert found.share == Fraction(1, 2)


def test_a_reduce_scatter_and_an_all_to_all_of_sccl_directly() -> None:
    """Each link between 3 GPUs carries an address of 3: 3 GB/s, which is all that there is."""
    complete = load_topology("complete:nodes=3")
    parts = [([rank], [address], address) for address in ALL for rank in ALL]
    into = [[[address, rank, address] for address in ALL for rank in ALL if rank != address]]
    found = worth_of(sccl(sccl_file(3, parts, into)), complete)
    assert (found.algbw_gb_s, found.share, found.bound.optimal) == (3, 1, True)
    pairs = [([a % 3], [a // 3], a) for a in range(9)]
    sends = [[[a, a % 3, a // 3] for a in range(9) if a % 3 != a // 3]]
    found = worth_of(sccl(sccl_file(3, pairs, sends)), complete)
    assert (found.algbw_gb_s, found.share, found.bound.optimal) == (3, 1, False)


def test_the_bound_of_a_broadcast_is_that_of_its_root() -> None:
    """From c, who sends 2 GB/s, and from a, as c gets 2 GB/s; at half of that from c, 1."""
    chunks, steps = [([0], ALL, 0)], [[[0, 0, 1]], [[0, 1, 2]]]
    transfers, topology = sccl(sccl_file(3, chunks, steps)), star_with_a_link()
    for order, least in (([2, 0, 1], 2), ([0, 2, 1], 2)):
        found = score_transfers(transfers, topology, order).measurement
        assert found.bound.algbw_gb_s == least
    far = topology.scaled("c - s", "1/2")
    assert score_transfers(transfers, far, [2, 0, 1]).measurement.bound.algbw_gb_s == 1


def test_a_single_gpu_has_nothing_to_send() -> None:
    alone = load_topology("ring:nodes=2")
    transfers = sccl(sccl_file(1, [([0], [0], 0)], [[]]))
    found = score_transfers(transfers, group(alone, ["gpu1"]))
    assert found.wrong is None
    assert (found.measurement.algbw_gb_s, found.measurement.bound) == (None, None)


# --- wrong files ---------------------------------------------------------------------------------


def test_a_chunk_sent_before_it_is_there_is_named() -> None:
    flows = ring_sentences(4)
    flows[-1] = flows[-1].replace("epoch 4", "epoch 2")
    shown = wrong(teccl(teccl_allgather(flows)), load_topology("ring:nodes=4"))
    assert shown == (
        "step 1, chunk 3, gpu1 -> gpu2: the sender does not have the chunk when the step begins "
        "(in the file: epoch 2, chunk 0 from 4)"
    )


def test_a_chunk_that_does_not_get_everywhere_is_named() -> None:
    shown = wrong(teccl(teccl_allgather(ring_sentences(4)[:-1])), load_topology("ring:nodes=4"))
    assert shown == "chunk 3 never gets to gpu2 (in the file: chunk 0 from 4)"


def test_a_chunk_that_comes_twice_is_named() -> None:
    steps = square()
    steps[1].append([0, 3, 2])
    chunks = [([rank], range(4), rank) for rank in range(4)]
    shown = wrong(sccl(sccl_file(4, chunks, steps)), load_topology("ring:nodes=4"))
    assert "chunk 0" in shown
    assert "gets it twice (in the file: step 1, address 0)" in shown


def test_a_sum_that_counts_a_part_twice_is_found() -> None:
    """In the second step the one that has added already sends to the first again."""
    data = allreduce_of_a_ring(3)
    data["steps"][2]["sends"][0][-1] = "rrc"
    assert "chunk 0" in wrong(sccl(data), load_topology("ring:nodes=3"))


def test_a_pair_with_misdirected_data_is_found() -> None:
    demands = halves()
    demands[2, 3, 3] = [["2->1 with volume 1.0 in epoch 0"]]
    shown = wrong(teccl(teccl_all_to_all(demands)), load_topology("ring:nodes=3"))
    assert shown.startswith("chunk 3 never gets to gpu2")
    assert shown.endswith("(in the file: chunk 3 from 2 for 3)")


def test_a_pair_without_a_demand_is_found() -> None:
    demands = halves()
    del demands[2, 3, 3]
    shown = wrong(teccl(teccl_all_to_all(demands)), load_topology("ring:nodes=3"))
    assert "the chunks of gpu1 for gpu2 are 0 of the data" in shown


# --- our schedules in their form -----------------------------------------------------------------


def as_sccl(schedule: StepSchedule) -> dict[str, Any]:
    """Write steps of whole chunks of one size as SCCL would."""
    ranks, chunks, sends = range(schedule.topology.num_compute), schedule.chunks, schedule.sends
    assert sends.interval is None
    assert len(set(chunks.size.tolist())) == 1
    steps: list[list[list[object]]] = [[] for _ in range(schedule.num_steps)]
    for step, *row, adds in zip(
        *(a.tolist() for a in (sends.step, sends.chunk, sends.tail, sends.head, sends.reduce)),
        strict=True,
    ):
        steps[step].append([*row, 0, 0, "rrc" if adds else None])
    listed: list[Any] = []
    for address, (root, target) in enumerate(
        zip(chunks.root.tolist(), chunks.target.tolist(), strict=True)
    ):
        match schedule.collective:
            case "allgather":
                listed.append(([root], ranks, address))
            case "all-to-all":
                listed.append(([root], [target], address))
            case "reduce-scatter":
                listed += [([rank], [root], address) for rank in ranks]
            case _:
                listed += [([rank], ranks, address) for rank in ranks]
    return sccl_file(len(ranks), listed, steps)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce", "all-to-all"])
@pytest.mark.parametrize("name", ["ring:nodes=4", "hypercube:dimension=3", "complete:nodes=4"])
@pytest.mark.each_value_once
def test_steps_of_all_methods_come_back_as_they_were(name: str, collective: str) -> None:
    """In SCCL's form, with the same algbw where their links are the paths of fewest hops."""
    topology, tried = load_topology(name), 0
    for known, method in METHODS.items():
        if collective not in method.collectives or known == "sccl":
            continue
        try:
            schedule = method.run(topology, collective, limits=Limits(seconds=1.0))
        except (UnsupportedError, TimeLimitError):
            continue
        one_size = isinstance(schedule, StepSchedule) and len(set(schedule.chunks.size)) == 1
        if one_size and schedule.sends.interval is None and hop_by_hop(schedule):
            found = worth_of(sccl(as_sccl(schedule)), topology)
            assert found.algbw_gb_s == cost(schedule).algbw_gb_s, known
            assert 0 < found.share <= 1, known
            tried += 1
    assert tried


def hop_by_hop(schedule: StepSchedule) -> bool:
    return all(len(path.nodes) == 2 for group in schedule.routes.paths().values() for path in group)


def test_the_optimum_that_a_share_is_of_is_attained() -> None:
    """By ForestColl's own schedule, of which the file reaches a half."""
    ring = load_topology("ring:nodes=4")
    found = worth_of(teccl(teccl_allgather(ring_sentences(4))), ring)
    assert (
        cost(generate(ring).schedule).algbw_gb_s == found.bound.algbw_gb_s == 2 * found.algbw_gb_s
    )
