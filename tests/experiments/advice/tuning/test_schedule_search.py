"""Who is best at one size."""

from collections.abc import Sequence

import pytest

from experiments.advice.tuning.candidates import made
from experiments.advice.tuning.recipe import recipes
from experiments.advice.tuning.schedule_search import BEATEN, Entrant, search
from forestcoll.compilation import compile_program
from forestcoll.errors import InvalidParameterError, TimeLimitError, VerificationError
from forestcoll.schedule.simulate import AlphaBeta, Simulator, best_chunk_count
from forestcoll.topology import load_topology
from tests.baselines.once_each import in_turn

MB = 2**20


def entrants(
    spec: str,
    methods: Sequence[str] | None = None,
    collective: str = "allgather",
    model: AlphaBeta | None = None,
    seconds: float = 60,
) -> list[Entrant]:
    topology = load_topology(spec)
    found = [made(one, topology, collective, None, 60) for one in recipes(topology, methods)]
    model = model or AlphaBeta()
    return [
        Entrant(one.candidate, one.simulator, model, seconds)
        for one in found
        if one.simulator is not None
    ]


def test_small_data_are_a_matter_of_latency_and_large_of_rate() -> None:
    """Of six in a ring, neighbours 1 GB/s apart.

    Direct: no GPU is more than 3 hops away, 30 us; the busiest link carries (1 + 2 + 3/2) shards
    where the ring carries 5/2. A ring takes 5 hops.
    """
    those = entrants("ring:nodes=6,bandwidth=1", ["ring", "direct"])
    small, large = search(those, 6, 0), search(those, 6 * MB, 0)
    assert (small.best.name, large.best.name) == ("direct", "ring")
    assert small.time_s == pytest.approx(30e-6, rel=1e-2)
    assert large.time_s == pytest.approx(50e-6 + 2.5 * MB / 1e9, rel=1e-2)
    assert small.pipeline_chunks == large.pipeline_chunks == 1
    assert large.algbw_gb_s == pytest.approx(6 * MB / 1e9 / large.time_s)


@pytest.mark.first_rows(2)
@pytest.mark.parametrize(
    ("spec", "collective", "sharing"),
    in_turn(
        ["torus:dims=3x3", "dgx_a100:boxes=2", "hypercube:dimension=3"],
        ["allgather", "allreduce"],
        ["fair", "fifo"],
    ),
)
def test_the_best_is_the_least_of_all_simulated(spec: str, collective: str, sharing: str) -> None:
    """Those left out have a bound of their own that is kept, and above the best."""
    model = AlphaBeta(alpha_us=3, sharing=sharing)  # type: ignore[arg-type]
    those = entrants(spec, collective=collective, model=model)
    simulators = {}
    for one in those:
        assert one.candidate.schedule is not None
        simulators[one.candidate.name] = Simulator(compile_program(one.candidate.schedule))
    for size in (1, 1000, 64 * 1024, 4 * MB):
        at = search(those, size, 0)
        for trial in at.trials:
            tried = trial.simulation
            if tried is None:
                assert trial.note == BEATEN
                assert trial.at_least_s > at.time_s
                tried = best_chunk_count(simulators[trial.name], size, model, most=8)
            assert tried.time_s >= trial.at_least_s * (1 - 1e-9)
            assert tried.time_s >= at.time_s * (1 - 1e-9)


def test_ties_are_settled_by_transfers_then_pieces_steps_and_order() -> None:
    """Two of one schedule: the first; MultiTree's trees on a box are the forest's."""
    for names in (["forestcoll", "multitree"], ["multitree", "forestcoll"]):
        those = entrants("dgx_a100:boxes=1", names)
        at = search(those, MB, 0)
        times = {trial.simulation.time_s for trial in at.trials if trial.simulation}
        assert len(times) == 1
        assert at.best.name == those[0].candidate.name
    fewest = min(entrants("ring:nodes=2"), key=lambda one: one.candidate.transfers)
    assert search(entrants("ring:nodes=2"), 1, 0).best.name == fewest.candidate.name


def test_those_within_a_share_are_simulated_too() -> None:
    those = entrants("ring:nodes=6,bandwidth=1", ["direct", "ring"])
    assert search(those, 6 * MB, 0).trials[0].note == BEATEN
    at = search(those, 6 * MB, 0, within=5)
    assert at.simulated("direct").time_s > at.simulated("ring").time_s
    with pytest.raises(InvalidParameterError, match="'bfb' was not simulated at"):
        at.simulated("bfb")


def test_a_time_below_the_bound_is_a_bug() -> None:
    with pytest.raises(VerificationError, match="below the bound of 1 s: this is a bug"):
        search(entrants("ring:nodes=4", ["ring"]), MB, 1)


def test_entrants_without_time_are_reported() -> None:
    late = entrants("ring:nodes=6", ["bruck"], seconds=0)
    with pytest.raises(TimeLimitError, match="no method had time left for 1048576 bytes"):
        search(late, MB, 0)
    at = search([*late, *entrants("ring:nodes=6", ["ring"])], MB, 0, within=100)
    assert (at.best.name, at.trials[0].note) == ("ring", "over its limit")


def test_few_chunks_of_many_transfers_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.advice.tuning.schedule_search.MOST_EVENTS", 1000)
    (bruck,) = entrants("torus:dims=3x3", ["bruck"])
    trial = bruck.trial(64 * MB, lambda: None)
    assert trial.note.startswith("cut into ")
    assert trial.note.endswith(" pipeline chunks at most")


def test_the_bound_of_a_schedule_is_its_longest_chain_and_its_busiest_link() -> None:
    """A broadcast along three hops of 5 us and 1 GB/s."""
    model = AlphaBeta(alpha_us=5)
    topology = load_topology("ring:nodes=4,bidirectional=false,bandwidth=1")
    (recipe,) = (one for one in recipes(topology, ["forestcoll"]) if one.name == "forest, k=1")
    tried = made(recipe, topology, "broadcast", 0, 60)
    assert tried.simulator is not None
    one = Entrant(tried.candidate, tried.simulator, model, 60)
    assert one.at_least_s(1) == pytest.approx(15e-6, rel=1e-2)
    assert one.at_least_s(1) <= 15e-6
    assert one.at_least_s(10**9) == pytest.approx(1)
