"""A trial of TACOS: by hand, against a literal version of its rules, and against the least time."""

import itertools
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

import numpy as np
import pytest

from baselines.synthesizers.tacos.matching import TimedLinks, Trial, least_ticks, run_trial
from forestcoll.topology import load_topology
from tests.random_topologies import KINDS, random_topology, rounds
from tests.reference import matching as reference
from tests.reference.matching import TimedLink, Transfer


def transfers(trial: Trial) -> list[Transfer]:
    """What a trial has delivered, row by row."""
    rows = zip(trial.chunk.tolist(), trial.link.tolist(), trial.start.tolist(), strict=True)
    return [Transfer(*row) for row in rows]


def check_against_the_reference(
    gpus: int, links: Sequence[TimedLink], chunks: int, seed: int, maximum: bool
) -> Trial:
    """Compare all transfers, in their order, with those of the slow twin."""
    plain = reference.Trial(gpus, links, chunks, random.Random(seed), maximum)
    complete = plain.run()
    trial = run_trial(gpus, TimedLinks.of(links), chunks, seed, maximum=maximum)
    assert transfers(trial) == plain.done
    assert trial.is_complete == complete
    return trial


@pytest.mark.parametrize("kind", KINDS)
def test_random_trials_are_those_of_the_reference(kind: str) -> None:
    """Without switches as they are; what is then not reached is left in both."""
    complete = 0
    for seed in range(count := rounds(60)):
        chance, net = random.Random(seed), random_topology(seed, kind)
        ends = [(link.tail, link.head) for link in net.links if max(link.tail, link.head) < 6]
        ends += [(v, (v + 1) % 6) for v in range(6 if seed % 4 else 5)]
        most = chance.choice((1, 3, 40))
        links = [TimedLink(*pair, chance.randint(1, most)) for pair in ends]
        chunks, big = chance.choice((1, 2, 5, 30)), chance.choice((seed, seed << 40))
        complete += check_against_the_reference(6, links, chunks, big, seed % 3 > 0).is_complete
    assert count / 2 < complete < count


@pytest.mark.parametrize("maximum", [True, False])
@pytest.mark.parametrize(
    ("spec", "ticks", "chunks"),
    [
        ("torus:dims=9x8", (1,), 1),
        ("hypercube:dimension=5", (2, 3, 7), 3),
        ("complete:nodes=17", (5, 6), 4),
        ("ring:nodes=70,bidirectional=false", (1, 1, 1, 2), 1),
    ],
)
def test_larger_trials_agree(spec: str, ticks: tuple[int, ...], chunks: int, maximum: bool) -> None:
    """More than 64 chunks take several words, many links into a GPU a deep tree of unions."""
    gpus, links = timed(spec, *ticks)
    assert check_against_the_reference(gpus, links, chunks, 7, maximum).is_complete


@pytest.mark.parametrize("seed", range(20))
def test_a_slow_link_brings_missing_chunks_only(seed: int) -> None:
    """Eight chunks go from 0 to 2 in 1 + 1 ticks by way of 1, or in 5 directly.

    Whatever the slow link starts with may come the other way before; then it has brought another
    one, of which some must be left: the other way has brought 4 by then.
    """
    links = [(0, 1, 1), (1, 2, 1), (0, 2, 5), (2, 0, 1), (2, 1, 1)]
    trial = run_trial(3, TimedLinks.of(links), 8, seed)
    assert trial.is_complete
    assert any((link, start) == (2, 0) for _, link, start in transfers(trial))
    assert len({(chunk, links[link][1]) for chunk, link, _ in transfers(trial)}) == 48


@pytest.mark.parametrize("seed", range(20))
def test_a_chunk_on_its_way_counts_as_lacking(seed: int) -> None:
    """At tick 2 both links into 2 are free, and what they can bring is 3's chunk: one starts it.

    At 3, when 4's chunk comes to 3, the other starts it too. So it is busy at 4, when 4's chunk has
    come to 0 and 1, which has to go over the link that has just brought 3's.
    """
    ends = [(3, 0, 1), (3, 1, 1), (0, 2, 2), (1, 2, 2), (4, 3, 3)]
    trial = run_trial(5, TimedLinks.of(ends), 1, seed)
    assert not trial.is_complete  # no links lead back
    taken = {(chunk, start): link for chunk, link, start in transfers(trial) if ends[link][1] == 2}
    assert taken[3, 2] == taken[4, 4]


def literal_trial(
    gpus: int, links: Sequence[TimedLink], chunks: int, rng: random.Random
) -> list[Transfer]:
    """The rules of the public code one by one, all pairs shuffled at every event; slow.

    What differs from it as in ours: links into a GPU are swapped only for what their tail had.
    """
    has = [set(range(v * chunks, (v + 1) * chunks)) for v in range(gpus)]
    pairs = {(c, v) for c in range(gpus * chunks) for v in range(gpus)} - {
        (c, v) for v in range(gpus) for c in has[v]
    }
    flying: dict[int, tuple[Transfer, frozenset[int]]] = {}
    done, now = [], 0
    while pairs:
        order = sorted(pairs)
        rng.shuffle(order)
        for chunk, head in order:
            ways = [
                i
                for i, link in enumerate(links)
                if link.head == head and i not in flying and chunk in has[link.tail]
            ]
            if ways:
                best = min(links[i].ticks for i in ways)
                i = rng.choice([i for i in ways if links[i].ticks == best])
                flying[i] = Transfer(chunk, i, now), frozenset(has[links[i].tail])
        now = min(t.start + links[i].ticks for i, (t, _) in flying.items())
        for i in sorted(flying):
            transfer, at_tail = flying[i]
            if transfer.start + links[i].ticks > now:
                continue
            del flying[i]
            head, chunk = links[i].head, transfer.chunk
            if chunk in has[head]:
                others = sorted(at_tail - has[head])
                if not others:
                    continue
                chunk = rng.choice(others)
            has[head].add(chunk)
            pairs.remove((chunk, head))
            done.append(Transfer(chunk, i, transfer.start))
    return done


def timed(spec: str, *ticks: int) -> tuple[int, list[TimedLink]]:
    """A network whose links take so many ticks in turn."""
    net = load_topology(spec)
    each = zip(net.links, itertools.cycle(ticks), strict=False)
    return net.num_compute, [TimedLink(link.tail, link.head, t) for link, t in each]


@pytest.mark.parametrize(
    ("spec", "ticks", "chunks"),
    [
        ("torus:dims=3x3,wrap=false", (1,), 1),
        ("torus:dims=3x3,wrap=false", (2, 3, 7), 1),
        ("ring:nodes=5", (1, 4, 2), 2),
    ],
)
def test_greedy_trials_follow_the_rules(spec: str, ticks: tuple[int, ...], chunks: int) -> None:
    """120 runs each: mean finish and transfers per link agree within four standard errors."""
    gpus, links = timed(spec, *ticks)

    def ends(done: Sequence[Transfer]) -> list[int]:
        by_link = np.bincount([link for _, link, _ in done], minlength=len(links)).tolist()
        return [max(start + links[link].ticks for _, link, start in done), *by_link]

    ours, theirs = [], []
    for seed in range(120):
        trial = run_trial(gpus, TimedLinks.of(links), chunks, seed, maximum=False)
        assert trial.is_complete
        ours.append(ends(transfers(trial)))
        theirs.append(ends(literal_trial(gpus, links, chunks, random.Random(seed))))
    for one, other in zip(zip(*ours, strict=True), zip(*theirs, strict=True), strict=True):
        error = ((statistics.pvariance(one) + statistics.pvariance(other)) / 120) ** 0.5
        assert abs(statistics.mean(one) - statistics.mean(other)) <= 4 * error + 1e-9


def test_maximum_matchings_leave_fewer_links_idle() -> None:
    """On the 3 x 3 mesh four steps are always enough then, for greedy ones only sometimes."""
    gpus, links = timed("torus:dims=3x3,wrap=false", 1)
    steps: dict[bool, set[int]] = {True: set(), False: set()}
    for seed, maximum in itertools.product(range(40), (True, False)):
        trial = run_trial(gpus, TimedLinks.of(links), 1, seed, maximum=maximum)
        assert trial.is_complete
        steps[maximum].add(trial.finish)
    assert steps[True] == {4} == {least_ticks(gpus, TimedLinks.of(links), 1)}
    assert 5 in steps[False]


def test_the_least_time_by_hand() -> None:
    """Links of 2 and 3 ticks bring 5 chunks in 6 ticks (3 and 2); one of 2 alone needs 10."""
    links = [(0, 1, 2), (2, 1, 3), (1, 0, 2), (1, 2, 1)]
    assert least_ticks(6, TimedLinks.of(links[:2]), 1) == 6
    assert least_ticks(6, TimedLinks.of(links), 1) == 10
    assert least_ticks(6, TimedLinks.of([]), 1) == 0


def test_a_trial_on_a_line_by_hand() -> None:
    """0 -> 1 -> 2 of two ticks each, and back at once: the ends' chunks arrive at tick 4."""
    ends = [(0, 1, 2), (1, 2, 2), (2, 1, 2), (1, 0, 2)]
    trial = run_trial(3, TimedLinks.of(ends), 1, seed=0)
    assert trial.finish == 4
    assert transfers(trial) == [(0, 0, 0), (1, 1, 0), (2, 2, 0), (1, 3, 0), (0, 1, 2), (2, 3, 2)]


def test_links_turned_round_go_back() -> None:
    """What needs 0 -> 1 -> 2 now needs 2 -> 1 -> 0, so 2 lacks what it is the first to send."""
    line = TimedLinks.of([(0, 1, 1), (1, 2, 1)])
    back = run_trial(3, line.reversed_links(), 1, seed=0)
    assert sorted(transfers(back)) == [(1, 0, 0), (2, 0, 1), (2, 1, 0)]
    assert back.lacking() == (1, 0)


def test_an_incomplete_trial_names_a_missing_chunk() -> None:
    """Nothing leads from 1 to 0, so GPU 0 lacks chunk 3, the second of GPU 1."""
    trial = run_trial(2, TimedLinks.of([(0, 1, 1)]), 2, seed=0)
    assert not trial.is_complete
    assert trial.lacking() == (0, 3)


def test_a_deadline_that_is_past_stops_a_trial() -> None:
    links = TimedLinks.of([(0, 1, 1), (1, 0, 1)])
    with pytest.raises(TimeoutError):
        run_trial(2, links, 1, seed=0, deadline=time.monotonic() - 1)
    assert run_trial(2, links, 1, seed=0, deadline=time.monotonic() + 999).is_complete


@pytest.mark.slow
def test_ctrl_c_stops_a_trial() -> None:
    """In the middle of one that takes a minute, though no deadline is asked for.

    Shells let what they start in the background ignore Ctrl-C, so that it is heeded again first.
    """
    code = (
        "import _thread, signal, threading\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from baselines.synthesizers.tacos.matching import TimedLinks, run_trial\n"
        "ring = TimedLinks.of((v, (v + 1) % 3000, 1) for v in range(3000))\n"
        "threading.Timer(0.3, _thread.interrupt_main).start()\n"
        "try:\n"
        "    run_trial(3000, ring, 4, seed=0)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "stopped\n"
